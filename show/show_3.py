#!/usr/bin/env python3
"""Answers equal a naive oracle's, and plain BM25 ranks as well as the published figures."""
import argparse

import relevance
from measure import Show, cargo_test, gannet, row

QUERIES = 2000
SCORE_ERROR = 1e-5
FLUSHES = 20
CHUNKS = 3
REPLACED = 0.1
STAGES = ["before flush", "flushed", "reopened", "replaced"]
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
    done, rows = cargo_test("oracle", {"GANNET_ORACLE_QUERIES": str(queries)})
    figures = row(rows, "oracle")
    show.settings["oracle"] = figures
    show.equal("oracle: exit code of the test", done.code, 0)
    show.at_least("oracle: random queries", figures.get("queries"), queries)
    kinds = figures.get("kinds", {})
    show.at_least("oracle: queries of the rarest kind", min(kinds.values(), default=None), 1)
    show.equal("oracle: stages", sorted(figures.get("stages", [])), sorted(STAGES))
    show.equal("oracle: differences in documents", figures.get("differences"), 0)
    show.at_most("oracle: worst relative error of a score", figures.get("worst_score_error"), SCORE_ERROR)
    show.at_least("oracle: flushes", figures.get("flushes"), FLUSHES)
    show.at_least("oracle: chunks of the longest list", figures.get("most_chunks"), CHUNKS)
    show.at_least("oracle: share of documents replaced", figures.get("replaced_share"), REPLACED)


main()
