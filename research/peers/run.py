#!/usr/bin/env python3
"""Gannet beside Tantivy, Lucene and, where it is named, SeekStorm: the same corpus, queries, answers and memory for each, in one run.

Engines take turns in every repetition. Each run is a process of its own in a memory group of its engine's floor + C, begins
with the index out of the page cache, asks for a while, and then measures. See research/peers/page.md.
"""
import argparse
import contextlib
import itertools
import json
import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import answers
import inputs
import limits
import report
import results
from engines import ENGINES, GANNET_MEMORY_MIN, LUCENE_HEAP, PEERS
from inputs import PLACE
from harness import CORPORA, MIB, MemoryGroup, Unable, note

SETS = ["mix", "term-10", "term-100", "term-1000", "term-10000", "and-100", "and-1000", "and-10000", "phrase-100",
        "phrase-1000", "phrase-10000", "or-100", "or-1000", "or-10000", "or-1000+documents", "web-all", "web-and", "web-phrase",
        "game-and", "game-or", "game-phrase"]
# Asks for the stored documents and snippets too, or for how many documents match, exactly.
DOCUMENTS, COUNT = "+documents", "+count"
UNLIMITED = 0


def main():
    options = arguments()
    PLACE.mkdir(parents=True, exist_ok=True)
    # Whoever ends a run early must get back the read-ahead, and no group may be left.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    engines = [ENGINES[name]() for name in options.engines]
    with limits.read_ahead(PLACE) as read_ahead_kb:
        lab = Lab(options, engines, read_ahead_kb)
        lab.run()
    print(lab.text())
    note(f"everything is in {lab.save()}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="passages", help="one of research/measure/corpora.py, or a file of JSON lines")
    parser.add_argument("--documents", type=int, help="only the first so many")
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=["gannet", *PEERS])
    parser.add_argument("--sets", nargs="+", default=SETS, help=f"with {DOCUMENTS} at the end: documents and snippets too; with {COUNT}: exact totals")
    parser.add_argument("--queries", type=int, default=20_000, help="queries of each synthetic set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--flushes", type=int, default=100, help="commits by which each index is built")
    parser.add_argument("--shares", type=int, nargs="*", default=[16], help="C is Gannet's index divided by this; 0: no limit; `--shares` alone: only `--caches`")
    parser.add_argument("--caches", type=int, nargs="+", default=[], help="C in MiB too, the same for any size of index")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--warm", type=float, default=3, help="seconds of asking before the measurement, for Lucene four times as many")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--name", default="lab", help="name of the result's files in target/lab")
    results.add_option(parser)
    return parser.parse_args()


