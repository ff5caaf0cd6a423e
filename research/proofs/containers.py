#!/usr/bin/env python3
"""Defaults in a container: indexing is not killed in a small memory group, and a search after kill -9 needs little processor time.

No command gets `--memory`, so each takes the default of its group. A loader is killed at several points; then one search
reads what its log has.
"""
import argparse
import contextlib
import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
from harness import CACHE, MIB, Claims, MemoryGroup, gannet, index_lines, note, passages, remove, results, run, settle, warm

GROUPS = [64, 128, 256, None]  # MiB; None is no group.
KILLS = [5_000, 20_000, 45_000, 80_000, 120_000]  # Passages after which the loader is killed.
CPU_SECONDS = 2.0
COMMIT_EVERY = 1000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", help="a release binary of the command (default: one is built)")
    parser.add_argument("--documents", type=int, default=200_000, help="passages that are indexed (default: 200,000)")
    parser.add_argument("--kills", type=int, default=len(KILLS), help=f"points at which a loader is killed (default: {len(KILLS)})")
    results.add_option(parser)
    options = parser.parse_args()
    kills = KILLS[:options.kills]
    with Claims("containers", options.out, groups_mib=GROUPS, kills=kills, documents=options.documents) as claims:
        command = options.command or gannet()
        source = first(options.documents)
        warm(source)
        for limit in GROUPS:
            place = f"a group of {limit} MiB" if limit else "no group"
            row = load(command, source, limit)
            claims.rows.append({"kind": "load", "group_mib": limit} | row)
            claims.equal(f"kills and failures of an index command in {place}", row["kills"] + (row["code"] != 0), 0)
            rows = [recover(command, source, limit, fed) for fed in kills]
            claims.rows += [{"kind": "kill", "group_mib": limit} | row for row in rows]
            claims.equal(f"failures of the search after kill -9 in {place}", sum(row["code"] != 0 for row in rows), 0)
            claims.at_most(f"most processor time of the search after kill -9 in {place}, s",
                           max(row["cpu_seconds"] for row in rows), CPU_SECONDS)


def first(count):
    """The first passages, in a file of the cache."""
    path = CACHE / f"passages-{count}.jsonl"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(passages(), "rb") as lines, open(path, "wb") as file:
            file.writelines(itertools.islice(lines, count))
    return path


def grouped(limit):
    """A memory group, or none."""
    return MemoryGroup(limit * MIB) if limit else contextlib.nullcontext()


def load(command, source, limit):
    """Indexes a file with the defaults."""
    folder = CACHE / "containers.gnt"
    remove(folder)
    with grouped(limit) as group:
        done = run([command, "index", folder, source, "--json"], group=group)
        kills = group.figures()["kills"] if group else 0
    if done.code != 0:
        note(done.errors[-1000:])
    remove(folder)
    return {"code": done.code, "kills": kills, "cpu_seconds": round(done.cpu_seconds, 2), "wall_seconds": round(done.seconds, 2),
            "peak_resident_bytes": done.peak_resident_bytes}


def recover(command, source, limit, fed):
    """Kills a loader that has taken so many passages, and searches."""
    folder = CACHE / "containers.gnt"
    remove(folder)
    with grouped(limit) as group:
        with open(source, "rb") as lines:
            process = index_lines(command, folder, itertools.islice(lines, fed), "--commit-every", COMMIT_EVERY, group=group)
        settle(process)
        process.kill()
        process.wait()
        done = run([command, "search", folder, "united states", "--count", "--timeout", "none"], group=group)
    if done.code != 0:
        note(done.errors[-1000:])
    remove(folder)
    return {"fed": fed, "code": done.code, "cpu_seconds": round(done.cpu_seconds, 2), "wall_seconds": round(done.seconds, 2)}


main()
