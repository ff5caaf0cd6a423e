#!/usr/bin/env python3
"""Answers equal a naive oracle's, and plain BM25 ranks as well as the published figures."""
import argparse

import relevance
from measure import Show, cargo_test, gannet, names

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
    with Show(3, queries=options.queries) as show:
        if options.only != "relevance":
            oracle(show, options.queries)
        if options.only != "oracle":
            command = gannet()
            for name, target in NDCG.items():
                figure, judged = relevance.measure(command, name)
                show.settings[f"{name}_queries"] = judged
                show.at_least(f"nDCG@10 {name}", round(figure, 4), round(target - NDCG_TOLERANCE, 3))


def oracle(show, queries):
    """The test tells what each kind of query gave at each stage; here every row is looked at."""
    done, figures = cargo_test("oracle", {"GANNET_ORACLE_QUERIES": str(queries)})
    rows = figures.pop("rows", [])
    show.settings["oracle"] = figures
    show.settings["oracle_rows"] = rows
    show.equal("oracle: exit code of the tests", done.code, 0)
    show.equal("oracle: tests passed", sorted(names(done) & ORACLE_TESTS), sorted(ORACLE_TESTS))
    show.at_most("oracle: relative tolerance of scores, f32 of 1e-5", figures.get("tolerance"), TOLERANCE)
    show.equal("oracle: stages", list(dict.fromkeys(row["stage"] for row in rows)), list(STAGES))
    for stage, (flushes, chunks, replaced) in STAGES.items():
        here = [row for row in rows if row["stage"] == stage]
        show.equal(f"{stage}: kinds of queries", sorted(row["kind"] for row in here), sorted(KINDS))
        show.at_least(f"{stage}: queries", sum(row["queries"] for row in here), queries)
        show.at_least(f"{stage}: queries of the rarest kind", least(here, "queries"), queries // len(KINDS))
        show.at_least(f"{stage}: queries of a kind that find something", least(here, "found"), queries // len(KINDS) // 8)
        show.equal(f"{stage}: differences", sum(row["differences"] for row in here) if here else None, 0)
        if flushes:
            show.at_least(f"{stage}: flushes before", least(here, "flushes"), flushes)
            show.at_least(f"{stage}: chunks of the longest list", least(here, "chunks_of_longest_list"), chunks)
        else:
            show.equal(f"{stage}: flushes before", sorted({row["flushes"] for row in here}), [0])
        show.at_least(f"{stage}: share of the documents that others replaced",
                      min((row["replaced"] / row["documents"] for row in here), default=None), replaced)


def least(rows, member):
    return min((row[member] for row in rows), default=None)


main()
