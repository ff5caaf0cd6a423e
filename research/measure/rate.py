#!/usr/bin/env python3
"""How fast documents are indexed at once, beside Tantivy with the same memory and threads.

    research/measure/rate.py --out docs/results/rate.json

Each run is a process that indexes a whole corpus into a fresh folder, with the input in the page
cache. Wall and CPU time are those of the whole process: Gannet's has its last checkpoint and idle
maintenance in it, Tantivy's the merges that it has begun. Engines take turns in each repetition.
Memory is what a process holds besides the page cache, by its memory group. Tantivy's budget covers
only a part of what it holds, so its budget is set for each corpus such that it holds as much as
Gannet does, or 256 MiB if that is more. `--variants` are settings of the peer, each a number of
threads and a tokenizer: `unicode` finds Gannet's words, `words` is simpler and faster. Tables show
the peer with the same words, and its fastest variant.
"""
import argparse
import signal
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import corpora
import inputs
import limits
import harness
import results
from harness import MIB, MemoryGroup, Unable, note

CORPORA = ["passages", "articles", "linux", "passages8"]
MEMORY_MIB, THREADS = 256, 2
# One thread more than there are cores is the fastest where the reader is not the bottleneck.
VARIANTS = ["2-unicode", "2-words", "3-words"]
# The peer's budget fits when it then holds between these shares of what it may.
FITS, TRIES = (0.9, 1.02), 4
# A budget that is raised and does not raise what is held by so much was enough before.
GREW = 1.05
# Told less than this, it would merge all the time; long documents have it hold more anyway.
PEER_LEAST_MIB = 128
# Tantivy takes less than 4 GiB a thread.
PEER_MOST_MIB = 4000


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    settings = vars(options) | {"corpora_used": {}, "peer_memory_mib": {}}
    result = results.Result("rate", settings, options.out)
    rate = Rate(options, result)
    for corpus in options.corpora:
        rate.compare(corpus)
    print(rate.text())
    note(f"everything is in {result.path}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="+", choices=list(corpora.CORPORA), default=CORPORA)
    parser.add_argument("--documents", type=int, help="only the first so many of each corpus")
    parser.add_argument("--memory", type=int, default=MEMORY_MIB, help="MiB")
    parser.add_argument("--threads", type=int, default=THREADS, help="of Gannet")
    parser.add_argument("--variants", nargs="+", default=VARIANTS, metavar="THREADS-TOKENIZER", help="of Tantivy")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--gannet", metavar="FILE", help="the program to measure; default: a release build of this tree")
    results.add_option(parser)
    return parser.parse_args()


class Rate:
    """All runs, and what came of them."""

    def __init__(self, options, result):
        self.options, self.result = options, result
        self.programs = {"gannet": options.gannet or harness.gannet(), "tantivy": harness.tantivy()}
        result.settings["program_sha256"] = {name: harness.file_hash(path) for name, path in self.programs.items()}
        self.folder = harness.ROOT / "target" / "rate"
        self.folder.mkdir(parents=True, exist_ok=True)
        # What the peer's variants are told, by the last corpus that it was found for.
        self.told = {variant: options.memory for variant in options.variants}

    def compare(self, corpus):
        source = inputs.source(corpora.corpus(corpus), self.options.documents)
        self.result.settings["corpora_used"][corpus] = harness.text_size(source)
        harness.warm(source)
        held = self.run(corpus, source, "gannet", "", "calibration", self.options.memory)["held_bytes"]
        allowed = max(held, self.options.memory * MIB)
        for variant in self.options.variants:
            self.fit(corpus, source, variant, allowed)
        self.result.settings["peer_memory_mib"][corpus] = dict(self.told)
        engines = [("gannet", "", self.options.memory)] + [("tantivy", variant, self.told[variant]) for variant in self.options.variants]
        for number in range(self.options.runs):
            turn = number % len(engines)
            for engine, variant, memory in engines[turn:] + engines[:turn]:
                self.run(corpus, source, engine, variant, number, memory)

    def fit(self, corpus, source, variant, allowed):
        """Finds what the peer must be told so that it holds what it may, beginning with what the
        corpus before needed.
        """
        before = None
        for _ in range(TRIES):
            told = self.told[variant]
            held = self.run(corpus, source, "tantivy", variant, "calibration", told)["held_bytes"]
            if FITS[0] * allowed <= held <= FITS[1] * allowed:
                return
            if before and told > before[0] and held < GREW * before[1]:
                note(f"{corpus} {variant}: holds {held / MIB:.0f} MiB whatever it is told")
                self.told[variant] = before[0]
                return
            before = told, held
            # Somewhat less than in proportion: what it holds besides its budget does not shrink
            # with that.
            self.told[variant] = min(PEER_MOST_MIB, max(PEER_LEAST_MIB, int(told * 0.97 * allowed / held)))
        note(f"{corpus} {variant}: held {held / MIB:.0f} MiB of {allowed / MIB:.0f} at the last try; goes on with {self.told[variant]} MiB")

    def run(self, corpus, source, engine, variant, number, memory_mib):
        """One run; what the engine and the kernel counted."""
        index = self.folder / f"{engine}-index"
        harness.remove(index)
        command = [self.programs[engine], "index", index, source, "--memory", memory_mib * MIB, "--json"]
        if engine == "tantivy":
            threads, tokenizer = variant.split("-")
            command += ["--threads", threads, "--tokenizer", tokenizer]
        else:
            command += ["--threads", self.options.threads]
        with MemoryGroup(limits.UNLIMITED) as group, limits.Watch(group) as watch:
            done = harness.run(command, group=group)
        harness.remove(index)
        # Gannet ends with 1 where it rejected documents.
        if done.code not in (0, 1 if engine == "gannet" else 0):
            raise Unable(f"{engine} ended with {done.code} on {corpus}: {done.errors[-1000:]}")
        figures = harness.last_json(done.output)
        row = {"corpus": corpus, "engine": engine, "variant": variant, "run": number, "told_mib": memory_mib,
               "seconds": round(done.seconds, 3), "cpu_seconds": round(done.cpu_seconds, 3), "held_bytes": watch.most,
               "peak_resident_bytes": done.peak_resident_bytes, "exit_code": done.code, "figures": figures}
        note(f"{corpus} {engine} {variant} {number}: {row['seconds']:.1f} s, CPU {row['cpu_seconds']:.1f} s, "
             f"told {memory_mib} MiB, held {watch.most / MIB:.0f} MiB")
        kind = "calibrations" if number == "calibration" else "rows"
        if kind == "rows":
            self.result.rows.append(row)
        else:
            self.result.more.setdefault(kind, []).append(row)
        self.result.write()
        return row

    def text(self):
        lines = []
        for corpus in self.options.corpora:
            for engine, variant in dict.fromkeys((row["engine"], row["variant"]) for row in self.result.rows):
                rows = [row for row in self.result.rows if (row["corpus"], row["engine"], row["variant"]) == (corpus, engine, variant)]
                seconds, cpu = (statistics.median(row[what] for row in rows) for what in ("seconds", "cpu_seconds"))
                held = max(row["held_bytes"] for row in rows)
                lines.append(f"{corpus:<12}{engine + ' ' + variant:<20}{seconds:>8.1f} s {cpu:>8.1f} s CPU {held / MIB:>6.0f} MiB held")
        return "\n".join(lines)


if __name__ == "__main__":
    try:
        main()
    except Unable as error:
        sys.exit(f"rate: {error}")
