#!/usr/bin/env python3
"""What a query costs by program `gannet`: instructions of a query, counted by callgrind, and
reads and bytes with little memory. One thread, `--backend pread`.

    research/measure/costs.py before=FILE after=FILE [--corpora passages.twentieth] [--sets and-1000 web]

A variable of the environment may stand before a file, and behind it the sets that it is asked where
these are not all: `"one=SWITCH=1 FILE@and-1000,web"`. All programs ask one index, which the first has made. Programs must be built as `research/measure/instructions.py` says. Instructions
are those of each query of a set asked twice, less those of a run that asks only the first one once.
Reads are those of all queries of a set in a row, from empty frames on.

Sets are drawn as `gannet-lab wsbench` does, from the corpus or its twentieth: a word of about so
many documents (`term-1000`), two that stand in one document (`and-1000`, `or-1000`), or side by
side with the rarer of the level (`phrase-1000`); and `web`, the log of web queries.
"""
import argparse
import collections
import functools
import json
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import inputs
import instructions
import results
from harness import CORPORA, MADE, Unable, note, run

SETS = ["term-1000", "and-1000", "and-10000", "or-1000", "or-10000", "or-1000+count", "phrase-1000", "web"]
CORPUS_NAMES = ["passages.twentieth", "articles.twentieth"]
READ_MEMORY = "16MiB"
COUNTED = "+count"
VARIABLE = re.compile(r"(\w+)=(\S*) +")
WORD = re.compile(r"[a-z]{2,}")
# Draws in a row that give nothing new before a set is left as short as it is.
FRUITLESS_DRAWS = 300
# Instructions of runs that ask one query, by program, index and query.
OPENINGS = {}


def main():
    options = arguments()
    programs = [(name, *started(text)) for name, text in options.programs]
    result = results.Result("costs", vars(options) | {"programs": [name for name, _ in options.programs]}, options.out)
    files = [program[2] for program in programs]
    result.head["command"] = functools.reduce(lambda text, file: text.replace(file, "gannet"), files, result.head["command"])
    for row in rows(options, programs):
        result.rows.append(row)
        result.write()
        note(" ".join(f"{value:,.1f}" if isinstance(value, float) else str(value) for value in row.values()))
    print("\n".join(report(result.rows)))


def rows(options, programs):
    """A row for each corpus, set and program."""
    for corpus in options.corpora:
        index = indexed(corpus, programs[0][2])
        drawn = Words(corpus)
        for name in options.sets:
            lines = drawn.queries(name.removesuffix(COUNTED), options.reads, options.seed)
            if len(lines) < options.queries:
                note(f"{corpus} has {len(lines)} queries of {name}: expected at least {options.queries}")
                continue
            for program, variables, file, _ in (of for of in programs if name in (of[3] or options.sets)):
                yield {"corpus": corpus, "set": name, "program": program} | costs(file, variables, index, (name, lines), options)


def indexed(corpus, program):
    """The index of a corpus, from an earlier run if there was one."""
    index = inputs.PLACE / f"costs-{corpus}.gnt"
    if not index.exists():
        index.parent.mkdir(parents=True, exist_ok=True)
        note(f"indexing {corpus}")
        instructions.run([program, "index", index, MADE / f"{corpus}.jsonl", "--memory", "256MiB"])
    return index


