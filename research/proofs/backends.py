#!/usr/bin/env python3
"""The same tests pass on both backends; each index on real files tells which backend really works.

The engine's own word is held against the system's: a process that has an io_uring shows it among its open files.
"""
import argparse
import json
import os
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
from harness import CACHE, Claims, gannet, index_lines, names, passed, remove, run, settle

BACKENDS = ["uring", "pread"]
TESTS = ["cargo", "test", "--release", "--locked", "--workspace"]
# Programs of integration tests that open an index on real files, and how many of their tests do so at least.
OPENERS = {"gannet": 8, "gannet-cli": 15}
# A test that another one runs in a process of its own, and an example that only readers of the source see.
LEFT_OUT = {"device::open::tests::counters_equal_the_systems_alone",
            "crates/gannet/src/documents/json.rs - documents::json::Document::new"}


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with Claims("backends") as claims:
        command = gannet()
        outcomes = {backend: outcome(claims, backend) for backend in BACKENDS}
        tests, openers = ([outcomes[backend][at] for backend in BACKENDS] for at in (0, 1))
        claims.equal("tests that passed on one backend and not on the other", sorted(tests[0] ^ tests[1]), [])
        claims.equal("tests that opened an index with one backend and not with the other", sorted(openers[0] ^ openers[1]), [])
        for backend in BACKENDS:
            claims.equal(f"{backend}: active in the command", sorted(command_backends(command, backend)), [backend])
            claims.equal(f"{backend}: the command has an io_uring", has_ring(command, backend), backend == "uring")


def outcome(claims, backend):
    """Runs all tests with a backend; gives the names of those that passed, and of those that opened an index."""
    with tempfile.TemporaryDirectory() as folder:
        reported = Path(folder) / "backends.jsonl"
        environment = {"GANNET_BACKEND": backend, "GANNET_BACKENDS": str(reported)}
        done = run(TESTS, environment=environment, timeout=3600)
        rows = [json.loads(line) for line in reported.read_text().splitlines()] if reported.exists() else []
    if done.code != 0:
        claims.settings[f"{backend}_failure"] = (done.output + done.errors)[-2000:]
    good, bad = passed(done)
    left_out = set(re.findall(r"^test (.*?)(?: \(line \d+\))? \.\.\. ignored", done.output, re.M))
    claims.equal(f"{backend}: exit code of the tests", done.code, 0)
    claims.at_least(f"{backend}: tests passed", good, sum(OPENERS.values()))
    claims.equal(f"{backend}: tests failed", bad, 0)
    claims.equal(f"{backend}: tests left out", sorted(left_out - LEFT_OUT), [])
    for program, least in OPENERS.items():
        its = [row for row in rows if row["program"] == program]
        claims.equal(f"{backend}: backends that indexes had in the tests of {program}",
                   sorted({row["backend"] for row in its}), [backend])
        claims.at_least(f"{backend}: tests of {program} that opened an index", len({row["test"] for row in its}), least)
    claims.equal(f"{backend}: other programs with indexes", sorted({row["program"] for row in rows} - set(OPENERS)), [])
    claims.settings[f"{backend}_indexes_opened"] = dict(Counter(row["program"] for row in rows))
    claims.settings[f"{backend}_tests_passed"] = good
    return names(done), {(row["program"], row["test"]) for row in rows}


def command_backends(command, backend):
    """What writing and reading a small index say of their backend."""
    source, index = CACHE / "backends.jsonl", CACHE / "backends.gnt"
    CACHE.mkdir(parents=True, exist_ok=True)
    source.write_text("".join(json.dumps({"id": str(n), "body": f"document {n}"}) + "\n" for n in range(1000)))
    remove(index)
    written = run([command, "index", index, source, "--backend", backend, "--json"]).json()
    searched = run([command, "search", index, "document", "--backend", backend, "--json"]).json()
    remove(index)
    return {written["backend"], searched["backend"]}


def has_ring(command, backend):
    """Whether the system shows an io_uring of a command that has an index open."""
    index = CACHE / "backends.gnt"
    remove(index)
    process = index_lines(command, index, [b'{"id": "1", "body": "document"}\n'], "--backend", backend)
    try:
        settle(process)
        return any(os.readlink(file) == "anon_inode:[io_uring]" for file in Path(f"/proc/{process.pid}/fd").iterdir())
    finally:
        process.stdin.close()
        process.wait()
        remove(index)


main()
