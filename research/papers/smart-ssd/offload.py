#!/usr/bin/env python3
"""Whether a drive that runs programs would pay for an index of real text and the queries of a web log,
on several modelled drives: the planner beside the host, the drive and the better of both; early
termination; maps of link, width of postings and cores; and the effect of each number of the profile.

Answers and counts are what programs did; times and energies are modelled. Results go to
`target/results/offload.json`. See research/papers/smart-ssd/page.md.
"""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import inputs
import results
from drive_aims import missed_aims
from engines import gannet_lab
from inputs import PLACE
from harness import CORPORA, MIB, note, run

LOG = CORPORA / "queries" / "web-log-25k.tsv"
PROFILES = ["smart-ssd-2016", "smart-pcie4", "smart-fast"]
# Of the index that frames hold: a sixteenth and a quarter.
SHARES = [16, 4]
LEAST_MEMORY = 16 * MIB
# Sets by name: the file of `gannet-lab log web`, and whether all documents are asked for.
SETS = {"and": ("web-and", True), "ranked and": ("web-and", False), "ranked or": ("web-all", False)}
# A choice is good that costs at most so many times what the better one does.
GOOD = 1.1
WORST = 10


def main():
    options = arguments()
    lab = options.program or gannet_lab()
    index, sets = index_of(lab, options), sets_of(lab)
    size = sum(file.stat().st_size for file in index.iterdir() if file.is_file())
    memory = {share: max(LEAST_MEMORY, size // share) for share in SHARES}
    settings = {"corpus": options.corpus, "documents": options.documents, "index_bytes": size, "memory_bytes": memory, "profiles": PROFILES,
                "log": LOG.name, "queries": vars(options)["queries"], "warm": options.warm}
    result = results.Result("offload", settings, options.out)
    result.more = {"plans": [], "worst": [], "map": [], "vary": [], "stay_with_host": {}}
    for name, (file, every) in SETS.items():
        queries = chosen(sets / f"{file}.tsv", options.queries[name], options.warm, options.first)
        report = asked(lab, index, queries, every, options.warm, memory.values())
        rows = [{"set": name, "query": number} | nameless(row) for number, row in enumerate(report["rows"])]
        assert report["differ"] == 0, "a drive found what the engine did not"
        result.rows += rows
        result.more["stay_with_host"][name] = report["stay_with_host"]
        result.more["map"] += [{"set": name} | row for row in report["map"]]
        result.more["vary"] += [{"set": name} | row for row in report["vary"]]
        for profile in PROFILES:
            for state in range(-1, len(SHARES)):
                plans = [Plan(row, profile, state) for row in rows]
                place = {"set": name, "profile": profile, "frames": 0 if state < 0 else SHARES[state]}
                result.more["plans"].append(place | summary(plans))
                result.more["worst"] += [place | plan.told() for plan in worst(plans)]
        result.more["misses"] = missed_aims(result.more)
        result.write()
    for row in result.more["plans"]:
        print(" ".join(f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}" for name, value in row.items()))
    note(f"{len(result.rows)} rows in {result.path}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="passages")
    parser.add_argument("--documents", type=int, help="only the first so many")
    parser.add_argument("--queries", nargs=3, type=int, default=[200, 200, 80], metavar="N", help="of each set, spread over the log")
    parser.add_argument("--first", type=int, default=0, help="which query of the log is taken first")
    parser.add_argument("--warm", type=int, default=4000, help="queries that fill the frames before")
    parser.add_argument("--program", help="a `gannet-lab` that is there; what it prints does not depend on how it was built")
    results.add_option(parser)
    options = parser.parse_args()
    options.queries = dict(zip(SETS, options.queries, strict=True))
    return options


def index_of(lab, options):
    """The index of the corpus, made if it is not there."""
    source = inputs.source(options.corpus, options.documents)
    index = PLACE / "offload" / source.stem
    if not index.exists():
        index.parent.mkdir(parents=True, exist_ok=True)
        making = index.with_suffix(".unfinished")
        note(f"making {index}")
        run([lab, "index", making, source, "--commit-every", 1 << 20])
        making.rename(index)
    return index


def sets_of(lab):
    folder = PLACE / "offload" / "sets"
    run([lab, "log", "web", LOG, folder])
    return folder


def chosen(file, count, warm, first):
    """Queries of the set, evenly spread, and others before them that only fill frames."""
    lines = file.read_text().splitlines()
    step = len(lines) // count
    counted = lines[first % step::step][:count]
    others = lines[(first + step // 2) % step::max(1, len(lines) // max(1, warm))][:warm]
    path = file.with_suffix(".chosen.tsv")
    path.write_text("".join(f"{line}\n" for line in others + counted))
    return path


def asked(lab, index, queries, every, warm, memory):
    command = [lab, "offload", index, queries, "--warm", warm, "--map", "--vary"]
    command += ["--all"] if every else []
    command += [word for profile in PROFILES for word in ("--profile", profile)]
    command += [word for size in memory for word in ("--frames", size)]
    return run(command).json()


def nameless(row):
    """A row without the words: the log may not be passed on."""
    return {name: value for name, value in row.items() if name != "words"}


class Plan:
    """A query with a profile, and with the frames of a budget, or none of its pages in memory."""

    def __init__(self, row, profile, state):
        modelled, self.row = row["modelled"][profile], row
        estimated = modelled["estimated"]
        self.way, self.drive_before = estimated["way"], estimated["drive_ms"]
        if state < 0:
            self.host_before, self.host = estimated["host_ms"], modelled["host"]["early" if "early" in modelled["host"] else "all"]["ms"]
        else:
            self.host_before, self.host = modelled["frames"][state]["estimated_host_ms"], modelled["frames"][state]["host_ms"]
        ways = {way: cost["ms"] for way, cost in modelled["drive"].items() if way != "plain"}
        self.drive = ways[self.way]
        self.best = min(self.host, *ways.values())
        self.pays = self.drive_before < self.host_before
        self.chosen = self.drive if self.pays else self.host

    def told(self):
        return {"query": self.row["query"], "frequencies": self.row["frequencies"], "chosen": "drive" if self.pays else "host", "regret_ms": round(self.chosen - self.best, 4),
                "host_before_ms": self.host_before, "host_ms": self.host, "drive_before_ms": self.drive_before, "drive_ms": self.drive}


def summary(plans):
    """What the queries take together, and how far each choice is from the perfect one."""
    total = {name: sum(getattr(plan, name) for plan in plans) for name in ("host", "drive", "chosen", "best")}
    constant = min(total["host"], total["drive"]) - total["best"]
    regret = total["chosen"] - total["best"]
    return {
        "queries": len(plans),
        "drive_chosen": sum(plan.pays for plan in plans), "drive_faster": sum(plan.drive < plan.host for plan in plans),
        "good": sum(plan.chosen <= GOOD * plan.best for plan in plans),
        "host_ms": round(total["host"], 3), "drive_ms": round(total["drive"], 3), "chosen_ms": round(total["chosen"], 3),
        "perfect_ms": round(total["best"], 3), "regret_ms": round(regret, 3), "regret_of_better_constant_ms": round(constant, 3),
    }


def worst(plans):
    """The choices that cost the most above the perfect one."""
    wrong = [plan for plan in plans if plan.chosen > plan.best]
    return sorted(wrong, key=lambda plan: plan.best - plan.chosen)[:WORST]


main()
