#!/usr/bin/env python3
"""Processor time of a query with the whole index in memory, for Gannet and its peers.

One thread asks a fixed number of queries: a set of at most 200, round after round. A run is two processes. One asks
the first round, the other asks it and those that are measured; a row has the difference of both, so no page is read
for the first time. Lucene compiles while it warms up for a time, and then needs no first round. Engines take turns in
every repetition. See research/peers/page.md.
"""
import argparse
import itertools
import math
import os
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import answers
import inputs
import limits
import results
from engines import ENGINES
from harness import Unable, note
from inputs import PLACE

SETS = ["term-10", "term-1000", "term-100000", "and-1000", "and-10000", "and-100000", "or-1000", "or-10000", "phrase-1000", "web-all", "game"]
MODES = {"top-10": ["-k", 10], "top-100": ["-k", 100], "top-10+count": ["-k", 10, "--count"], "count": ["-k", 0, "--count"]}
QUERIES = 200
DRAWN = 20_000
COMMITS = 100
# Of the same index merged or not, the better one is the peer's.
MERGED = "-merged"
# Engines hold all queries of a run, so there are limits to their number and to Lucene's heap.
QUERIES_MAX = 300_000
HEAP = "512m"
# Of the first look at an engine, by which the rounds are chosen, and of what Lucene asks before it
# is measured.
LOOK_SECONDS, WARM_SECONDS = 0.3, 2


def main():
    options = arguments()
    PLACE.mkdir(parents=True, exist_ok=True)
    table = Table(options)
    for mode, name in itertools.product(options.modes, options.sets):
        table.measure(mode, name)
    for mode in options.modes:
        print(table.text(mode))
    note(f"everything is in {table.result.path}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="passages", help="one of research/measure/corpora.py, or a file of JSON lines")
    parser.add_argument("--documents", type=int, help="only the first so many")
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES),
                        default=["gannet", "gannet-rebuilt", "tantivy", "tantivy-merged", "lucene", "lucene-merged", "seekstorm"])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--modes", nargs="+", choices=list(MODES), default=list(MODES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1, help="processor time that the rounds of a run take at least")
    results.add_option(parser)
    return parser.parse_args()


