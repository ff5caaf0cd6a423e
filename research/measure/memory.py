#!/usr/bin/env python3
"""The memory matrix: how much the command holds at most, by the operating system's account,
against its memory budget.

    research/measure/memory.py --scale twentieth        every combination, a twentieth of each corpus
    research/measure/memory.py --full --cases 60        60 cases, whole corpora, limited to budget + 64 MiB
    research/measure/memory.py --eightfold              the passages eight times over once, with 64 MiB
    research/measure/memory.py --self-test              only the test of the instruments

A case makes an index and works on it: searches, benchmarks, vacuum before and behind a deletion,
and writing the index anew. Each command is a row with its peak resident memory. Wanted is at most
budget + 32 MiB; more than budget + 64 MiB fails, as does a command that is killed, ends by a
signal, takes too long, or indexes and gives up before the last document. What the command rejects
for want of memory is listed and no miss. Bounds that are broken are in the result as `misses`.
Rows are written after each case, and `--resume` keeps the cases that the result file has of this
commit and program.
"""
import argparse
import itertools
import json
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import corpora
import inputs
import harness
import pairwise
import peaks
import results
from harness import MIB, Unable, note
from memory_bounds import ALLOWED_MIB, REJECTED, WANTED_MIB, broken, missed_aims
from questions import Questions

FACTORS = {
    "corpus": ["passages", "articles", "linux", "long", "thirty", "words", "passages8"],
    "memory_mib": [16, 32, 64, 256, 1024],
    "backend": ["uring", "pread"],
    "threads": [1, 2, 8],
}
WORKS = ["search", "bench", "vacuum", "rebuild"]
EIGHTFOLD = {"corpus": "passages8", "memory_mib": 64, "backend": "uring", "threads": 2}


def main():
    options = arguments()
    # A script that is ended must end what it started, and leave no group.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    tested = peaks.self_test()
    note(f"the instruments are right: {json.dumps(tested)}")
    if options.self_test:
        return
    matrix = Matrix(options, tested)
    cases = matrix.cases()
    for number, case in enumerate(cases, 1):
        matrix.do(case, f"{number}/{len(cases)}")
    matrix.write()
    print(matrix.summary())
    note(f"everything is in {matrix.result.path}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--scale", choices=["twentieth"], help="all combinations on a twentieth of each corpus")
    mode.add_argument("--full", action="store_true", help="cases that cover all pairs, on whole corpora")
    mode.add_argument("--eightfold", action="store_true", help="eight times the passages, 64 MiB")
    mode.add_argument("--self-test", action="store_true", help="test the instruments only")
    parser.add_argument("--cases", type=int, default=60, help="of --full")
    parser.add_argument("--corpora", nargs="+", choices=FACTORS["corpus"], default=FACTORS["corpus"])
    parser.add_argument("--budgets", nargs="+", type=int, metavar="MIB", default=FACTORS["memory_mib"])
    parser.add_argument("--backends", nargs="+", choices=FACTORS["backend"], default=FACTORS["backend"])
    parser.add_argument("--threads", nargs="+", type=int, default=FACTORS["threads"])
    parser.add_argument("--documents", type=int, help="only the first so many of each corpus, to try the script")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds after which a command is ended, which fails")
    parser.add_argument("--gannet", metavar="FILE", help="the program to measure; default: a release build of this tree")
    parser.add_argument("--resume", action="store_true", help="keep the cases that the result file has")
    results.add_option(parser)
    return parser.parse_args()


