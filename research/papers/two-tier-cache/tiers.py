#!/usr/bin/env python3
"""The caches of the hybrid cache paper (Li et al., 2012) and the lab's own, over modelled devices.

Hit ratios, response time, throughput, erases and access time by policy and capacity, for a web log
and a log drawn by Zipf's law, with foyer as a peer. Results go to `target/results/tiers.json`. A run
that the file has from the same commit and settings is not made again, so that the whole can be made
in pieces. See research/papers/two-tier-cache/page.md.
"""
import argparse
import json
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import inputs
import results
from engines import gannet_lab
from inputs import PLACE
from harness import CORPORA, MIB, ROOT, TARGET, build, note, run
from report import figures as table
from tier_aims import missed_aims

# A log as people typed it, and one drawn from its queries; both are run side by side.
LOGS = ("web", "zipf")
LOG = CORPORA / "queries" / "web-log-25k.tsv"
# Documents of the paper's collection.
DOCUMENTS = 5_000_000
# Megabytes in memory. With 1 and 2 MB flash has 82 and 164 MB.
CAPACITIES = [1, 2, 5, 10, 20]
ONE_LEVEL = ["--flash-results", 0, "--flash-lists", 0]
SOME = 5
# What of foyer is tried. First all of its orders in memory with and without its picker by size
# (entries of more bytes stay away from flash), with parts of lists that grow. Then the best of
# these with what else is cached of a list, and with blocks four times as large.
FOYER_ORDERS = ["lru", "lfu", "s3fifo", "sieve"]
FOYER_ADMITTED = [1 << 40, 128 << 10]
FOYER_PREFIXES = ["mean", "longest"]
# Bytes of its blocks: about a hundredth of flash, and at least a megabyte, since no larger entry is
# cached.
FOYER_BLOCKS = {1: MIB, 2: MIB}
FOYER_BLOCK = 4 * MIB
# Bytes of a page of the host, and of a block of the paper, in which flash is counted.
PAGE = 4096
BLOCK = 32 * PAGE


def main():
    options = arguments()
    result = results.Result("tiers", {"documents": DOCUMENTS, "zipf": options.zipf, "corpus": "passages", "indexed": options.indexed, "log": options.log.name}, options.out)
    resume(result)
    lab = Lab(options, result)
    for experiment in options.experiments:
        EXPERIMENTS[experiment](lab)
    result.more["misses"] = missed_aims({"rows": result.rows})
    result.write()
    note(f"{len(result.rows)} rows in {result.path}")


def resume(result):
    """Takes over what the file has already; a file is written with whole runs alone."""
    settings = result.settings
    result.resume(lambda earlier: earlier == settings)
    result.more["workloads"] = json.loads(result.path.read_text())["workloads"] if result.rows else {}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--index", type=Path, default=PLACE / "tiers-index", help="made from the corpus passages if it is not there")
    parser.add_argument("--indexed", type=int, help="only the first so many passages; an index that is there stays as it is")
    parser.add_argument("--log", type=Path, default=LOG)
    parser.add_argument("--capacities", type=int, nargs="+", default=CAPACITIES, help="megabytes in memory, of `policies` and `foyer`")
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
            source = inputs.source("passages", options.indexed)
            run([self.program, "index", options.index, source, "--commit-every", 10_000_000, "--memory", 256 * MIB])

    def run(self, experiment, *more, logs=LOGS, documents=DOCUMENTS, **about):
        name = " ".join(str(word) for word in [experiment, documents, *logs, *more])
        if self.has(name):
            return
        ask = lambda log: run([*self.command(log, documents), *more]).json()
        for log, done in zip(logs, side_by_side(ask, logs)):
            rows = [{"experiment": experiment, "run": name, "log": log} | about | row for row in done["rows"]]
            if experiment != "policies":
                rows = [{name: value for name, value in row.items() if name != "points"} for row in rows]
            self.result.rows += rows
            if documents == DOCUMENTS:
                self.result.more["workloads"][log] = done["workload"]
            self.show(f"{experiment}, {log}", rows, about)
        self.result.write()

    def has(self, name):
        return any(row["run"] == name for row in self.result.rows)

    def command(self, log, documents=DOCUMENTS):
        drawn = ["--zipf", self.options.zipf] if log == "zipf" else []
        return [self.program, "tiers", self.options.index, self.options.log, "--documents", documents, *drawn]

    @staticmethod
    def show(title, rows, about=""):
        shown = {f"{row['policy']}, {row['capacity_mb']} MB {about or ''}": [
            row["hit_ratio"]["queries_without_slow_store"], row["modelled_response_us"], row["flash"]["written_bytes"] / 1e6] for row in rows}
        print(table(title, ["without store", "modelled us", "MB written"], shown), flush=True)

    def trace(self, log):
        """The file of a log for foyer, and what the devices take."""
        path = PLACE / f"tiers-{log}.trace"
        done = run([*self.command(log), "--trace", path, "--capacities", 1, "--policies", "lru-partial", "--untuned"])
        return path, done.json()["modelled_prices"]


