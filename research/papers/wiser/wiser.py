#!/usr/bin/env python3
"""The figures 3 and 7 to 19 of the WiSER paper (He et al., 2020), one by one, with the paper's findings beside.

It has two parts. `built` runs `gannet-lab wiser`, WiSER as published with each technique on and off: bytes, reads, space and modelled
times, in the result file `wiser.json`. `engines` makes two runs of `research/peers/run.py` and one of `research/measure/paper.py`. Their rows are in the result
file `wiser-engines.json`, and their figures, as the paper orders them, in `target/lab/wiser.txt` and as pictures beside. There `wiser-base` is WiSER's way on Gannet's storage without its
filters: every match is scored, one page is read after the other. The paper's peer is
Elasticsearch 5.6; here they are Tantivy and Lucene, which is what Elasticsearch asks. See
research/papers/wiser/page.md.
"""
import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import plots
import results
from engines import PEERS, Gannet, WiserBase, gannet_lab
from inputs import PLACE
from harness import MIB, ROOT, note
from paper import PARTS, pages_key
from report import figures as table
from wiser_built import built

LEVELS = [10, 100, 1000, 10000, 100000]
KINDS = ["term", "and", "phrase"]
LOGS = ["web-term", "web-and", "web-phrase", "web-all"]
STORED, FOUND = "or-1000+documents", "or-1000"
SWEPT = {"web-all": "web log", "and-1000": "two terms", "phrase-1000": "phrase", "term-10000": "single, high", "term-100": "single, low"}
SHARES = [1, 2, 4, 8, 16]
SHARE, THREADS = 16, 8
FILTERS = ["none", "common"]
RATE, KILOBYTES, MEDIAN, TAIL, BANDWIDTH = "queries/s", "KB/query", "p50 us", "p99 us", "MB/s"
READS = {
    RATE: lambda row: row["qps"],
    KILOBYTES: lambda row: row["bytes_read_per_query"]["os"] / 1000,
    MEDIAN: lambda row: row["latency_us_p50"],
    TAIL: lambda row: row["latency_us_p99"],
    BANDWIDTH: lambda row: row["qps"] * row["bytes_read_per_query"]["os"] / 1e6,
}
PAPER = {
    3: "the less memory, the more Elasticsearch reads; WiSER reads little whatever there is",
    7: "up to 2.9 times less than Elasticsearch, least at 100,000",
    8: "17 to 51 % less than Elasticsearch up to 1,000",
    9: "without filters as much as Elasticsearch, with them 3.2 times less",
    10: "the filters add little and save most of the positions",
    12: "1.7 times less (42 %) than Elasticsearch's groups of 16 KiB, for 25 % more space",
    13: "up to 2.5 times Elasticsearch, 14 % less at 100,000",
    14: "medians up to 16 and tails up to 11 times shorter",
    15: "1.5 to 2.6 times Elasticsearch up to 1,000",
    16: "filters: 1.3 to 2.7 times as many",
    17: "filters: up to 3.2 times shorter",
    18: "to Elasticsearch without read-ahead: single terms 2.2, several more than 1.6, phrases more than 1.6",
    19: "with 128 MB WiSER beats Elasticsearch with 8 GB but for phrases; filters: up to 1.4 times as many",
}


def main():
    options = arguments()
    if "engines" in options.parts:
        plots.matplotlib()  # Before the runs: it may start this script again.
    if "built" in options.parts:
        note(f"everything is in {built(options, options.program or gannet_lab()).path}")
    if "engines" in options.parts:
        engines(options)