class Words:
    """The words of a corpus, or of its twentieth where there is one."""

    def __init__(self, corpus):
        path = next(path for path in (MADE / f"{corpus}.twentieth.jsonl", MADE / f"{corpus}.jsonl") if path.exists())
        with open(path, "rb") as lines:
            self.texts = [WORD.findall(json.loads(line)["body"].lower()) for line in lines]
        self.texts = [words for words in self.texts if len(words) > 1]
        self.documents = collections.Counter(word for words in self.texts for word in set(words))

    def queries(self, name, count, seed):
        """Up to so many different lines for `gannet bench`, the same for a seed."""
        if name == "web":
            return web(count)
        kind, level = name.split("-")
        draw, found, fruitless = random.Random(f"{seed} {name}"), {}, 0
        while len(found) < count and fruitless < FRUITLESS_DRAWS:
            words, before = self.drawn(draw, kind, int(level)), len(found)
            if words:
                found[f"{kind}\t{' '.join(words)}\n"] = None
            fruitless = fruitless + 1 if len(found) == before else 0
        return list(found)

    def drawn(self, draw, kind, level):
        words = draw.choice(self.texts)
        if kind == "phrase":
            at = draw.randrange(len(words) - 1)
            pair = words[at:at + 2]
            return pair if self.is_of(level, min(pair, key=self.documents.get)) else None
        fit = sorted(word for word in set(words) if self.is_of(level, word))
        length = 1 if kind == "term" else 2
        return draw.sample(fit, length) if len(fit) >= length else None

    def is_of(self, level, word):
        """Whether a word is of the level, a decade around it."""
        return level / 10 ** 0.5 < self.documents[word] <= level * 10 ** 0.5


def web(count):
    """The first queries of the log, any word matching."""
    with open(CORPORA / "queries" / "web-log-25k.tsv") as log:
        return [f"or\t{line.split(chr(9), 1)[1].strip()}\n" for line, _ in zip(log, range(count))]


def costs(file, variables, index, asked, options):
    name, lines = asked
    queries = index.with_suffix(".tsv")
    bench = [file, "--backend", "pread", "bench", str(index), str(queries), "--timeout", "none", "--json"]
    bench += ["--count"] if name.endswith(COUNTED) else []
    counted = {}
    if options.queries:
        counted["instructions"] = warm(functools.partial(
            instructions.instructions, [*bench, "--memory", options.memory], environment=variables), file, queries, lines[:options.queries])
    queries.write_text("".join(lines))
    read = run([*bench, "--memory", READ_MEMORY], environment=variables).json()
    return counted | {
        "reads": read["reads_per_query"],
        "bytes": read["bytes_read_per_query"]["engine"],
        "rounds": read["rounds_per_query"],
    }


def warm(counted, file, queries, lines):
    """Instructions of each query, the opening of the index apart."""
    opening = (tuple(counted.args[0]), lines[0])
    if opening not in OPENINGS:
        queries.write_text(lines[0])
        OPENINGS[opening] = counted()
    queries.write_text("".join(lines * 2))
    return (counted() - OPENINGS[opening]) / (2 * len(lines) - 1)


def report(rows):
    """A line for each row, with the differences to the first program."""
    first = {}
    for row in rows:
        before = first.setdefault((row["corpus"], row["set"]), row)
        figures = [of for of in ("instructions", "reads", "bytes", "rounds") if of in row]
        more = (f"{row[of]:>12,.1f} {of} {share(row[of], before[of]):+7.2f} %" for of in figures)
        yield f"{row['corpus']:<20} {row['set']:<12} {row['program']:<16} {' '.join(more)}"


def share(value, before):
    """By how many per cent a value is more than before."""
    return (value / before - 1) * 100 if before else 0.0


def started(text):
    """The variables, the file and the sets of a program; no sets stand for all."""
    (text, _, sets), variables = text.partition("@"), {}
    while match := VARIABLE.match(text):
        variables[match[1]] = match[2]
        text = text[match.end():]
    return variables, text, sets.split(",") if sets else []


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+", type=instructions.named, metavar="NAME=FILE", help="the first is the one that the others are compared with")
    parser.add_argument("--corpora", nargs="+", default=CORPUS_NAMES, help="corpora that research/measure/corpora.py has made, such as passages or its part passages.twentieth")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--queries", type=int, default=50, help="of each set whose instructions are counted (default: 50; 0: none)")
    parser.add_argument("--reads", type=int, default=1_000, help="of each set whose reads are counted, at most (default: 1000)")
    parser.add_argument("--memory", default="256MiB", help="the memory budget where instructions are counted (default: 256MiB)")
    parser.add_argument("--seed", type=int, default=1)
    results.add_option(parser)
    return parser.parse_args()


if __name__ == "__main__":
    try:
        main()
    except Unable as reason:
        sys.exit(str(reason))
