#!/usr/bin/env python3
"""Early termination on the postings of the Smart SSD paper, as a square: drive and host, all of a
union scored or only what bounds leave. The lists are those of the paper's ranked unions. All times
and energies are modelled; answers and counts are not. Results go to
`target/results/smart-early.json`. See research/papers/smart-ssd/page.md.
"""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import results
from engines import gannet_lab
from harness import note, run

PLACES = ["table 5", "20", "union size", "union skew", "union ratio"]


def main():
    options = arguments()
    program = [options.program or gannet_lab(), "smart-ssd", "--seed", options.seed, "--profile", options.profile]
    result = results.Result("smart-early", {"profile": options.profile, "seed": options.seed}, options.out)
    for place in options.places:
        for way, name in (("plain", place), ("early", f"{place} early")):
            rows = run([*program, "--only", name]).json()["rows"]
            result.rows += [row | {"place": place, "way": way} for row in rows]
            note(f"{name}: {len(rows)} points")
    note(f"{len(result.rows)} rows in {result.write()}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", default="smart-ssd-2016")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--places", nargs="+", choices=PLACES, default=PLACES)
    parser.add_argument("--program", help="a `gannet-lab` that is there; what it prints does not depend on how it was built")
    results.add_option(parser)
    return parser.parse_args()


main()
