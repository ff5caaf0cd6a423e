"""nDCG@10 of a collection with judgments, indexed and searched by the command."""
import json
import math
import re
from concurrent.futures import ThreadPoolExecutor

from harness import CACHE, CORPORA, documents, remove, run, unpack

DEPTH = 10
# Characters with a meaning in the query language; queries here are plain text.
SYNTAX = re.compile(r'[+\-=&|><!(){}\[\]^"~*?:\\/]')


def ndcg(ranking, grades, depth=DEPTH):
    """nDCG with linear gain; `grades` holds the judged documents of the query."""
    gain = discounted([grades.get(document, 0) for document in ranking[:depth]])
    ideal = discounted(sorted(grades.values(), reverse=True)[:depth])
    return gain / ideal


def discounted(grades):
    return sum(grade / math.log2(rank + 2) for rank, grade in enumerate(grades))


def judgments(path):
    """Query -> document -> grade; only queries with a relevant document, only relevant documents."""
    queries = {}
    for line in open(path, encoding="utf-8"):
        query, document, grade = line.split()
        if int(grade) > 0:
            queries.setdefault(query, {})[document] = int(grade)
    return queries


def plain(text):
    """A query text without anything that the query language would read as more than words."""
    return SYNTAX.sub(" ", text).lower()


def measure(command, name):
    """The mean nDCG@10 over the judged queries of one collection, and how many they are."""
    folder = CORPORA / "relevance" / name
    grades = judgments(folder / "qrels.tsv")
    index = build(command, name, folder)
    texts = dict(line.rstrip("\n").split("\t", 1) for line in open(folder / "queries.tsv", encoding="utf-8"))

    def one(query):
        answer = run([command, "search", index, "-k", DEPTH, "--json", "--", plain(texts[query])]).json()
        return ndcg([hit["id"] for hit in answer["hits"]], grades[query])
    with ThreadPoolExecutor(2) as pool:
        scores = list(pool.map(one, sorted(grades)))
    remove(index)
    return sum(scores) / len(scores), len(scores)


def build(command, name, folder):
    """Indexes title and body as one field with the analyzer `english`."""
    source = CACHE / f"{name}.one-field.jsonl"
    with open(source, "w", encoding="utf-8") as out:
        for document in documents(unpack(folder / "docs.jsonl.zst", f"{name}.jsonl")):
            body = f"{document['title']} {document['body']}"
            out.write(json.dumps({"id": document["id"], "body": body}, ensure_ascii=False) + "\n")
    index = CACHE / f"{name}.gnt"
    remove(index)
    run([command, "index", index, source, "--analyzer", "english", "--json"]).json()
    return index
