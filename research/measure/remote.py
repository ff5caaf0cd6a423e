#!/usr/bin/env python3
"""What an index on object storage costs: requests, bytes and time, with a server of declared delay
and bandwidth on this machine.

    research/measure/remote.py --out docs/results/remote.json

The index of the passages is published to an S3 server in memory (research/peers/s3). Each cold query
is a process of its own that opens the index and asks two words with 10 documents and snippets. The
log of web queries is then asked by one process. Both are repeated for each gap across which
requests are joined.

Then the log is asked once with a cache on flash that holds all that it touches, by one process and
again by a second one, beside the local index without a cache; and the same with a cache of a
quarter of the index. The server counts pages that it sent before. For each pass stands the most
hits that a cache of this size can have: the server tells the pages that are asked for without a
cache and with as many frames, and Belady's MIN counts the hits of these, asked once and once more.

At last a few documents are added to a copy of the index, and it is published, again and again.

    research/measure/remote.py --endpoint http://127.0.0.1:5000 --documents 20000

With the address of another server, such as moto, and its credentials in the environment, nothing is
measured: the index is published there, and its answers are compared with those of the local one.
"""
import argparse
import contextlib
import itertools
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import inputs
import harness
import optimum
import results
from engines import FRAME_SHARE, Gannet
from harness import MIB, ROOT, TARGET, Unable, note

PRICE = json.loads((ROOT / "research/report/prices.json").read_text())["object_storage"]
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true"}
URL = "s3://bucket/passages"
EXPERIMENTS = ["gaps", "caches", "publications"]
# Of a region of the cache's file, one page is its header.
REGION_BYTES, REGION_PAGES = 512 << 10, 127
# What `gannet` wants at least.
LEAST_CACHE = 8 * MIB


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    result = results.Result("remote", vars(options) | {"price": PRICE}, options.out)
    source = inputs.source("passages", options.documents)
    folder = inputs.PLACE / source.stem
    folder.mkdir(parents=True, exist_ok=True)
    engine = Gannet()
    engine.command = options.gannet or engine.command
    index, _ = inputs.index(engine, source, folder, options.flushes)
    queries = inputs.queries(source, folder, options.seed, options.queries)
    if options.endpoint:
        return compare(engine, os.environ | {"AWS_ENDPOINT_URL": options.endpoint}, index, queries / f"{options.cold_set}.tsv", options)
    with server(options) as address:
        environment = os.environ | KEYS | {"AWS_ENDPOINT_URL": address}
        published = command(engine, environment, "publish", index, URL)
        note(f"published: {published['remote']}")
        result.settings["published"] = published
        for rows in measured(engine, environment, (source, index, folder), queries, options):
            result.rows += rows
            result.write()
    note(f"everything is in {result.path}")


def measured(engine, environment, places, queries, options):
    """The rows of each experiment that is wanted, as they come."""
    source, index, folder = places
    log = queries / f"{options.log_set}.tsv"
    for gap in options.gaps if "gaps" in options.experiments else []:
        yield cold(engine, environment, index, queries / f"{options.cold_set}.tsv", gap, options)
        yield [bench(engine, environment, log, gap, options)]
    size = sum(file.stat().st_size for file in index.rglob("*") if file.is_file())
    for cache in cache_sizes(size) if "caches" in options.experiments else []:
        yield cached(engine, environment, index, log, (folder, cache), options)
    if "publications" in options.experiments:
        yield publications(engine, environment, index, source, folder / "publications", options)


