#!/usr/bin/env python3
"""What taking new documents costs: bytes written, documents a second, pauses.

`ingest`: a corpus by durable commits, each engine with the same memory and two threads. A commit of Gannet is a sync of its log;
in the row `flush` it is a checkpoint, as the other engines' commits are. Bytes are the operating system's, without those that were
deleted before they were written out. `churn`: Gannet alone; all documents are replaced in random order, half are deleted, and it is vacuumed
and cleaned, while a reader tries to keep its snapshot; then it is compared with an index built of what is left. `during`: Gannet alone; queries
while one thread adds documents at full speed, and while none does, by one thread that asks and by two. `tiny`: Gannet alone; durable commits of
ten documents, and the same with a flush at every tenth, both left for as long as their idle maintenance takes, and the latter as the last commit left it,
compared with an index built by one commit: size, files, memory, queries. Results go to
`target/lab/maintenance.json` and `.txt`. See docs/experiments/writing.md.
"""
import argparse
import itertools
import os
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import inputs
import results
from instructions import named
from engines import ENGINES, PEERS, Gannet, gannet_lab
from inputs import PLACE
from harness import MIB, gannet, note, remove, run
from report import figures as table
from writing_aims import missed_aims

COMMITS = 100

EXPERIMENTS = ["ingest", "churn", "during", "tiny"]

# Queries that a worn and a fresh index are asked, how often, and for how many seconds.
SETS = ["term-10", "term-1000", "and-1000", "or-1000", "phrase-1000", "term-100000"]
RUNS, SECONDS = 3, 2

# Queries that are asked while documents come, in turns.
SETS_DURING = ["term-100", "term-1000", "term-10000", "term-100000", "and-1000", "and-10000", "or-1000", "or-10000", "phrase-1000",
               "phrase-10000"]
READERS = [1, 2]

# Of `tiny`: documents in all, and of a commit; commits to a flush; queries, how often they are asked, and for how many seconds.
TINY, TINY_COMMIT, TINY_FLUSH = 100_000, 10, 10
SETS_TINY = ["term-10", "term-100", "term-1000", "term-10000", "term-100000", "and-1000", "or-1000", "phrase-1000"]
RUNS_TINY, SECONDS_TINY = 7, 1


def main():
    options = arguments()
    settings = vars(options) | {"programs": [name for name, _ in options.programs]}
    result = results.Result(options.name, settings, options.out or PLACE / f"{options.name}.json")
    # Where the programs lie on this machine is nobody's concern.
    for _, file in options.programs:
        result.head["command"] = result.head["command"].replace(file, "gannet-lab")
    rows, texts = result.rows, []
    for corpus in options.corpora:
        path = inputs.source(corpus, options.documents)
        if "ingest" in options.experiments:
            every = -(-inputs.count_lines(path) // COMMITS)
            taken = [row for name in options.engines for row in ingest(name, path, every, options)]
            rows += [{"corpus": corpus} | row for row in taken]
            texts.append(ingest_table(taken, corpus, options))
            keep(result, texts, options)
        if "churn" in options.experiments:
            churned, asked = churn(path, options)
            rows.append({"corpus": corpus, "churn": churned, "queries": asked})
            texts.append(churn_tables(churned, asked, corpus, options))
            keep(result, texts, options)
        for readers, (program, file) in itertools.product(READERS if "during" in options.experiments else [], options.programs):
            rows.append({"corpus": corpus, "program": program, "during": during(file, path, readers, options)})
            texts.append(during_tables(rows[-1]["during"], f"{corpus}, {program}", options))
            keep(result, texts, options)
        if "tiny" in options.experiments:
            built, asked = tiny(inputs.source(corpus, min(options.documents or TINY, TINY)), options)
            rows.append({"corpus": corpus, "tiny": built, "queries": asked})
            texts.append(tiny_tables(built, asked, corpus, options))
            keep(result, texts, options)
    print("\n".join(texts))
    note(f"everything is in {result.path}")


def keep(result, texts, options):
    """What was measured is kept whatever becomes of the next."""
    PLACE.mkdir(parents=True, exist_ok=True)
    (PLACE / f"{options.name}.txt").write_text("\n".join(texts))
    result.more["misses"] = missed_aims({"settings": result.settings, "rows": result.rows})
    result.write()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="+", default=["passages", "articles"])
    parser.add_argument("--experiments", nargs="+", choices=EXPERIMENTS, default=EXPERIMENTS)
    parser.add_argument("--engines", nargs="+", choices=[Gannet.name, *PEERS], default=[Gannet.name, *PEERS])
    parser.add_argument("--documents", type=int, help="only the first so many")
    parser.add_argument("--memory", type=int, default=64, help="MiB of each engine")
    parser.add_argument("--queries", type=int, default=20_000, help="queries of each synthetic set")
    parser.add_argument("--runs", type=int, help=f"how often an index is asked each set; default: {RUNS}, and {RUNS_TINY} of `tiny`")
    parser.add_argument("--seconds", type=float, help=f"of asking; default: {SECONDS}, and {SECONDS_TINY} of `tiny`")
    parser.add_argument("--programs", nargs="+", type=named, metavar="NAME=FILE", help="programs `gannet-lab` that `during` compares (default: that of this tree)")
    parser.add_argument("--name", default="maintenance", help="name of the result's files in target/lab")
    results.add_option(parser)
    options = parser.parse_args()
    options.programs = options.programs or [("gannet-lab", gannet_lab())]
    return options


