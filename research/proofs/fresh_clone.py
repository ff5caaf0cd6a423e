#!/usr/bin/env python3
"""A fresh clone gives a demonstration and passes its tests, each by one command, in bounded time."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
from harness import ROOT, Claims, note, passed, run

TEST_SECONDS = 20 * 60
# A handful of queries; and so many tests that none of the programs can have been left out.
QUERIES = 5
TESTS = 200
# A word of a snippet, the head of a plan, the verdict of the check.
SHOWN = [r"^ +body: .*\[\w+\]", r"^ +step +rounds +reads", r"^OK: "]


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with Claims("fresh_clone") as claims, tempfile.TemporaryDirectory(prefix="gannet-measure-") as folder:
        clone = Path(folder) / "gannet"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        for name in [name for name in os.environ if name.startswith("GANNET_") or name == "CARGO_TARGET_DIR"]:
            del os.environ[name]
        demo = make("demo", clone)
        claims.equal("make demo: exit code", demo.code, 0)
        claims.known("make demo: seconds with the build", round(demo.seconds, 1))
        found = [int(count.replace(",", "")) for count in re.findall(r"^([\d,]+) documents? found in", demo.output, re.M)]
        claims.at_least("make demo: queries with an answer", sum(count > 0 for count in found), QUERIES)
        claims.equal("make demo: queries without one", sum(count == 0 for count in found), 0)
        claims.equal("make demo: snippets, a plan, a sound index",
                   [bool(re.search(part, demo.output, re.M)) for part in SHOWN], [True] * len(SHOWN))
        tests = make("test", clone)
        good, bad = passed(tests)
        claims.equal("make test: exit code", tests.code, 0)
        claims.at_most("make test: seconds", round(tests.seconds, 1), TEST_SECONDS)
        claims.at_least("make test: tests passed", good, TESTS)
        claims.equal("make test: tests failed", bad, 0)


def make(target, clone):
    note(f"make {target} in {clone}")
    done = run(["make", target], folder=clone, timeout=2 * TEST_SECONDS)
    if done.code != 0:
        note((done.output + done.errors)[-4000:])
    return done


main()
