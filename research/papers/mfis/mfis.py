#!/usr/bin/env python3
"""Figures 2, 3, 7 and 8 and table 2 of the MFIS paper (Jung et al., 2014), with the paper's figures beside, and all strategies with Gannet's own
maintenance on a whole vocabulary.

Every strategy is a real one on the engine's device (`gannet-lab maintenance`); each run is a process of its own, on flushes that were
inverted once. Seconds are measured on this disk; what is called modelled is what the same operations would take on the paper's
disk (12.37 ms a read, 13.37 ms a write where the head must move, 189 MB/s). Results go to `target/lab/mfis.json`, `mfis.txt` and
pictures beside. See docs/experiments.md.
"""
import argparse
import json
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import inputs
import plots
import results
from engines import gannet_lab
from inputs import PLACE
from harness import note, remove, run
from published import MFIS_GAINS, MFIS_QUERIES, MFIS_SMALL
from report import figures as table

LABELS = {
    "no-merge": "No-Merge", "immediate-merge": "Immediate Merge", "geometric": "Geometric, r = 3", "logarithmic": "Logarithmic",
    "in-place-c": "In-place C, k = 1.25", "in-place-nc": "In-place NC", "hlm-nc": "HLM_NC", "ssd-hybrid": "SSD_Hybrid", "mfis": "MFIS",
    "gannet": "Gannet",
}
COLOURS = {
    "no-merge": "#999999", "immediate-merge": "#d55e00", "geometric": "#e69f00", "logarithmic": "#f0e442", "in-place-c": "#cc79a7",
    "in-place-nc": "#882255", "hlm-nc": "#009e73", "ssd-hybrid": "#117733", "mfis": "#56b4e9", "gannet": "#0072b2",
}
ALL = list(LABELS)
# These do one transfer after the other, so a whole vocabulary takes them long.
ONE_BY_ONE = ["in-place-c", "in-place-nc"]
FIGURE_3 = ["no-merge", "geometric", "in-place-c", "in-place-nc", "gannet"]
# In the paper's setting: a list is kept if one of ten documents has its term, and long among queries if one of four does.
PAPER_SHARES = {"kept-share": 10, "long-share": 4}
# For the thresholds, so many lists that the largest is reached.
SWEEP_SHARES = {"kept-share": 200, "long-share": 4}
SMALL_DOCUMENTS = 1_000
THRESHOLDS = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
TABLES = ["psync", "small", "paper", "long", "thresholds", "full"]
WITHIN = 1.05


def main():
    options = arguments()
    plots.matplotlib()  # Before the runs: it may start this script again.
    PLACE.mkdir(parents=True, exist_ok=True)
    lab = Lab(options)
    texts = [getattr(lab, name)() for name in options.tables]
    text = "\n".join(texts)
    lab.save()
    (PLACE / f"{options.name}.txt").write_text(text)
    print(text)
    note(f"everything is in {lab.result.path}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--strategies", nargs="+", choices=ALL, default=ALL)
    parser.add_argument("--corpus", default="passages", help="passages, articles, or a file of JSON lines")
    parser.add_argument("--documents", type=int, help="only the first so many")
    parser.add_argument("--flushes", type=int, default=100)
    parser.add_argument("--thresholds", type=int, nargs="+", default=THRESHOLDS)
    parser.add_argument("--memory", type=int, default=32, help="MiB for frames of Gannet's dictionary")
    parser.add_argument("--queries", type=int, default=50, help="lists, and pairs, after every fifth flush; ten times as many in the end")
    parser.add_argument("--seconds", type=float, default=2, help="of eight threads that ask")
    parser.add_argument("--most-seconds", type=float, default=120, help="of a run with a whole vocabulary that does one transfer after the other")
    parser.add_argument("--batch", type=int, default=1024, help="MiB of a batch of figure 2 at most, for which there must be memory; its file is twice as large")
    parser.add_argument("--psync-runs", type=int, default=5, help="runs of figure 2, of which the medians count")
    parser.add_argument("--keep", action="store_true", help="use the runs that are there")
    parser.add_argument("--place", type=Path, default=PLACE, help="folder for streams and lists; in memory only counts and modelled seconds count")
    parser.add_argument("--program", help="a `gannet-lab` that is there; counts and modelled seconds do not depend on how it was built")
    parser.add_argument("--name", default="mfis", help="name of the result's files in target/lab")
    results.add_option(parser)
    return parser.parse_args()


