#!/usr/bin/env python3
"""Answers equal a naive oracle's, and plain BM25 ranks as well as the published figures."""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import ndcg
from harness import Claims, cargo_test, gannet, names

QUERIES = 2000
KINDS = ["term", "number", "or", "and", "phrase", "sloppy", "repeating", "prefix", "wildcard", "fuzzy", "range", "exists",
         "all", "bool", "minimum", "boost", "unfielded"]
# A stage, and what must lie behind it: flushes, chunks of the longest list, the share of the documents that were replaced.
STAGES = {
    "before any flush": (0, 0, 0),
    "after many flushes": (20, 3, 0),
    "reopened": (20, 3, 0),
    "after replacing and deleting": (20, 3, 0.1),
    "after many more flushes": (40, 3, 0.1),
    "a snapshot from before the changes": (20, 3, 0),
    "reopened with a log to replay": (40, 3, 0.1),
}
TOLERANCE = 1.0001e-5
ORACLE_TESTS = {
    "oracle_test::answers_are_those_of_the_oracle_through_the_life_of_an_index",
    "oracle::bm25::lengths_are_cut_as_lucene_cuts_them",
    "oracle::patterns::patterns_and_distances",
    "oracle::phrase::phrases_count_by_their_smallest_windows",
}
NDCG = {"cranfield": 0.369, "cacm": 0.483, "vaswani-npl": 0.433, "scifact": 0.680}
NDCG_TOLERANCE = 0.01


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=["oracle", "relevance"])
    parser.add_argument("--queries", type=int, default=QUERIES)
    options = parser.parse_args()
    with Claims("relevance", queries=options.queries) as claims:
        if options.only != "relevance":
            oracle(claims, options.queries)
        if options.only != "oracle":
            command = gannet()
            for name, target in NDCG.items():
                figure, judged = ndcg.measure(command, name)
                claims.settings[f"{name}_queries"] = judged
                claims.at_least(f"nDCG@10 {name}", round(figure, 4), round(target - NDCG_TOLERANCE, 3))


def oracle(claims, queries):
    """The test tells what each kind of query gave at each stage; here every row is looked at."""
    done, figures = cargo_test("oracle", {"GANNET_ORACLE_QUERIES": str(queries)})
    rows = figures.pop("rows", [])
    claims.settings["oracle"] = figures
    claims.settings["oracle_rows"] = rows
    claims.equal("oracle: exit code of the tests", done.code, 0)
    claims.equal("oracle: tests passed", sorted(names(done) & ORACLE_TESTS), sorted(ORACLE_TESTS))
    claims.at_most("oracle: relative tolerance of scores, f32 of 1e-5", figures.get("tolerance"), TOLERANCE)
    claims.equal("oracle: stages", list(dict.fromkeys(row["stage"] for row in rows)), list(STAGES))
    for stage, (flushes, chunks, replaced) in STAGES.items():
        here = [row for row in rows if row["stage"] == stage]
        claims.equal(f"{stage}: kinds of queries", sorted(row["kind"] for row in here), sorted(KINDS))
        claims.at_least(f"{stage}: queries", sum(row["queries"] for row in here), queries)
        claims.at_least(f"{stage}: queries of the rarest kind", least(here, "queries"), queries // len(KINDS))
        claims.at_least(f"{stage}: queries of a kind that find something", least(here, "found"), queries // len(KINDS) // 8)
        claims.equal(f"{stage}: differences", sum(row["differences"] for row in here) if here else None, 0)
        if flushes:
            claims.at_least(f"{stage}: flushes before", least(here, "flushes"), flushes)
            claims.at_least(f"{stage}: chunks of the longest list", least(here, "chunks_of_longest_list"), chunks)
        else:
            claims.equal(f"{stage}: flushes before", sorted({row["flushes"] for row in here}), [0])
        claims.at_least(f"{stage}: share of the documents that others replaced",
                      min((row["replaced"] / row["documents"] for row in here), default=None), replaced)


def least(rows, member):
    return min((row[member] for row in rows), default=None)


main()
