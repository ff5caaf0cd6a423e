#!/usr/bin/env python3
"""Answers equal a naive oracle's, and plain BM25 ranks as well as the published figures."""
import argparse
import re

import relevance
from measure import Show, cargo_test, gannet, passed

QUERIES = 2000
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
    """The test asks a quota of each kind at each stage, and itself asserts stages, flushes, chunks and scores."""
    done, _ = cargo_test("answers_are_those_of_the_oracle", {"GANNET_ORACLE_QUERIES": str(queries)})
    show.equal("oracle: exit code of the test", done.code, 0)
    show.equal("oracle: tests passed", passed(done)[0], 1)
    asked = re.findall(r"^(.*): (\d+) queries in", done.output, re.M)
    show.settings["oracle"] = {stage: int(count) for stage, count in asked}
    show.at_least("oracle: stages", len(asked), 4)
    show.at_least("oracle: random queries of the smallest stage", min((int(count) for _, count in asked), default=None), queries)


main()
