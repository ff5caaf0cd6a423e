#!/usr/bin/env python3
"""The experiments of the Smart SSD paper (Wang and Park, 2016) on a modelled drive: tables 3 to 5 and
figures 5 and 7 to 20, the paper's numbers beside ours. All times and energies are modelled; answers
and counts are not. Results go to `target/results/smart-ssd.json`. See research/papers/smart-ssd/page.md.
"""
import argparse
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
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
    result.more = {"comparisons": comparisons(points)}
    if not options.no_sweep:
        result.more["request_sizes"] = [swept(program, options.profile, pages) for pages in REQUESTS]
    result.write()
    for row in result.more["comparisons"]:
        print(f"{row['what']:<64}{row['paper']:>10,.1f}{row['modelled']:>10,.1f}{row['error_percent']:>+8.0f} %  {row['kind']}")
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
