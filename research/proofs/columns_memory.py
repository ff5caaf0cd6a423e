#!/usr/bin/env python3
"""Aggregations of many buckets with `--memory 64MiB` in a memory group of 64 + 64 MiB: nothing is killed, nothing is wrong.

    research/proofs/columns_memory.py [--rows N]

Rows are those of columns.py, of which 19 in 20 have a URL of their own. Each aggregation is one process of `gannet search
--aggregate`, a composite with a process for each page. Then one Python process asks all of them with eight threads, through a
handle that may write, as a server has it; what the interpreter holds is beside. Every answer is compared with DuckDB's. Where an
aggregation is refused, its sentence is kept: that is allowed, and told.
"""
import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import harness
import python_environment
from harness import CACHE, MIB, Claims, MemoryGroup, Unable, last_json, note, run
from limits import forget

ROWS_RUNNER, RUNNER = Path(__file__).parent / "columns_runs.py", Path(__file__).parent / "columns_memory_runs.py"
PACKAGES = ["duckdb==2.0.1"]
BUDGET_MIB, ABOVE_MIB, INTERPRETER_MIB, THREADS = 64, 64, 96, 8
TIMEOUT = "300s"


def terms(field, size=10, below=None, **more):
    return {"terms": {"field": field, "size": size} | more} | ({"aggs": below} if below else {})


ASKED = {
    "terms of URLs": {"a": terms("url")},
    "the last URLs": {"a": terms("url", order={"_key": "desc"})},
    "terms below terms": {"a": terms("category", 5_000, {"b": terms("user", 2)})},
    "terms below frequent terms": {"a": terms("category", 100, {"b": terms("user", 10, {"c": terms("tags", 3)})})},
    "a composite through everything": {"a": {"composite": {"size": 10_000, "sources": [
        {"user": {"terms": {"field": "user", "order": "asc", "missing_bucket": True}}}]}, "aggs": {"b": {"sum": {"field": "price"}}}}},
    "combinations of two fields": {"a": {"composite": {"size": 1_000, "sources": [
        {"category": {"terms": {"field": "category", "order": "asc"}}}, {"user": {"terms": {"field": "user", "order": "desc"}}}]}}},
    "cardinality below terms": {"a": terms("category", 5_000, {"b": {"cardinality": {"field": "url"}}, "c": {"cardinality": {"field": "user"}}})},
    "terms by cardinality": {"a": terms("category", 20, {"order": {"cardinality": {"field": "user"}}}, order=[{"order": "desc"}, {"_key": "asc"}])},
    "percentiles of everything": {f"p{number}": {"percentiles": {"field": field, "percents": [0, 1, 50, 99.9, 100]}}
                                  for number, field in enumerate(["price", "length", "article"])},
    "percentiles below terms": {"a": terms("category", 5_000, {"b": {"percentiles": {"field": "price", "percents": [5, 50, 95]}}})},
}
# All of its pages, where others are asked for their first one.
THROUGH = "a composite through everything"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, help="default: the one in target/dist")
    parser.add_argument("--command", type=Path, help="default: built from this tree")
    parser.add_argument("--rows", type=int, default=570_000)
    parser.add_argument("--out")
    options = parser.parse_args()
    with Claims("columns-memory", options.out, rows=options.rows, budget_mib=BUDGET_MIB, above_mib=ABOVE_MIB, interpreter_mib=INTERPRETER_MIB,
                threads=THREADS, packages=PACKAGES) as claims:
        proof = Proof(options)
        alone = [proof.alone(name, aggs) for name, aggs in ASKED.items()]
        at_once = proof.at_once()
        wrong = proof.compared(alone + at_once["asked"])
        for row in [*alone, *at_once["asked"]]:
            row.pop("answer", None)
        claims.rows += [*alone, at_once]
        claims.equal("kills, one at a time", sum(row["kills"] for row in alone), 0)
        claims.equal(f"kills, {THREADS} at once", at_once["kills"], 0)
        claims.equal("wrong answers", wrong, [])
        claims.known("answers", sum(row.get("times", 1) for row in [*alone, *at_once["asked"]] if "refused" not in row))
        claims.known("refused, one at a time", {row["name"]: row["refused"] for row in alone if "refused" in row})
        claims.known(f"refused, {THREADS} at once", [row["refused"] for row in at_once["asked"] if "refused" in row])
        claims.at_most("most MiB of a group above the budget", round(max(row["most_used_bytes"] for row in alone) / MIB - BUDGET_MIB, 1), ABOVE_MIB)


