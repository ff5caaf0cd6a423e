#!/usr/bin/env python3
"""Pictures of a run of the lab: for each memory limit and number of threads throughput, latency and bytes by set and engine.

`research/report/plots.py target/lab/NAME.json` writes NAME-SHARE-THREADS.png and .svg beside the result. It draws with matplotlib, which
it installs into target/lab/venv when it is not there.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

from folders import RESEARCH, ROOT

VENV = ROOT / "target" / "lab" / "venv"
COLOURS = {"gannet": "#0072b2", "tantivy": "#e69f00", "lucene": "#999999", "seekstorm": "#d55e00",
           "seekstorm-ngrams": "#f0e442", "wiser": "#009e73", "wiser-base": "#cc79a7"}
PERCENTILES = ["latency_us_p50", "latency_us_p95", "latency_us_p99"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0] + ".")
    parser.add_argument("result", type=Path, metavar="RESULT.json", help="a result of research/peers/run.py")
    path = parser.parse_args().result
    pyplot = matplotlib()
    rows = [row for row in json.loads(path.read_text())["rows"] if "qps" in row]
    for share, threads in sorted({(row["share"], row["threads"]) for row in rows}):
        of_run = [row for row in rows if (row["share"], row["threads"]) == (share, threads)]
        figure = picture(pyplot, of_run, title(of_run[0], share, threads))
        for ending in ("png", "svg"):
            made = path.with_name(f"{path.stem}-{share}-{threads}.{ending}")
            figure.savefig(made, dpi=120)
            print(made)
        pyplot.close(figure)


def matplotlib():
    """The drawing library; from a virtual environment of the lab, in which this script then starts again."""
    try:
        import matplotlib as library
    except ImportError:
        if sys.prefix == str(VENV):
            raise
        if not (VENV / "bin" / "python").exists():
            venv.create(VENV, with_pip=True)
        install = [VENV / "bin" / "python", "-m", "pip", "install", "--quiet", "-r", RESEARCH / "report" / "requirements.txt"]
        subprocess.run(install, check=True)
        os.execv(VENV / "bin" / "python", [str(VENV / "bin" / "python"), *sys.argv])
    library.use("Agg")
    library.rcParams["svg.hashsalt"] = "gannet"  # The same picture for the same figures.
    from matplotlib import pyplot
    return pyplot


def title(row, share, threads):
    limit = f"memory for the index: {row['cache_bytes'] / (1 << 20):.0f} MiB (1/{share} of Gannet's)" if share else "memory without limit"
    return f"{threads} threads, {limit}"


def picture(pyplot, rows, heading):
    sets = list(dict.fromkeys(row["set"] for row in rows))
    engines = [engine for engine in COLOURS if any(row["engine"] == engine for row in rows)]
    figure, panels = pyplot.subplots(3, 1, figsize=(max(8, 0.75 * len(sets)), 11), sharex=True, layout="constrained")
    figure.suptitle(heading)
    places = {engine: at for at, engine in enumerate(engines)}
    width = 0.8 / len(engines)
    for engine in engines:
        middle = [at + (places[engine] - (len(engines) - 1) / 2) * width for at in range(len(sets))]

        def figures(of_row):
            return [median(rows, name, engine, of_row) for name in sets]
        look = {"width": width * 0.9, "color": COLOURS[engine], "label": engine}
        panels[0].bar(middle, figures(lambda row: row["qps"]), **look)
        latencies(panels[1], middle, [figures(lambda row, which=which: row[which]) for which in PERCENTILES], look)
        panels[2].bar(middle, figures(lambda row: row["bytes_read_per_query"]["os"] / 1000), **look)
    for panel, words in zip(panels, ["queries a second", "latency in us: median, 95 % and 99 %", "KB read a query"]):
        panel.set_yscale("log")
        panel.set_ylabel(words)
        panel.grid(axis="y", alpha=0.3)
        panel.set_axisbelow(True)
    panels[0].legend()
    panels[-1].set_xticks(range(len(sets)), sets, rotation=60, ha="right")
    return figure


def latencies(panel, middle, percentiles, look):
    """A bar to the median, a line from there to the 99th percentile with a tick at the 95th."""
    p50, p95, p99 = percentiles
    panel.bar(middle, p50, **look)
    panel.vlines(middle, p50, p99, color="black", linewidth=0.8)
    panel.plot(middle, p95, linestyle="", marker="_", color="black", markersize=5)
    panel.plot(middle, p99, linestyle="", marker="_", color="black", markersize=8)


def median(rows, name, engine, figure):
    """Of the repetitions; no bar where there is none, or where a logarithm has none."""
    found = [figure(row) for row in rows if (row["set"], row["engine"]) == (name, engine)]
    return statistics.median(found) or float("nan") if found else float("nan")


if __name__ == "__main__":
    main()
