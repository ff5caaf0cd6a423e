"""Tries BEIR's class for lexical search with its client 7.9.1: beir_search.py URL DOCUMENTS."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from beir.retrieval.search.lexical.elastic_search import ElasticSearch
from tqdm import tqdm


def main(url: str, file: str) -> None:
    rows = [json.loads(line) for line in Path(file).read_text().splitlines()][:100]
    given = {
        "hostname": url,
        "index_name": "beir",
        "keys": {"title": "title", "body": "txt"},
        "timeout": 100,
        "retry_on_timeout": True,
        "maxsize": 24,
        "number_of_shards": "default",
        "language": "english",
    }
    search = ElasticSearch(given)
    search.delete_index()
    search.create_index()
    corpus = {row["id"]: {"title": row["title"], "txt": row["body"]} for row in rows}
    with tqdm(total=len(rows), disable=True) as progress:
        search.bulk_add_to_index(search.generate_actions(corpus), progress)
    words = " ".join(rows[7]["body"].split()[:12])
    hits = search.lexical_search(words, 10)["hits"]
    assert hits[0][0] == rows[7]["id"], hits
    many = search.lexical_multisearch([words, "whale"], 10)
    assert many[0]["hits"] and many[0]["hits"][0][0] == rows[7]["id"], many
    search.delete_index()


if __name__ == "__main__":
    main(*sys.argv[1:])
