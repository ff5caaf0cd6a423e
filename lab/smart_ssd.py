#!/usr/bin/env python3
"""The experiments of the Smart SSD paper (Wang and Park, 2016) on a modelled drive: tables 3 to 5 and
figures 5 and 7 to 20, the paper's numbers beside ours. All times and energies are modelled; answers
and counts are not. Results go to `target/results/smart-ssd.json`. See docs/offload.md.
"""
import argparse
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "measure"))  # For `harness`.

import published
import results
from engines import gannet_lab
from harness import note, run

# Requests of flash that the calibration could have assumed, in pages of 4 KiB.
REQUESTS = [1, 4, 16, 64]
SWEPT = ["table 3", "9", "12", "13", "16", "20"]


def main():
    options = arguments()
    program = [options.program or gannet_lab(), "smart-ssd", "--seed", options.seed]
    result = results.Result("smart-ssd", {"profile": options.profile, "seed": options.seed}, options.out)
    result.rows = run([*program, "--profile", options.profile]).json()["rows"]
    points = Points(result.rows)
    result.more = {"comparisons": comparisons(points), "claims": claims(points)}
    if not options.no_sweep:
        result.more["request_sizes"] = [swept(program, options.profile, pages) for pages in REQUESTS]
    result.write()
    for row in result.more["comparisons"]:
        print(f"{row['what']:<64}{row['paper']:>10,.1f}{row['modelled']:>10,.1f}{row['error_percent']:>+8.0f} %  {row['kind']}")
    for row in result.more["claims"]:
        print(f"{'agrees' if row['agrees'] else 'DIFFERS':<9}{row['claim']}: {row['modelled']}")
    note(f"{len(result.rows)} rows in {result.path}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", default="smart-ssd-2016")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", help="a `gannet-lab` that is there; what it prints does not depend on how it was built")
    parser.add_argument("--no-sweep", action="store_true", help="leave the sizes of requests out")
    results.add_option(parser)
    return parser.parse_args()


class Points:
    """The rows by where they belong in the paper."""

    def __init__(self, rows):
        self.rows = rows

    def of(self, place):
        return [row for row in self.rows if row["place"] == place]

    def at(self, place, x):
        return next(row for row in self.of(place) if row["x"] == x)

    def mean(self, place, side, name):
        return statistics.mean(row[side][name] for row in self.of(place))

    def factor(self, place, name):
        """The mean factor by which the drive takes less than the host."""
        return statistics.mean(row["host"][name] / row["device"][name] for row in self.of(place))


def comparisons(points):
    """The paper's numbers beside ours. Those of kind `calibration` say only that it was done."""
    rows = []

    def add(what, paper, modelled, kind="held out"):
        rows.append({"what": what, "paper": paper, "modelled": modelled, "error_percent": (modelled / paper - 1) * 100, "kind": kind})

    typical = points.of("7")[0]
    outside = {side: typical[side]["ms"] - typical[side]["io_ms"] for side in ("device", "host")}
    for what, paper, modelled in zip(("drive, I/O", "host, I/O", "drive, all else", "host, all else"), published.SMART_TYPICAL,
                                     (typical["device"]["io_ms"], typical["host"]["io_ms"], outside["device"], outside["host"]), strict=True):
        add(f"figure 7, {what}, ms", paper, modelled, "calibration")
    inside = typical["device"]["io_ms"] / published.SMART_SHARES[0] * 100
    for name, part, paper in zip(("flash", "memory", "processor"), ("io_ms", "memory_ms", "cpu_ms"), published.SMART_SHARES, strict=True):
        add(f"figure 8, {name}, %", paper, typical["device"][part] / inside * 100, "calibration")
    for place, numbers in published.SMART_TABLES.items():
        device, host, less, more = numbers
        add(f"{place}, drive, ms", device, points.mean(place, "device", "ms"))
        add(f"{place}, host, ms", host, points.mean(place, "host", "ms"))
        add(f"{place}, host / drive, time", host / device, points.mean(place, "host", "ms") / points.mean(place, "device", "ms"))
        add(f"{place}, host / drive, energy", more / less, points.mean(place, "host", "mj") / points.mean(place, "device", "mj"))
    for place, (time, energy) in published.SMART_FACTORS.items():
        add(f"figure {place}, mean host / drive, time", time, points.factor(place, "ms"))
        add(f"figure {place}, mean host / drive, energy", energy, points.factor(place, "mj"))
    for place, more in published.SMART_STEPS.items():
        add(f"figure {place}, drive, ratio 10 -> 100 %, ms more", more, points.at(place, 100)["device"]["ms"] - points.at(place, 10)["device"]["ms"])
    all_results = points.at("11", 100)["device"]
    add("figure 11, sending at 100 %, ms", published.SMART_SENT, all_results["sending_ms"])
    few = points.at("11", 0.1)["device"]
    add("figure 11, ranking at 100 %, ms", published.SMART_RANKED, all_results["host_ms"] - few["host_ms"])
    share = points.at("16", 0.01)
    add("figure 16, results of all entries at skew 0.01, %", published.SMART_DIFFERENCE_SHARE, share["results"] / share["postings"] * 100)
    union = [row for place in ("union size", "union skew", "union ratio") for row in points.of(place)]
    add("ranked union, synthetic, drive / host, time", published.SMART_UNION[0], statistics.mean(row["device"]["ms"] / row["host"]["ms"] for row in union))
    add("ranked union, synthetic, host / drive, energy", published.SMART_UNION[1], statistics.mean(row["host"]["mj"] / row["device"]["mj"] for row in union))
    return rows


