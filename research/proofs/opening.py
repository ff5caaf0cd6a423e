#!/usr/bin/env python3
"""An index opens at once, answers its first query at once, and recovers in seconds after kill -9."""
import argparse
import itertools
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
from harness import CACHE, Claims, gannet, index_lines, note, passages, passages_index, remove, results, run, settle

OPEN_MS = 100
FIRST_QUERY_MS = 20
RECOVERY_MS = 5000
QUERIES = ["term\tanarchism", "and\tunited states history", "or\tflash memory storage", "phrase\tnew york"]
REPEATS = 5
# Passages fed before each kill. With this memory a flush begins, and a new stretch of log, at about 125,000 passages:
# each third kill finds it nearly full, the others on the way.
FEEDS = [40_000] * 7
# What a feed leaves over stays in the command until there is enough for a commit.
COMMIT_EVERY = 1000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=["open", "recovery"])
    results.add_option(parser)
    options = parser.parse_args()
    only = options.only
    with Claims("opening", options.out, queries=QUERIES, repeats=REPEATS, feeds=FEEDS, memory="256MiB") as claims:
        command = gannet()
        if only != "recovery":
            opening(claims, command)
        if only != "open":
            recovery(claims, command)


def opening(claims, command):
    """The worst of several new processes: a promise about opening holds every time."""
    index, _ = passages_index(command)
    rows = [(query, *first_query(command, index, query)) for query in QUERIES for _ in range(REPEATS)]
    names = ("query", "open_ms", "first_query_ms", "bytes_read")
    claims.rows += [{"kind": "opening"} | dict(zip(names, row)) for row in rows]
    opens, firsts = [[row[at] for row in rows] for at in (1, 2)]
    claims.settings["medians_ms"] = {"open": statistics.median(opens), "first_query": statistics.median(firsts)}
    claims.at_most("worst opening, ms", round(max(opens), 2), OPEN_MS)
    claims.at_most("worst first query, ms", round(max(firsts), 2), FIRST_QUERY_MS)


def recovery(claims, command):
    """Feeds an index, kills it while its log is open, times the next opening; again and again."""
    index = CACHE / "opening.gnt"
    remove(index)
    rows = []
    with open(passages(), "rb") as lines:
        for feed in FEEDS:
            process = index_lines(command, index, itertools.islice(lines, feed),
                                  "--memory", "256MiB", "--commit-every", COMMIT_EVERY, "--json")
            settle(process)
            process.kill()
            process.wait()
            process.stdin.close()
            opened, first, read = first_query(command, index, QUERIES[0])
            there = run([command, "stats", index, "--memory", "256MiB", "--json"]).json()["documents"]
            rows.append({"fed": feed, "documents": there, "open_ms": opened, "first_query_ms": first, "bytes_read": read})
            note(str(rows[-1]))
    remove(index)
    claims.rows += [{"kind": "recovery"} | row for row in rows]
    before = [0] + [row["documents"] for row in rows]
    lost = [row["fed"] - (row["documents"] - there) for there, row in zip(before, rows)]
    claims.at_most("most documents of a feed that are not there after the kill", max(lost), COMMIT_EVERY - 1)
    claims.known("most bytes read by an opening", max(row["bytes_read"] for row in rows))
    claims.at_most("worst opening after kill -9, ms", round(max(row["open_ms"] for row in rows), 1), RECOVERY_MS)


def first_query(command, index, query):
    """Opening and first query of a new process in milliseconds, and the bytes it read for both."""
    file = CACHE / "first-query.tsv"
    file.write_text(query + "\n")
    figures = run([command, "bench", index, file, "--memory", "256MiB", "--threads", 1, "-k", 10, "--json"]).json()
    return figures["open_ms"], figures["latency_us_p50"] / 1e3, figures["bytes_read"]["engine"]


main()