class Proof:
    def __init__(self, options):
        self.python = python_environment.made("columns-memory-venv", [python_environment.wheel(options.wheel), *PACKAGES])
        self.command = str(options.command or harness.gannet())
        self.place = CACHE / f"columns-memory-{options.rows}"
        self.place.mkdir(parents=True, exist_ok=True)
        rows = self.place / "rows.jsonl"
        if not rows.exists():
            unfinished = rows.with_suffix(".unfinished")
            self.runner(ROWS_RUNNER, "make", "-", self.place, unfinished, {"rows": options.rows, "seed": 1})
            unfinished.rename(rows)
        for engine in ("gannet", "duckdb"):
            if not (self.place / engine).exists():
                self.runner(ROWS_RUNNER, "index", engine, self.place / engine, rows, {"memory": "256MiB", "duckdb_memory": "8GiB", "threads": 2})

    def runner(self, program, *words, group=None):
        done = run([self.python, "-I", program, *[json.dumps(word) if isinstance(word, dict) else word for word in words]], group)
        if done.code:
            raise Unable(f"{words[0]} failed with {done.code}: {done.errors.strip()[-400:]}")
        return last_json(done.output)

    def alone(self, name, aggs):
        """One process, or one for each page."""
        row = {"name": name, "seconds": 0, "processes": 0, "kills": 0, "most_used_bytes": 0}
        while True:
            found = self.search(aggs, row)
            if "refused" in row:
                return row
            if "answer" in row:
                row["answer"]["a"]["buckets"] += found["a"]["buckets"]
            else:
                row["answer"] = found
            if name != THROUGH or "after_key" not in found["a"]:
                note(f"{name}: {row['seconds']:.1f} s, most {row['most_used_bytes'] / MIB:.1f} MiB")
                return row
            aggs = {"a": aggs["a"] | {"composite": aggs["a"]["composite"] | {"after": found["a"]["after_key"]}}}

    def search(self, aggs, row):
        file = self.place / "aggs.json"
        file.write_text(json.dumps(aggs))
        forget(self.place / "gannet")
        with MemoryGroup((BUDGET_MIB + ABOVE_MIB) * MIB) as group:
            done = run([self.command, "search", self.place / "gannet", "*", "-k", "0", "--aggregate", file, "--memory", f"{BUDGET_MIB}MiB",
                        "--timeout", TIMEOUT, "--json"], group)
            told = group.figures()
        row["seconds"], row["processes"] = round(row["seconds"] + done.seconds, 2), row["processes"] + 1
        row["kills"] += told["kills"]
        row["most_used_bytes"] = max(row["most_used_bytes"], told["most_used_bytes"])
        if done.code:
            row["refused"] = done.errors.strip()[-300:]
            note(f"{row['name']}: {row['refused']}")
            return None
        return done.json()["aggregations"]

    def at_once(self):
        """One process that asks with eight threads, each beginning at another aggregation."""
        file, answers = self.place / "asked.json", self.place / "answers.json"
        file.write_text(json.dumps(ASKED))
        forget(self.place / "gannet")
        settings = {"threads": THREADS, "memory": f"{BUDGET_MIB}MiB", "answers": str(answers)}
        with MemoryGroup((BUDGET_MIB + ABOVE_MIB + INTERPRETER_MIB) * MIB) as group:
            figures = self.runner(RUNNER, "ask", self.place / "gannet", file, settings, group=group)
            return {"name": f"{THREADS} at once"} | figures | group.figures() | {"asked": [json.loads(line) for line in answers.read_text().splitlines()]}

    def compared(self, rows):
        """The names of aggregations with an answer that is not DuckDB's."""
        answers = self.place / "all.json"
        answers.write_text(json.dumps([{"aggs": ASKED[row["name"]]} | row for row in rows if "answer" in row]))
        return self.runner(RUNNER, "compare", self.place / "duckdb/rows.duckdb", answers, {})["wrong"]


if __name__ == "__main__":
    main()
