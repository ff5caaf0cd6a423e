#!/usr/bin/env python3
"""Shards on Ray: answers of 20,000 queries against one index, what the router adds, rate of writing."""
import argparse
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import ndcg
import python_environment
from harness import CACHE, CORPORA, Claims, Unable, passages, remove, run

ROUTER_MS, RATE_SHARE = 4.0, 0.7
SHARDS, NODES = 4, 3
# Of the one index. Each writer and each replica of a shard gets its part.
MEMORY_MB = 256
PACKAGES = ["ray[data,serve]==2.60.0", "pyarrow==26.0.1"]
RUNNER = Path(__file__).parent / "shards_runs.py"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheel", type=Path, help="default: the one in target/dist, as `make wheel` makes it")
    parser.add_argument("--python", help="an interpreter that has gannet[ray], in place of a new environment")
    parser.add_argument("--corpus", type=Path, help="JSON lines (default: all passages)")
    parser.add_argument("--queries", type=int, default=20_000)
    parser.add_argument("--single", type=int, default=1000, help="queries that are asked one by one")
    parser.add_argument("--out")
    options = parser.parse_args()
    settings = {"shards": SHARDS, "nodes": NODES, "replicas": 2, "memory_mb": MEMORY_MB, "queries": options.queries, "single": options.single}
    with Claims("shards", options.out, **settings) as claims:
        python = options.python or environment(claims, options.wheel)
        corpus = options.corpus or passages()
        claims.settings["corpus"] = corpus.name
        folder = CACHE / "shards"
        remove(folder)
        folder.mkdir(parents=True)
        log = folder / "queries.txt"
        log.write_text("".join(f"{query}\n" for query in queries(options.queries)))
        done = run([python, "-P", RUNNER, folder, corpus, log, SHARDS, NODES, MEMORY_MB, options.single]).json()
        judge(claims, done)


def environment(claims, given):
    """A fresh environment with the wheel and Ray."""
    wheel = python_environment.wheel(given)
    claims.settings["wheel"] = python_environment.identified(wheel)
    return python_environment.made("shards-venv", [wheel, *PACKAGES])


def queries(number):
    """Those of a web log; three of eight are phrases, or have a prefix or a required word."""
    with open(CORPORA / "queries/web-log-25k.tsv", encoding="utf-8") as lines:
        texts = [ndcg.plain(line.rstrip("\n").split("\t", 1)[1]).strip() for line in lines]
    made = []
    for place, text in enumerate(text for text in texts if text):
        words = text.split()
        match place % 8:
            case 1:
                made.append('"' + " ".join(words[:2]) + '"')
            case 3 if len(words[-1]) > 3:
                made.append(" ".join([*words[:-1], words[-1][:4] + "*"]))
            case 5:
                made.append("+" + " ".join(words))
            case _:
                made.append(text)
    if len(made) < number:
        raise Unable(f"the log has {len(made)} queries, and {number} were asked for")
    return made[:number]


def judge(claims, done):
    claims.rows += done["rows"]
    claims.equal("answers that are not those of one index, IDs or scores (1e-5)", done["different"], 0)
    claims.known("queries that found something", done["answered"])
    searched = ("one", "shards", "shards, just opened")
    times = {what: [row["milliseconds"] for row in done["rows"] if row["what"] == what] for what in searched}
    middle = {what: statistics.median(some) for what, some in times.items()}
    for what, time in middle.items():
        claims.known(f"p50 of a search with 10 documents, ms, {what}", round(time, 2))
    empty = statistics.median(row["milliseconds"] for row in done["rows"] if row["what"] == "empty round")
    claims.known("p50 of a call to each shard that does nothing, ms", round(empty, 2))
    # Of the same query, asked of one and of the other in turn.
    added = statistics.median(shards - one for one, shards in zip(times["one"], times["shards"]))
    claims.at_most("ms that shards add at p50", round(added, 2), ROUTER_MS)
    used = {row["what"]: row["processor_seconds"] for row in done["rows"] if "processor_seconds" in row}
    claims.known("s of processor time of one process", round(used["one process"]["this process"], 1))
    for what, name in (("ray", "one block"), ("ray, split by Ray", "split by Ray")):
        for kind, seconds in sorted(used[what].items()):
            claims.known(f"s of processor time of gannet.ray.write, {name}, {kind}", round(seconds, 1))
    seconds = {row["what"]: row["seconds"] for row in done["rows"] if "seconds" in row}
    claims.known("s of gannet.ray.write of one document", round(seconds["ray, one document"], 1))
    rates = {row["what"]: row["documents"] / row["seconds"] for row in done["rows"] if "seconds" in row}
    claims.known("documents/s of one process", round(rates["one process"]))
    claims.known("documents/s of gannet.ray.write, one block", round(rates["ray"]))
    claims.known("documents/s of gannet.ray.write, split by Ray", round(rates["ray, split by Ray"]))
    claims.at_least("rate of gannet.ray.write, of one process's", round(rates["ray"] / rates["one process"], 3), RATE_SHARE)


main()