def side_by_side(work, logs):
    with ThreadPoolExecutor(len(logs)) as pool:
        return list(pool.map(work, logs))


def policies(lab):
    """Table I, figures 14b, 17 and 19: all policies, tuned."""
    for capacity in lab.options.capacities:
        lab.run("policies", "--capacities", capacity, "--search")


def classes(lab):
    """Figure 14a: results alone, lists alone, both."""
    for name, share in [("RC", 1), ("IC", 0), ("RIC", 0.2)]:
        lab.run("classes", "--capacities", 1, 2, 5, 10, 20, 50, 100, "--policies", "cblru", "--untuned", "--results", share, classes=name)


def uncached(lab):
    """Figure 15: no cache, by documents."""
    for store in ("disk", "drive"):
        for millions in range(1, 6):
            lab.run("uncached", "--capacities", 0, "--policies", "lru-partial", "--untuned", "--store", store, logs=["web"],
                    documents=millions * 1_000_000)


def levels(lab):
    """Figures 16 and 18a: one level and two, results alone and with lists, the index on each."""
    for store in ("disk", "drive"):
        for classes, share in [("R", 1), ("RI", 0.2)]:
            for level, more in [("1LC", ONE_LEVEL), ("2LC", [])]:
                lab.run("levels", "--capacities", SOME, "--policies", "cbslru", "--untuned", "--results", share, "--store", store, *more,
                        classes=classes, levels=level)


def costs(lab):
    """Figure 18b: memory against flash, over a disk."""
    for memory, flash in [(5, 0), (20, 0), (100, 0), (400, 0), (5, 20), (5, 100), (2, 100), (1, 200)]:
        lab.run("costs", "--capacities", memory, "--policies", "cbslru", "--untuned", "--flash-results", flash, "--flash-lists", flash)


def foyer(lab):
    """foyer's hybrid cache on the same entries, in the same bytes of memory and flash."""
    target = TARGET / "engines"
    build(["cargo", "build", "--release", "--locked", "--target-dir", str(target)], ROOT / "research/peers/foyer")
    traces = {log: lab.trace(log) for log in LOGS}
    for capacity in lab.options.capacities:
        name = f"foyer {capacity}"
        if lab.has(name):
            continue
        ask = lambda log: [row | {"log": log, "run": name} for row in foyer_rows(target / "release" / "foyer-peer", *traces[log], capacity)]
        for log, rows in zip(LOGS, side_by_side(ask, LOGS)):
            best = min(rows, key=response)
            best["is_best"] = True
            lab.result.rows += rows
            lab.show(f"foyer, {log}", [best])
        lab.result.write()


def foyer_rows(peer, trace, prices, capacity):
    """A row for each of foyer's settings that are tried. It is told the best of these, as judged by the half that is measured."""
    block = FOYER_BLOCKS.get(capacity, FOYER_BLOCK)
    run_of = lambda order, admitted, prefix, block: foyer_row(peer, trace, prices, capacity, order, admitted, prefix, block)
    rows = [run_of(order, admitted, "grows", block) for order in FOYER_ORDERS for admitted in FOYER_ADMITTED]
    best = min(rows, key=response)
    order, admitted = best["order"], best["admitted_bytes"]
    rows += [run_of(order, admitted, prefix, block) for prefix in FOYER_PREFIXES]
    rows.append(run_of(order, admitted, min(rows, key=response)["prefix"], 4 * block))
    return rows


def response(row):
    return row["modelled_response_us"]


def foyer_row(peer, trace, prices, capacity, order, admitted, prefix, block):
    memory = capacity * 1_000_000
    flash = sum(int(memory * share) * multiple // BLOCK * BLOCK for share, multiple in [(0.2, 10), (0.8, 100)])
    folder = trace.with_suffix(".foyer")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    found = run([peer, trace, folder, "--memory", memory, "--flash", flash, "--algorithm", order, "--admitted", admitted, "--prefix", prefix,
                 "--block", block]).json()
    shutil.rmtree(folder)
    return {"experiment": "foyer", "policy": "foyer", "capacity_mb": capacity, "flash_bytes": flash, "order": order, "admitted_bytes": admitted,
            "prefix": prefix, "block_bytes": block, "is_best": False, "modelled_response_us": modelled(found, prices)} | found


def modelled(found, prices):
    """The mean response time with the modelled devices' prices. Writes have no garbage collection in it."""
    took = lambda name, times, pages: times * prices[name]["first_us"] + pages * prices[name]["page_us"]
    total = (took("flash_read", found["flash_reads"], found["flash_read_pages"]) + took("disk_read", found["store_reads"], found["store_read_pages"])
             + prices["flash_write"]["page_us"] * found["flash"]["written_bytes"] / PAGE)
    return total / found["queries"]


EXPERIMENTS = {"policies": policies, "classes": classes, "uncached": uncached, "levels": levels, "costs": costs, "foyer": foyer}

if __name__ == "__main__":
    main()
