#!/usr/bin/env python3
"""What was acknowledged survives: real kills of a process, and every crash state of a recording device."""
import argparse
import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
from harness import Claims, cargo_test, names, passed

KILLS = 100
CRASH_STATES = 1000
PHASES = ["writing", "flush", "cleaning", "checkpoint", "opening"]
PHASE_SHARE = 0.1
KILL_TESTS = {"kill::what_was_acknowledged_survives_kills", "kill::a_writer_that_acknowledges_early_is_noticed"}
CRASH_TESTS = {f"index::tests::{name}" for name in [
    "crashes::every_crash_leaves_a_state_that_includes_all_that_was_acknowledged",
    "crashes::short_histories_survive_every_crash",
    "crashes::a_recovery_can_crash",
    "faults::no_failed_operation_costs_what_was_acknowledged",
    "faults::a_failed_read_is_an_error_and_no_more",
    "faults::a_full_disk_refuses_writes_until_there_is_space",
    "canaries::a_dropped_sync_is_noticed",
    "canaries::an_acknowledgement_before_the_log_is_durable_is_noticed",
]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--states", type=int, default=CRASH_STATES)
    options = parser.parse_args()
    with Claims("crashes", kills=options.kills, crash_states=options.states) as claims:
        kills(claims, options.kills)
        crashes(claims, options.states)


def kills(claims, count):
    """Kills are aimed at each phase in turn; the test tells of each where it fell and what was found after it."""
    done, figures = cargo_test("kill::", {"GANNET_KILLS": str(count)})
    rows = figures.pop("each", [])
    claims.settings["kill"] = figures
    claims.settings["each_kill"] = rows
    claims.equal("kills: exit code of the tests", done.code, 0)
    claims.equal("kills: tests passed, with the canary", sorted(names(done) & KILL_TESTS), sorted(KILL_TESTS))
    claims.at_least("kills (-9)", len(rows), count)
    fallen = Counter(row["phase"] for row in rows)
    for phase in PHASES:
        claims.at_least(f"kills in the phase {phase}", fallen[phase], count * PHASE_SHARE)
    claims.equal("kills in other phases", sorted(set(fallen) - set(PHASES)), [])
    claims.at_least("kills: batches acknowledged", figures.get("acknowledged_batches"), count)
    claims.equal("kills: acknowledged documents lost", sum(row["lost"] for row in rows) if rows else None, 0)
    claims.equal("kills after which a check found something", sum(bool(row["findings"]) for row in rows) if rows else None, 0)
    claims.at_least("kills: zones given up by cleaning and flushes", figures.get("zones_removed"), count)


def crashes(claims, count):
    """The tests themselves fail on a violation, and the canaries fail when nothing is noticed."""
    environment = {"GANNET_CRASH_STATES": str(max(count, 1400))}
    done, _ = cargo_test("index::tests", environment, target=("--lib",))
    claims.equal("crash states, failures, damage, canaries: exit code of the tests", done.code, 0)
    claims.equal("crash states: tests passed, with the canaries", sorted(names(done) & CRASH_TESTS), sorted(CRASH_TESTS))
    claims.equal("crash states: tests failed", passed(done)[1], 0)
    states = re.search(r"crashes: (\d+) distinct states", done.output)
    claims.at_least("crash states, distinct by image", states and int(states[1]), count)
    failures = re.search(r"faults: (\d+) failures at (\d+) operations", done.output)
    claims.at_least("failures injected, at every operation", failures and int(failures[1]), failures and int(failures[2]))
    claims.settings["printed"] = re.findall(r"(?:^|\.\.\. )((?:crashes|recoveries|faults|canary|forged).*)$", done.output, re.M)


main()
