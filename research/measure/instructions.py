#!/usr/bin/env python3
"""Instructions of programs `gannet`, counted by callgrind (valgrind): those of a warm query, and
those of a document that is indexed. One thread, `--backend pread`, the shipped sample.

    research/measure/instructions.py before=FILE after=FILE [--result-cache 8MiB] [--out docs/results/NAME.json]

Counts do not depend on what else the machine does, unlike times. Queries are words and phrases of
the sample, drawn with a fixed seed, and counted kind by kind. All programs ask them of one index,
which the first has made. Each asks once, then twice: the difference counts the second pass, whose
pages are all in memory. With `--result-cache` the last program is counted with that, too. For documents the difference
counts between an index of some documents and one of more. Results go to
`target/results/instructions.json`.

valgrind cannot run `bench` of a shipped program: rustix asks the kernel where the vDSO is, and valgrind has
unmapped it. These programs are built by
`cargo build --release -p gannet-cli --features rustix/use-libc-auxv`.
"""
import argparse
import functools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import results
from harness import ROOT, Unable, note

SAMPLE = ROOT / "sample" / "sample.jsonl.zst"
KINDS = ["term", "or", "and", "phrase"]
WORD = re.compile(r"[a-z]{2,}")
COUNTED = re.compile(r"Collected : (\d+)")
BUILD = "build it by `cargo build --release -p gannet-cli --features rustix/use-libc-auxv`"


def main():
    options = arguments()
    names, files = [name for name, _ in options.programs], [file for _, file in options.programs]
    result = results.Result("instructions", vars(options) | {"programs": names}, options.out)
    # Where the programs lie on this machine is nobody's concern.
    result.head["command"] = functools.reduce(lambda text, file: text.replace(file, "gannet"), files, result.head["command"])
    lines = sample(options.documents[1])
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(options, lines, Path(folder)):
            result.rows.append(row)
            result.write()
            note(f"{row['program']}: {row['instructions']:,.0f} instructions a {row['of']}")
    print("\n".join(report(result.rows)))


def rows(options, lines, folder):
    """A row for each program and each thing that is counted."""
    index, asked = folder / "index.gnt", folder / "queries.tsv"
    run([options.programs[0][1], "index", index, "-", "--threads", "1"], lines)
    drawn = queries(lines, options.queries, options.seed)
    settings = [(program, []) for program in options.programs]
    if options.result_cache:
        settings.append((options.programs[-1], ["--result-cache", options.result_cache]))
    for (name, program), more in settings * options.repeat:
        bench = [program, "--backend", "pread", "--memory", options.memory, "bench", index, asked, "--timeout", "none", "--json", *more]
        for kind in KINDS:
            same = [line for line in drawn if line.startswith(f"{kind}\t")]
            counts = []
            for passes in (1, 2):
                asked.write_text("\n".join(same * passes) + "\n")
                counts.append(instructions(bench))
            yield {"program": name, "of": f"query ({kind})", "with": more, "instructions": (counts[1] - counts[0]) / len(same)}
    few, many = options.documents
    for name, program in options.programs * options.repeat:
        counts = []
        for documents in (few, many):
            with tempfile.TemporaryDirectory(dir=folder) as made:
                command = [program, "--backend", "pread", "--memory", options.memory, "index", Path(made) / "index.gnt", "-", "--threads", "1"]
                counts.append(instructions(command, lines[:documents]))
        yield {"program": name, "of": "document", "with": [], "instructions": (counts[1] - counts[0]) / (many - few)}


def sample(documents):
    lines = run(["zstd", "-dc", SAMPLE]).stdout.splitlines(keepends=True)
    if len(lines) < documents:
        raise Unable(f"the sample has {len(lines)} documents: expected at least {documents}, so give fewer with --documents")
    return lines


def queries(lines, count, seed):
    """Lines for `gannet bench`: up to three words that stand side by side in a document."""
    draw, texts = random.Random(seed), [WORD.findall(json.loads(line)["body"].lower()) for line in lines]
    texts = [words for words in texts if len(words) >= 3]
    drawn = []
    for number in range(count):
        kind, words = KINDS[number % len(KINDS)], draw.choice(texts)
        length = 1 if kind == "term" else draw.randint(2, 3)
        at = draw.randint(0, len(words) - length)
        drawn.append(f"{kind}\t{' '.join(words[at:at + length])}")
    return drawn


def instructions(command, lines=(), environment=None):
    """Instructions of all threads of a command."""
    ran = run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command], lines, environment)
    return int(COUNTED.search(ran.stderr.decode())[1])


def run(command, lines=(), environment=None):
    ran = subprocess.run(
        [str(word) for word in command], input=b"".join(lines), capture_output=True, env=os.environ | (environment or {}))
    if ran.returncode != 0:
        hint = f"; {BUILD}" if b"SIGSEGV" in ran.stderr else ""
        raise Unable(f"{' '.join(map(str, command))} has failed with {ran.returncode}: {ran.stderr.decode()[-500:].strip()}{hint}")
    return ran


def report(rows):
    """A line for each row, with the difference to the first program."""
    first = {}
    for row in rows:
        before = first.setdefault(row["of"], row["instructions"])
        name = " ".join([row["program"], *row["with"]])
        yield f"{name:<60} {row['instructions']:>14,.0f} a {row['of']:<14} {(row['instructions'] / before - 1) * 100:+7.2f} %"


def named(text):
    name, equals, file = text.partition("=")
    if not (name and equals and file):
        raise argparse.ArgumentTypeError(f"expected NAME=FILE, such as before=target/release/gannet, found {text!r}")
    return name, file


def arguments():
    parser = argparse.ArgumentParser(description="Instructions of a warm query and of a document that is indexed, by program.")
    parser.add_argument("programs", nargs="+", type=named, metavar="NAME=FILE", help="the first is the one that the others are compared with")
    parser.add_argument("--queries", type=int, default=400, help="how many different queries (default: 400)")
    parser.add_argument("--documents", type=int, nargs=2, default=[200, 1_000], metavar=("FEW", "MANY"), help="documents of the two indexes (default: 200 1000)")
    parser.add_argument("--result-cache", metavar="SIZE", help="count the last program with a result cache of this size, too")
    parser.add_argument("--repeat", type=int, default=1, help="how often each program is counted (default: 1)")
    parser.add_argument("--memory", default="64MiB", help="the memory budget (default: 64MiB)")
    parser.add_argument("--seed", type=int, default=1)
    results.add_option(parser)
    return parser.parse_args()


if __name__ == "__main__":
    try:
        main()
    except Unable as reason:
        sys.exit(str(reason))