def engines(options):
    """The runs of whole engines, and the figures that need them."""
    runs = {"sets": [[f"{kind}-{level}" for kind in KINDS for level in LEVELS] + LOGS + [FOUND, STORED], [SHARE]],
            "sweep": [list(SWEPT), options.shares]}
    asked = [Gannet.name, *PEERS, WiserBase.name]
    settings = {name: getattr(options, name) for name in ("corpus", "documents", "queries", "shares", "runs", "seconds", "seed")}
    result = results.Result("wiser-engines", settings | {"threads": THREADS}, options.out if options.parts == ["engines"] else path(options, "engines"))
    for name, (sets, shares) in runs.items():
        made(options, name, ["research/peers/run.py", "--engines", *asked, "--threads", THREADS, "--runs", options.runs, "--warm", options.seconds,
                             "--seconds", options.seconds, "--shares", *shares, "--sets", *sets])
    made(options, "parts", ["research/measure/paper.py", "--tables", "parts"])
    rows = {name: json.loads(path(options, name).read_text())["rows"] for name in runs}
    result.rows = [row for found in rows.values() for row in found]
    result.write()
    figures = Figures(rows["sets"], rows["sweep"], json.loads(path(options, "parts").read_text())["results"])
    text = "\n".join(f"Figure {number} (the paper: {paper})\n\n{getattr(figures, f'figure_{number}')()}" for number, paper in PAPER.items())
    PLACE.joinpath(f"{options.out.stem}.txt").write_text(text)
    print(text)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=["built", "engines"], default=["built", "engines"])
    parser.add_argument("--corpora", nargs="+", default=["passages", "articles"], help="of WiSER as it is built in the lab")
    parser.add_argument("--corpus", default="passages", help="of the engines: passages, articles or a file of JSON lines")
    parser.add_argument("--documents", nargs="+", default={}, action=Documents, metavar="CORPUS=N", help="only the first so many of a corpus")
    parser.add_argument("--limit", type=int, default=100, help="queries of each set that WiSER as built is asked")
    parser.add_argument("--share", type=int, default=16, help="its memory is its index divided by this")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", help="a `gannet-lab` that is there, for `built`; its counts do not depend on how it was built")
    parser.add_argument("--queries", type=int, default=20_000, help="queries of each synthetic set")
    parser.add_argument("--shares", type=int, nargs="+", default=SHARES, help="memory of the engines in the figures that vary it: the index divided by these")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2, help="of asking, and as many before to warm up")
    parser.add_argument("--keep", action="store_true", help="use the runs that are there")
    results.add_option(parser)
    options = parser.parse_args()
    options.out = Path(options.out or PLACE / "wiser.json")
    return options


class Documents(argparse.Action):
    """`CORPUS=N`: {corpus: number}."""
    def __call__(self, parser, options, values, option_string=None):
        pairs = [value.partition("=") for value in values]
        if not all(number.isdigit() and name for name, _, number in pairs):
            parser.error(f"{option_string}: expected CORPUS=N, such as passages=60000, found {' '.join(values)}")
        setattr(options, self.dest, {name: int(number) for name, _, number in pairs})


def path(options, name):
    """Where a result of a part is, named like that of all of it."""
    return PLACE / f"{options.out.stem}-{name}.json"


