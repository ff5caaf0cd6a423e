#!/usr/bin/env python3
"""What was acknowledged survives: real kills of a process, and every crash state of a recording device."""
import argparse
import re

from measure import Show, cargo_test, passed

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
    """Kills fall at random times while small limits keep flushes, checkpoints and cleaning going."""
    done, figures = cargo_test("what_was_acknowledged_survives_kills", {"GANNET_KILLS": str(count)})
    show.settings["kill"] = figures
    show.equal("kills: exit code of the test", done.code, 0)
    show.at_least("kills (-9)", figures.get("kills"), count)
    show.at_least("kills: batches acknowledged", figures.get("acknowledged_batches"), 1)
    show.equal("kills: acknowledged documents lost", figures.get("lost"), 0)
    show.at_least("kills: clean checks", figures.get("checks_clean"), count // 2)
    show.at_least("kills: zones given up by cleaning and flushes", figures.get("zones_removed"), 1)


def crashes(show, count):
    """The tests themselves fail on a violation, and the canaries fail when nothing is noticed."""
    environment = {"GANNET_CRASH_STATES": str(max(count, 1400))}
    done, _ = cargo_test("index::tests", environment, target=("--lib",))
    show.equal("crash states, failures, damage, canaries: exit code of the tests", done.code, 0)
    good, bad = passed(done)
    show.at_least("tests passed", good, 1)
    show.equal("tests failed", bad, 0)
    states = re.search(r"crashes: (\d+) distinct states", done.output)
    show.at_least("crash states, distinct by image", states and int(states[1]), count)
    failures = re.search(r"faults: (\d+) failures at (\d+) operations", done.output)
    show.at_least("failures injected, at every operation", failures and int(failures[1]), failures and int(failures[2]))
    show.settings["printed"] = re.findall(r"^(?:crashes|recoveries|faults|canary|forged).*$", done.output, re.M)


main()
