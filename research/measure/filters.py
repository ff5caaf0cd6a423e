#!/usr/bin/env python3
"""What phrase filters cost in space and give in speed, with little memory.

    research/measure/filters.py --out docs/results/filters.json

Each corpus is indexed at once, without filters and with each kind. The indexes are then asked in
turns, with the same memory, by as many threads. A set of queries is asked from empty frames, and
counted after a time to warm.
"""
import argparse
import itertools
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import corpora
import inputs
import harness
import results
from engines import Gannet
from harness import MIB, Unable, note

CORPORA = ["passages", "articles", "linux", "passages8"]
KINDS = ["none", "common"]
SETS = ["mix", "phrase-10", "phrase-100", "phrase-1000", "phrase-10000", "web-phrase", "and-1000"]


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    result = results.Result("filters", vars(options) | {"indexes": {}}, options.out)
    for corpus in options.corpora:
        compare(corpus, options, result)
    note(f"everything is in {result.path}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="+", choices=list(corpora.CORPORA), default=CORPORA)
    parser.add_argument("--documents", type=int, help="only the first so many of each corpus")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="of filters")
    parser.add_argument("--sets", nargs="+", default=SETS, help="of queries")
    parser.add_argument("--queries", type=int, default=20_000, help="queries of each synthetic set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--index-memory", type=int, default=256, help="MiB, of a process that indexes")
    parser.add_argument("--memory", type=int, default=64, help="MiB, of a process that asks")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--warm", type=float, default=4, help="seconds of asking before the measurement")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--gannet", metavar="FILE", help="the program to measure; default: a release build of this tree")
    results.add_option(parser)
    return parser.parse_args()


def compare(corpus, options, result):
    """Sizes of one corpus' indexes, then all sets and repetitions, the indexes in turns."""
    source = inputs.source(corpus, options.documents)
    folder = inputs.PLACE / source.stem
    engines = [Gannet(kind) for kind in options.kinds]
    for engine in engines:
        engine.command = options.gannet or engine.command
    indexes = {engine.filters: index(engine, source, folder, options) for engine in engines}
    size = source.stat().st_size
    for kind, (_, figures) in indexes.items():
        result.settings["indexes"][f"{corpus} {kind}"] = figures | {"source_bytes": size}
    queries = inputs.queries(source, folder, options.seed, options.queries)
    for number, name in itertools.product(range(options.runs), options.sets):
        turn = number % len(engines)
        for engine in engines[turn:] + engines[:turn]:
            place, figures = indexes[engine.filters]
            row = bench(engine, place, queries / f"{name}.tsv", options)
            result.rows.append({"corpus": corpus, "set": name, "filters": engine.filters, "run": number,
                                "index_bytes": figures["index_bytes"], "source_bytes": size} | row)
            result.write()


def index(engine, source, folder, options):
    """A new index and its figures."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"filters-{engine.filters}"
    harness.remove(place)
    note(f"{engine.filters} indexes {source.name}")
    done = harness.run([engine.command, "index", place, source, "--memory", options.index_memory * MIB, "--threads", 2,
                        "--phrase-filters", engine.filters, "--json"])
    figures = harness.last_json(done.output)
    # It ends with 1 where it rejected documents, and then has figures, too.
    if done.code not in (0, 1) or figures is None:
        raise Unable(f"gannet ended with {done.code} on {source}: {done.errors[-1000:]}")
    return place, figures | {"cpu_seconds": done.cpu_seconds, "wall_seconds": done.seconds}


def bench(engine, index, queries, options):
    load = os.getloadavg()[0]
    asked = ["--threads", options.threads, "--warm", options.warm, "--seconds", options.seconds]
    figures = engine.bench(index, queries, options.memory * MIB, asked).json()
    note(f"{index.parent.name} {queries.stem} {engine.filters}: {figures['qps']:.0f} queries/s")
    return figures | {"load": load}


if __name__ == "__main__":
    try:
        main()
    except Unable as error:
        sys.exit(f"filters: {error}")
