#!/usr/bin/env python3
"""What taking new documents costs: bytes written, documents a second, pauses.

`ingest`: a corpus by durable commits, each engine with the same memory and two threads. A commit of Gannet is a sync of its log;
in the row `flush` it is a checkpoint, as the other engines' commits are. Bytes are the operating system's, without those that were
deleted before they were written out. Results go to `target/lab/maintenance.json` and `.txt`. See docs/lab.md.
"""
import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "show"))  # For `measure`.

import inputs
from engines import ENGINES, PEERS, Gannet
from inputs import PLACE
from measure import MIB, machine, note, remove
from report import figures as table

COMMITS = 100


def main():
    options = arguments()
    rows = []
    for corpus in options.corpora:
        path = inputs.source(corpus, options.documents)
        every = -(-inputs.count_lines(path) // COMMITS)
        for name in options.engines:
            rows += [{"corpus": corpus} | row for row in ingest(name, path, every, options)]
    texts = [ingest_table([row for row in rows if row["corpus"] == corpus], corpus, options) for corpus in options.corpora]
    text = "\n".join(texts)
    print(text)
    PLACE.mkdir(parents=True, exist_ok=True)
    (PLACE / f"{options.name}.txt").write_text(text)
    (PLACE / f"{options.name}.json").write_text(json.dumps({"settings": machine() | vars(options), "rows": rows}, indent=1))
    note(f"everything is in {PLACE / options.name}.json")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="+", default=["passages", "articles"])
    parser.add_argument("--engines", nargs="+", choices=[Gannet.name, *PEERS], default=[Gannet.name, *PEERS])
    parser.add_argument("--documents", type=int, help="only the first so many")
    parser.add_argument("--memory", type=int, default=64, help="MiB of each engine")
    parser.add_argument("--name", default="maintenance", help="name of the result's files in target/lab")
    return parser.parse_args()


def ingest(name, path, every, options):
    """One engine takes all documents; Gannet by both kinds of commits."""
    engine, folder = ENGINES[name](), PLACE / "maintenance-index"
    kinds = [("sync", ["--flush-every", 0, "--as-written"]), ("flush", ["--as-written"])] if name == Gannet.name else [("", [])]
    for kind, more in kinds:
        remove(folder)
        note(f"{name} {kind} indexes {path.name}, a commit every {every} documents")
        done = engine.index(folder, path, every, options.memory * MIB, more)
        row = done.json() | {"engine": name, "kind": kind, "cpu_seconds": done.cpu_seconds, "peak_resident_bytes": done.peak_resident_bytes}
        remove(folder)
        yield row


def ingest_table(rows, corpus, options):
    heads = ["MB written", "index MB", "written/index", "docs/s", "CPU s", "flushes", "write ms", "commit ms", "peak MiB"]
    lines = {}
    for row in rows:
        written, index = row["bytes_written"], row["index_bytes"]
        longest = [1000 * row[what] if what in row else None for what in ("longest_write_seconds", "longest_commit_seconds")]
        lines[f"{row['engine']} {row['kind']}"] = [
            written / 1e6, index / 1e6, written / index, row["docs"] / row["seconds"], row["cpu_seconds"], row.get("flushes"), *longest,
            row["peak_resident_bytes"] / MIB]
    title = (f"{corpus}: {rows[0]['docs']:,} documents by {COMMITS} commits with {options.memory} MiB; the longest write of 256 KiB of "
             "documents, and the longest commit")
    return table(title, heads, lines)


main()
