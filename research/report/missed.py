#!/usr/bin/env python3
"""Lists the targets that results miss, and ends with status 1 if any is missed.

A script that has targets writes into its result those that it misses, as `misses`, or each as one of
`checks`. A result with neither has none, unless its script is one of AIMS: then it is from before
that script wrote them, and they follow from its rows.
Results that are not there are listed, too.
"""
import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import drive_aims
import memory_bounds
import tier_aims
import writing_aims

# What tells the misses of a script's result from its rows, as the script itself does.
AIMS = {"maintenance.py": writing_aims.missed_aims, "tiers.py": tier_aims.missed_aims, "memory.py": memory_bounds.missed_aims,
        "offload.py": drive_aims.missed_aims}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", type=Path, help="result files")
    missed = misses(parser.parse_args().results)
    print("\n".join(missed) or "no target is missed")
    sys.exit(1 if missed else 0)


def misses(paths):
    """A line for each target that is missed."""
    found = []
    for path in paths:
        if not path.exists():
            found.append(f"{path.stem}: the result is missing; run the script that makes it")
            continue
        result = json.loads(path.read_text())
        found += [f"{path.stem}: {miss}" for miss in misses_of(result)]
        checks = [check for check in result.get("checks", []) if not check["holds"]]
        found += [f"{path.stem}: {check['name']} = {check['figure']} (target {check['target']})" for check in checks]
    return found


def misses_of(result):
    if "misses" in result:
        return result["misses"]
    script, *_ = result.get("command", "").partition(" ")
    aims = AIMS.get(Path(script).name)
    return aims(result) if aims else []


if __name__ == "__main__":
    main()
