#!/usr/bin/env python3
"""The caches of the hybrid cache paper (Li et al., 2012) and Gannet's, over modelled devices: hit
ratios, response time, throughput, erases and access time by policy and capacity, for a web log and
a log drawn by Zipf's law. Results go to `target/results/tiers.json`. See docs/experiments.md.
"""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "show"))  # For `measure`.

import corpora
import results
from engines import gannet_lab
from inputs import PLACE
from measure import CORPORA, MIB, note, run
from report import figures as table

LOG = CORPORA / "queries" / "web-log-25k.tsv"
# Documents of the paper's collection.
DOCUMENTS = 5_000_000
# Megabytes in memory. With 1 and 2 MB flash has 82 and 164 MB.
CAPACITIES = [1, 2, 5, 10, 20]
ONE_LEVEL = ["--flash-results", 0, "--flash-lists", 0]
SOME = 5


def main():
    options = arguments()
    result = results.Result("tiers", {"documents": DOCUMENTS, "zipf": options.zipf, "corpus": "passages", "log": LOG.name}, options.out)
    lab = Lab(options, result)
    for experiment in options.experiments:
        EXPERIMENTS[experiment](lab)
    note(f"{len(result.rows)} rows in {result.path}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--index", type=Path, default=PLACE / "tiers-index", help="made from the corpus passages if it is not there")
    parser.add_argument("--log", type=Path, default=LOG)
    parser.add_argument("--zipf", type=int, default=25_000, help="queries of the drawn log")
    parser.add_argument("--experiments", nargs="+", choices=EXPERIMENTS, default=list(EXPERIMENTS))
    results.add_option(parser)
    return parser.parse_args()


class Lab:
    """Runs of `gannet-lab tiers` on one index and log, whose rows are collected."""

    def __init__(self, options, result):
        self.options, self.result, self.program = options, result, gannet_lab()
        if not options.index.exists():
            note(f"indexing passages in {options.index}")
            run([self.program, "index", options.index, corpora.corpus("passages"), "--commit-every", 10_000_000, "--memory", 256 * MIB])

    def run(self, experiment, log, *more, documents=DOCUMENTS, **about):
        drawn = ["--zipf", self.options.zipf] if log == "zipf" else []
        done = run([self.program, "tiers", self.options.index, self.options.log, "--documents", documents, *drawn, *more]).json()
        rows = [{"experiment": experiment, "log": log} | about | row for row in done["rows"]]
        if experiment != "policies":
            rows = [{name: value for name, value in row.items() if name != "points"} for row in rows]
        self.result.rows += rows
        self.result.more.setdefault("workloads", {})[log] = done["workload"]
        self.result.write()
        shown = {f"{row['policy']}, {row['capacity_mb']} MB {about or ''}": [
            row["hit_ratio"]["queries_without_slow_store"], row["modelled_response_us"], row["flash"]["modelled_erased_blocks"]] for row in rows}
        print(table(f"{experiment}, {log}", ["without store", "modelled us", "erases"], shown), flush=True)


def policies(lab):
    """Table I, figures 14b, 17 and 19: all policies, tuned."""
    for log in ("web", "zipf"):
        lab.run("policies", log, "--capacities", *CAPACITIES, "--search")


def classes(lab):
    """Figure 14a: results alone, lists alone, both."""
    for name, share in [("RC", 1), ("IC", 0), ("RIC", 0.2)]:
        for log in ("web", "zipf"):
            lab.run("classes", log, "--capacities", 1, 2, 5, 10, 20, 50, 100, "--policies", "cblru", "--untuned", "--results", share, classes=name)


def uncached(lab):
    """Figure 15: no cache, by documents."""
    for store in ("disk", "drive"):
        for millions in range(1, 6):
            lab.run("uncached", "web", "--capacities", 0, "--policies", "lru-partial", "--untuned", "--store", store, documents=millions * 1_000_000)


def levels(lab):
    """Figures 16 and 18a: one level and two, results alone and with lists, the index on each."""
    for log in ("web", "zipf"):
        for store in ("disk", "drive"):
            for classes, share in [("R", 1), ("RI", 0.2)]:
                for level, more in [("1LC", ONE_LEVEL), ("2LC", [])]:
                    lab.run("levels", log, "--capacities", SOME, "--policies", "cbslru", "--untuned", "--results", share, "--store", store, *more,
                            classes=classes, levels=level)


def costs(lab):
    """Figure 18b: memory against flash, over a disk."""
    for log in ("web", "zipf"):
        for memory, flash in [(5, 0), (20, 0), (100, 0), (400, 0), (5, 20), (5, 100), (2, 100), (1, 200)]:
            lab.run("costs", log, "--capacities", memory, "--policies", "cbslru", "--untuned",
                    "--flash-results", flash, "--flash-lists", flash)


EXPERIMENTS = {"policies": policies, "classes": classes, "uncached": uncached, "levels": levels, "costs": costs}

if __name__ == "__main__":
    main()
