#!/usr/bin/env python3
"""What the headlines of the Smart SSD paper's tables 3 to 5 depend on: each number of a profile half
as large and half again as large. A row has the sums of one table with one change; a table that a
program rejects then has none. All times and energies are modelled. Results go to
`target/results/smart-sensitivity.json`. See research/papers/smart-ssd/page.md.
"""
import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import results
from engines import gannet_lab
from harness import note, run

PROFILES = folders.RESEARCH / "drives" / "ssd" / "profiles"
TABLES = ["table 3", "table 4", "table 5"]
FACTORS = [0.5, 1.5]


def main():
    options = arguments()
    program = [options.program or gannet_lab(), "smart-ssd", "--seed", options.seed, "--profile", options.profile]
    result = results.Result("smart-sensitivity", {"profile": options.profile, "seed": options.seed}, options.out)
    rejected = []
    for key, factor, change in changes(options.profile, options.numbers):
        for table in TABLES:
            done = run([*program, *change, "--only", table])
            if done.code == 0:
                result.rows.append({"key": key, "factor": factor, "table": table} | sums(done.json()["rows"]))
            else:
                rejected.append({"key": key, "factor": factor, "table": table, "reason": done.errors.strip().splitlines()[-1]})
        note(f"{key or 'as it is'} x {factor:g}")
    result.more = {"rejected": rejected}
    note(f"{len(result.rows)} rows in {result.write()}, {len(rejected)} rejected")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", default="smart-ssd-2016")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--numbers", type=int, help="only the first so many numbers of the profile")
    parser.add_argument("--program", help="a `gannet-lab` that is there; what it prints does not depend on how it was built")
    results.add_option(parser)
    return parser.parse_args()


def changes(profile, most):
    """The profile as it is, then each of its first numbers with each factor, as options of the program."""
    yield "", 1.0, []
    for key, number in re.findall(r"^(\w+) = ([0-9.]+)", (PROFILES / f"{profile}.profile").read_text(), re.MULTILINE)[:most]:
        for factor in FACTORS:
            yield key, factor, ["--set", f"{key}={float(number) * factor:.10g}"]


def sums(rows):
    return {f"{side}_{cost}": sum(row[of][cost] for row in rows) for side, of in (("host", "host"), ("drive", "device")) for cost in ("ms", "mj")}


main()
