#!/usr/bin/env python3
"""The flash tier over object storage, before and after a change: queries of a log, from cold to warm.

    research/papers/two-tier-cache/remote_tier.py --before FILE --out research/papers/two-tier-cache/results/remote-tier.json
    research/papers/two-tier-cache/remote_tier.py --before FILE --after FILE --server FILE --quick

An index of passages is published to an S3 server in memory (research/peers/s3) with a declared delay
of each request and a declared bandwidth. Each program asks the web log once, with a cache on flash of
a quarter of the index and without answers: the first half by one process that finds the cache empty,
the second half by another one. The programs take turns. The server counts requests, and the kernel
the bytes that a process writes.

At last each of some queries is asked by two processes, one behind the other, with answers on flash:
the second one should neither search nor ask the store, beside its opening.
"""
import argparse
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import harness
import inputs
import results
from harness import CORPORA, MIB, ROOT, TARGET, Unable, note, run
from inputs import PLACE
from remote import KEYS, LEAST_CACHE

LOG = CORPORA / "queries" / "web-log-25k.tsv"
URL = "s3://bucket/remote-tier"
# What `--quick` takes in place of the defaults.
QUICK = {"documents": 3_000, "queries": 400, "runs": 1, "repeated": 3, "delay": 2}


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    programs = {"before": options.before, "after": options.after or harness.gannet()}
    programs = {name: str(Path(program).resolve()) for name, program in programs.items() if program}
    about = {name: value for name, value in vars(options).items() if name not in ("before", "after", "server", "out")}
    # Nothing of this machine's folders goes into a result.
    about["programs"] = {name: harness.file_hash(program) for name, program in programs.items()}
    result = results.Result("remote-tier", about, options.out)
    index = made(programs["after"], options)
    result.settings["index_bytes"] = size = sum(file.stat().st_size for file in index.rglob("*") if file.is_file())
    result.settings["cache_bytes"] = cache = max(LEAST_CACHE, size // options.part)
    halves = split(options)
    with server(options) as address:
        environment = KEYS | {"AWS_ENDPOINT_URL": address}
        done(run([programs["after"], "publish", index, URL, "--json"], environment=environment))
        for number in range(options.runs):
            for name in ordered(programs, number):
                result.rows += asked(name, programs[name], environment, halves, cache, number, options)
                result.write()
        result.rows += repeated(programs["after"], environment, cache, options)
        result.write()
    note(f"{len(result.rows)} rows in {result.path}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", metavar="FILE", help="the program to compare with; default: none")
    parser.add_argument("--after", metavar="FILE", help="the program; default: a release build of this tree")
    parser.add_argument("--server", metavar="FILE", help="the server; default: a release build")
    parser.add_argument("--documents", type=int, help="only the first so many passages")
    parser.add_argument("--queries", type=int, default=25_000, help="the first so many queries of the log")
    parser.add_argument("--memory", type=int, default=16, help="MiB")
    parser.add_argument("--part", type=int, default=4, help="the cache is one of so many parts of the index")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--delay", type=int, default=20, help="ms of each request")
    parser.add_argument("--bandwidth", type=int, default=100_000_000, help="bytes a second, of all connections together")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--repeated", type=int, default=50, help="queries that are asked by two processes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help=f"with {QUICK}: whether it works, and no figures to quote")
    results.add_option(parser)
    options = parser.parse_args()
    vars(options).update(QUICK if options.quick else {})
    return options


def made(program, options):
    """The index, from an earlier run if it is there."""
    PLACE.mkdir(parents=True, exist_ok=True)
    index = PLACE / f"remote-tier-{options.documents or 'all'}.gnt"
    if not index.exists():
        note(f"indexing passages in {index}")
        unfinished = index.with_suffix(".unfinished")
        harness.remove(unfinished)
        done(run([program, "index", unfinished, inputs.source("passages", options.documents), "--memory", 256 * MIB, "--json"]))
        unfinished.rename(index)
    return index


