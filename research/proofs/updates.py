#!/usr/bin/env python3
"""No update is lost: threads in conflict, and a long random life of crashes, each operation compared with a ledger."""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
from harness import Claims, cargo_test, names

OPERATIONS = 1_000_000
CHANGES = 5_000
TESTS = {f"index::tests::life::{name}" for name in [
    "random_lives_with_crashes_are_those_of_the_ledger",
    "threads::no_change_of_four_threads_is_lost_beside_maintenance",
]}
COUNTERS_TEST = "updates::changes_by_several_threads_are_all_made"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--operations", type=int, default=OPERATIONS)
    parser.add_argument("--changes", type=int, default=CHANGES)
    options = parser.parse_args()
    with Claims("updates", operations=options.operations, changes_of_each_thread=options.changes) as claims:
        threads(claims)
        life(claims, options)


def threads(claims):
    """On real files: four threads that change the same documents."""
    done, _ = cargo_test("updates::", {})
    claims.equal("conflicting updates of 4 threads: exit code of the tests", done.code, 0)
    claims.equal("conflicting updates of 4 threads: exact counts", sorted(names(done) & {COUNTERS_TEST}), [COUNTERS_TEST])


def life(claims, options):
    """The tests fail on a difference, and when something that should happen between never does."""
    environment = {"GANNET_LIFE_OPERATIONS": str(options.operations), "GANNET_THREAD_CHANGES": str(options.changes)}
    done, figures = cargo_test("index::tests::life::", environment, target=("--lib",))
    events = figures.get("events", {})
    claims.settings["life"] = figures
    claims.equal("exit code of the tests", done.code, 0)
    claims.equal("tests passed", sorted(names(done) & TESTS), sorted(TESTS))
    claims.at_least("operations compared", figures.get("operations"), options.operations)
    claims.equal("differences", figures.get("differences"), 0)
    claims.at_least("power losses", events.get("power losses"), options.operations // 1000)
    claims.at_least("kills", events.get("kills"), options.operations // 10_000)
    claims.at_least("writes refused for what they expect", events.get("conflicts"), options.operations // 100)
    claims.known("operations undone by crashes", events.get("operations undone by crashes"))
    claims.known("flushes", figures.get("flushes"))
    claims.known("sweeps of vacuum", events.get("sweeps ended"))
    claims.known("seconds", figures.get("seconds"))


main()