def cache_sizes(index_bytes):
    """One that holds all of the index, and one of a quarter, if that is no less than a cache must have."""
    return [max(LEAST_CACHE, size) for size in (2 * index_bytes, index_bytes // 4)]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", nargs="+", choices=EXPERIMENTS, default=EXPERIMENTS)
    parser.add_argument("--documents", type=int, help="only the first so many passages")
    parser.add_argument("--flushes", type=int, default=10, help="commits of the index")
    parser.add_argument("--queries", type=int, default=20_000, help="of each synthetic set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--memory", type=int, default=64, help="MiB")
    parser.add_argument("--delay", type=int, default=20, help="ms of each request")
    parser.add_argument("--bandwidth", type=int, default=100_000_000, help="bytes a second, of all connections together")
    parser.add_argument("--gaps", type=int, nargs="+", default=[65536, 0, 4096, 16384, 32768, 131072, 262144],
                        help="bytes; the first is the default")
    parser.add_argument("--cold-set", default="or-1000", help="of queries of two words")
    parser.add_argument("--cold", type=int, default=100, help="cold queries for each gap")
    parser.add_argument("--log-set", default="web-all")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--warm", type=float, default=5, help="seconds")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--publications", type=int, default=100, help="small ones")
    parser.add_argument("--added", type=int, default=20, help="documents of each")
    parser.add_argument("--endpoint", metavar="URL", help="a server that is there, for a comparison of answers")
    parser.add_argument("--gannet", metavar="FILE", help="the program to measure; default: a release build of this tree")
    results.add_option(parser)
    return parser.parse_args()


@contextlib.contextmanager
def server(options):
    """A server in memory, which ends with the measurement."""
    target = TARGET / "engines" / "s3"
    harness.build(["cargo", "build", "--release", "--locked", "--target-dir", str(target)], ROOT / "research/peers/s3")
    started = [target / "release/s3-server", "--delay-ms", str(options.delay), "--bandwidth", str(options.bandwidth)]
    process = subprocess.Popen(started, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def command(engine, environment, *words):
    done = subprocess.run([engine.command, *map(str, words), "--json"], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise Unable(f"gannet {words} ended with {done.returncode}: {done.stderr[-1000:]}")
    return json.loads(done.stdout)


def counts(environment):
    """What the server was asked since it was last looked."""
    return control(environment, "counts")


def control(environment, what):
    with urllib.request.urlopen(f"{environment['AWS_ENDPOINT_URL']}/_control/{what}") as answer:
        return json.load(answer)


def cached(engine, environment, index, queries, place, options):
    """Rows of two processes, one behind the other, with one cache, and of the local index without."""
    folder, size = place
    cache = folder / "cache"
    harness.remove(cache)
    control(environment, "forget")
    counts(environment)
    rows = []
    # Pages are measured, so no answer is reused.
    given = ["--cache-dir", cache, "--cache-size", size, "--result-cache", 0]
    for name, where, more in [("first", URL, given), ("second", URL, given), ("local", index, [])]:
        figures = ask_log(engine, environment, where, queries, options.memory * MIB, options, *more)
        served = counts(environment)
        # Nothing of this machine's folders goes into a result.
        figures["settings"]["cache_dir"] = cache.name if more else None
        rows.append({"kind": "cached", "pass": name, "cache_bytes": size, "served": served} | figures)
        note(f"cache of {size / MIB:.0f} MiB, {name}: {served['page_gets']} requests of pages, {served['repeated_pages']} of "
             f"{served['pages']} pages again, p50 {figures['latency_us_p50'] / 1000:.1f} ms")
    harness.remove(cache)
    for row, most in zip(rows, most_hits(engine, environment, queries, rows[0]["cache"], options)):
        row["optimum"] = most
        note(f"cache of {size / MIB:.0f} MiB, {row['pass']}: {row['cache']['read_pages']} pages from the cache, at most {most}")
    return rows


def ask_log(engine, environment, where, queries, memory, options, *more):
    """Asks each query of the log once."""
    return command(engine, environment, "bench", where, queries, "--distinct", "--memory", memory, "--threads", options.threads,
                   "--fetch", *more)


def most_hits(engine, environment, queries, cache, options):
    """The hits of MIN in a first and in a second pass, and of how many requests."""
    control(environment, "forget")
    # What the map and the buffers of a cache take is taken from frames.
    memory = options.memory * MIB - int(cache["memory_bytes"] / FRAME_SHARE)
    ask_log(engine, environment, URL, queries, memory, options, "--remote-gap", 0)
    trace = [tuple(page) for page in control(environment, "pages")]
    counts(environment)
    hits = optimum.hits(trace * 2, cache["capacity_bytes"] // REGION_BYTES * REGION_PAGES)
    return [{"hits": sum(part), "requests": len(part)} for part in (hits[:len(trace)], hits[len(trace):])]


def publications(engine, environment, index, source, place, options):
    """A row for each publication of a few documents more."""
    harness.remove(place)
    place.mkdir()
    copy, added, rows = place / "index.gnt", place / "added.jsonl", []
    shutil.copytree(index, copy)
    with open(source, "rb") as lines:
        for number in range(options.publications):
            documents = [json.loads(line) for line in itertools.islice(lines, options.added)]
            added.write_text("".join(json.dumps(one | {"id": f"{one['id']}-again"}) + "\n" for one in documents))
            command(engine, environment, "index", copy, added)
            counts(environment)
            published = command(engine, environment, "publish", copy, URL)
            served = counts(environment)
            rows.append({"kind": "publication", "number": number, "documents": len(documents), "served": served,
                         "new_bytes": published["bytes_copied"], "packed_bytes": published["packed_bytes"]})
    harness.remove(place)
    sent, new = (sum(sizes) for sizes in zip(*((row["served"]["sent_bytes"], row["new_bytes"]) for row in rows)))
    note(f"{len(rows)} publications: {sent} bytes sent, {sent / new:.2f} times the new pages")
    return rows


def sample(queries, options):
    lines = [line.split("\t")[1] for line in queries.read_text().splitlines()]
    return random.Random(options.seed).sample(lines, options.cold)


def search(engine, environment, where, words, options, *more):
    return command(engine, environment, "search", where, words, "--memory", options.memory * MIB, "--highlight", "body", *more)


def compare(engine, environment, index, queries, options):
    """Holds the answers of an index on a server against those of the local one."""
    command(engine, environment, "publish", index, URL)
    for words in sample(queries, options):
        remote = search(engine, environment, URL, words, options)
        if remote["hits"] != search(engine, environment, index, words, options)["hits"]:
            raise Unable(f"{words!r} has other hits on {options.endpoint}")
    note(f"{options.cold} answers of {options.endpoint} equal those of the local index")


def cold(engine, environment, index, queries, gap, options):
    """A row for each cold query, of a process of its own."""
    rows = []
    for words in sample(queries, options):
        counts(environment)
        answer = search(engine, environment, URL, words, options, "--remote-gap", gap)
        served, remote = counts(environment), answer["remote"]
        if answer["hits"] != search(engine, environment, index, words, options)["hits"]:
            raise Unable(f"{words!r} has other hits than in the local index")
        told = sum(remote[part]["requests"] for part in ("opening", "query"))
        if served["gets"] != told:
            raise Unable(f"the server counted {served['gets']} requests, gannet {told}")
        rows.append({"kind": "cold", "gap": gap, "query": words, "hits": len(answer["hits"]), "took_us": answer["took_us"],
                     "opening": remote["opening"], "asked": remote["query"]})
    middle = {name: statistics.median(row["asked"][name] for row in rows) for name in ("rounds", "requests", "bytes")}
    note(f"gap {gap}: cold {middle}, {statistics.median(row['took_us'] for row in rows) / 1000:.0f} ms")
    return rows


def bench(engine, environment, queries, gap, options):
    figures = command(engine, environment, "bench", URL, queries, "--memory", options.memory * MIB, "--threads", options.threads,
                      "--warm", options.warm, "--seconds", options.seconds, "--fetch", "--remote-gap", gap)
    asked = figures["remote"]["requests_per_query"]
    note(f"gap {gap}: the log, {asked:.2f} requests a query, p50 {figures['latency_us_p50'] / 1000:.0f} ms")
    return {"kind": "log", "gap": gap, "dollars_a_million_queries": asked * 1_000 * PRICE["dollars_per_1000_gets"]} | figures


if __name__ == "__main__":
    try:
        main()
    except Unable as error:
        sys.exit(f"remote: {error}")
