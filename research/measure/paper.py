#!/usr/bin/env python3
"""What each technique of the WiSER paper (He et al., 2020) is worth in Gannet, with the paper's figures beside.

Every query of a set is asked once, on one thread, from empty frames, so bytes, reads and rounds are exact and the same for
everyone. Layouts that Gannet does not have are built by `research/papers/wiser/wiser.py`. See docs/experiments/techniques.md.
"""
import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import inputs
import results
from engines import GANNET_MEMORY_MIN, Gannet
from harness import MIB, Unable, note, run

# Behind the name of a set that was asked with memory for all pages.
ALL_FIT = ", all in memory"
LEVELS = [10, 100, 1000, 10000]
# Sets whose snippets are made.
FETCHED = ["or-1000", "web-all"]
SWITCHED = ["term-1000", "term-10000", "term-100000", "and-10000", "or-1000", "or-10000", "or-100000", "mix"]
SWITCHES = ["prefetch", "pruning", "batches"]
PHRASES = [f"phrase-{level}" for level in LEVELS] + ["web-phrase", "game-phrase"]
# The paper's phrases have none of them.
STOP_WORDS = set("a an and are as at be but by for if in into is it no not of on or such that the their then there these they "
                 "this to was will with".split())
# Kinds of phrase filters and whether they are asked.
FILTERED = [("none", True), ("common", True), ("common", False)]
# What Gannet promises: pages read to the least.
MOST_OF_LEAST = 1.5
# Of pages, as `gannet-lab pages` names them.
PARTS = ["dictionary", "list_docs", "list_filters", "list_positions", "list_filters_and_positions", "tables"]
# Each a method of `Paper`.
TABLES = ["parts", "switches", "sizes", "filters", "offsets", "least"]
PAPER = {
    "parts": "the paper: single terms mostly waste, of phrases mostly positions unless filters are asked",
    "sizes": "the paper: its filters make the index 50 % larger",
    "filters": "the paper: phrases read 3.2 times less with its filters, and 12 % of the tests of real phrases are positive",
    "switches": "the paper gives no figure for its prefetch alone (with it WiSER reads somewhat more, and is faster); "
                "it has no pruning",
    "offsets": "the paper keeps offsets, and its snippets read them",
    "least": "the paper only compares engines; Gannet's aim is at most 1.5 for single terms",
}


def main():
    options = arguments()
    inputs.PLACE.mkdir(parents=True, exist_ok=True)
    paper = Paper(options)
    tables = [getattr(paper, name)() for name in options.tables]
    text = "\n".join(tables)
    (inputs.PLACE / f"{options.name}.txt").write_text(text)
    paper.result.more = {"paper": PAPER, "results": paper.results, "misses": paper.misses}
    print(text)
    note(f"everything is in {paper.result.write()}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="passages", help="passages, articles or a file of JSON lines")
    parser.add_argument("--documents", type=int, help="only the first so many")
    parser.add_argument("--queries", type=int, default=20_000, help="queries of each synthetic set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--flushes", type=int, default=100, help="commits by which the index is built")
    parser.add_argument("--share", type=int, default=16, help="the memory is the index divided by this")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES, metavar="TABLE", help="of " + ", ".join(TABLES))
    parser.add_argument("--programs", help="a folder with `gannet` and `gannet-lab`; counts do not depend on how they were built")
    parser.add_argument("--name", default="paper", help="name of the result's files in target/lab")
    results.add_option(parser)
    return parser.parse_args()


