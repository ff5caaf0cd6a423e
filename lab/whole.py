#!/usr/bin/env python3
"""Makes the results of the pages again, each by the command in its file: for hours.

    lab/whole.py [RESULT or PAGE ...] [--into FOLDER] [--resume] [--list]

A page, such as docs/experiments/mfis.md, stands for all results that it shows. Results go to
`target/lab/whole`, or to `--into docs/results`, and the pages follow by `make tables`. In the end there
are the seconds of each, what failed, and the targets that are missed; with either the status is 1.
Indexes of the lab that are there are used: the seconds have no indexing then. `--list` names the
results, and says of those that cannot be made here why.
"""
import argparse
import json
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "measure"))  # For `harness`.

import missed
import results
from harness import ROOT, Unable, note
from inputs import PLACE

# Words of a command that say where something was and not what was measured, with the words behind them.
WHERE = {"--out": 1, "--program": 1, "--programs": 1, "--nodes": 1, "--keep": 0, "--resume": 0}
# Whose file was made in parts, with runs that were there.
IN_ONE = {"trees-mixed": "lab/trees.py --tables mixed --mixed-operations 300000 --jobs 2 --name trees-mixed"}
# Of programs of other commits, or of changed sources.
OTHER_PROGRAMS = set(
    "duty filters-16-before given-statistics instructions instructions-one-unit instructions-ranking instructions-rooms mechanisms "
    "mechanisms-linux mechanisms-order mechanisms-order-shuffled rank-paths rank-paths-articles rank-paths-reads rank-paths-whole "
    "ranking-whole threshold".split())
SHOWN = re.compile(r"<!-- table: .*? from ([\w-]+)\.json -->")


def main():
    options = arguments()
    names = options.results
    if options.list:
        print("\n".join(f"{name}: {why_not(name) or shlex.join(command(name))}" for name in names))
        return
    options.into.mkdir(parents=True, exist_ok=True)
    whole = results.Result("whole", {"into": options.into}, options.out or PLACE / "whole.json")
    if options.resume:
        whole.resume(lambda _: True)
    made = {row["result"] for row in whole.rows if "failed" not in row}
    whole.rows = [row for row in whole.rows if row["result"] in made]
    for name in names:
        if name not in made and not why_not(name):
            whole.rows.append(row_of(name, options.into))
            whole.write()
    print(summary(whole.rows, options.into))
    failed = any("failed" in row for row in whole.rows)
    sys.exit(1 if failed or misses(whole.rows, options.into) else 0)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="RESULT or PAGE", help="default: all results of docs/results that can be made here")
    parser.add_argument("--into", type=Path, default=PLACE / "whole", help="the folder of the results (default: target/lab/whole)")
    parser.add_argument("--resume", action="store_true", help="leave out what an earlier run of this commit made")
    parser.add_argument("--list", action="store_true", help="name the results and do nothing")
    results.add_option(parser)
    options = parser.parse_args()
    try:
        options.results = chosen(options.names)
    except Unable as error:
        parser.error(str(error))
    return options


def chosen(words):
    """The results that these words name, each once."""
    there = [path.stem for path in sorted(results.COMMITTED.glob("*.json"))]
    named = []
    for word in words or there:
        if word.endswith(".md") and (ROOT / word).exists():
            named += SHOWN.findall((ROOT / word).read_text())
        elif word in there:
            named.append(word)
        else:
            raise Unable(f"{word} is neither a result of docs/results, such as mfis-whole, nor a page, such as docs/experiments/mfis.md")
    return list(dict.fromkeys(named))


def command(name):
    """The words of the command of a result, without those that say where."""
    words = iter(shlex.split(IN_ONE.get(name) or json.loads((results.COMMITTED / f"{name}.json").read_text())["command"]))
    kept = []
    for word in words:
        for _ in range(WHERE.get(word, 0)):
            next(words)
        if word not in WHERE:
            kept.append(word)
    return kept


def why_not(name):
    """Why a result is not made here, or None."""
    script = command(name)[0]
    if name in OTHER_PROGRAMS:
        return "it compares programs of other commits, or of changed sources"
    if script == "lab/memory.py":
        return f"its command takes most of a day: {shlex.join(command(name))}"
    if script == "lab/whole.py":
        return "it has the seconds of this script"
    return None if script.startswith("lab/") else f"{script} makes it, see measure/README.md"


def row_of(name, into):
    """Makes a result; how long that took, and why it came to no end."""
    script, *words = command(name)
    out = into.resolve() / f"{name}.json"
    note(f"{name}: {script} {shlex.join(words)}")
    started = time.monotonic()
    # What it shows goes to standard error, so that the summary is all of the output.
    ran = subprocess.run([sys.executable, script, *words, "--out", out], cwd=ROOT, stdout=sys.stderr)
    row = {"result": name, "command": shlex.join([script, *words]), "seconds": round(time.monotonic() - started, 1)}
    note(f"{name}: {row['seconds']} s")
    return row | ({"failed": f"status {ran.returncode}"} if ran.returncode else {})


def misses(rows, into):
    return missed.misses([into / f"{row['result']}.json" for row in rows if "failed" not in row])


def summary(rows, into):
    lines = [f"{row['seconds']:8.1f} s {row['result']}" + (f" FAILED with {row['failed']}" if "failed" in row else "") for row in rows]
    lines.append(f"{sum(row['seconds'] for row in rows):8.1f} s together")
    return "\n".join([*lines, *(misses(rows, into) or ["no target is missed"])])


if __name__ == "__main__":
    main()