def ingest(name, path, every, options):
    """One engine takes all documents; Gannet by both kinds of commits."""
    engine, folder = ENGINES[name](), PLACE / "maintenance-index"
    kinds = [("sync", ["--flush-every", 0, "--left", "written"]), ("flush", ["--left", "written"])] if name == Gannet.name else [("", [])]
    for kind, more in kinds:
        remove(folder)
        note(f"{name} {kind} indexes {path.name}, a commit every {every} documents")
        done = engine.index(folder, path, every, options.memory * MIB, more)
        row = done.json() | {"engine": name, "kind": kind, "cpu_seconds": done.cpu_seconds, "peak_resident_bytes": done.peak_resident_bytes}
        remove(folder)
        yield row


def ingest_table(rows, corpus, options):
    heads = ["MB written", "index MB", "written/index", "docs/s", "CPU s", "flushes", "write ms", "commit ms", "peak MiB"]
    lines = {}
    for row in rows:
        written, index = row["bytes_written"], row["index_bytes"]
        longest = [1000 * row[what] if what in row else None for what in ("longest_write_seconds", "longest_commit_seconds")]
        lines[f"{row['engine']} {row['kind']}"] = [
            written / 1e6, index / 1e6, written / index, row["documents"] / row["seconds"], row["cpu_seconds"], row.get("flushes"), *longest,
            row["peak_resident_bytes"] / MIB]
    title = (f"{corpus}: {rows[0]['documents']:,} documents by {COMMITS} commits with {options.memory} MiB; the longest write of 256 KiB of "
             "documents, and the longest commit")
    return table(title, heads, lines)


def churn(path, options):
    """Figures of an index whose documents were replaced and half deleted, and of queries to it and to a fresh one, warm and in turns."""
    worn, fresh = PLACE / "maintenance-index", PLACE / "maintenance-fresh"
    for folder in (worn, fresh):
        remove(folder)
    note(f"all documents of {path.name} are replaced, half of them deleted")
    churned = run([gannet_lab(), "churn", worn, fresh, path, "--memory", options.memory * MIB]).json()
    sets = inputs.queries(path, PLACE / path.stem, 1, options.queries)
    asked = {"vacuumed": in_turns((worn, fresh), sets, options)}
    done = run([gannet(), "rebuild", worn, "--json", "--memory", options.memory * MIB])
    churned["full"] = done.json() | {"seconds": done.seconds, "cpu_seconds": done.cpu_seconds}
    asked["written anew"] = in_turns((worn, fresh), sets, options)
    for folder in (worn, fresh):
        remove(folder)
    return churned, asked


