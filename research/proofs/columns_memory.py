#!/usr/bin/env python3
"""Aggregations of many buckets with `--memory 64MiB` in a memory group of 64 + 64 MiB: nothing is killed, nothing is wrong.

    research/proofs/columns_memory.py [--rows N]

Rows are those of columns.py, of which 19 in 20 have a URL of their own. Each aggregation is one process of `gannet search
--aggregate`, a composite with a process for each page. Then eight clients at once ask all of them of one server in such a group.
Every answer is compared with DuckDB's. Where an aggregation is refused, its sentence is kept: that is allowed, and told.
"""
import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import harness
import python_environment
from harness import CACHE, MIB, Claims, MemoryGroup, Unable, last_json, note, run
from limits import forget
from opensearch_node import Server, gannet_server

ROWS_RUNNER, RUNNER = Path(__file__).parent / "columns_runs.py", Path(__file__).parent / "columns_memory_runs.py"
PACKAGES = ["duckdb==2.0.1"]
BUDGET_MIB, ABOVE_MIB, CLIENTS = 64, 64, 8
TIMEOUT, SERVER_TIMEOUT_MS = "300s", 60_000


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
    with Claims("columns-memory", options.out, rows=options.rows, budget_mib=BUDGET_MIB, above_mib=ABOVE_MIB, clients=CLIENTS, packages=PACKAGES) as claims:
        proof = Proof(options)
        alone = [proof.alone(name, aggs) for name, aggs in ASKED.items()]
        at_once = proof.at_once()
        wrong = proof.compared(alone + at_once["asked"])
        for row in [*alone, *at_once["asked"]]:
            row.pop("answer", None)
        claims.rows += [*alone, at_once]
        claims.equal("kills, one at a time", sum(row["kills"] for row in alone), 0)
        claims.equal(f"kills, {CLIENTS} at once", at_once["kills"], 0)
        claims.equal("wrong answers", wrong, [])
        claims.known("answers", sum(row.get("times", 1) for row in [*alone, *at_once["asked"]] if "refused" not in row))
        claims.known("refused, one at a time", {row["name"]: row["refused"] for row in alone if "refused" in row})
        claims.known(f"refused, {CLIENTS} at once", [row["refused"] for row in at_once["asked"] if "refused" in row])
        claims.known("most MiB of a group, pages of files too", round(max(row["most_used_bytes"] for row in [*alone, at_once]) / MIB, 1))


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
        # The folder above the index is one that a server serves.
        self.index = self.place / "served" / "rows"
        self.index.parent.mkdir(exist_ok=True)
        for engine, folder in (("gannet", self.index), ("duckdb", self.place / "duckdb")):
            if not folder.exists():
                self.runner(ROWS_RUNNER, "index", engine, folder, rows, {"memory": "256MiB", "duckdb_memory": "8GiB", "threads": 2})

    def runner(self, program, *words):
        done = run([self.python, "-I", program, *[json.dumps(word) if isinstance(word, dict) else word for word in words]])
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
        forget(self.index)
        with MemoryGroup((BUDGET_MIB + ABOVE_MIB) * MIB) as group:
            done = run([self.command, "search", self.index, "*", "-k", "0", "--aggregate", file, "--memory", f"{BUDGET_MIB}MiB",
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
        """A server, asked by eight clients, each of which begins at another aggregation."""
        forget(self.index)
        names, asked = list(ASKED), Counter()
        with MemoryGroup((BUDGET_MIB + ABOVE_MIB) * MIB) as group:
            with gannet_server(self.command, "--memory", f"{BUDGET_MIB}MiB", "--max-open", 1, folder=self.index.parent, inherited=group.join) as server:

                def client(number):
                    own = Server(server.port)
                    for at in range(len(names)):
                        name = names[(number + at) % len(names)]
                        body = {"size": 0, "aggregations": ASKED[name], "timeout_ms": SERVER_TIMEOUT_MS}
                        status, found = own.ask("POST", f"/v1/indexes/{self.index.name}/search", body)
                        yield name, json.dumps({"answer": found["aggregations"]} if status == 200 else {"refused": f"{status}: {found}"[:300]})

                begun = time.monotonic()
                with ThreadPoolExecutor(CLIENTS) as pool:
                    for answers in pool.map(lambda number: list(client(number)), range(CLIENTS)):
                        asked.update(answers)
                seconds = round(time.monotonic() - begun, 1)
            told = group.figures()
        rows = [{"name": name, "times": times} | json.loads(text) for (name, text), times in asked.items()]
        return {"name": f"{CLIENTS} at once", "seconds": seconds, "asked": rows} | told

    def compared(self, rows):
        """The names of aggregations with an answer that is not DuckDB's."""
        answers = self.place / "all.json"
        answers.write_text(json.dumps([{"aggs": ASKED[row["name"]]} | row for row in rows if "answer" in row]))
        return self.runner(RUNNER, self.place / "duckdb/rows.duckdb", answers)["wrong"]


if __name__ == "__main__":
    main()