def claims(points):
    """Every direction and crossover that the paper names, and what the model says."""
    rows = []

    def add(claim, agrees, modelled):
        rows.append({"claim": claim, "agrees": bool(agrees), "modelled": modelled})

    def times(place, side="device", name="ms"):
        return [row[side][name] for row in points.of(place)]

    def factors(place, name="ms"):
        return [row["host"][name] / row["device"][name] for row in points.of(place)]

    def shown(values):
        return ", ".join(f"{value:,.2f}" if abs(value) < 100 else f"{value:,.0f}" for value in values)

    intersections = ["table 3", "9", "9 ranked", "10", "10 ranked", "11", "12", "13", "14"]
    every = [factor for place in intersections for factor in factors(place)]
    add("intersection wins time everywhere (table 3, figures 9 to 14)", min(every) > 1, f"host / drive {min(every):.2f} to {max(every):.2f}")
    typical = points.of("7")[0]["host"]
    add("lists take 87 % of a query on the host (figure 5)", abs(typical["io_ms"] / typical["ms"] - 0.87) < 0.02,
        f"{typical['io_ms'] / typical['ms'] * 100:.0f} %, calibrated")
    add("longer lists take longer on both sides (figure 9)", rises(times("9")) and rises(times("9", "host")), f"drive {shown(times('9'))} ms")
    add("the time falls with skew (figure 10)", falls(times("10")), f"drive {shown(times('10'))} ms")
    add("the intersection ratio hardly matters with a short list (figure 11)", max(times("11")) < 1.1 * min(times("11")), f"drive {shown(times('11'))} ms")
    steps = [after - before for before, after in zip(times("12"), times("12")[1:])]
    add("with equal lists it matters, most from 10 to 100 % (figure 12)", rises(times("12")) and steps[-1] == max(steps), f"drive {shown(times('12'))} ms")
    add("two to three lists add little, more lists add more (figure 13)", times("13")[1] < 1.1 * times("13")[0] and rises(times("13")),
        f"drive {shown(times('13'))} ms")
    less = [after - before for before, after in zip(times("14"), times("14")[1:])]
    add("ranking in the drive makes the rise smaller (figure 14)", 0 < less[-1] < steps[-1], f"{less[-1]:.0f} against {steps[-1]:.0f} ms more")
    add("difference wins at every size (figure 15)", min(factors("15")) > 1, f"host / drive {shown(factors('15'))}")
    for place, name in (("16", "difference"), ("18", "ranked difference")):
        found = factors(place)
        add(f"{name} loses at skew 0.01 and 0.1 (figure {place})", max(found[:2]) < 1, f"host / drive {shown(found[:2])}")
        add(f"{name} wins from skew 1 on (figure {place})", min(found[2:]) > 1, f"host / drive {shown(found[2:])}")
        add(f"{name} wins energy at every skew (figure {place})", min(factors(place, "mj")) > 1, f"host / drive {shown(factors(place, 'mj'))}")
    drive, host = times("16"), times("16", "host")
    add("the drive's time rises from skew 0.01 to 0.1 and falls then (figure 16)", drive[0] < drive[1] and falls(drive[1:]), f"drive {shown(drive)} ms")
    add("the host's time rises up to skew 1 (figure 16)", rises(host[:3]) and falls(host[2:]), f"host {shown(host)} ms")
    add("difference wins at every intersection ratio (figure 17)", min(factors("17")) > 1, f"host / drive {shown(factors('17'))}")
    add("its time in the drive falls with the ratio, most from 10 to 100 % (figure 17)", falls(times("17")), f"drive {shown(times('17'))} ms")
    add("ranked difference wins at every ratio, by more (figure 19)", min(factors("19")) > 1 and statistics.mean(factors("19")) > statistics.mean(factors("17")),
        f"host / drive {shown(factors('19'))}")
    add("ranked union loses time (table 5, figure 20)", max(factors("20") + factors("table 5")) < 1, f"host / drive {shown(factors('20'))}")
    add("ranked union wins energy (table 5, figure 20)", min(factors("20", "mj") + factors("table 5", "mj")) > 1, f"host / drive {shown(factors('20', 'mj'))}")
    gaps = [device - host for device, host in zip(times("20"), times("20", "host"))]
    add("the gap of ranked union grows with the lists (figure 20)", rises(gaps), f"drive - host {shown(gaps)} ms")
    plain = points.of("union plain")[0]
    add("union without ranking does not pay (table 1)", plain["host"]["ms"] < plain["device"]["ms"], f"host / drive {shown(factors('union plain'))}")
    return rows


def rises(values):
    return all(before < after for before, after in zip(values, values[1:]))


def falls(values):
    return all(before > after for before, after in zip(values, values[1:]))


def swept(program, profile, pages):
    """The factors with another size of requests, calibrated anew for it."""
    changes = ["--set", f"request_pages={pages}"]
    numbers = run([*program, "--profile", profile, *changes, "--calibrate"]).json()
    for name, value in numbers.items():
        if name not in ("counts", "request_pages"):
            changes += ["--set", f"{name}={value}"]
    only = [word for place in SWEPT for word in ("--only", place)]
    points = Points(run([*program, "--profile", profile, *changes, *only]).json()["rows"])
    return {"request_pages": pages, "device_request_us": numbers["device_request_us"], "host_request_us": numbers["host_request_us"],
            "factors": {place: points.factor(place, "ms") for place in SWEPT}}


main()
