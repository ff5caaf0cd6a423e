#!/usr/bin/env python3
"""Processes of Python that read while one writes through checkpoints, a vacuum and a rebuild: no mixed states."""
import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import python_environment
from harness import CACHE, ROOT, Claims, Unable, note, remove

WORK = ROOT / "python/tests/readers_runs.py"
CHECKPOINTS = 20
TIMEOUT = 1800


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheel", type=Path, help="default: the one in target/dist, as `make wheel` makes it")
    parser.add_argument("--readers", type=int, default=4)
    parser.add_argument("--queries", type=int, default=100_000, help="of all readers together")
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--out")
    options = parser.parse_args()
    with Claims("python-readers", options.out, readers=options.readers, queries=options.queries, documents=options.documents) as claims:
        python = python_environment.made("readers-venv", [python_environment.wheel(options.wheel)])
        rows = carried_out(python, options)
        claims.rows += rows
        writer, readers = rows[0], rows[1:]
        asked = sum(row["queries"] for row in readers)
        claims.at_least("queries of all readers", asked, options.queries)
        claims.at_least("checkpoints meanwhile", writer["checkpoints"], CHECKPOINTS)
        claims.at_least("vacuums meanwhile", writer["vacuums"], 1)
        claims.at_least("rebuilds meanwhile", writer["rebuilds"], 1)
        claims.at_least("states that a reader saw, the fewest", min(row["states"] for row in readers), CHECKPOINTS)
        claims.equal("mixed states", sum(row["mixed"] for row in readers), 0)
        claims.equal("steps back to an older state", sum(row["back"] for row in readers), 0)
        claims.known("ExpiredError", sum(row["expired"] for row in readers))
        claims.equal("other errors", [error for row in rows for error in row["errors"]], [])


def carried_out(python, options):
    """The figures of the writer, then of each reader."""
    index, stop = CACHE / "readers.gnt", CACHE / "readers.stop"
    remove(index)
    stop.unlink(missing_ok=True)
    CACHE.mkdir(parents=True, exist_ok=True)
    start = lambda *words: subprocess.Popen([python, "-I", WORK, *map(str, words)], stdout=subprocess.PIPE, text=True)
    writer = start("write", index, options.documents, stop)
    try:
        deadline = time.monotonic() + TIMEOUT
        while not (index.parent / f"{index.name}.ready").exists():
            if writer.poll() is not None or time.monotonic() > deadline:
                raise Unable("the writer ended before its first checkpoint")
            time.sleep(0.05)
        share = -(-options.queries // options.readers)
        readers = [start("read", index, options.documents, share) for _ in range(options.readers)]
        found = [figures(reader) for reader in readers]
        stop.touch()
        return [figures(writer), *found]
    finally:
        stop.touch()
        (index.parent / f"{index.name}.ready").unlink(missing_ok=True)


def figures(process):
    output, _ = process.communicate(timeout=TIMEOUT)
    note(output.strip())
    if process.returncode != 0:
        raise Unable(f"a process ended with {process.returncode}: its error is above")
    return json.loads(output)


if __name__ == "__main__":
    main()
