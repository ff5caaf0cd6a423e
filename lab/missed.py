#!/usr/bin/env python3
"""Lists the targets that results miss, and ends with status 1 if there are any, as `lab/whole.py` does.

A script writes what it promises and does not hold into its result as `misses`. A result without that field promises nothing.
Results that are not there are listed, too.
"""
import argparse
import json
import sys
from pathlib import Path


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
        found += [f"{path.stem}: {miss}" for miss in result.get("misses", [])]
    return found


if __name__ == "__main__":
    main()