class Table:
    """All runs, and the table of their medians."""

    def __init__(self, options):
        self.options, self.rows, self.agreements = options, [], {}
        source = inputs.source(options.corpus, options.documents)
        self.folder = PLACE / source.stem
        drawn = inputs.queries(source, self.folder, options.seed, DRAWN)
        self.queries = {name: sample(drawn, name) for name in options.sets}
        self.engines = [ENGINES[name]() for name in options.engines]
        self.indexes = {engine.name: inputs.index(engine, source, self.folder, getattr(engine, "commits", COMMITS)) for engine in self.engines}
        for engine in self.engines:
            engine.heap = HEAP
            limits.read(self.indexes[engine.name][0])
        self.memory = 2 * max(figures["index_bytes"] for _, figures in self.indexes.values())
        settings = vars(options) | {"queries": {name: len(lines) for name, lines in self.queries.items()}, "lucene_heap": HEAP,
                                    "memory_bytes": self.memory, "tolerance_of_scores": answers.TOLERANCE,
                                    "indexes": {name: figures for name, (_, figures) in self.indexes.items()}}
        self.result = results.Result(f"cpu-{Path(options.corpus).stem}", settings, options.out)

    def measure(self, mode, name):
        """All repetitions of one set, engines in turns."""
        self.agreements.setdefault(name, self.agree(name))
        rounds = {engine.name: self.rounds(engine, mode, name) for engine in self.engines}
        for number in range(self.options.runs):
            turn = number % len(self.engines)
            for engine in self.engines[turn:] + self.engines[:turn]:
                self.rows.append({"mode": mode, "set": name, "engine": engine.name, "run": number, "load": os.getloadavg()[0]}
                                 | self.run(engine, mode, name, rounds[engine.name]))
        self.result.rows, self.result.more = self.rows, {"agreements": self.agreements}
        self.result.write()
        note(f"{mode} {name}: " + ", ".join(f"{engine.name} {self.median(mode, name, engine.name):.1f}" for engine in self.engines))

    def agree(self, name):
        """The shares of queries that engines answer as the first engine does."""
        file = self.file(name, 1)
        found = {engine.name: answers.of(engine, self.indexes[engine.name][0], file, self.memory, []) for engine in self.engines}
        ours = found.pop(self.engines[0].name)
        return {engine: answers.agreement(ours, theirs) for engine, theirs in found.items()}

    def rounds(self, engine, mode, name):
        """The rounds of a set that take an engine the time asked for, by what a query takes it at first."""
        _, cpu, _, asked = self.bench(engine, mode, name, 1, "--seconds", LOOK_SECONDS)
        wanted = min(QUERIES_MAX, self.options.seconds * 1e6 * asked / max(1, cpu))
        return math.ceil(wanted / len(self.queries[name]))

    def run(self, engine, mode, name, rounds):
        """Microseconds of a query, warm."""
        first = 0 if warms(engine) else 1
        _, cold_cpu, cold_wall, cold = self.bench(engine, mode, name, first) if first else (None, 0, 0, 0)
        figures, cpu, wall, asked = self.bench(engine, mode, name, first + rounds)
        asked -= cold
        return {"rounds": rounds, "queries": asked, "cpu_us_per_query": (cpu - cold_cpu) / asked,
                "wall_us_per_query": (wall - cold_wall) / asked, "latency_us_p50": figures["latency_us_p50"],
                "peak_memory_bytes": figures["peak_memory_bytes"], "version": figures.get("version")}

    def bench(self, engine, mode, name, rounds, *more):
        """One process: its figures, the microseconds of processor and of clock, and the queries asked."""
        options = ["--threads", 1, *MODES[mode], *(["--warm", WARM_SECONDS] if warms(engine) else []), *more]
        figures = engine.bench(self.indexes[engine.name][0], self.file(name, rounds), self.memory, options).json()
        asked = figures["queries"]
        return figures, figures["cpu_us_per_query"] * asked, asked / figures["qps"] * 1e6, asked

    def file(self, name, rounds):
        """The set so many times in one file, as engines ask each line once."""
        file = self.folder / ("cpu.tsv" if rounds > 1 else f"cpu-{name}.tsv")
        file.write_text("".join(self.queries[name]) * rounds)
        return file

    def of(self, mode, name, engine):
        rows = [row["cpu_us_per_query"] for row in self.rows if (row["mode"], row["set"], row["engine"]) == (mode, name, engine)]
        return sorted(rows)

    def median(self, mode, name, engine):
        return statistics.median(self.of(mode, name, engine))

    def text(self, mode):
        """Medians with their range, a line for each set; a star is at the better of a peer's indexes."""
        names = [engine.name for engine in self.engines]
        lines = [f"{mode}, CPU us of a query: median (range of {self.options.runs} runs)", f"{'set':<13}" + "".join(f"{name:>26}" for name in names)]
        for name in self.options.sets:
            medians = {engine: self.median(mode, name, engine) for engine in names}
            cells = []
            for engine, median in medians.items():
                low, *_, high = self.of(mode, name, engine) if self.options.runs > 1 else [median, median]
                star = "*" if median == best(engine, medians) else " "
                cells.append(f"{median:,.1f} ({low:,.1f}-{high:,.1f}){star}")
            lines.append(f"{name:<13}" + "".join(f"{cell:>26}" for cell in cells))
        return "\n".join(lines) + "\n"


def warms(engine):
    """Tells if it compiles while it is asked."""
    return engine.warm_factor > 1


def best(engine, medians):
    """The least median of a peer's indexes, None for an engine with one index and for Gannet."""
    peer = engine.removesuffix(MERGED)
    return min(medians[peer], medians[peer + MERGED]) if {peer, peer + MERGED} <= set(medians) else None


def sample(drawn, name):
    """At most 200 queries of a set, evenly from its file; those of the search benchmark game from all its kinds."""
    files = sorted(drawn.glob("game-*.tsv")) if name == "game" else [drawn / f"{name}.tsv"]
    lines = [line for file in files if file.exists() for line in file.read_text().splitlines(keepends=True)]
    if not lines:
        raise Unable(f"there are no queries of {name}")
    count = min(QUERIES, len(lines))
    return [lines[at * len(lines) // count] for at in range(count)]


if __name__ == "__main__":
    try:
        main()
    except Unable as error:
        sys.exit(f"cpu: {error}")
