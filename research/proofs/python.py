#!/usr/bin/env python3
"""The Python package: wheel, import, indexing and searching beside the command, nDCG by ir_measures."""
import argparse
import json
import operator
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import ndcg
import python_environment
from harness import CACHE, CORPORA, Claims, passages, remove, run

WHEEL_MIB, IMPORT_MS, CALL_US = 20, 50, 15
PATH_SHARE, FRAME_SHARE, MANY_SHARE, THREADS_RATIO = 0.95, 0.8, 0.9, 1.8
COLLECTIONS, DEPTH = ["cacm", "cranfield", "scifact", "vaswani-npl"], 10
PACKAGES = ["polars==2.1.0", "pandas==3.1.1", "pyarrow==26.0.1", "ir-measures==0.4.3"]
# How often the searches are asked, each way in turn.
ROUNDS = 9
RUNNER = Path(__file__).parent / "python_runs.py"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheel", type=Path, help="default: the one in target/dist, as `make wheel` makes it")
    parser.add_argument("--command", help="the command to compare with (default: the one in the wheel)")
    parser.add_argument("--corpus", type=Path, help="JSON lines (default: all passages)")
    parser.add_argument("--queries", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out")
    options = parser.parse_args()
    with Claims("python", options.out, queries=options.queries, runs=options.runs, rounds=ROUNDS) as claims:
        wheel = python_environment.wheel(options.wheel)
        corpus = options.corpus or passages()
        claims.settings |= {"corpus": corpus.name, "wheel": python_environment.identified(wheel)}
        claims.at_most("MiB of the wheel", round(wheel.stat().st_size / 2**20, 2), WHEEL_MIB)
        python = python_environment.made("venv", [wheel, *PACKAGES])
        command = options.command or python.parent / "gannet"
        imports(claims, python)
        indexes(claims, command, python, corpus, options.runs)
        searches(claims, command, python, options)
        for collection in COLLECTIONS:
            relevance(claims, command, python, collection)


def imports(claims, python):
    """Milliseconds of the import itself, in new processes."""
    code = "import time; t = time.perf_counter(); import gannet; print(1e3 * (time.perf_counter() - t))"
    took = [float(run([python, "-I", "-c", code]).output) for _ in range(9)]
    claims.rows += [{"what": "import", "milliseconds": each} for each in took]
    claims.at_most("ms of import gannet, median of 9", round(statistics.median(took), 1), IMPORT_MS)


def indexes(claims, command, python, corpus, runs):
    """Every way in, in turn; rates by CPU time, which others on the machine disturb less."""
    ways = ["path", "polars", "pandas", "pyarrow", "dicts"]
    used = {way: [] for way in ["command", *ways]}
    index = CACHE / "python.gnt"
    for number in range(runs):
        for way in used:
            remove(index)
            if way == "command":
                done = run([command, "index", index, corpus, "--memory", "512MiB", "--json"]).json()
            else:
                done = run([python, RUNNER, way, index, corpus, 0]).json()
            figures = {name: done[name] for name in ("documents", "seconds", "cpu_seconds")}
            claims.rows.append({"what": "index", "way": way, "run": number} | figures)
            used[way].append(done["cpu_seconds"])
    for way in ways:
        share = statistics.median(used["command"]) / statistics.median(used[way])
        share = round(share, 3)
        name = f"rate of indexing from {way}, by CPU time, of the command's"
        match way:
            case "path":
                claims.at_least(name, share, PATH_SHARE)
            case "dicts":
                claims.known(name, share)
            case _:
                claims.at_least(name, share, FRAME_SHARE)


def searches(claims, command, python, options):
    """Queries of a web log, warm. The command and Python both read IDs."""
    index, log = CACHE / "python.gnt", CACHE / "python-queries.tsv"
    with open(CORPORA / "queries/web-log-25k.tsv", encoding="utf-8") as lines:
        texts = [ndcg.plain(line.rstrip("\n").split("\t", 1)[1]) for line in lines]
    texts = [text for text in texts if text.strip()][: options.queries]
    log.write_text("".join(f"{number}\tbody:({text})\n" for number, text in enumerate(texts)))
    bench = CACHE / "python-bench.tsv"
    bench.write_text("".join(f"{number}\t{text}\n" for number, text in enumerate(texts)))
    rates = {}
    for number in range(ROUNDS):
        for what, threads in [("bench", 2), ("many", 2), ("bench", 1), ("one", 1), ("threads", 1), ("threads", 8)]:
            if what == "bench":
                arguments = ["--as", "or", "--ids", "--threads", threads, "--warm", 2, "--seconds", 3, "--json", "--memory", "512MiB"]
                done = run([command, "bench", index, bench, "-k", DEPTH, "--group", 8 if threads == 2 else 1, *arguments]).json()
                row = {"qps": done["qps"], "cpu_us_per_query": done["cpu_us_per_query"]}
            else:
                done = run([python, RUNNER, what, index, log, threads]).json()
                row = {"qps": done["queries"] / done["seconds"], "cpu_us_per_query": 1e6 * done["cpu_seconds"] / done["queries"]}
            claims.rows.append({"what": what, "threads": threads, "run": number} | row)
            rates.setdefault((what, threads), []).append(row)

    def paired(of, one, other, name):
        """The median over the rounds: the machine is not equally fast from one to the next."""
        return statistics.median(of(left[name], right[name]) for left, right in zip(rates[one], rates[other]))

    share = paired(operator.truediv, ("bench", 2), ("many", 2), "cpu_us_per_query")
    claims.at_least("rate of search_many, by CPU time, of the rate of bench --ids", round(share, 3), MANY_SHARE)
    above = paired(operator.sub, ("one", 1), ("bench", 1), "cpu_us_per_query")
    claims.at_most("us of CPU of one call above bench --ids", round(above, 1), CALL_US)
    ratio = paired(operator.truediv, ("threads", 8), ("threads", 1), "qps")
    claims.at_least("queries/s of 8 threads of Python, of one's", round(ratio, 2), THREADS_RATIO)


MEASURE = """
import json, sys
import gannet, ir_measures
index, source, queries, qrels, depth = sys.argv[1:]
with gannet.open(index, memory="64MiB", analyzer="english") as ix:
    ix.add(source)
    found = ix.search_many(json.load(open(queries)), k=int(depth)).to_dict()
# Equal scores would be put into an order of its own: each document gets its rank.
run = {query: {doc: -rank for rank, doc in enumerate(docs)} for query, docs in found.items()}
judged = list(ir_measures.read_trec_qrels(qrels))
print(json.dumps(ir_measures.calc_aggregate([ir_measures.parse_measure("nDCG@10")], judged, run).popitem()[1]))
"""


def relevance(claims, command, python, collection):
    """One collection, measured by the command and research/measure/ndcg.py, and by the package and ir_measures."""
    folder = CORPORA / "relevance" / collection
    by_command, _ = ndcg.measure(command, collection)
    grades = ndcg.judgments(folder / "qrels.tsv")
    source, index = CACHE / f"{collection}.one-field.jsonl", CACHE / "python-relevance.gnt"
    texts = dict(line.rstrip("\n").split("\t", 1) for line in open(folder / "queries.tsv", encoding="utf-8"))
    queries, qrels = CACHE / "python-queries.json", CACHE / "python-qrels.txt"
    queries.write_text(json.dumps({query: ndcg.plain(texts[query]) for query in grades}))
    qrels.write_text("".join(f"{query} 0 {doc} {grade}\n" for query, docs in grades.items() for doc, grade in docs.items()))
    remove(index)
    by_package = run([python, "-I", "-c", MEASURE, index, source, queries, qrels, DEPTH]).json()
    claims.equal(f"nDCG@10 of {collection} by ir_measures", round(by_package, 4), round(by_command, 4))


main()
