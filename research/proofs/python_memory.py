#!/usr/bin/env python3
"""Indexing Arrow data and searching from Python in a memory group of budget + 128 MiB."""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import ndcg
import python_environment
from harness import CACHE, CORPORA, MIB, Claims, MemoryGroup, last_json, note, passages, remove, run, warm
from limits import Watch, forget

# For the interpreter, pyarrow with its batches, and what the engine holds beside its budget.
ABOVE_MIB = 128
PACKAGES = ["pyarrow==26.0.1"]
RUNNER = Path(__file__).parent / "python_runs.py"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheel", type=Path, help="default: the one in target/dist, as `make wheel` makes it")
    parser.add_argument("--corpus", type=Path, help="JSON lines (default: all passages)")
    parser.add_argument("--queries", type=int, default=5000)
    parser.add_argument("--budgets", type=int, nargs="+", default=[32, 64, 256], help="MiB")
    parser.add_argument("--out")
    options = parser.parse_args()
    corpus = options.corpus or passages()
    with Claims("python-memory", options.out, corpus=corpus.name, queries=options.queries, above_mib=ABOVE_MIB, packages=PACKAGES) as claims:
        python = python_environment.made("memory-venv", [python_environment.wheel(options.wheel), *PACKAGES])
        log = queries(options.queries)
        for budget in options.budgets:
            index = CACHE / "python-memory.gnt"
            remove(index)
            for work, file in (("stream", corpus), ("under", log)):
                row = measured([python, "-I", RUNNER, work, index, file, budget], file, index, budget)
                claims.rows.append({"what": "index" if work == "stream" else "search", "budget_mib": budget} | row)
                name = f"kills while it {'indexes' if work == 'stream' else 'searches'}, budget {budget} MiB"
                claims.equal(name, row["kills"] if row["exit_code"] == 0 else row.get("error", "failed"), 0)
            remove(index)
        worst = max(row["held_bytes"] / MIB - row["budget_mib"] for row in claims.rows)
        claims.at_most("most MiB held above the budget, file pages not counted", round(worst, 1), ABOVE_MIB)


def measured(command, file, index, budget):
    """One process in a memory group. The pages of the input were read outside of it, those of the index count."""
    warm(file)
    forget(index)
    with MemoryGroup((budget + ABOVE_MIB) * MIB) as group, Watch(group) as watch:
        done = run(command, group)
        figures = group.figures()
    row = {"exit_code": done.code, "kills": figures["kills"], "limit_bytes": figures["limit_bytes"],
           "group_peak_bytes": figures["most_used_bytes"], "held_bytes": watch.most}
    if done.code == 0:
        row |= last_json(done.output)
    else:
        row["error"] = done.errors.strip()[-300:].replace(f"{CACHE}/", "")
    note(" ".join(f"{name}={value}" for name, value in row.items()))
    return row


def queries(most):
    """Queries of the web log, a line each."""
    made = CACHE / "python-memory-queries.txt"
    with open(CORPORA / "queries/web-log-25k.tsv", encoding="utf-8") as lines:
        texts = [ndcg.plain(line.rstrip("\n").split("\t", 1)[1]) for line in lines]
    made.parent.mkdir(parents=True, exist_ok=True)
    made.write_text("".join(f"{text}\n" for text in [text for text in texts if text.strip()][:most]))
    return made


if __name__ == "__main__":
    main()