def in_turns(folders, sets, options):
    """Figures of queries to some indexes, warm and in turns, by set."""
    engine, asked = Gannet(), {}
    for name in filled(SETS, sets):
        for _ in range(options.runs or RUNS):
            for folder in folders:
                seconds = options.seconds or SECONDS
                more = ["--threads", 2, "--seconds", seconds, "--warm", min(1, seconds)]
                row = engine.bench(folder, sets / f"{name}.tsv", options.memory * MIB, more).json()
                asked.setdefault(name, {}).setdefault(folder.stem, []).append(row)
    return asked


def filled(names, sets):
    """Those of which a corpus has queries: a small one has no words in very many documents."""
    return [name for name in names if (sets / f"{name}.tsv").stat().st_size > 0]


def churn_tables(churned, asked, corpus, options):
    fresh = churned["fresh_bytes"]
    live = fresh / churned["documents"]
    allowed = lambda documents: 1.5 * live * documents + 256 * MIB
    fullest = lambda row: max((bytes / allowed(documents) for documents, bytes in row["sizes"]), default=None)
    heads = ["seconds", "MB written", "MB read", "largest MB", "of allowed", "MB after", "dead docs", "given up"]
    lines = {row["phase"]: [
        row["seconds"], row["bytes_written"] / 1e6, row["bytes_read"] / 1e6, row["largest_bytes"] / 1e6, fullest(row), row["bytes"] / 1e6,
        row["dead_documents"], row["reader"]["snapshots_given_up"]] for row in churned["phases"]}
    title = (f"{corpus}: {churned['phases'][0]['documents']:,} documents, all replaced, half deleted, {options.memory} MiB; then "
             f"{churned['index_bytes'] / 1e6:.0f} MB, {churned['index_bytes'] / fresh:.2f} of {fresh / 1e6:.0f} MB built of what is left "
             f"(full: {churned['full_bytes'] / 1e6:.0f} MB); allowed: at each moment 1.5 of what lives and 256 MiB")
    text = table(title, heads, lines)
    full = churned["full"]
    text += (f"\nrebuilt in {full['seconds']:.0f} s with {full['cpu_seconds']:.0f} s of CPU: "
             f"{full['bytes_written'] / 1e6:.0f} MB written, {full['allocated'] / 1e6:.0f} MB after, {full['free'] / 1e6:.0f} MB of them free\n")
    median = lambda rows, what: statistics.median(row[what] for row in rows)
    heads = ["queries/s", "fresh", "CPU us", "fresh", "reads", "fresh", "time ratio", "CPU ratio"]
    for state, by_set in asked.items():
        lines = {}
        for name, both in by_set.items():
            worn, new = both.values()
            figures = [median(rows, what) for what in ("qps", "cpu_us_per_query", "reads_per_query") for rows in (worn, new)]
            lines[name] = [*figures, figures[1] / figures[0], figures[2] / figures[3]]
        title = f"{corpus}: queries to it, {state}, and to the fresh index, medians of {options.runs or RUNS} runs in turns, 2 threads"
        text += "\n" + table(title, heads, lines)
    return text


def during(program, path, readers, options):
    """Figures of queries while documents are added, and while none are."""
    folder = PLACE / "maintenance-index"
    remove(folder)
    note(f"{readers} readers ask while {path.name} is written")
    sets = inputs.queries(path, PLACE / path.stem, 1, options.queries)
    asked = run([program, "during", folder, path, *(sets / f"{name}.tsv" for name in filled(SETS_DURING, sets)),
                 "--memory", options.memory * MIB, "--readers", readers]).json()
    remove(folder)
    return asked | {"load": os.getloadavg()[0]}


