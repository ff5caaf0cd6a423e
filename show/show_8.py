#!/usr/bin/env python3
"""Readers beside a writer see whole batches, never an older one; and what that costs them."""
import argparse

from measure import Show, cargo_test, row

READS = 100_000
FLUSHES = 20


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--reads", type=int, default=READS)
    options = parser.parse_args()
    with Show(8, reads=options.reads, readers=2) as show:
        done, rows = cargo_test("snapshots", {"GANNET_SNAPSHOT_READS": str(options.reads)})
        figures = row(rows, "snapshots")
        show.settings["snapshots"] = figures
        show.equal("exit code of the test", done.code, 0)
        show.equal("reading threads", figures.get("readers"), 2)
        show.at_least("reads", figures.get("reads"), options.reads)
        show.at_least("flushes meanwhile", figures.get("flushes"), FLUSHES)
        show.equal("reads that saw two tags", figures.get("mixed"), 0)
        show.equal("reads that went back", figures.get("backwards"), 0)
        show.equal("canary broken_publication makes the test fail",
                   figures.get("canaries", {}).get("broken_publication"), True)
        show.known("p99 idle, us", figures.get("latency_us_p99_idle"))
        show.known("p99 under load, us", figures.get("latency_us_p99_load"))


main()
