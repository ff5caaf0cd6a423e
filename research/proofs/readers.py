#!/usr/bin/env python3
"""Readers beside a writer see whole batches, never an older one; and what that costs them."""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
from harness import Claims, cargo_test, names

READS = 100_000
FLUSHES = 20
TESTS = {f"snapshots::{name}" for name in [
    "every_answer_is_of_one_batch_and_none_goes_back",
    "a_batch_published_in_halves_is_noticed",
    "going_back_is_noticed",
    "cleaning_goes_on_through_many_flushes",
]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--reads", type=int, default=READS)
    options = parser.parse_args()
    with Claims("readers", reads=options.reads, readers=2) as claims:
        done, figures = cargo_test("snapshots::", {"GANNET_SNAPSHOT_READS": str(options.reads)})
        claims.settings["snapshots"] = figures
        claims.equal("exit code of the tests", done.code, 0)
        claims.equal("tests passed, canaries included", sorted(names(done) & TESTS), sorted(TESTS))
        claims.at_least("reads", figures.get("reads"), options.reads)
        claims.at_least("flushes meanwhile", figures.get("flushes"), FLUSHES)
        claims.equal("reads that saw two tags or went back", figures.get("faults"), 0)
        claims.known("p99 idle, us", figures.get("idle_latency_us_p99"))
        claims.known("p99 under load, us", figures.get("load_latency_us_p99"))


main()