class Paper:
    """One run over all sets, with an index for each kind of phrase filters and one memory for all."""

    def __init__(self, options):
        self.engine = Gannet(programs=options.programs)
        self.source = inputs.source(options.corpus, options.documents)
        folder = inputs.PLACE / self.source.stem
        self.queries = inputs.queries(self.source, folder, options.seed, options.queries, self.engine.indexer)
        self.indexes = {}
        for kind in ["none", "common"]:
            self.indexes[kind] = inputs.index(Gannet(kind, options.programs), self.source, folder, options.flushes)
        self.index, figures = self.indexes["common"]
        self.index_bytes = figures["index_bytes"]
        self.memory = max(GANNET_MEMORY_MIN, self.index_bytes // options.share)
        self.misses = []
        # A small index has more memory than was asked for, and most of it may fit.
        self.promise("the memory as a share of the index", self.memory / self.index_bytes, 1 / options.share)
        settings = vars(options) | {"memory_bytes": self.memory, "index": figures}
        self.result = results.Result(options.name, settings, options.out or inputs.PLACE / f"{options.name}.json")
        self.results = {"pages": {}, "bench": {}, "lists": {}, "positive": {},
                        "indexes": {kind: figures for kind, (_, figures) in self.indexes.items()}}

    def parts(self):
        """What the pages hold that a query touches, in memory or not."""
        rows = []
        for name in self.sets(f"{kind}-{level}" for kind in ("term", "phrase") for level in [*LEVELS, 100_000]):
            for kind in self.indexes if name.startswith("phrase") else ["common"]:
                found = self.pages(name, kind=kind)["used_pages_per_query_by_kind"]
                rows.append([name, kind, *[found.get(part, 0.0) for part in PARTS]])
        return table("Parts: pages that a query touches, by what they hold", PAPER["parts"], ["set", "filters", *PARTS], rows)

    def switches(self):
        """Runs with a technique switched off, beside one with all."""
        rows = []
        for name in self.sets(SWITCHED):
            for switch in [None, *SWITCHES]:
                figures = self.bench(name, *[switch] if switch else [])
                rows.append([name if switch is None else "", f"without {switch}" if switch else "all",
                             figures["bytes_read_per_query"]["engine"] / 1000, figures["reads_per_query"],
                             figures["rounds_per_query"], figures["cpu_us_per_query"]])
        heads = ["set", "techniques", "KB/query", "reads/query", "rounds/query", "CPU us/query"]
        return table("Techniques switched off: measured", PAPER["switches"], heads, rows)

    def offsets(self):
        """What keeping offsets would cost, beside analyzing again."""
        rows = []
        for name in self.sets(FETCHED):
            note(f"offsets of {name}")
            command = [self.engine.indexer, "offsets", self.index, self.source, self.queries / f"{name}.tsv"]
            figures = self.results.setdefault("offsets", {})[name] = run(command).json()
            snippets = figures["us_per_query_with_snippets"] - figures["us_per_query_with_documents"]
            rows.append([name, figures["hits_per_query"], figures["offset_bytes"] / 1e6, figures["offset_bytes_to_text"],
                         figures["modelled_offset_pages_per_query"], figures["us_per_query_with_documents"], snippets])
        heads = ["set", "documents", "offsets MB", "to text", "pages/query", "us a query", "snippets us"]
        title = ("Snippets: what offsets would take and how many of their pages a query would read (MODELLED), and what it takes to "
                 "analyze the texts again, in memory")
        return table(title, PAPER["offsets"], heads, rows)

    def sizes(self):
        """What phrase filters take."""
        text, plain = self.source.stat().st_size, self.indexes["none"][1]["index_bytes"]
        lists = {kind: self.lists(kind) for kind in self.indexes}
        rows = []
        for kind, (_, figures) in self.indexes.items():
            size = figures["index_bytes"]
            rows.append([kind, size / 1e6, size / text, size / plain, lists[kind]["filter_bytes"] / 1e6])
        heads = ["filters", "index MB", "to text", "to none", "filters MB"]
        return table("Phrase filters: what they take", PAPER["sizes"], heads, rows)

    def filters(self):
        """Phrases with each kind of filters, asked or not."""
        rows = []
        for name in self.sets([*map(self.without_stop_words, PHRASES), *PHRASES]):
            plain, positive = None, self.positive(name)
            for kind, asked in FILTERED:
                figures = self.bench(name, *[] if asked else ["filters"], kind=kind)
                read = figures["bytes_read_per_query"]["engine"]
                plain = read if plain is None else plain
                first = kind == "none"
                touched = self.pages(name, kind=kind)["list_pages_per_query"] if asked else None
                rows.append([name if first else "", kind if asked else "not asked", touched, read / 1000, plain / read,
                             figures["reads_per_query"], figures["rounds_per_query"], figures["cpu_us_per_query"],
                             positive if first else None])
        heads = ["set", "filters", "list pages", "KB/query", "none to this", "reads/query", "rounds/query", "CPU us/query",
                 "positive"]
        title = (f"Phrase filters: pages of leaves and lists that a query touches, and what it reads with {self.memory / MIB:.1f} MiB; "
                 "less: those queries that have no stop word; positive: of the documents with all words of one of the first 200 queries, "
                 "how many have the phrase")
        return table(title, PAPER["filters"], heads, rows)

    def without_stop_words(self, name):
        """A set of the queries that have no stop word."""
        path, less = self.queries / f"{name}.tsv", self.queries / "less" / f"{name}.tsv"
        if path.exists():
            less.parent.mkdir(exist_ok=True)
            queries = path.read_text().splitlines(keepends=True)
            less.write_text("".join(query for query in queries if STOP_WORDS.isdisjoint(query.split()[1:])))
        return f"less/{name}"

    def lists(self, kind):
        """What all lists of an index take, summed up."""
        lists = run([self.engine.command, "inspect", self.indexes[kind][0], "lists", "--json"]).json()["lists"]
        self.results["lists"][kind] = {part: sum(of[part] for of in lists) for part in lists[0]}
        return self.results["lists"][kind]

    def positive(self, name):
        """How many of the documents with all words of a phrase have the phrase."""
        queries = (self.queries / f"{name}.tsv").read_text().splitlines(keepends=True)[:200]
        totals = []
        for kind in ["phrase", "and"]:
            with tempfile.TemporaryDirectory() as made:
                asked, dump = Path(made) / "asked.tsv", Path(made) / "dump.jsonl"
                asked.write_text("".join(f"{kind}\t" + query.split("\t", 1)[1] for query in queries))
                self.engine.bench(self.index, asked, self.memory, ["--count", "--dump", dump])
                totals.append(sum(json.loads(line)["total"] for line in dump.read_text().splitlines()))
        self.results["positive"][name] = {"phrase": totals[0], "all_words": totals[1]}
        return totals[0] / totals[1]

    def least(self):
        """What is read beside what could not be less."""
        rows = []
        for name in self.sets([f"term-{level}" for level in LEVELS] + ["mix"]):
            pages, roomy = self.pages(name), self.pages(name, memory=max(GANNET_MEMORY_MIN, 2 * self.index_bytes))
            rows.append([name, pages["queries"], pages["read_pages_per_query"], pages["least_pages_per_query"],
                         pages["read_to_least"], roomy["read_to_least"], pages["needed_pages_per_query"], pages["read_to_needed"]])
            self.promise(f"{name}: pages read to the least", pages["read_to_least"], MOST_OF_LEAST)
        heads = ["set", "queries", "pages read", "least", "read to least", "read to used", "needed", "read to needed"]
        title = (f"Reads: pages a query with {self.memory / MIB:.1f} MiB; least: the same pages by the best eviction; read to used: with "
                 "memory for all; needed: the bytes of the list in whole pages, nothing in memory")
        return table(title, PAPER["least"], heads, rows)

    def promise(self, what, figure, most):
        """Keeps what Gannet promises and does not hold."""
        if figure > most:
            self.misses.append(f"{what}: {figure:.2f}, {most} at most")

    def sets(self, names):
        """Those of the sets that the corpus or the logs gave."""
        for name in names:
            path = self.queries / f"{name}.tsv"
            if path.exists() and path.stat().st_size:
                yield name
            else:
                note(f"there is no set {name}")

    def pages(self, name, kind="common", memory=None):
        """The figures of `gannet-lab pages`, made once for each set and kind of filters; with a `memory` that holds all pages if so asked."""
        key = pages_key(name, kind) + (ALL_FIT if memory else "")
        if key not in self.results["pages"]:
            note(f"pages of {key}")
            command = [self.engine.indexer, "pages", self.indexes[kind][0], self.queries / f"{name}.tsv", "--memory", memory or self.memory]
            self.results["pages"][key] = run(command).json()
        return self.results["pages"][key]

    def bench(self, name, *without, kind="common"):
        key = f"{name} without {', '.join(without)}" if without else name
        if kind != "common":
            key = f"{key}, filters {kind}"
        note(key)
        options = ["--without", *without] if without else []
        done = self.engine.bench(self.indexes[kind][0], self.queries / f"{name}.tsv", self.memory, options)
        figures = done.json()
        if figures["settings"]["without"] != options[1:]:
            raise Unable(f"the command does not know all of the switches {without}")
        self.results["bench"][key] = figures
        return figures


def pages_key(name, kind):
    """The name of a set's pages among the results."""
    return name if kind == "common" else f"{name}, filters {kind}"


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


if __name__ == "__main__":
    main()
