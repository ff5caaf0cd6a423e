#!/usr/bin/env python3
"""Makes the results that the pages show again, each by the command in its file. It takes hours.

    research/measure/whole.py [RESULT or PAGE ...] [--replace] [--resume] [--list]

A page, such as research/papers/mfis/page.md, stands for all results that it shows. They are made in
`target/lab/whole`. With `--replace` those that are done replace the files that the pages quote, and
`scripts/claims` writes the pages. In the end there are the seconds of each, what failed or cannot be made here,
and the targets that are missed, of results that cannot be made here those of the files that are quoted: with any
of these the status is 1. Indexes of the lab that are there are used, so the seconds may be without
indexing. `target/lab/whole.json` keeps the seconds.
"""
import argparse
import datetime
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import missed
import results
from harness import ROOT, Unable, note
from inputs import PLACE

MADE = PLACE / "whole"
# Options of recorded commands that are left out, with the number of their values: they are places.
LEFT_OUT = {"--out": 1, "--program": 1, "--programs": 1, "--nodes": 1, "--keep": 0, "--resume": 0}
# What was made in several runs, or with nodes in memory, by one command.
NODES = "--nodes /dev/shm/gannet-whole-nodes"
IN_ONE = {
    "trees-mixed": f"research/papers/as-btree/trees.py --tables mixed --mixed-operations 300000 --jobs 2 {NODES} --name trees-mixed",
    "trees-figures": "research/papers/as-btree/trees.py --tables drive operations files caches spread --jobs 2 --structures b-tree b-tree-batched as-b-tree bftl "
                     f"bftl-apart fd-tree la-tree la-tree-batched gannet gannet-rolling rolling {NODES} --name trees-figures",
}
# Where profiles of drives were when results were made, and are now.
DRIVES = "crates/gannet-ssd/", "research/drives/ssd/"
# Of programs of other commits, or of changed sources. Five have WiSER's filters in Gannet's own
# lists, which went since.
OTHER_PROGRAMS = set(
    "duty filters-16-before given-statistics instructions instructions-one-unit instructions-ranking instructions-rooms mechanisms "
    "mechanisms-linux mechanisms-order mechanisms-order-shuffled rank-paths rank-paths-articles rank-paths-reads rank-paths-whole "
    "ranking-whole threshold phrases-verified paper-passages paper-articles phrase-filters phrase-filters-articles wiser-engines".split())
SHOWN = re.compile(r"^<!-- table: .*? from (.*) -->$", re.MULTILINE)
LINKED = re.compile(r"\]\([\w./-]*?([\w-]+)\.json\)")


def main():
    options = arguments()
    reasons = {name: why for name in options.results if (why := why_not(name))}
    names = [name for name in options.results if name not in reasons]
    if options.list:
        print("\n".join([*(f"{name}: {shlex.join(command(name))}" for name in names), *left_lines(reasons)]))
        return
    # A script that is ended must end the one that it runs.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    whole = results.Result("whole", {"indexes": "those that were there were used"}, options.out or PLACE / "whole.json")
    if whole.path.exists():
        whole.rows = json.loads(whole.path.read_text())["rows"]
    for name in names:
        if options.resume and is_made(name, whole):
            continue
        row = row_of(name, whole.head["commit"])
        whole.rows = [*(other for other in whole.rows if other["result"] != name), row]
        whole.write()
        if options.replace and "failed" not in row:
            shutil.copy(MADE / f"{name}.json", results.committed(name))
    rows = [row for row in whole.rows if row["result"] in names]
    failures = [f"{row['result']}: {row['failed']}" for row in rows if "failed" in row]
    made = [MADE / f"{row['result']}.json" for row in rows if "failed" not in row]
    targets = missed.misses([*made, *(results.committed(name) for name in reasons)])
    print("\n".join([*seconds_of(rows), *failures, *left_lines(reasons), *(targets or ["no target is missed"])]))
    sys.exit(1 if failures or targets or (options.names and reasons) else 0)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="RESULT or PAGE", help="default: all results that pages quote and that can be made here")
    parser.add_argument("--replace", action="store_true", help="each result that is done replaces the one that the pages quote")
    parser.add_argument("--resume", action="store_true", help="leave out what was made before, of this commit")
    parser.add_argument("--list", action="store_true", help="show the commands, and why other results cannot be made here; do nothing")
    results.add_option(parser)
    options = parser.parse_args()
    try:
        options.results = chosen(options.names)
    except Unable as error:
        parser.error(str(error))
    return options


