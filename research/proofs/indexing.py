#!/usr/bin/env python3
"""Indexing under a hard memory limit: it is not killed, keeps up with Tantivy, and the index is smaller than the text.

Engines take turns, each run into a fresh folder, input in the page cache. Gannet runs in a memory group of its budget plus
the stated constant. Tantivy's writer gets the same budget, but its group is larger (TANTIVY_GROUP), for its budget does not
cover what it maps and caches.
"""
import argparse
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
from harness import CACHE, MIB, MemoryGroup, Claims, articles, gannet, note, passages, remove, results, run, tantivy, text_size, warm

BUDGET = 256 * MIB
CONSTANT = 64 * MIB
TANTIVY_GROUP = 1024 * MIB
THREADS = 2
RATE_RATIO = 0.8
SIZE_RATIO = 0.9


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--corpus", choices=["passages", "articles"], action="append")
    parser.add_argument("--engine", choices=["gannet", "tantivy"], help="try one engine alone: the comparison then misses")
    results.add_option(parser)
    options = parser.parse_args()
    with Claims("indexing", options.out, runs=options.runs, budget_bytes=BUDGET, constant_bytes=CONSTANT, threads=THREADS,
              tantivy_group_bytes=TANTIVY_GROUP) as claims:
        engines = {name: make() for name, make in [("gannet", gannet), ("tantivy", tantivy)]
                   if options.engine in (None, name)}
        for corpus in options.corpus or ["passages", "articles"]:
            compare(claims, corpus, {"passages": passages, "articles": articles}[corpus](), engines, options.runs)


def compare(claims, corpus, source, engines, runs):
    text = text_size(source)
    warm(source)
    rows_of = {name: [] for name in engines}
    for number in range(runs):
        order = list(engines) if number % 2 == 0 else list(reversed(engines))
        for name in order:
            row = {"corpus": corpus, "engine": name, "run": number} | index(name, engines[name], source)
            rows_of[name].append(row)
            claims.rows.append(row)
            note(f"{corpus} {name} run {number + 1}: {row}")
    claims.settings[corpus] = text

    ours, theirs = rows_of.get("gannet", []), rows_of.get("tantivy", [])
    claims.equal(f"{corpus}: kills and failures in {BUDGET + CONSTANT >> 20} MiB",
               sum(row["kills"] + (row["code"] != 0) for row in ours) if ours else None, 0)
    for name, rows in rows_of.items():
        claims.equal(f"{corpus}: documents of each run, {name}", sorted({row.get("documents") for row in rows}, key=str), [text["docs"]])
    rates = [median_rate(rows, text["docs"]) for rows in (ours, theirs)]
    claims.known(f"{corpus}: documents/s, Gannet", rates[0])
    claims.known(f"{corpus}: documents/s, Tantivy", rates[1])
    claims.at_least(f"{corpus}: rate against Tantivy's", round(rates[0] / rates[1], 3) if all(rates) else None, RATE_RATIO)
    for name, rows in rows_of.items():
        claims.known(f"{corpus}: documents per second of processor time, {name}",
                   median_rate(rows, text["docs"], "cpu_seconds"))
    sizes = [row["index_bytes"] for row in ours if "index_bytes" in row]
    claims.at_most(f"{corpus}: index bytes / text bytes",
                 round(max(sizes) / text["text_bytes"], 3) if sizes else None, SIZE_RATIO)


def index(name, binary, source):
    """One run; the figures that the engine and the kernel gave."""
    folder = CACHE / f"indexing-{name}"
    remove(folder)
    memory = BUDGET if name == "tantivy" else f"{BUDGET >> 20}MiB"
    command = [binary, "index", folder, source, "--memory", memory, "--threads", THREADS, "--json"]
    with MemoryGroup(TANTIVY_GROUP if name == "tantivy" else BUDGET + CONSTANT) as group:
        done = run(command, group=group)
        row = group.figures()
    remove(folder)
    if done.code == 0:
        row |= done.json()
    else:
        note(done.errors[-2000:])
    return row | {"code": done.code, "wall_seconds": round(done.seconds, 2), "cpu_seconds": round(done.cpu_seconds, 2),
                  "peak_resident_bytes": done.peak_resident_bytes}


def median_rate(rows, docs, seconds="wall_seconds"):
    """Documents a second of the whole process, by the median of the runs; nothing when a run failed."""
    if not rows or any(row["code"] != 0 for row in rows):
        return None
    return round(docs / statistics.median(row[seconds] for row in rows))


main()
