#!/usr/bin/env python3
"""What a mechanism of the engine is worth: programs with and without it, on the same documents.

    research/measure/mechanisms.py with=FILE without=FILE [--corpora passages articles] [--documents 150000]

Each program indexes each corpus with little memory, so that flushes are many, and answers queries
from an empty cache: bytes written, the size of the index, CPU, reads and bytes of a query. A program
without a mechanism is built of a changed source; docs/experiments/mechanisms.md says which. Bytes and
reads do not depend on what else the machine does; CPU does a little. Results go to
`target/results/mechanisms.json`.
"""
import argparse
import functools
import json
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import inputs
import questions
import results
from harness import Unable, note
from instructions import named

KINDS = ["term", "and", "or", "phrase"]


def main():
    options = arguments()
    names, files = [name for name, _ in options.programs], [file for _, file in options.programs]
    result = results.Result("mechanisms", vars(options) | {"programs": names}, options.out)
    # Where the programs lie on this machine is nobody's concern.
    result.head["command"] = functools.reduce(lambda text, file: text.replace(file, "gannet"), files, result.head["command"])
    for corpus in options.corpora:
        path = inputs.source(corpus, options.documents)
        if options.shuffle is not None:
            path = shuffled(path, options)
        lines = questions.Questions(path).bench_lines
        for name, program in options.programs:
            with tempfile.TemporaryDirectory(dir=options.folder) as folder:
                row = {"corpus": corpus, "program": name} | measured(program, path, lines, Path(folder), options)
            result.rows.append(row)
            result.write()
            note(f"{corpus}, {name}: {row['written'] / 1e6:.1f} MB written, index {row['index'] / 1e6:.1f} MB, {row['cpu']:.1f} s of CPU")
    note(f"everything is in {result.path}")


def shuffled(path, options):
    """The same documents in an order drawn at random."""
    lines = path.read_bytes().splitlines(keepends=True)
    random.Random(options.shuffle).shuffle(lines)
    out = inputs.PLACE / f"{path.stem}-shuffled-{options.shuffle}.jsonl"
    inputs.PLACE.mkdir(parents=True, exist_ok=True)
    out.write_bytes(b"".join(lines))
    return out


def measured(program, path, lines, folder, options):
    """What a program writes to index a file, and what its queries read."""
    index = folder / "index.gnt"
    made = call(program, "index", index, path, "--memory", options.memory, "--threads", options.threads)
    row = {"documents": made["documents"], "flushes": made["flushes"], "written": made["bytes_written"], "written_for": made["bytes_written_for"],
           "index": made["index_bytes"], "cpu": made["cpu_seconds"], "queries": asked_of(program, index, lines, folder, options)}
    for order in options.rebuild:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        call(program, "rebuild", index, "--order", order, "--memory", options.rebuild_memory)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        row[order] = {"index": sum(file.stat().st_size for file in index.rglob("*") if file.is_file()),
                      "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
                      "queries": asked_of(program, index, lines, folder, options)}
    return row


def asked_of(program, index, lines, folder, options):
    """What the queries of each kind read, from an empty cache, and what CPU they take in memory."""
    asked, row = folder / "queries.tsv", {}
    for kind in KINDS:
        same = [line for line in lines if line.startswith(f"{kind}\t")]
        asked.write_text("\n".join(same) + "\n")
        figures = call(program, "bench", index, asked, "--memory", options.query_memory, "--timeout", "none")
        warm = call(program, "bench", index, asked, "--memory", "512MiB", "--timeout", "none", "--warm", "0.5", "--seconds", "0.5")
        row[kind] = {"count": figures["queries"], "reads": figures["reads_per_query"],
                     "bytes": figures["bytes_read_per_query"]["engine"], "warm_cpu_us": warm["cpu_us_per_query"]}
    return row


def call(program, *arguments):
    ran = subprocess.run([program, *map(str, arguments), "--json"], capture_output=True, text=True)
    # 1 with an answer: documents were rejected, of each program the same ones.
    if ran.returncode not in (0, 1) or not ran.stdout.strip():
        raise Unable(f"{program} {' '.join(map(str, arguments))} has failed with {ran.returncode}: {ran.stderr[-500:].strip()}")
    return json.loads(ran.stdout)


def arguments():
    parser = argparse.ArgumentParser(description="What programs with and without a mechanism write and read.")
    parser.add_argument("programs", nargs="+", type=named, metavar="NAME=FILE")
    parser.add_argument("--corpora", nargs="+", default=["passages", "articles"])
    parser.add_argument("--documents", type=int, help="only the first documents of each corpus")
    parser.add_argument("--memory", default="32MiB", help="the memory budget of indexing (default: 32MiB)")
    parser.add_argument("--query-memory", default="16MiB", help="the memory budget of queries (default: 16MiB)")
    parser.add_argument("--threads", type=int, default=1, help="threads that prepare documents (default: 1)")
    parser.add_argument("--shuffle", type=int, metavar="SEED", help="the documents in an order drawn at random")
    parser.add_argument("--rebuild", nargs="+", default=[], choices=["kept", "alike"], help="rebuild the index in these orders, too; of programs that have `rebuild --order`")
    parser.add_argument("--rebuild-memory", default="512MiB", help="the memory budget of rebuilding (default: 512MiB)")
    parser.add_argument("--folder", type=Path, help="where indexes are made (default: the system's folder for them)")
    results.add_option(parser)
    return parser.parse_args()


if __name__ == "__main__":
    try:
        main()
    except Unable as reason:
        sys.exit(str(reason))
