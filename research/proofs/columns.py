#!/usr/bin/env python3
"""Columns beside those of Tantivy and DuckDB: ranges, orders, facets and a histogram, in memory and with little.

    research/proofs/columns.py [--rows N | --texts FILE] [--limited]

Rows have eight columns from a seeded generator, in the order of their dates, prices in random order. Without `--texts` they
have no text. One process asks one engine all questions, each kind for a time; engines take turns in each run. In memory there is
one thread and processor time counts. `--limited` asks with eight threads in a memory group of a sixteenth of Gannet's index beside
what the interpreter and the engine hold, and counts questions a second. Answers are compared: counts, values and buckets.
"""
import argparse
import json
import random
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import inputs
import limits
import python_environment
import results
from harness import CACHE, MIB, MemoryGroup, Unable, last_json, note, remove, run

RUNNER = Path(__file__).parent / "columns_runs.py"
ENGINES = ["gannet", "tantivy", "duckdb"]
PACKAGES = ["tantivy==0.27.0", "duckdb==2.0.1"]
SEED, QUESTIONS = 1, 20
INDEX_MEMORY, LIMITED_THREADS = "256MiB", 8
# What an interpreter with an engine holds beside its cache of the index.
FLOOR_MIB = 96
MANY = "4GiB"
# Words of passages with many and with fewer documents.
WORDS = ["people", "government", "music", "river", "theory", "station", "church", "football", "war", "language"]


def main():
    options = arguments()
    comparison = Comparison(options)
    for number in range(options.runs):
        for engine in options.engines:
            comparison.ask(engine, number)
    comparison.compare()
    print(comparison.text())
    note(f"everything is in {comparison.result.path}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, help="default: the one in target/dist; a release build is to be measured")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--texts", metavar="CORPUS", help="rows have its bodies: one of research/measure/corpora.py, or a file of JSON lines")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--limited", action="store_true")
    parser.add_argument("--seconds", type=float, default=1, help="of each kind")
    parser.add_argument("--runs", type=int, default=3)
    results.add_option(parser)
    return parser.parse_args()