def during_tables(asked, corpus, options):
    settings, phases = asked["settings"], {phase["phase"]: phase for phase in asked["phases"]}
    heads = ["seconds", "CPU s", "docs/s", "queries/s", "flushes", "MB written", "MB read"]
    lines = {name: [
        phase["seconds"], phase["cpu_seconds"], phase["documents_per_second"], phase["queries_per_second"], phase["flushes"],
        phase["bytes_written"] / 1e6, phase["bytes_read"] / 1e6] for name, phase in phases.items()}
    title = (f"{corpus}: a quarter of {asked['documents']:,} documents added to a half, queries to that, and a quarter added while they are "
             f"asked; {options.memory} MiB, {settings['processors']} processors (load {asked['load']:.1f} at the end), {settings['writers']} thread "
             f"that writes {settings['batch']} documents at a time and the flushes beside it, {settings['readers']} that ask one after the other")
    text = table(title, heads, lines)
    alone, both = phases["ask"]["queries"], phases["both"]["queries"]
    shares = ["p50", "p95", "p99", "max"]
    heads = [*(text for share in shares for text in (f"{share} us", "writing")), "p99 ratio", "got CPU", "CPU p99", "reads", "writing"]
    lines = {}
    for name in ["all", *filter(alone.get, SETS_DURING)]:
        pair = [alone[name], both[name]]
        ratios = [pair[1][what]["p99"] / pair[0][what]["p99"] for what in ("latency_us", "latency_us_with_a_processor", "cpu_us")]
        lines[name] = [
            *(row["latency_us"][share] for share in shares for row in pair), *ratios, *(row["reads_per_query"] for row in pair)]
    title = (f"{corpus}: latency without and with writing; the ratios of p99, of p99 without the time for which a thread was ready and "
             "had no processor, and of p99 of its processor time")
    return text + "\n" + table(title, heads, lines)


def tiny(path, options):
    """Figures of indexes built by many small commits and by one, and of queries to them, warm and in turns."""
    engine, sets, built, asked = Gannet(), inputs.queries(path, PLACE / path.stem, 1, options.queries), {}, {}
    kinds = {"bulk": (inputs.count_lines(path), 0, "kept"), "commits": (TINY_COMMIT, 0, "kept"), "flushes": (TINY_COMMIT, TINY_FLUSH, "kept"),
             "beside": (TINY_COMMIT, TINY_FLUSH, "written")}
    for kind, (every, flushes, left) in kinds.items():
        remove(PLACE / f"maintenance-{kind}")
        note(f"{path.name} by commits of {every} documents, a flush at one of {flushes}")
        done = engine.index(PLACE / f"maintenance-{kind}", path, every, options.memory * MIB, ["--flush-every", flushes, "--left", left])
        built[kind] = done.json() | {"cpu_seconds": done.cpu_seconds, "peak_resident_bytes": done.peak_resident_bytes}
    for name in filled(SETS_TINY, sets):
        for _ in range(options.runs or RUNS_TINY):
            for kind in kinds:
                seconds = options.seconds or SECONDS_TINY
                more = ["--seconds", seconds, "--warm", seconds]
                row = engine.bench(PLACE / f"maintenance-{kind}", sets / f"{name}.tsv", options.memory * MIB, more).json()
                asked.setdefault(name, {}).setdefault(kind, []).append(row)
    for kind in kinds:
        remove(PLACE / f"maintenance-{kind}")
    return built, asked


def tiny_tables(built, asked, corpus, options):
    heads = ["seconds", "CPU s", "MB written", "index MB", "size ratio", "commits", "flushes", "most files", "peak MiB"]
    lines = {kind: [
        row["seconds"], row["cpu_seconds"], row["bytes_written"] / 1e6, row["index_bytes"] / 1e6,
        row["index_bytes"] / built["bulk"]["index_bytes"], row["commits"], row["flushes"], row["most_files"],
        row["peak_resident_bytes"] / MIB] for kind, row in built.items()}
    title = f"{corpus}: {built['bulk']['documents']:,} documents by commits of {TINY_COMMIT}, and a flush at one of {TINY_FLUSH}, {options.memory} MiB"
    text = table(title, heads, lines)
    lines = {}
    for name, rows in asked.items():
        cpu, wall, reads = ([figure(map(of, runs)) for runs in rows.values()] for figure, of in (
            (min, lambda row: row["cpu_us_per_query"]), (min, lambda row: 1e6 / row["qps"]),
            (statistics.median, lambda row: row["reads_per_query"])))
        lines[name] = [*cpu, *(other / wall[0] for other in wall[1:]), *reads]
    others = list(built)[1:]
    heads = ["CPU us", *others, *(f"time {other}" for other in others), "reads", *others]
    title = f"{corpus}: queries to them, the best of {RUNS_TINY} runs in turns (reads: the median), 1 thread"
    return text + "\n" + table(title, heads, lines)


main()
