#!/usr/bin/env python3
"""Shards on Ray under 100 kill -9 and 20 lost nodes, while writing and searching; hours with more."""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
from harness import CACHE, Claims, remove, run

SECONDS = 10
RUNNER = Path(__file__).parent / "shard_kills_runs.py"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=20, help="nodes that are lost")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--objects", action="store_true", help="on an S3 server in memory, and not in a folder; replicas read it with a cache")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has gannet[ray]")
    parser.add_argument("--out")
    options = parser.parse_args()
    settings = {"kills": options.kills, "nodes": options.nodes, "seed": options.seed, "place": "objects" if options.objects else "folder"}
    with Claims("shard-kills-objects" if options.objects else "shard-kills", options.out, **settings) as claims:
        folder = CACHE / "shard-kills"
        remove(folder)
        folder.mkdir(parents=True)
        command = [options.python, "-P", RUNNER, folder, options.kills, options.nodes, options.seed, settings["place"]]
        done = run(command).json()
        claims.rows += done["events"]
        claims.equal("processes killed", done["kills"], options.kills)
        claims.equal("nodes lost, each with a replica", sum(row.get("replicas", 0) > 0 for row in done["events"]), options.nodes)
        claims.known("nodes lost that had a writer", sum(row.get("writers", 0) > 0 for row in done["events"]))
        for what in ("both replicas", "reader", "writer", "task"):
            claims.known(f"events of the kind {what}", sum(row["what"] == what for row in done["events"]))
        claims.equal("wrong answers, or partial ones that do not say so", done["wrong"], [])
        claims.equal("exceptions but UnavailableError and WriteLostError", done["unexpected"], [])
        claims.equal("documents missing, too many or there twice at the end", done["differences"], 0)
        claims.at_most("s until every replica answered again, at most", round(done["longest"], 2), SECONDS)
        for name in ("searches", "unavailable", "told_partial", "writes", "writes_lost", "documents"):
            claims.known(name, done[name])


main()