class Lab:
    """One run of everything that was asked for."""

    def __init__(self, options, engines, read_ahead_kb):
        self.options, self.engines = options, engines
        self.settings = vars(options) | {
            "read_ahead_kb": read_ahead_kb, "lucene_heap": LUCENE_HEAP, "tolerance_of_scores": answers.TOLERANCE}
        self.result = results.Result(options.name, self.settings, options.out or PLACE / f"{options.name}.json")
        self.source = inputs.source(options.corpus, options.documents)
        self.folder = PLACE / self.source.stem
        self.rows, self.agreements, self.tables = [], {}, []

    def run(self):
        self.queries = inputs.queries(self.source, self.folder, self.options.seed, self.options.queries)
        flushes = self.options.flushes
        self.indexes = {engine.name: inputs.index(engine, self.source, self.folder, flushes) for engine in self.engines}
        self.settings["indexes"] = {name: figures for name, (_, figures) in self.indexes.items()}
        self.sets = [name for name in self.options.sets if self.has_queries(name)]
        for name in self.sets:
            self.compare_answers(name)
        limits_asked = [(share, self.cache_bytes(share)) for share in self.options.shares]
        limits_asked += [(None, max(GANNET_MEMORY_MIN, mib * MIB)) for mib in self.options.caches]
        for (share, cache_bytes), threads in itertools.product(limits_asked, self.options.threads):
            self.measure(share, cache_bytes, threads)

    def compare_answers(self, name):
        """Before any time is taken: what Gannet finds against what each peer finds."""
        found = {}
        for engine in self.engines:
            folder, _ = self.indexes[engine.name]
            found[engine.name] = answers.of(engine, folder, self.file(name), 512 * MIB, [])
        ours = found.pop("gannet", None)
        self.agreements[name] = {peer: answers.agreement(ours, theirs) for peer, theirs in found.items()} if ours else {}
        note(f"answers of {name} agree: {self.agreements[name]}")

    def measure(self, share, cache_bytes, threads):
        """All sets and repetitions at one memory limit, engines in turns; a table at the end."""
        limited = share != UNLIMITED
        floors = {engine.name: self.floor(engine, cache_bytes, threads) for engine in self.engines} if limited else {}
        started = len(self.rows)
        for number, name in itertools.product(range(self.options.runs), self.sets):
            turn = number % len(self.engines)
            for engine in self.engines[turn:] + self.engines[:turn]:
                limit = floors[engine.name] + cache_bytes if limited else None
                row = self.bench(engine, name, cache_bytes, limit, threads)
                self.rows.append({"set": name, "engine": engine.name, "run": number, "share": share, "cache_bytes": cache_bytes,
                                  "floor_bytes": floors.get(engine.name), "threads": threads} | row)
        self.add_table(share, cache_bytes, floors, threads, self.rows[started:])
        self.save()

    def cache_bytes(self, share):
        index_bytes = self.indexes["gannet"][1]["index_bytes"] if "gannet" in self.indexes else None
        if index_bytes is None:
            raise Unable("C is a share of Gannet's index: gannet must be among the engines")
        return max(GANNET_MEMORY_MIN, index_bytes // share if share else 2 * index_bytes)

    def floor(self, engine, cache_bytes, threads):
        folder, _ = self.indexes[engine.name]
        seconds = self.options.warm + self.options.seconds
        return limits.floor(engine, folder, self.file("mix"), cache_bytes, threads, seconds)

    def bench(self, engine, name, cache_bytes, limit, threads):
        """One run; what the engine and the kernel counted, or why it did not come to its end."""
        folder, _ = self.indexes[engine.name]
        limits.forget(folder)
        if not limit:
            limits.read(folder)
        begun = {"cached_before_bytes": limits.cached_bytes(folder), "load": os.getloadavg()[0], "at": round(time.time())}
        options = ["--threads", threads, "-k", 10, "--warm", self.options.warm * engine.warm_factor, "--seconds", self.options.seconds]
        options += ["--fetch"] if name.endswith(DOCUMENTS) else []
        options += ["--count"] if name.endswith(COUNT) else []
        group = MemoryGroup(limit) if limit else contextlib.nullcontext()
        with group:
            done = engine.bench(folder, self.file(name), cache_bytes, options, group=group if limit else None)
            figures = {"group": group.figures() if limit else None}
        try:
            figures |= done.json()
            note(f"{name} {engine.name} {threads} threads: {figures['qps']:,.0f} queries/s")
        except Unable as error:
            figures["failed"] = str(error)
            killed = limit and figures["group"]["kills"]
            note(f"{name} {engine.name} {threads} threads failed: {'killed for its memory' if killed else error}")
        return begun | figures

    def has_queries(self, name):
        """A small corpus gives some sets nothing to ask."""
        if self.file(name).stat().st_size:
            return True
        note(f"the corpus gives no queries for {name}: left out")
        return False

    def file(self, name):
        path = self.queries / f"{name.removesuffix(DOCUMENTS).removesuffix(COUNT)}.tsv"
        if not path.exists():
            raise Unable(f"there is no set {name}, or its log is not in {CORPORA}")
        return path

    def add_table(self, share, cache_bytes, floors, threads, rows):
        of = {UNLIMITED: ", no limit", None: ""}.get(share, f" (index / {share})")
        limit = f"C = {cache_bytes / MIB:.1f} MiB{of}"
        held = ", ".join(f"{name} {bytes / MIB:.0f}" for name, bytes in floors.items())
        title = f"{self.source.stem}, {threads} threads, {limit}; floors in MiB: {held or 'none'}"
        lines = []
        for name in self.sets:
            of_set = {engine.name: report.summary([row for row in rows if (row["set"], row["engine"]) == (name, engine.name)])
                      for engine in self.engines}
            lines.append((name, of_set, self.agreements[name]))
        self.tables.append(report.table(title, lines, [engine.name for engine in self.engines]))
        note("\n" + self.tables[-1])

    def text(self):
        return "\n".join([json.dumps(self.result.head | self.settings), "", *self.tables])

    def save(self):
        self.result.rows, self.result.more = self.rows, {"agreements": self.agreements}
        (PLACE / f"{self.options.name}.txt").write_text(self.text())
        return self.result.write()


main()
