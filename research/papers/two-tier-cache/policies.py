#!/usr/bin/env python3
"""Policies of the flash tier on a trace of the engine's own page requests; a simulation.

The queries of the web log are asked of an index of passages, each with empty frames, and every page
that they ask for is written down, round by round (`gannet-lab trace`). `gannet-lab replay` sends
the trace through frames and a tier under each policy. Results go to `target/results/policies.json`.
See research/papers/two-tier-cache/page.md.
"""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import inputs
import results
from engines import gannet_lab
from harness import CORPORA, MIB, Unable, note, run
from inputs import PLACE
from report import figures as table

LOG = CORPORA / "queries" / "web-log-25k.tsv"
PAGE = 4096
# The policies that write regions: the engine's, and the one that it had before.
REGIONS = ["round-shares", "second-sighting"]


def main():
    options = arguments()
    lab = options.lab or gannet_lab()
    about = {"documents": options.documents, "queries": options.queries, "corpus": "passages", "log": LOG.name}
    result = results.Result("policies", about, options.out)
    index, trace = made(lab, options)
    pages = sum(file.stat().st_size for file in index.rglob("*") if file.is_file()) // PAGE
    for frames in options.frames:
        replay = [lab, "replay", trace, "--pages", pages, "--frames", frames, "--tiers", *options.tiers]
        for process in [None, *options.processes]:
            # The others know what no process can tell the next one.
            more = ["--process", process, "--policies", "none", *REGIONS] if process else []
            done = run([*replay, *more]).json()
            result.more.setdefault("trace", done["trace"])
            result.rows += [{"frames_one_of": frames, "process": process} | row for row in done["rows"]]
            result.write()
            show(frames, process, done["rows"])
    note(f"{len(result.rows)} rows in {result.path}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000, help="the first so many passages")
    parser.add_argument("--queries", type=int, default=25_000, help="the first so many queries of the log")
    parser.add_argument("--frames", type=int, nargs="+", default=[64], help="memory is one of so many parts of the index")
    parser.add_argument("--tiers", type=int, nargs="+", default=[64, 16, 8, 4, 2], help="the tier is one of so many parts of the index")
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 10, 100, 1000], help="a process ends after so many queries")
    parser.add_argument("--lab", metavar="FILE", help="the program; default: a release build of this tree")
    results.add_option(parser)
    return parser.parse_args()


def made(lab, options):
    """The index and the trace, from an earlier run if they are there."""
    PLACE.mkdir(parents=True, exist_ok=True)
    name = f"policies-{options.documents}"
    index, trace = PLACE / f"{name}.gnt", PLACE / f"{name}-{options.queries}.trace"
    if not index.exists():
        note(f"indexing passages in {index}")
        run([lab, "index", index, inputs.source("passages", options.documents), "--commit-every", 10_000_000, "--memory", 256 * MIB])
    if not trace.exists():
        note(f"asking {options.queries} queries")
        unfinished = trace.with_suffix(".unfinished")
        if (traced := run([lab, "trace", index, LOG, unfinished, "--queries", options.queries])).code:
            raise Unable(f"no trace: {traced.errors[-1000:]}")
        unfinished.rename(trace)
    return index, trace


def show(frames, process, rows):
    for size in dict.fromkeys(row["tier_pages"] for row in rows):
        shown = {row["policy"]: [100 * row["hits"] / row["requests"], row["store_rounds"] / row["queries"],
                                 row["store_requests"] / row["queries"], row["written_pages"] * PAGE / MIB]
                 for row in rows if row["tier_pages"] == size}
        title = f"tier of {size} pages, memory 1/{frames}, {process or 'all'} queries a process"
        print(table(title, ["hits, %", "rounds a query", "requests a query", "MiB written"], shown), flush=True)


if __name__ == "__main__":
    try:
        main()
    except Unable as error:
        sys.exit(f"policies: {error}")
