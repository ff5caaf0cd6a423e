#!/usr/bin/env python3
"""Bytes of each column in Gannet, DuckDB and Tantivy: indexes with one column each, and one with all.

Rows are those of columns.py. No words are indexed in Gannet, and of its index the tree of columns counts, at 4 KiB a node, as it
is after indexing and after a rebuild. Of Tantivy the files of fast fields count, and of DuckDB the file of its table.
"""
import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import harness
import python_environment
import results
from harness import CACHE, Unable, last_json, note, remove, run

ROWS_RUNNER, RUNNER = Path(__file__).parent / "columns_runs.py", Path(__file__).parent / "columns_sizes_runs.py"
ENGINES = ["gannet", "duckdb", "tantivy"]
PACKAGES = ["tantivy==0.27.0", "duckdb==2.0.1"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, help="default: the one in target/dist")
    parser.add_argument("--command", type=Path, help="default: built from this tree")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    results.add_option(parser)
    options = parser.parse_args()
    wheel = python_environment.wheel(options.wheel)
    python = python_environment.made("columns-sizes-venv", [wheel, *PACKAGES])
    command = options.command or harness.gannet()
    settings = {"rows": options.rows, "packages": PACKAGES, "wheel": python_environment.identified(wheel), "seed": 1}
    result = results.Result("columns-sizes", settings, options.out)
    place = CACHE / f"columns-rows-{options.rows}"
    rows = place / "rows.jsonl"
    place.mkdir(parents=True, exist_ok=True)
    if not rows.exists():
        unfinished = rows.with_suffix(".unfinished")
        ran(python, ROWS_RUNNER, "make", "-", place, unfinished, json.dumps({"rows": options.rows, "seed": 1}))
        unfinished.rename(rows)
    for engine in options.engines:
        folder = place / f"sizes-{engine}"
        remove(folder)
        folder.mkdir()
        for row in ran(python, RUNNER, engine, folder, rows, command)["columns"]:
            result.rows.append({"engine": engine} | row)
            note(f"{engine} {row['column']}: {row['bytes'] / 1e6:.2f} MB")
        remove(folder)
        result.write()
    note(f"everything is in {result.path}")


def ran(python, *words):
    done = run([python, "-I", *words])
    if done.code:
        raise Unable(f"{words[1]} failed: {done.errors.strip()[-400:]}")
    return last_json(done.output)


if __name__ == "__main__":
    try:
        main()
    except Unable as error:
        sys.exit(f"columns_sizes: {error}")
