#!/usr/bin/env python3
"""What each technique of the WiSER paper (He et al., 2020) is worth in Gannet, with the paper's figures beside.

Every query of a set is asked once, on one thread, from empty frames, so bytes, reads and rounds are exact and the same for
everyone. Where Gannet has no other layout to compare with, its pages are modelled from what lists and documents take, and
the table says so. See docs/lab.md.
"""
import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "show"))  # For `measure`.

import inputs
from engines import GANNET_MEMORY_MIN, Gannet
from measure import MIB, Unable, machine, note, run

LEVELS = [10, 100, 1000, 10000]
# Sets whose stored documents are fetched.
FETCHED = ["or-1000", "web-all"]
SWITCHED = ["term-1000", "term-10000", "term-100000", "and-10000", "or-1000", "or-10000", "or-100000", "mix"]
SWITCHES = ["prefetch", "pruning", "batches"]
PAPER = {
    "grouping": "the paper, against three places: up to 2.9 times less for one term, least at 100,000; "
                "for two terms 17 % to 51 % less up to 1,000",
    "documents": "the paper, against groups of 16 KiB: 1.7 times less (42 %) for 25 % more space",
    "switches": "the paper gives no figure for its prefetch alone (with it WiSER reads somewhat more, and is faster); "
                "it has no pruning",
    "least": "the paper only compares engines; Gannet's aim is at most 1.5 for single terms",
}


def main():
    options = arguments()
    inputs.PLACE.mkdir(parents=True, exist_ok=True)
    paper = Paper(options)
    tables = [paper.grouping(), paper.documents(), paper.switches(), paper.least()]
    text = "\n".join(tables)
    path = inputs.PLACE / f"{options.name}.json"
    path.write_text(json.dumps({"settings": paper.settings, "paper": PAPER, "results": paper.results}, indent=1))
    path.with_suffix(".txt").write_text(text)
    print(text)
    note(f"everything is in {path}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="passages", help="passages, articles or a file of JSON lines")
    parser.add_argument("--documents", type=int, help="only the first so many")
    parser.add_argument("--queries", type=int, default=20_000, help="queries of each synthetic set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--flushes", type=int, default=100, help="commits by which the index is built")
    parser.add_argument("--share", type=int, default=16, help="the memory is the index divided by this")
    parser.add_argument("--name", default="paper", help="name of the result's files in target/lab")
    return parser.parse_args()


class Paper:
    """One run over all sets, with one index and one memory."""

    def __init__(self, options):
        self.engine = Gannet()
        self.source = inputs.source(options.corpus, options.documents)
        folder = inputs.PLACE / self.source.stem
        self.queries = inputs.queries(self.source, folder, options.seed, options.queries)
        self.index, figures = inputs.index(self.engine, self.source, folder, options.flushes)
        self.memory = max(GANNET_MEMORY_MIN, figures["index_bytes"] // options.share)
        self.settings = machine() | vars(options) | {"memory_bytes": self.memory, "index": figures}
        self.results = {"pages": {}, "bench": {}}

    def grouping(self):
        """What a query touches of the dictionary's leaves and of lists, in memory or not."""
        rows = []
        for name in self.sets(f"{kind}-{level}" for kind in ("term", "and") for level in LEVELS):
            pages = self.pages(name)
            now, modelled = pages["list_pages_per_query"], pages["modelled"]
            docs = modelled["list_pages_per_query_docs_apart"]
            three = modelled["list_pages_per_query_docs_and_positions_apart"]
            rows.append([name, now, docs, three, docs / now, three / now])
        heads = ["set", "Gannet", "2 places", "3 places", "2 to Gannet", "3 to Gannet"]
        title = ("Grouping: leaves of the dictionary and pages of lists a query touches; 2 and 3 places MODELLED (dictionary; "
                 "documents and frequencies; positions)")
        return table(title, PAPER["grouping"], heads, rows)

    def documents(self):
        """What the ten best documents take."""
        rows = []
        for name in self.sets(FETCHED):
            pages = self.pages(name, fetch=True)
            now = pages["used_pages_per_query_by_kind"].get("documents", 0.0)
            groups = pages["modelled"]["document_pages_per_query_in_groups"]
            rows.append([name, pages["hits_per_query"], now, groups, groups / now if now else float("nan")])
        heads = ["set", "documents", "Gannet", "groups", "groups to Gannet"]
        title = "Documents: pages a query touches for the ten best; groups of 16 KiB MODELLED"
        return table(title, PAPER["documents"], heads, rows)

    def switches(self):
        """Runs with a technique switched off, beside one with all."""
        rows = []
        for name in self.sets(SWITCHED):
            for switch in [None, *SWITCHES]:
                figures = self.bench(name, switch)
                rows.append([name if switch is None else "", f"without {switch}" if switch else "all",
                             figures["bytes_read_per_query"]["engine"] / 1000, figures["reads_per_query"],
                             figures["rounds_per_query"], figures["cpu_us_per_query"]])
        heads = ["set", "techniques", "KB/query", "reads/query", "rounds/query", "CPU us/query"]
        return table("Techniques switched off: measured", PAPER["switches"], heads, rows)

    def least(self):
        """What is read beside what could not be less."""
        rows = []
        for name in self.sets([f"term-{level}" for level in LEVELS] + ["mix"]):
            pages = self.pages(name)
            rows.append([name, pages["queries"], pages["read_pages_per_query"], pages["least_pages_per_query"],
                         pages["read_to_least"], pages["needed_pages_per_query"], pages["read_to_needed"]])
        heads = ["set", "queries", "pages read", "least", "read to least", "needed", "read to needed"]
        title = (f"Reads: pages a query with {self.memory / MIB:.1f} MiB; least: the same pages by the best eviction; needed: "
                 "the bytes of the list in whole pages, nothing in memory")
        return table(title, PAPER["least"], heads, rows)

    def sets(self, names):
        """Those of the sets that the corpus or the logs gave."""
        for name in names:
            path = self.queries / f"{name}.tsv"
            if path.exists() and path.stat().st_size:
                yield name
            else:
                note(f"there is no set {name}")

    def pages(self, name, fetch=False):
        """The figures of `gannet-lab pages`, made once for each set."""
        key = f"{name}+documents" if fetch else name
        if key not in self.results["pages"]:
            note(f"pages of {key}")
            more = ["--corpus", self.source] if fetch else []
            command = [self.engine.indexer, "pages", self.index, self.queries / f"{name}.tsv", "--memory", self.memory, *more]
            self.results["pages"][key] = run(command).json()
        return self.results["pages"][key]

    def bench(self, name, without):
        note(f"{name} without {without}" if without else name)
        options = ["--without", without] if without else []
        done = self.engine.bench(self.index, self.queries / f"{name}.tsv", self.memory, options)
        figures = done.json()
        if figures["settings"]["without"] != options[1:]:
            raise Unable(f"the command does not know the switch {without}")
        self.results["bench"][f"{name} without {without}" if without else name] = figures
        return figures


def table(title, paper, heads, rows):
    """Text for people, with what the paper found below the title."""
    widths = [max(16 if at < 2 else 13, len(head) + 2) for at, head in enumerate(heads)]
    lines = [title, f"({paper})", "", "".join(f"{head:>{width}}" for head, width in zip(heads, widths))]
    for row in rows:
        lines.append("".join(f"{cell(value):>{width}}" for value, width in zip(row, widths)))
    return "\n".join(lines) + "\n"


def cell(value):
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if isinstance(value, int) or value >= 1000 else f"{value:.2f}"


main()