class Matrix:
    """The cases of one run, and their rows."""

    def __init__(self, options, tested):
        self.options = options
        self.kind = "twentieth" if options.scale else "full" if options.full else "eightfold"
        self.command = str(Path(options.gannet).resolve()) if options.gannet else harness.gannet()
        self.folder = harness.ROOT / "target" / "memory" / self.kind
        self.folder.mkdir(parents=True, exist_ok=True)
        self.sources, self.questions = {}, {}
        settings = {
            "kind": self.kind, "program_sha256": harness.file_hash(self.command), "documents": options.documents,
            "wanted_mib": WANTED_MIB, "allowed_mib": ALLOWED_MIB, "self_test": tested, "corpora": {}, "timeout_seconds": options.timeout,
            "limit": "no limit" if options.scale else f"a memory group of budget + {ALLOWED_MIB} MiB, page cache included",
            "factors": {"corpus": options.corpora, "memory_mib": options.budgets, "backend": options.backends, "threads": options.threads}}
        self.result = results.Result(f"memory-{self.kind}", settings, options.out)
        if options.resume:
            same = ("program_sha256", "documents", "kind")
            self.result.resume(lambda earlier: all(earlier[name] == settings[name] for name in same))
        elif self.result.path.exists():
            note(f"{self.result.path} is made anew: --resume would keep its rows")

    def cases(self):
        """What is to be done, each a value of every factor and the works on the index."""
        factors = self.result.settings["factors"]
        if self.kind == "eightfold":
            return [EIGHTFOLD | {"works": ["search", "bench"]}]
        if self.kind == "full":
            cases = pairwise.covering(factors | {"work": WORKS}, self.options.cases)
            # By corpus, so that its file stays in the page cache.
            cases.sort(key=lambda case: factors["corpus"].index(case["corpus"]))
            return [{name: case[name] for name in factors} | {"works": [case["work"]]} for case in cases]
        return [dict(zip(factors, values)) | {"works": WORKS} for values in itertools.product(*factors.values())]

    def do(self, case, progress):
        """All commands of a case, unless the result file has them."""
        if any(row["case"] == case for row in self.result.rows):
            return
        self.case, self.progress, rows = case, progress, []
        index = self.folder / "index.gnt"
        harness.remove(index)
        for operation, command in self.commands(case, index):
            rows.append(self.measured(operation, command))
            if operation == "index" and not (index / "superblock").exists():
                note(f"{progress}: no index was made, so nothing is asked of it")
                break
        harness.remove(index)
        self.result.rows += rows
        self.write()

    def write(self):
        self.result.more["misses"] = missed_aims({"rows": self.result.rows})
        self.result.write()

    def commands(self, case, index):
        """(operation, command line) in order."""
        common = ["--memory", f"{case['memory_mib']}MiB", "--backend", case["backend"], "--json"]
        source, threads = self.source(case["corpus"]), ["--threads", case["threads"]]
        yield "index", [self.command, "index", index, source, *threads, *common]
        questions = self.asked(case["corpus"])
        if "search" in case["works"]:
            for name, words in questions.searches.items():
                yield f"search {name}", [self.command, "search", index, *words, *common]
        if "bench" in case["works"]:
            queries = self.folder / f"{case['corpus']}.tsv"
            queries.write_text("".join(f"{line}\n" for line in questions.bench_lines))
            for more in ("--count", "--fetch"):
                yield f"bench {more}", [self.command, "bench", index, queries, "--distinct", more, *threads, *common]
        if "vacuum" in case["works"]:
            yield "vacuum", [self.command, "vacuum", index, *common]
            yield "delete", [self.command, "delete", index, "--query", questions.tenth, *common]
            yield "vacuum behind delete", [self.command, "vacuum", index, *common]
        if "rebuild" in case["works"]:
            yield "rebuild", [self.command, *self.rebuild(index), *common]

    def rebuild(self, index):
        """The command that writes an index anew, which is named differently in different
        versions.
        """
        known = peaks.measured([self.command, "--help"])[1]
        return ["rebuild", index] if "\n  rebuild" in known else ["vacuum", index, "--full"]

    def measured(self, operation, command):
        budget = self.case["memory_mib"] * MIB
        limit = None if self.kind == "twentieth" else budget + ALLOWED_MIB * MIB
        row, text = peaks.measured(command, limit, self.options.timeout)
        # Nothing of this machine's folders goes into a result.
        for name in ("command", "error"):
            row[name] = results.without_paths(row[name].replace(self.command, "gannet"), {"corpora": harness.MADE})
        figures = harness.last_json(text)
        figures = figures if isinstance(figures, dict) else {}
        # Commands of older versions say `docs`.
        documents = figures.get("documents", figures.get("docs"))
        whole = documents is not None
        if operation == "index" and not whole:
            documents = self.documents_in(command[2])
        peak = row["peak_resident_bytes"]
        row = {"case": self.case, "operation": operation, "budget_bytes": budget,
               "excess_bytes": None if peak is None else peak - budget} | row | {
            "killed": row["kills"] > 0 or row["exit_code"] == -signal.SIGKILL,
            "documents": documents, "rejected": figures.get("rejected", figures.get("refused")),
            "deleted": figures.get("deleted"), "found": figures.get("total")}
        if operation == "index":
            row["looked_at_all"] = whole
        row = {name: value for name, value in row.items() if value not in (None, "")}
        words = " ".join(str(self.case[name]) for name in FACTORS)
        told = "nothing was told" if peak is None else f"{peak / MIB:.1f} MiB ({(peak - budget) / MIB:+.1f})"
        note(f"{self.progress} {words} {operation}: {told}, exit {row.get('exit_code')}, {row['seconds']:.1f} s {'; '.join(broken(row))}")
        return row

    def documents_in(self, index):
        """The documents that a run of `gannet index` without a summary left."""
        row, text = peaks.measured([self.command, "stats", index, "--json"])
        return harness.last_json(text)["documents"] if row["exit_code"] == 0 else None

    def source(self, name):
        """The corpus of a case, with what is known of it in the settings."""
        if name not in self.sources:
            path = corpora.twentieth(name) if self.kind == "twentieth" else corpora.corpus(name)
            path = inputs.source(path, self.options.documents)
            self.sources[name] = path
            self.result.settings["corpora"][name] = {"file": path.name} | harness.text_size(path)
        return self.sources[name]

    def asked(self, name):
        if name not in self.questions:
            self.questions[name] = Questions(self.source(name))
        return self.questions[name]

    def summary(self):
        """For each operation the largest excess by budget, and every row that broke a bound."""
        budgets = sorted({row["case"]["memory_mib"] for row in self.result.rows})
        lines = ["most resident memory above the budget, MiB", f"{'':<26}" + "".join(f"{budget:>8} MiB" for budget in budgets)]
        for operation in dict.fromkeys(row["operation"] for row in self.result.rows):
            cells = [self.most(operation, budget) for budget in budgets]
            lines.append(f"{operation:<26}" + "".join("           -" if cell is None else f"{cell / MIB:>12.1f}" for cell in cells))
        missed = [row for row in self.result.rows if broken(row)]
        lines.append(f"{len(self.result.rows)} commands, {sum(row['killed'] for row in self.result.rows)} killed, {len(missed)} missed a bound")
        lines += [f"MISSES {'; '.join(broken(row))}: {row['command']} {row.get('error', '')}" for row in missed]
        lines += [f"REJECTED: {row['command']} {row.get('error', '')}" for row in self.result.rows
                  if row.get("exit_code") == REJECTED and not broken(row)]
        return "\n".join(lines)

    def most(self, operation, budget):
        of = [row.get("excess_bytes") for row in self.result.rows if row["operation"] == operation and row["case"]["memory_mib"] == budget]
        return max((excess for excess in of if excess is not None), default=None)


if __name__ == "__main__":
    try:
        main()
    except (Unable, ValueError) as error:
        sys.exit(f"memory: {error}")