def made(options, name, command):
    """The result of a run, made anew unless it may be kept."""
    if options.keep and path(options, name).exists():
        return
    command += ["--name", path(options, name).stem, "--queries", options.queries]
    command += ["--corpus", options.corpus]
    command += ["--documents", options.documents[options.corpus]] if options.corpus in options.documents else []
    note(" ".join(map(str, command)))
    subprocess.run([sys.executable, *map(str, command)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


class Figures:
    """A method for each figure, which gives its text and draws it."""

    def __init__(self, sets, sweep, parts):
        self.sets, self.sweep, self.parts = Runs(sets), Runs(sweep), parts

    def figure_3(self):
        return self.swept(3, ["web-all"], KILOBYTES)

    def figure_7(self):
        return self.levels(7, "term", [KILOBYTES]) + "\n" + self.touched("term")

    def figure_8(self):
        return self.levels(8, "and", [KILOBYTES])

    def figure_9(self):
        return self.levels(9, "phrase", [KILOBYTES])

    def figure_10(self):
        return self.touched("phrase")

    def figure_12(self):
        rows = {engine: [self.sets.figure(engine, name, SHARE, KILOBYTES) for name in (FOUND, STORED)] for engine in self.sets.engines}
        rows = {engine: [stored - found] for engine, (found, stored) in rows.items() if found is not None and stored is not None}
        rows = {engine: [more, more / rows["gannet"][0] if rows["gannet"][0] else None] for engine, [more] in rows.items()}
        return table("KB that ten stored documents add to a query (Tantivy: groups of 16 KiB)", ["KB/query", "to Gannet"], rows)

    def figure_13(self):
        return self.levels(13, "term", [RATE])

    def figure_14(self):
        return self.levels(14, "term", [MEDIAN, TAIL])

    def figure_15(self):
        return self.levels(15, "and", [RATE, MEDIAN, TAIL])

    def figure_16(self):
        return self.levels(16, "phrase", [RATE])

    def figure_17(self):
        return self.levels(17, "phrase", [MEDIAN, TAIL])

    def figure_18(self):
        rows = {engine: [self.sets.figure(engine, name, SHARE, RATE) for name in LOGS] for engine in self.sets.engines}
        draw(18, "the web log and its parts", {RATE: (LOGS, rows)})
        return table(f"{RATE} of the web log and its parts", LOGS, rows)

    def figure_19(self):
        return "\n".join(self.swept(19, list(SWEPT), what) for what in [RATE, MEDIAN, BANDWIDTH, KILOBYTES])

    def levels(self, number, kind, whats):
        """The sets of a kind by popularity level."""
        names, panels = [f"{kind}-{level}" for level in LEVELS], {}
        for what in whats:
            panels[what] = names, {engine: [self.sets.figure(engine, name, SHARE, what) for name in names] for engine in self.sets.engines}
        draw(number, f"{kind}, {THREADS} threads, memory 1/{SHARE}", panels)
        return "\n".join(table(what, *panel) for what, panel in panels.items())

    def swept(self, number, names, what):
        """Sets by memory."""
        heads = [f"{self.sweep.cache_bytes(share) / MIB:.0f} MiB" for share in self.sweep.shares]
        panels = {}
        for name in names:
            rows = {engine: [self.sweep.figure(engine, name, share, what) for share in self.sweep.shares] for engine in self.sweep.engines}
            panels[SWEPT[name]] = heads, rows
        draw(f"{number}-{what.split(chr(47))[0].replace(chr(32), chr(45))}", what, panels)
        return "\n".join(table(f"{what}, {name}", *panel) for name, panel in panels.items())

    def touched(self, kind):
        """Pages that a query of Gannet touches, in memory or not, by what they hold."""
        names, texts = [f"{kind}-{level}" for level in LEVELS], []
        for filters in FILTERS:
            keys = {name: pages_key(name, filters) for name in names}
            found = {name: self.parts["pages"][key]["used_pages_per_query_by_kind"] for name, key in keys.items() if key in self.parts["pages"]}
            rows = {part: [found[name].get(part, 0.0) if name in found else None for name in names] for part in PARTS}
            if found:
                texts.append(table(f"pages that a query touches, filters: {filters}", names, rows))
        return "\n".join(texts)


class Runs:
    """The rows of a run of the lab."""

    def __init__(self, rows):
        self.rows = [row for row in rows if "qps" in row]
        self.engines = list(dict.fromkeys(row["engine"] for row in self.rows))
        self.shares = list(dict.fromkeys(row["share"] for row in self.rows))

    def figure(self, engine, name, share, what):
        """The median of all repetitions, or None."""
        found = [READS[what](row) for row in self.rows if (row["engine"], row["set"], row["share"]) == (engine, name, share)]
        return statistics.median(found) if found else None

    def cache_bytes(self, share):
        return next(row["cache_bytes"] for row in self.rows if row["share"] == share)


def draw(number, title, panels):
    """A picture of a figure: a panel for each title, with (heads, {line: values})."""
    pyplot = plots.matplotlib()
    figure, places = pyplot.subplots(1, len(panels), figsize=(5.5 * len(panels), 4.5), squeeze=False, layout="constrained")
    figure.suptitle(f"{title} (figure {number} of the paper)")
    for place, (name, (heads, rows)) in zip(places[0], panels.items()):
        for engine, values in rows.items():
            place.plot(heads, [value or float("nan") for value in values], marker="o", label=engine, color=plots.COLOURS.get(engine))
        place.set_title(name)
        place.set_yscale("log")
        place.grid(alpha=0.3)
    places[0][0].legend()
    for ending in ("png", "svg"):
        figure.savefig(PLACE / f"wiser-figure-{number}.{ending}", dpi=120)
    pyplot.close(figure)


main()