def split(options):
    """The log in two files."""
    lines = log(options)
    halves = [PLACE / f"remote-tier-{len(lines)}-{name}.tsv" for name in ("first", "second")]
    for half, some in zip(halves, (lines[:len(lines) // 2], lines[len(lines) // 2:])):
        half.write_text("".join(f"{line}\n" for line in some))
    return halves


def log(options):
    return LOG.read_text().splitlines()[:options.queries]


def ordered(programs, number):
    """The programs take turns at being the first."""
    names = list(programs)
    return names if number % 2 == 0 else names[::-1]


@contextlib.contextmanager
def server(options):
    """A server in memory, which ends with the measurement."""
    program = options.server
    if not program:
        target = TARGET / "engines" / "s3"
        harness.build(["cargo", "build", "--release", "--locked", "--target-dir", str(target)], ROOT / "research/peers/s3")
        program = target / "release/s3-server"
    started = [program, "--delay-ms", str(options.delay), "--bandwidth", str(options.bandwidth)]
    process = subprocess.Popen(started, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def done(finished):
    return finished.json()


def control(environment, what):
    with urllib.request.urlopen(f"{environment['AWS_ENDPOINT_URL']}/_control/{what}") as answer:
        return json.load(answer)


def asked(name, program, environment, halves, cache, number, options):
    """A row for each half of the log, asked by a process of its own over one cache."""
    folder, rows = PLACE / "remote-tier-cache", []
    harness.remove(folder)
    for half, queries in zip(("first", "second"), halves):
        control(environment, "counts")
        finished = run([program, "bench", URL, queries, "--as", "or", "--fetch", "--threads", options.threads, "--memory", options.memory * MIB,
                        "--cache-dir", folder, "--cache-size", cache, "--result-cache", 0, "--json"], environment=environment)
        figures, served = done(finished), control(environment, "counts")
        figures["settings"]["cache_dir"] = folder.name
        rows.append({"kind": "half", "half": half, "program": name, "run": number, "seconds": finished.seconds,
                     "device_bytes_written": finished.device_bytes_written, "served": served} | figures)
        note(f"{name}, {half} half: p50 {figures['latency_us_p50'] / 1e3:.1f} ms, p99 {figures['latency_us_p99'] / 1e3:.1f} ms, "
             f"{figures['remote']['rounds_per_query']:.2f} rounds to the store and {served['gets'] / figures['queries']:.2f} GETs a query, "
             f"{finished.device_bytes_written / MIB:.1f} MiB written")
    harness.remove(folder)
    return rows


def repeated(program, environment, cache, options):
    """A row for each query that is asked by two processes: what the second one took and asked for."""
    folder, rows = PLACE / "remote-tier-cache", []
    harness.remove(folder)
    plain = [words for words in dict.fromkeys(line.split("\t")[-1] for line in log(options)) if re.fullmatch("[a-z0-9 ]+", words)]
    for words in random.Random(options.seed).sample(plain, options.repeated):
        answers = [done(run([program, "search", URL, words, "--memory", options.memory * MIB, "--highlight", "body", "--cache-dir", folder,
                             "--cache-size", cache, "--json"], environment=environment)) for _ in range(2)]
        first, second = answers
        if first["hits"] != second["hits"]:
            raise Unable(f"{words!r} has other hits when it is asked again")
        rows.append({"kind": "repeated", "query": words, "hits": len(second["hits"]), "reused": second["reused"], "first_took_us": first["took_us"],
                     "took_us": second["took_us"], "opening": second["remote"]["opening"], "asked": second["remote"]["query"]})
    harness.remove(folder)
    slowest, requests = max(row["took_us"] for row in rows), sum(row["asked"]["requests"] for row in rows)
    from_flash = sum((row["reused"] or {}).get("from") == "flash" for row in rows)
    note(f"asked again: {from_flash} of {len(rows)} from flash, at most {slowest / 1e3:.2f} ms, {requests} requests beside the opening")
    return rows


if __name__ == "__main__":
    try:
        main()
    except Unable as error:
        sys.exit(f"remote_tier: {error}")
