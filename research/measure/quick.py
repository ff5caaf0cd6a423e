#!/usr/bin/env python3
"""All scripts of the lab with little of everything: whether they work, and no figures to quote.

    research/measure/quick.py [PART ...] [--list]

Each part is some commands, which run one behind the other. Parts that fail are listed in the end,
with status 1. The seconds of each part are there and in `target/lab/quick.json`. Programs are
built by the first part that needs them, which is not counted in the seconds if `cargo build
--release` was done before. Not here: `research/measure/memory.py --eightfold`, which needs a corpus of 3.6 GB,
and `research/measure/remote.py --endpoint`, which needs a server.
"""
import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import results
from harness import CORPORA, ROOT, TARGET, Unable, build, note
from inputs import PLACE

DOCUMENTS, ARTICLES, QUERIES = 10_000, 500, 500
# Lines of the log of web queries that caches are asked.
LOG_LINES = 1_000
GANNET, LAB = TARGET / "release" / "gannet", TARGET / "release" / "gannet-lab"
COUNTED = PLACE / "quick-counted"
LOG = PLACE / "quick-log.tsv"
SETS = ["mix", "phrase-1000", "or-1000+documents", "or-1000+count", "web-all"]


def out(name):
    return ["--out", PLACE / f"{name}-quick.json"]


PARTS = {
    "run": [
        ["research/peers/run.py", "--documents", DOCUMENTS, "--queries", QUERIES, "--shares", 16, 0, "--threads", 8, "--runs", 1, "--warm", 0.1, "--seconds", 0.2,
         "--flushes", 10, "--sets", *SETS, "--name", "run-quick"],
        ["research/report/plots.py", PLACE / "run-quick.json"],
    ],
    "cpu": [["research/peers/cpu.py", "--documents", DOCUMENTS, "--engines", "gannet", "gannet-rebuilt", "tantivy", "tantivy-merged", "--sets", "and-1000", "web-all",
             "--runs", 1, "--seconds", 0.02, *out("cpu")]],
    "paper": [["research/measure/paper.py", "--documents", DOCUMENTS, "--queries", QUERIES, "--flushes", 10, "--name", "paper-quick"]],
    "wiser built": [["research/papers/wiser/wiser.py", "--parts", "built", "--documents", f"passages={DOCUMENTS}", f"articles={ARTICLES}", "--queries", QUERIES,
                     "--limit", 20, *out("wiser")]],
    "wiser engines": [["research/papers/wiser/wiser.py", "--parts", "engines", "--documents", f"passages={DOCUMENTS}", "--queries", QUERIES, "--shares", 16,
                       "--runs", 1, "--seconds", 0.05, *out("wiser-engines")]],
    "trees": [["research/papers/as-btree/trees.py", "--scale", 0.005, "--jobs", 2, "--caches", 0, 64, "--mixes", "10/90", "OLTP", "--name", "trees-quick"]],
    "drives": [
        ["research/drives/ssd.py", "--blocks", 200, *out("ssd")],
        ["research/papers/smart-ssd/smart_ssd.py", "--no-sweep", *out("smart-ssd")],
        ["research/papers/smart-ssd/smart_vary.py", "--numbers", 2, *out("smart-vary")],
        ["research/papers/smart-ssd/smart_early.py", "--places", "union ratio", *out("smart-early")],
    ],
    "offload": [["research/papers/smart-ssd/offload.py", "--documents", DOCUMENTS, "--queries", 5, 5, 5, "--warm", 100, *out("offload")]],
    "tiers": [["research/papers/two-tier-cache/tiers.py", "--index", PLACE / "tiers-quick-index", "--indexed", DOCUMENTS, "--log", LOG, "--zipf", LOG_LINES, "--capacities", 1,
               *out("tiers")]],
    "policies": [["research/papers/two-tier-cache/policies.py", "--documents", DOCUMENTS, "--queries", LOG_LINES, *out("policies")]],
    "remote tier": [["research/papers/two-tier-cache/remote_tier.py", "--before", GANNET, "--quick", *out("remote-tier")]],
    "mfis": [["research/papers/mfis/mfis.py", "--documents", DOCUMENTS, "--flushes", 10, "--thresholds", 2, 1024, "--queries", 20, "--seconds", 0.1, "--most-seconds", 2,
              "--batch", 16, "--psync-runs", 2, "--name", "mfis-quick"]],
    "maintenance": [["research/measure/maintenance.py", "--corpora", "passages", "--documents", DOCUMENTS // 2, "--queries", QUERIES, "--runs", 1, "--seconds", 0.1,
                     "--name", "maintenance-quick"]],
    "rate": [["research/measure/rate.py", "--corpora", "passages", "articles", "--documents", ARTICLES, "--runs", 1, *out("rate")]],
    "filters": [["research/measure/filters.py", "--corpora", "passages", "--documents", DOCUMENTS, "--queries", QUERIES, "--runs", 1, "--warm", 0.1,
                 "--seconds", 0.1, *out("filters")]],
    "remote": [["research/measure/remote.py", "--documents", DOCUMENTS, "--queries", QUERIES, "--delay", 2, "--gaps", 65536, 0, "--cold", 3, "--warm", 0.2,
                "--seconds", 0.5, "--publications", 3, *out("remote")]],
    "mechanisms": [["research/measure/mechanisms.py", f"with={GANNET}", f"again={GANNET}", "--corpora", "passages", "--documents", ARTICLES, "--shuffle", 1, *out("mechanisms")]],
    "memory": [
        ["research/measure/memory.py", "--scale", "twentieth", "--corpora", "passages", "--documents", ARTICLES, "--budgets", 16, "--backends", "pread", "--threads", 2,
         *out("memory")],
        ["research/measure/memory.py", "--full", "--cases", 8, "--corpora", "passages", "--documents", ARTICLES, "--budgets", 16, "--threads", 1, 2,
         "--backends", "uring", *out("memory-full")],
    ],
    "instructions": [
        ["research/measure/instructions.py", f"one={COUNTED}", "--queries", 8, "--documents", 20, 40, "--result-cache", "8MiB", *out("instructions")],
        ["research/measure/costs.py", f"one={COUNTED}", f"other={COUNTED}@and-1000", "--corpora", "passages.twentieth", "--sets", "term-1000", "and-1000", "or-1000+count",
         "web", "--queries", 2, "--reads", 20, *out("costs")],
    ],
    "tables": [
        ["research/measure/corpora.py", "--list"],
        *([f"research/papers/{paper.name}/run.py", "--list"] for paper in folders.PAPERS),
        ["research/measure/whole.py", "--list"],
        ["research/report/missed.py", *(PLACE / f"{name}-quick.json" for name in ("mfis", "paper", "trees", "wiser"))],
        ["scripts/claims", "--check"],
        ["research/report/front_chart.py", "--check"],
    ],
}
# Of results so small some miss their targets, which this one tells by its status.
MAY_FAIL = {"research/report/missed.py"}