def chosen(words):
    """The results that these words name, each once."""
    there = list(results.all_committed())
    named = []
    for word in words or there:
        if word.endswith(".md") and (ROOT / word).exists():
            text = (ROOT / word).read_text()
            files = " ".join(SHOWN.findall(text)).split() + [file for file in LINKED.findall(text) if file in there]
            named += [file.removesuffix(".json") for file in files]
        elif word in there:
            named.append(word)
        else:
            raise Unable(f"{word} is neither a result that a page quotes, such as mfis-whole, nor a page, such as research/papers/mfis/page.md")
    return list(dict.fromkeys(named))


def command(name):
    """The words of the command of a result, without those that are left out."""
    if name in IN_ONE:
        return shlex.split(IN_ONE[name])
    recorded = json.loads(results.committed(name).read_text())["command"]
    script, *rest = shlex.split(recorded.replace(*DRIVES))
    kept, words = [now(script)], iter(rest)
    for word in words:
        for _ in range(LEFT_OUT.get(word, 0)):
            next(words)
        if word not in LEFT_OUT:
            kept.append(word)
    return kept


def now(script):
    """Where a script is, of which a result knows the place of then."""
    there = (folder / Path(script).name for folder in folders.FOLDERS)
    found = next((str(path.relative_to(ROOT)) for path in there if path.exists()), None)
    return script if (ROOT / script).exists() or found is None else found


def why_not(name):
    """Why a result is not made here, or None."""
    script = command(name)[0]
    if script == "research/measure/whole.py":
        return "it is what this script keeps"
    if script == "research/measure/quick.py":
        return "it is how long `make -C research lab-quick` takes"
    if name in OTHER_PROGRAMS:
        return "it compares programs of other commits, or of changed sources"
    return f"{script} makes it, see research/proofs/README.md" if script.startswith("research/proofs/") else None


def is_made(name, whole):
    """Whether this commit made it, and the file is there."""
    rows = [row for row in whole.rows if row["result"] == name and row["commit"] == whole.head["commit"] and "failed" not in row]
    return bool(rows) and (MADE / f"{name}.json").exists()


def row_of(name, commit):
    """Makes a result; how long that took, and why it came to no end."""
    out = MADE / f"{name}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.unlink(missing_ok=True)
    words = [*command(name), "--out", os.path.relpath(out, ROOT)]
    note(f"{name}: {shlex.join(words)}")
    begun, started = datetime.datetime.now(datetime.timezone.utc), time.monotonic()
    # What it shows goes to standard error, so that the output is the summary alone.
    child = subprocess.Popen([sys.executable, *words], cwd=ROOT, stdout=sys.stderr)
    try:
        status = child.wait()
    finally:
        child.terminate()
        child.wait()
    row = {"result": name, "commit": commit, "date": begun.isoformat(timespec="seconds"), "command": shlex.join(command(name)),
           "seconds": round(time.monotonic() - started, 1)}
    note(f"{name}: {row['seconds']} s")
    if status or not out.exists():
        row["failed"] = f"status {status}" if status else "it wrote no result"
    return row


def seconds_of(rows):
    return [*(f"{row['seconds']:8.1f} s {row['result']}" for row in rows), f"{sum(row['seconds'] for row in rows):8.1f} s together"]


def left_lines(reasons):
    return [f"{name} is not made here: {why}" for name, why in reasons.items()]


if __name__ == "__main__":
    main()
