#!/usr/bin/env python3
"""The model of solid-state drives held against closed forms: amplification of uniform random writes
by utilization, for FIFO and greedy garbage collection. Beside it, how many requests a second the
model itself handles. Results go to `target/results/ssd.json`. See research/drives/page.md.
"""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import results
from engines import gannet_lab
from harness import run
from report import figures as table

# Of the speed of the model: bytes of the drive, and the share that has content.
BENCH_BYTES, BENCH_FILLED = 4 << 30, 0.9


def main():
    options = arguments()
    result = results.Result("ssd", vars(options), options.out)
    program = gannet_lab()
    amplification = run([program, "ssd", "amplification", "--pages", options.pages, "--blocks", options.blocks]).json()
    speed = run([program, "ssd", "bench", "--capacity", BENCH_BYTES, "--filled", BENCH_FILLED]).json()
    result.rows, result.more = amplification["rows"], {"bench": speed}
    result.write()
    rows = {str(row["utilization"]): [row[name] for name in ("fifo", "fifo_closed_form", "greedy", "greedy_closed_form")] for row in result.rows}
    title = f"Amplification of uniform random writes by utilization, {options.pages} pages a block"
    print(table(title, ["FIFO", "closed form", "greedy", "mean field"], rows))
    print(f"{speed['requests_per_second']:,.0f} requests of 4 KiB a second, half of them writes, {speed['model']}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=64, help="pages of a block")
    parser.add_argument("--blocks", type=int, default=1_000)
    results.add_option(parser)
    return parser.parse_args()


main()
