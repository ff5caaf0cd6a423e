#!/usr/bin/env python3
"""What was acknowledged survives: real kills of a process, and every crash state of a recording device."""
import argparse

from measure import Show, cargo_test, row

KILLS = 100
CRASH_STATES = 1000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--states", type=int, default=CRASH_STATES)
    options = parser.parse_args()
    with Show(6, kills=options.kills, crash_states=options.states) as show:
        kills(show, options.kills)
        crashes(show, options.states)


def kills(show, count):
    done, rows = cargo_test("kill", {"GANNET_KILL_CYCLES": str(count)})
    figures = row(rows, "kill")
    show.settings["kill"] = figures
    show.equal("kills: exit code of the test", done.code, 0)
    show.at_least("kills (-9)", figures.get("cycles"), count)
    for phase in ["flush", "checkpoint", "cleaning"]:
        show.at_least(f"kills: fell into a {phase}", figures.get("phases", {}).get(phase), 1)
    show.at_least("kills: documents acknowledged", figures.get("acknowledged"), 1)
    show.equal("kills: acknowledged documents lost", figures.get("lost"), 0)
    show.equal("kills: indexes that check found unsound", figures.get("unsound"), 0)


def crashes(show, count):
    done, rows = cargo_test("crash", {"GANNET_CRASH_STATES": str(count)})
    figures = row(rows, "crash")
    show.settings["crash"] = figures
    show.equal("crash states: exit code of the test", done.code, 0)
    show.at_least("crash states, distinct by image", figures.get("states"), count)
    show.equal("crash states: violations", figures.get("violations"), 0)
    operations = figures.get("operations")
    show.at_least("failed operations: every nth of the workload", figures.get("failures_injected"), operations or 1)
    show.equal("failed operations: violations", figures.get("failure_violations"), 0)
    for canary in ["sync_dropped", "acknowledged_early"]:
        show.equal(f"canary {canary} makes the test fail", figures.get("canaries", {}).get(canary), True)


main()