class Lab:
    """All runs, and what came of them."""

    def __init__(self, options):
        self.options, self.name = options, options.name
        self.program = options.program or gannet_lab()
        settings = vars(options) | {"place": results.without_paths(str(options.place), {})}
        self.result = results.Result(options.name, settings, options.out or PLACE / f"{options.name}.json")
        path = self.result.path
        kept = json.loads(path.read_text()) if options.keep and path.exists() else {"rows": [], "rates": None}
        self.rows, self.rates, self.misses = kept["rows"], kept["rates"], []

    def psync(self):
        """Figure 2, and the same of writes."""
        rows = [row for row in self.rows if "outstanding" in row]
        if not rows:
            # Each run measures all cells, so that those of a cell lie minutes apart.
            runs = [self.psync_run() for _ in range(self.options.psync_runs)]
            rows = [merged(cells) for cells in zip(*(run.pop("rates") for run in runs), strict=True)]
            self.rates = runs[0] | {"queue": queue(PLACE)}
            self.rows += rows
        heads = [str(count) for count in sorted({row["outstanding"] for row in rows})]
        texts, panels = [], {}
        for what in ("read", "written"):
            lines = {f"{size >> 10} KiB": [] for size in sorted({row["bytes"] for row in rows})}
            for row in rows:
                lines[f"{row['bytes'] >> 10} KiB"].append(row[what])
            lines = {size: values + [None] * (len(heads) - len(values)) for size, values in lines.items()}
            panels[f"MB/s {what}"] = lines
            texts.append(table(f"Figure 2: MB/s {what} at random by outstanding transfers (columns) and their size (the paper: reads of three drives)", heads, lines))
        self.draw("figure-2", "batches of random transfers (figure 2)", heads, panels, {})
        return "\n".join(texts)

    def psync_run(self):
        """The rate of each size and number of transfers, once, on a file of its own."""
        place, most = PLACE / f"{self.name}-psync", self.options.batch
        remove(place)
        rates = run([self.program, "maintenance", "psync", place, "--seconds", min(0.2, self.options.seconds / 10),
                     "--batch-mebibytes", most, "--mebibytes", 2 * most]).json()
        remove(place)
        return rates

    def small(self):
        """Figure 3: 1,000 documents a flush, long lists."""
        names = self.strategies(FIGURE_3)
        stream = self.stream(SMALL_DOCUMENTS * self.options.flushes)
        rows = {name: self.run("small", name, stream, "paper", PAPER_SHARES) for name in names}
        base = rows.get("geometric")
        lines = {}
        for name, row in rows.items():
            shares = [row["seconds"] / base["seconds"], modelled(row) / modelled(base), query_us(row) / query_us(base)] if base else [None] * 3
            disk, flash, queries = MFIS_SMALL.get(name, [None] * 3)
            lines[LABELS[name]] = [row["seconds"], row["work"]["written_bytes"] / 1e6, row["work"]["read_bytes"] / 1e6, query_us(row),
                                   shares[0], flash, shares[1], disk, shares[2], queries]
        heads = ["s", "MB written", "MB read", "us a list", "s / Geo", "paper", "modelled disk", "paper", "query / Geo", "paper"]
        self.curves("figure-3", "long lists, 1,000 documents a flush (figure 3)", rows)
        return table(f"Figure 3: {self.of(rows)}; seconds, modelled seconds of a disk and time per query as shares of Geometric's", heads, lines)

    def paper(self):
        """Figures 7 and 8, table 2."""
        names, stream = self.strategies(ALL), self.stream(self.options.documents)
        rows = {name: self.run("paper", name, stream, "paper", PAPER_SHARES) for name in names}
        mfis, lines = rows.get("mfis"), {}
        for name, row in rows.items():
            gain = row["seconds"] / mfis["seconds"] if mfis else None
            queries = query_us(row) / query_us(mfis) if mfis else None
            said = MFIS_GAINS.get(name, [None] * 3)
            asked = MFIS_QUERIES.get(name, [None])
            lines[LABELS[name]] = [*maintained(row), gain, *said, query_us(row), queries, sum(asked) / len(asked) if asked[0] else None]
        heads = [*MAINTAINED, "s / MFIS", "ioDrive", "Vertex3", "P300", "us a list", "/ MFIS", "paper"]
        self.curves("figure-7-8", "long lists (figures 7 and 8)", rows)
        return table(f"Figures 7 and 8, table 2: {self.of(rows)}; with the paper's gains of MFIS", heads, lines)

    def long(self):
        """The lists of the paper's setting with the codes of the whole vocabulary for all, Gannet too."""
        names, stream = self.strategies(ALL), self.stream(self.options.documents)
        rows = {name: self.run("long", name, stream, "long", PAPER_SHARES) for name in names}
        lines = {LABELS[name]: [*maintained(row), row["file_bytes"] / 1e6, *asked_of(row)] for name, row in rows.items()}
        self.curves("long", "long lists, equal codes", rows)
        return table(f"Long lists, equal codes: {self.of(rows)}", [*MAINTAINED, "files MB", "reads a list", "KB a list"], lines)

    def thresholds(self):
        """Figure 7 (d)."""
        stream, lines = self.stream(self.options.documents), {}
        for threshold in self.options.thresholds:
            row = self.run("thresholds", "mfis", stream, "paper", SWEEP_SHARES | {"threshold": threshold, "queries": 0, "last-queries": 0, "threads": 0})
            lines[str(threshold)] = maintained(row)
        panels = {"seconds": {"MFIS": [line[0] for line in lines.values()]}}
        self.draw("figure-7-d", "blocks that are read and written together (figure 7 d)", list(lines), panels, {"MFIS": COLOURS["mfis"]}, "linear")
        title = (f"Figure 7 (d): MFIS by threshold, {row['lists']['all']:,} lists of words in more than one of {SWEEP_SHARES['kept-share']} documents, nothing asked "
                 "(the paper: little changes from 32 on)")
        return table(title, MAINTAINED, lines)

    def full(self):
        """All terms: what Gannet promises beside the literature."""
        names, stream = self.strategies(ALL), self.stream(self.options.documents)
        ended = {"most-seconds": self.options.most_seconds}
        rows = {name: self.run("full", name, stream, "full", ended if name in ONE_BY_ONE else {}) for name in names}
        made, asked = {}, {}
        for name, row in rows.items():
            stopped = len(row["flushes"]) < row["stream"]["flushes"]
            label = LABELS[name] + (f", {len(row['flushes'])} flushes" if stopped else "")
            made[label] = [*maintained(row), row["written_for_vocabulary"] / 1e6, row["written_for_tables"] / 1e6, row["file_bytes"] / 1e6,
                           row["vocabulary_bytes"] / 1e6]
            last, together = row["last"], row["together"]
            asked[label] = [*[last[kind][which] for kind in ("lists", "pairs") for which in ("p50_us", "mean_us", "p99_us")],
                            *[last[kind]["work"]["reads"] / last[kind]["count"] for kind in ("lists", "pairs")],
                            *[last[kind]["work"]["read_bytes"] / last[kind]["count"] / 1e3 for kind in ("lists", "pairs")],
                            together["queries_per_second"], together["cpu_us"], together["p99_us"]]
        heads = [*MAINTAINED, "vocabulary MB", "roots, maps", "files MB", "in memory"]
        texts = [table(f"Full vocabulary: {self.of(rows)}; vocabulary MB are among those written", heads, made)]
        heads = ["list p50 us", "mean", "p99", "pair p50 us", "mean", "p99", "reads a list", "a pair", "KB a list", "a pair", "8 thr. pairs/s", "CPU us", "p99"]
        texts.append(table("Cold lists alone, and pairs found, counted and ranked, after the last flush; vocabularies in memory", heads, asked))
        self.curves("full", "full vocabulary", rows)
        return "\n".join([*texts, self.promises(rows)])

    def promises(self, rows):
        """What must be shown, and whether it is."""
        if "gannet" not in rows:
            return ""
        gannet, lines = rows["gannet"], []
        others = {name: row for name, row in rows.items() if name not in ("gannet", "no-merge")}
        for name, row in others.items():
            flushes = min(len(row["flushes"]), len(gannet["flushes"])) - 1
            ours, theirs = (of["flushes"][flushes]["work"]["written_bytes"] for of in (gannet, row))
            lines.append(f"{verdict(ours < theirs)}: writes less than {LABELS[name]}: {ours / 1e6:,.0f} MB, {theirs / 1e6:,.0f} ({flushes + 1} flushes)")
        whole = {name: row for name, row in rows.items() if len(row["flushes"]) == len(gannet["flushes"])}
        for kind in ("lists", "pairs"):
            best = min(whole, key=lambda name: whole[name]["last"][kind]["mean_us"])
            ours, theirs = (rows[name]["last"][kind]["mean_us"] for name in ("gannet", best))
            lines.append(f"{verdict(ours <= WITHIN * theirs)}: cold {kind} within 5 % of the best ({LABELS[best]}): {ours:,.0f} us, {theirs:,.0f}")
        best = max(whole, key=lambda name: whole[name]["together"]["queries_per_second"])
        ours, theirs = (rows[name]["together"]["queries_per_second"] for name in ("gannet", best))
        lines.append(f"{verdict(ours * WITHIN >= theirs)}: 8 threads within 5 % of the best ({LABELS[best]}): {ours:,.0f} pairs/s, {theirs:,.0f}")
        self.misses = [line.removeprefix("MISSES: ") for line in lines if line.startswith("MISSES")]
        return "\n".join(["What Gannet promises beside them", *lines]) + "\n"

    def strategies(self, some):
        return [name for name in some if name in self.options.strategies]

    def stream(self, documents):
        """The folder of a corpus in flushes, made once."""
        source = inputs.source(self.options.corpus, documents)
        folder = self.options.place / f"{source.stem}-in-{self.options.flushes}-flushes"
        if not (folder / "meta.json").exists():
            remove(folder)
            note(f"inverting {source.name}")
            run([self.program, "maintenance", "invert", source, folder, "--flushes", self.options.flushes]).json()
        return folder

    def of(self, rows):
        """What the rows of a table were made from."""
        row = next(iter(rows.values()))
        meta, lists = row["stream"], row["lists"]
        what = "8 bytes a posting, no positions (Gannet's packed, positions all 0)" if row["setting"] == "paper" else "coded, with positions"
        return (f"{meta['documents']:,} documents in {meta['flushes']} flushes of {meta['documents_a_flush']:,}, {lists['all']:,} lists, {row['postings']:,} postings, "
                f"{what}; queries: 70 % of {lists['long']:,} long lists, 30 % of {lists['short']:,} others; {self.options.memory} MiB (the paper: "
                "Wikipedia, 2,000,000 documents, 20,000 a flush, AOL queries)")

    def run(self, shown, strategy, stream, setting, more):
        """One strategy on one stream, for the table that shows it."""
        options = self.options
        settings = {"setting": setting, "memory": options.memory, "queries": options.queries, "last-queries": 10 * options.queries,
                    "query-every": max(1, options.flushes // 20), "seconds": options.seconds} | more
        asked = {"table": shown, "of": stream.name, "strategy": strategy, "asked_for": settings}
        known = [row for row in self.rows if all(row.get(name) == value for name, value in asked.items())]
        if known:
            return known[0]
        place = self.options.place / f"{self.name}-lists"
        remove(place)
        words = [word for name, value in settings.items() for word in (f"--{name}", value)]
        done = run([self.program, "maintenance", "run", stream, place, "--strategy", strategy, *words])
        row = done.json() | asked | {"cpu_seconds": done.cpu_seconds, "peak_resident_bytes": done.peak_resident_bytes}
        row["stream"]["corpus"] = Path(row["stream"]["corpus"]).name
        remove(place)
        note(f"{strategy} {settings}: {row['seconds']:.1f} s, {row['work']['written_bytes'] / 1e6:,.0f} MB written")
        self.rows.append(row)
        self.save()
        return row

    def save(self):
        self.result.rows, self.result.more = self.rows, {"rates": self.rates, "misses": self.misses}
        self.result.write()

    def curves(self, name, title, rows):
        """Seconds and bytes written so far, and the time per list and per pair, after each flush."""
        pyplot = plots.matplotlib()
        figure, places = pyplot.subplots(1, 4, figsize=(22, 4.8), layout="constrained")
        figure.suptitle(title)
        for strategy, row in rows.items():
            look = {"label": LABELS[strategy], "color": COLOURS[strategy]}
            flushes = range(1, len(row["flushes"]) + 1)
            places[0].plot(flushes, [flush["seconds"] for flush in row["flushes"]], **look)
            places[1].plot(flushes, [flush["work"]["written_bytes"] / 1e6 for flush in row["flushes"]], **look)
            for place, kind in zip(places[2:], ("lists", "pairs")):
                place.plot([at["flushes"] for at in row["asked"]], [at[kind]["mean_us"] for at in row["asked"]], marker=".", **look)
        for place, heading in zip(places, ["seconds of maintenance", "MB written", "us a list", "us a pair, ranked"]):
            place.set_title(heading)
            place.set_xlabel("flushes")
            place.set_yscale("log")
            place.grid(alpha=0.3)
        places[0].legend(fontsize="small")
        self.keep(figure, name)

    def draw(self, name, title, heads, panels, colours, scale="log"):
        """A picture with a panel for each title, a line for each row."""
        pyplot = plots.matplotlib()
        figure, places = pyplot.subplots(1, len(panels), figsize=(6.5 * len(panels), 4.8), squeeze=False, layout="constrained")
        figure.suptitle(title)
        for place, (panel, rows) in zip(places[0], panels.items()):
            for label, values in rows.items():
                place.plot(heads, [value or float("nan") for value in values], marker="o", label=label, color=colours.get(label))
            place.set_title(panel)
            place.set_yscale(scale)
            place.grid(alpha=0.3)
        places[0][0].legend(fontsize="small")
        self.keep(figure, name)

    def keep(self, figure, name):
        for ending in ("png", "svg"):
            figure.savefig(PLACE / f"{self.name}-{name}.{ending}", dpi=120)
        plots.matplotlib().close(figure)


def merged(cells):
    """One cell of all runs: the medians, and the rates of each run."""
    runs = [{what: cell[what] for what in ("read", "written")} for cell in cells]
    return cells[0] | {what: statistics.median(rates[what] for rates in runs) for what in runs[0]} | {"runs": runs}


def queue(folder):
    """What the system keeps in flight for the disk of a folder, and how long a request is at most, where it tells."""
    name = Path(results.mounted(folder)[0]).name
    files = Path("/sys/class/block", name).glob("queue/*")
    return {file.name: int(file.read_text()) for file in files if file.name in ("nr_requests", "max_sectors_kb")}


MAINTAINED = ["s", "modelled disk s", "MB written", "MB read", "writes", "reads"]


def maintained(row):
    work = row["work"]
    return [row["seconds"], work["modelled_seconds"], work["written_bytes"] / 1e6, work["read_bytes"] / 1e6, work["writes"], work["reads"]]


def asked_of(row):
    """Reads and KB of a list in the end."""
    last = row["last"]["lists"]
    return [last["work"]["reads"] / last["count"], last["work"]["read_bytes"] / last["count"] / 1e3]


def modelled(row):
    return row["work"]["modelled_seconds"]


def query_us(row):
    """The mean time per list, over all flushes that were followed by queries."""
    means = [at["lists"]["mean_us"] for at in row["asked"]]
    return sum(means) / len(means)


def verdict(holds):
    return "holds" if holds else "MISSES"


main()