class Comparison:
    def __init__(self, options):
        self.options, self.rows, self.answers = options, [], {}
        wheel = python_environment.wheel(options.wheel)
        self.python = python_environment.made("columns-venv", [wheel, *PACKAGES])
        self.texts = inputs.source(options.texts, options.rows) if options.texts else None
        name = f"columns-{Path(options.texts).stem if options.texts else 'rows'}-{options.rows}"
        self.place = CACHE / name
        self.place.mkdir(parents=True, exist_ok=True)
        self.source = self.made()
        indexes = {engine: self.index(engine) for engine in options.engines}
        self.limit = None
        if options.limited:
            self.limit = max(16 * MIB, size(self.place / "gannet") // 16)
        settings = vars(options) | {"wheel": python_environment.identified(wheel), "packages": PACKAGES, "indexes": indexes, "seed": SEED,
                                    "threads": self.threads(), "cache_bytes": self.limit, "floor_mib": FLOOR_MIB if self.limit else None}
        self.result = results.Result(f"columns-{'limited' if options.limited else 'cpu'}", settings, options.out)
        self.questions = self.place / "questions.json"
        self.questions.write_text(json.dumps(questions(self.source, options)))

    def threads(self):
        return LIMITED_THREADS if self.options.limited else 1

    def made(self):
        source = self.place / "rows.jsonl"
        if not source.exists():
            unfinished = source.with_suffix(".unfinished")
            self.runner("make", self.texts or "-", self.place, unfinished, {"rows": self.options.rows, "seed": SEED})
            unfinished.rename(source)
        return source

    def index(self, engine):
        folder, kept = self.place / engine, self.place / f"{engine}.json"
        if not kept.exists():
            remove(folder)
            figures = self.runner("index", engine, folder, self.source, {"memory": INDEX_MEMORY, "heap_mib": 256, "duckdb_memory": "8GiB", "threads": 2})
            kept.write_text(json.dumps(figures | {"index_bytes": size(folder)}))
            note(f"{engine}: {kept.read_text()}")
        return json.loads(kept.read_text())

    def ask(self, engine, number):
        """One process, in a memory group of its own if memory is limited."""
        folder = self.place / engine
        settings = {"threads": self.threads(), "seconds": self.options.seconds, "memory": MANY, "duckdb_memory": "8GiB"}
        if self.limit:
            settings |= {"memory": f"{self.limit // MIB + FLOOR_MIB // 2}MiB", "duckdb_memory": f"{self.limit // MIB + FLOOR_MIB // 2}MiB"}
            limits.forget(folder)
            with MemoryGroup(self.limit + FLOOR_MIB * MIB) as group:
                figures = self.runner("ask", engine, folder, self.questions, settings, group)
                told = group.figures()
        else:
            limits.read(folder)
            figures, told = self.runner("ask", engine, folder, self.questions, settings), {}
        self.answers[engine] = figures["answers"]
        self.rows += [{"engine": engine, "run": number} | told | kind for kind in figures["kinds"]]
        self.result.rows = self.rows
        self.result.write()

    def runner(self, work, engine, folder, file, settings, group=None):
        done = run([self.python, "-I", RUNNER, work, engine, folder, file, json.dumps(settings)], group)
        if done.code:
            raise Unable(f"{engine} failed at {work}: {done.errors.strip().splitlines()[-1:]}")
        return last_json(done.output)

    def compare(self):
        """The share of questions that a peer answers as Gannet does, of each kind."""
        ours = self.answers.get("gannet", {})
        self.result.more = {"agreements": {engine: {kind: share(ours[kind], found) for kind, found in theirs.items()}
                                           for engine, theirs in self.answers.items() if engine != "gannet" and ours}}
        self.result.write()

    def text(self):
        """Medians with their ranges, a line for each kind."""
        unit, name = ("questions/s", "per_second") if self.limit else ("CPU us", "cpu_us")
        lines = [f"{unit}: median (range of {self.options.runs} runs)", f"{'kind':<28}" + "".join(f"{engine:>28}" for engine in self.options.engines)]
        for kind in dict.fromkeys(row["kind"] for row in self.rows):
            line = f"{kind:<28}"
            for engine in self.options.engines:
                found = sorted(row[name] for row in self.rows if (row["kind"], row["engine"]) == (kind, engine))
                line += f"{statistics.median(found):>12,.1f} ({found[0]:,.1f}-{found[-1]:,.1f})".rjust(28) if found else f"{'-':>28}"
            lines.append(line)
        return "\n".join([*lines, json.dumps(self.result.more)])


def questions(source, options):
    """Questions by kind: ranges of given shares of the rows, orders, facets, each also below a word where rows have texts."""
    draw, rows = random.Random(SEED), []
    with source.open(encoding="utf-8") as lines:
        rows = [{name: row.get(name) for name in ("date", "price")} for row in map(json.loads, lines)]
    sorted_values = {name: sorted(row[name] for row in rows if row[name] is not None) for name in ("date", "price")}
    ranges = {f"{name} {portion:g}": [cut(draw, name, values, portion) for _ in range(QUESTIONS)]
              for name, values in sorted_values.items() for portion in (1e-4, 1e-2, 0.3)}
    asked = {f"count {name}": [{"range": bounds} for bounds in each] for name, each in ranges.items()}
    asked |= {f"top 10 by {name}": [{"sort": f"-{name}", "k": 10}] for name in sorted_values}
    facets = ["category", "user", "article", "tags"]
    asked |= {f"terms {name}": [{"terms": name}] for name in facets} | {"histogram of dates": [{"days": True}]}
    if options.texts:
        words = [{"word": word} for word in WORDS]
        asked |= {f"word, {name}": [{"word": WORDS[place % len(WORDS)], "range": bounds, "k": 10} for place, bounds in enumerate(each)]
                  for name, each in ranges.items()}
        asked |= {f"word, top 10 by {name}": [word | {"sort": f"-{name}", "k": 10} for word in words] for name in sorted_values}
        asked |= {f"word, terms {name}": [word | {"terms": name} for word in words] for name in facets}
    return asked


def cut(draw, name, values, portion):
    """A range that has about this share of the values."""
    wide = max(1, int(len(values) * portion))
    first = draw.randrange(len(values) - wide)
    return [name, values[first], values[first + wide - 1]]


def share(ours, theirs):
    return sum(mine == other for mine, other in zip(ours, theirs)) / len(ours)


def size(folder):
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


if __name__ == "__main__":
    try:
        main()
    except Unable as error:
        sys.exit(f"columns: {error}")