def main():
    options = arguments()
    if options.list:
        print("\n".join(PARTS))
        return
    PLACE.mkdir(parents=True, exist_ok=True)
    result = results.Result("quick", {"documents": DOCUMENTS, "articles": ARTICLES, "queries": QUERIES}, options.out or PLACE / "quick.json")
    for part in options.parts or PARTS:
        result.rows.append(row_of(part))
        result.write()
    failures = [f"{row['part']}: {row['failed']}" for row in result.rows if "failed" in row]
    together = sum(row["seconds"] for row in result.rows)
    print("\n".join([*(f"{row['seconds']:8.1f} s {row['part']}" for row in result.rows), f"{together:8.1f} s together", *failures]))
    sys.exit(1 if failures else 0)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="of " + ", ".join(PARTS))
    parser.add_argument("--list", action="store_true", help="name the parts and do nothing")
    results.add_option(parser)
    options = parser.parse_args()
    if unknown := [part for part in options.parts if part not in PARTS]:
        parser.error(f"unknown part {unknown[0]!r}: expected one of {', '.join(PARTS)}")
    return options


def row_of(part):
    """Runs a part; how long that took, and why it came to no end."""
    started, failed = time.monotonic(), {}
    try:
        done(part)
    except Unable as error:
        failed = {"failed": str(error)}
    row = {"part": part, "seconds": round(time.monotonic() - started, 1)} | failed
    note(f"{part}: {row['seconds']} s")
    return row


def done(part):
    """Runs a part to its end, or to its first failure."""
    ready(part)
    for script, *words in PARTS[part]:
        note(f"{script} {' '.join(map(str, words))}")
        ran = subprocess.run([sys.executable, script, *map(str, words)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if ran.returncode and script not in MAY_FAIL:
            raise Unable(f"{script} ended with {ran.returncode}:\n{ran.stdout[-2000:]}")


def ready(part):
    """What a part needs that is made here."""
    if part == "tiers" and not LOG.exists():
        lines = (CORPORA / "queries" / "web-log-25k.tsv").read_text().splitlines(keepends=True)
        LOG.write_text("".join(lines[:LOG_LINES]))
    if part == "mechanisms":
        build(["cargo", "build", "--release", "--locked", "-p", "gannet-cli"], ROOT)
    if part == "instructions" and not COUNTED.exists():
        counted()


def counted():
    """The command as valgrind can run it, see `research/measure/instructions.py`: without object storage, which takes long to build."""
    place = TARGET / "counted"
    build(["cargo", "build", "--release", "--locked", "-p", "gannet-cli", "--no-default-features", "--features", "rustix/use-libc-auxv",
           "--target-dir", str(place)], ROOT, os.environ)
    shutil.copy(place / "release" / "gannet", COUNTED)


if __name__ == "__main__":
    main()
