#!/usr/bin/env python3
"""Figures 7 and 9 to 15 and tables 1 to 4 of the AS B-tree's paper (Kim et al., 2014), with the paper's figures beside, and Gannet's
tree: in all of these, beside other stores under one limit of memory, scanned after it has changed much, and opened.

Every structure is a real one on the engine's device (`gannet-lab trees`); each run is a process of its own on a copy of an
index that was loaded once. Seconds are measured on this disk, of which the rates are printed first. What is called modelled
is what the same operations would take on the paper's device, by the model of it (`gannet-ssd`, profile `x25-e`). Other stores are `research/peers/stores`. Results go to `target/lab/trees.json`,
`trees.txt` and pictures beside. See docs/experiments.md.
"""
import argparse
import itertools
import json
import shutil
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import limits
import plots
import results
from engines import gannet_lab
from inputs import PLACE
from harness import MIB, ROOT, TARGET, MemoryGroup, build, note, remove, run
from published import AS_B_TREE_FILES, AS_B_TREE_INSERTS, AS_B_TREE_MIXED, AS_B_TREE_RATES
from report import figures as table

PAPERS = ["b-tree", "as-b-tree", "bftl"]
# The engine's tree as the engine uses it, and two that only the lab has.
OURS = ["gannet", "gannet-rolling", "rolling"]
# Structures with other settings.
VARIANTS = {"b-tree-batched": "b-tree", "la-tree-batched": "la-tree", "fd-tree-levels": "fd-tree", "bftl-apart": "bftl"}
# A BFTL that gives each gathered node sectors of its own, as the size of the paper's file suggests.
APART = ["bftl-apart"]
SETTINGS = {"bftl-apart": {"apart": True}, "b-tree-batched": {"batched": True}, "la-tree-batched": {"batched": True}}
# Rivals of Gannet's tree that write batches or let operations wait, too: not in the paper's figures
# of single operations.
BATCHING = ["b-tree-batched", "fd-tree", "la-tree", "la-tree-batched"]
SINGLE = [*PAPERS, *BATCHING, *OURS]
NEVER_CLEANED = {"valid-percent": 0}
ALL = [*PAPERS, "b-tree-batched", "fd-tree", "fd-tree-levels", "la-tree", "la-tree-batched", *OURS]
LABELS = {
    "b-tree": "B+-tree", "as-b-tree": "AS B-tree", "bftl": "BFTL", "bftl-apart": "BFTL, sectors apart", "fd-tree": "FD-tree", "la-tree": "LA-tree",
    "b-tree-batched": "B+-tree, batches", "la-tree-batched": "LA-tree, batches", "fd-tree-levels": "FD-tree, two levels",
    "gannet": "Gannet's tree", "gannet-rolling": "the same, merged in parts", "rolling": "nodes as theirs, merged in parts",
}
COLOURS = {
    "b-tree": "#999999", "as-b-tree": "#d55e00", "bftl": "#cc79a7", "bftl-apart": "#aa4499", "fd-tree": "#e69f00", "la-tree": "#009e73",
    "b-tree-batched": "#666666", "la-tree-batched": "#66c2a5", "fd-tree-levels": "#b8860b",
    "gannet": "#0072b2", "gannet-rolling": "#3b5998", "rolling": "#56b4e9",
}
MIXES = {"insert": [100, 0, 0, 0, 0], "search": [0, 100, 0, 0, 0], "update": [0, 0, 100, 0, 0], "delete": [0, 0, 0, 100, 0]}
NUMBERS = {"insert": 9, "search": 10, "update": 11, "delete": 12}
SHAPES = [(64, 32), (128, 32), (256, 1), (256, 4), (256, 32)]
PLAIN = (256, 32)
CACHES = [0, 32, 64, 128, 256, 512]
MIXED = {"10/90": [10, 90, 0, 0, 0], "30/70": [30, 70, 0, 0, 0], "50/50": [50, 50, 0, 0, 0], "70/30": [70, 30, 0, 0, 0],
         "90/10": [90, 10, 0, 0, 0], "OLTP": [24, 72, 0, 1, 3]}
RECORDS, OPERATIONS = 400_000, 100_000
MIXED_RECORDS, MIXED_OPERATIONS = 500_000, 1_000_000
# What each takes of 896 KiB, with the tables of where nodes are, what merging takes, and the room that splits leave among
# changes that wait: `memory_bytes` of a row is what was there.
MEMORY_LIMIT = 896 << 10
MEMORY = {
    "b-tree": {"cache": 79, "write-buffer": 32},
    "b-tree-batched": {"cache": 79, "write-buffer": 32, "batched": True},
    "as-b-tree": {"cache": 68, "write-buffer": 32},
    "bftl": {"cache": 60, "write-buffer": 1},
    "fd-tree": {"head": 95, "ratio": 128},
    "fd-tree-levels": {"head": 87, "ratio": 8},
    "la-tree": {"buffers": 33, "cache": 49, "write-buffer": 8, "buffer-most": 8},
    "la-tree-batched": {"buffers": 33, "cache": 49, "write-buffer": 8, "buffer-most": 8, "batched": True},
    "rolling": {"buffers": 40, "cache": 46, "write-buffer": 16},
    "gannet": {"buffers": 53, "cache": 32, "write-buffer": 8},
    "gannet-rolling": {"buffers": 53, "cache": 32, "write-buffer": 8},
}
# Figure 7 has ten subfiles of 64 MiB, numbers 25 to 34: so many insertions behind the records fill
# about so many. Records, keys a node and whether subfiles were cleaned are not in the text.
SUBFILES, SPREAD_OPERATIONS = 10, 280_000
SPREAD_FAN_OUTS = [64, 256]
# Nodes of a subfile where cleaning is looked at beside Gannet's tree: 8 MiB.
SMALL_SUBFILE = 1024
# Other stores: memory for all that a process holds and caches, and data of 16 bytes a record, ten times as many.
STORES = ["redb", "fjall", "lmdb"]
STORE_MEMORY = 24 * MIB
STORE_RECORDS = 10 * STORE_MEMORY // 16
STORE_OPERATIONS = 300_000
STORE_MIXES = {"50/50": [50, 50, 0, 0, 0], "10/90": [10, 90, 0, 0, 0], "90/10": [90, 10, 0, 0, 0]}
# Of it, what caches take: the rest is for programs, and for the page cache.
STORE_CACHE = {"redb": 12 * MIB, "fjall": 4 * MIB, "lmdb": 0}
STORE_GANNET = {"buffers": 600, "cache": 512, "write-buffer": 32}
SCANNED_RECORDS, SCANS, SCANNED_KEYS, CHURN = 200_000, 2_000, 1_000, 10
OPENED_RECORDS = [1_000_000, 10_000_000]
# What would take long to load gets more memory for it.
MANY_RECORDS, MANY = 1_000_000, ["--load-buffers", 8192]
TABLES = ["disk", "drive", "operations", "files", "caches", "spread", "cleaning", "mixed", "scans", "recovery", "stores"]


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
    parser.add_argument("--structures", nargs="+", choices=[*ALL, *APART], default=[*ALL, *APART])
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, but for stores; counts are the same, seconds nearly")
    parser.add_argument("--keep", action="store_true", help="use the runs that are there")
    parser.add_argument("--mixes", nargs="+", choices=list(MIXED), default=list(MIXED), help="of figure 15")
    parser.add_argument("--caches", type=int, nargs="+", default=CACHES, metavar="NODES", help="of figures 13 and 14")
    parser.add_argument("--mixed-operations", type=int, default=MIXED_OPERATIONS, help="operations of figure 15")
    parser.add_argument("--program", help="a `gannet-lab` that is there; counts and modelled seconds do not depend on how it was built")
    parser.add_argument("--scale", type=float, default=1, help="records and operations times this, for a look")
    parser.add_argument("--nodes", type=Path, help="folder for the nodes; on a file system in memory runs are short, and only modelled seconds count")
    parser.add_argument("--name", default="trees", help="name of the result's files in target/lab")
    results.add_option(parser)
    return parser.parse_args()


class Lab:
    """All runs, and what came of them."""

    def __init__(self, options):
        self.options, self.name = options, options.name
        self.program = options.program or gannet_lab()
        self.folder = (options.nodes or PLACE) / f"{options.name}-nodes"
        remove(self.folder)
        self.folder.mkdir(parents=True)
        self.rates, self.modelled, self.numbers, self.loading = None, None, itertools.count(), threading.Lock()
        self.result = results.Result(options.name, vars(options), options.out or PLACE / f"{options.name}.json")
        path = self.result.path
        self.rows = json.loads(path.read_text())["rows"] if options.keep and path.exists() else []

    def disk(self):
        """Table 1."""
        place = self.folder / "disk"
        self.rates = run([self.program, "disk", place]).json()
        remove(place)
        kinds = ["sequential_read", "sequential_write", "random_read", "random_write"]
        rows = {}
        for rate in self.rates["rates"]:
            rows[f"{rate['bytes'] >> 10} KiB"] = [*[rate[kind] for kind in kinds], *AS_B_TREE_RATES.get(rate["bytes"], [None] * 4)]
        heads = ["SR", "SW", "RR", "RW", "paper SR", "paper SW", "paper RR", "paper RW"]
        title = f"Table 1: MB/s of this disk, 32 at a time ({self.rates['backend']}, direct: {self.rates['is_direct']}), and of the paper's"
        return table(title, heads, rows)

    def drive(self):
        """Table 1 of the modelled drive, 32 at a time and one at a time."""
        self.modelled = run([self.program, "ssd", "rates", "--sizes", 1, 2, 4, 8]).json()
        kinds, rows = ["sequential_read", "sequential_write", "random_read", "random_write"], {}
        for row in self.modelled["rates"]:
            paper = AS_B_TREE_RATES[row["bytes"]] if row["depth"] == 32 else [None] * 4
            rows[f"{row['bytes'] >> 10} KiB, depth {row['depth']}"] = [*[row[kind]["rate"] for kind in kinds], *paper]
        heads = ["SR", "SW", "RR", "RW", "paper SR", "paper SW", "paper RR", "paper RW"]
        return table("Table 1, modelled: MB/s of the X25-E (random writes: of a full drive)", heads, rows)

    def operations(self):
        """Figures 9 to 12, table 2."""
        texts, heads = [], [f"F {fan_out} WB {buffer}" for fan_out, buffer in SHAPES]
        wanted = itertools.product(NUMBERS, SHAPES, self.structures(SINGLE))
        self.together(lambda of: self.single(of[2], of[0], *of[1]), wanted)
        for kind, number in NUMBERS.items():
            seconds, modelled = {}, {}
            for structure in self.structures(SINGLE):
                rows = [self.single(structure, kind, fan_out, buffer) for fan_out, buffer in SHAPES]
                seconds[LABELS[structure]] = [row and row["seconds"] for row in rows]
                modelled[LABELS[structure]] = [row and modelled_seconds(row) for row in rows]
            self.draw(f"figure-{number}", f"{kind} (figure {number})", heads, {"measured s": seconds, "modelled s": modelled})
            texts.append(table(f"Figure {number}: seconds of {self.count(OPERATIONS):,} operations: {kind}, measured", heads, seconds))
            texts.append(table("modelled for the X25-E", heads, modelled))
        return "\n".join([*texts, self.table_2()])

    def table_2(self):
        rows = {}
        for structure in self.structures(SINGLE):
            row = self.single(structure, "insert", *PLAIN)
            work = row["work"]
            rows[LABELS[structure]] = [row["seconds"], work["modelled_read_seconds"], work["modelled_write_seconds"], modelled_seconds(row),
                                       *AS_B_TREE_INSERTS.get(structure, [None] * 3), work["reads"], work["writes"], work["written_bytes"] / 1e6]
        heads = ["measured s", "modelled read", "write", "total", "paper read", "write", "total", "reads", "writes", "MB written"]
        return table("Table 2: insertions, 256 keys a node, 32 nodes in the write buffer", heads, rows)

    def files(self):
        """Table 3: files after the insertions, and before them. Without the manager subfiles are never cleaned."""
        names = self.structures([*PAPERS, *APART])
        wanted = [(name, kind, {}) for name in names for kind in ("insert", "search")]
        wanted += [(name, "insert", NEVER_CLEANED) for name in names if name == "as-b-tree"]
        made = self.together(lambda of: self.single(of[0], of[1], *PLAIN, **of[2]), wanted)
        rows = {}
        for (name, kind, more), row in zip(wanted, made):
            label = LABELS[name] + (", never cleaned" if more else "")
            rows.setdefault(label, [None, None, AS_B_TREE_FILES.get("as-b-tree-uncleaned" if more else name)])
            rows[label][kind == "search"] = row["file_bytes"] / 1e6
        return table("Table 3: MB of files after the insertions, before them, and in the paper", ["after", "before", "paper"], rows)

    def caches(self):
        """Figures 13 and 14."""
        options, texts, heads = self.options, [], [f"{cache} nodes" for cache in self.options.caches]
        names = self.structures([*PAPERS, *OURS])
        cached = lambda name, kind, cache: self.single(name, kind, *PLAIN, cache)
        # BFTL takes as long as all others.
        self.together(lambda of: cached(*of), sorted(itertools.product(names, ("insert", "search"), options.caches), key=lambda of: of[0] == "bftl"))
        for kind, number in [("insert", 13), ("search", 14)]:
            modelled, reads = {}, {}
            for name in names:
                rows = [cached(name, kind, cache) for cache in options.caches]
                modelled[LABELS[name]] = [modelled_seconds(row) for row in rows]
                reads[LABELS[name]] = [row["work"]["reads"] / row["operations"] for row in rows]
            self.draw(f"figure-{number}", f"{kind} by buffer cache (figure {number})", heads, {"modelled s": modelled, "reads": reads})
            title = f"Figure {number}: seconds of {self.count(OPERATIONS):,} operations by buffer cache, modelled for the X25-E: {kind}"
            texts += [table(title, heads, modelled), table("reads an operation", heads, reads)]
        return "\n".join(texts)

    def spread(self):
        """Figure 7: nodes that count in the newest subfiles, the oldest of these first."""
        texts, heads = [], [str(SUBFILES - at) for at in range(SUBFILES)]
        ways = list(itertools.product(("uniform", "skewed"), SPREAD_FAN_OUTS, (0, 5)))
        made = self.together(lambda of: self.run("as-b-tree", RECORDS, SPREAD_OPERATIONS, MIXES["insert"], {
            "fan-out": of[1], "write-buffer": PLAIN[1], "keys": of[0], "valid-percent": of[2]}), ways)
        for keys in ("uniform", "skewed"):
            rows = {f"F {way[1]}, cleaned below {way[2]} %": newest(row["subfiles"]) for way, row in zip(ways, made) if way[0] == keys}
            texts.append(table(f"Figure 7: nodes that count in the {SUBFILES} newest subfiles of 64 MiB by age, newest last; {keys} keys", heads, rows))
            self.draw(f"figure-7-{keys}", f"nodes that count in subfiles, {keys} keys (figure 7)", heads, {"nodes": rows}, scale="linear")
        return "\n".join(texts)

    def cleaning(self):
        """What cleaning moves, beside Gannet's tree, with caches and small subfiles."""
        texts, heads = [], ["moved nodes", "written nodes", "moved share", "file MB", "valid share"]
        for keys in ("uniform", "skewed"):
            rows = {}
            for structure in self.structures(["as-b-tree", *OURS]):
                row = self.run(structure, RECORDS, 5 * OPERATIONS, MIXES["insert"], {"keys": keys, "subfile": SMALL_SUBFILE} | MEMORY[structure])
                files, written = row["subfiles"], row["work"]["written_bytes"] / node_bytes(structure)
                valid, nodes = sum(file[2] for file in files), sum(file[1] for file in files)
                rows[LABELS[structure]] = [row["moved_nodes"], written, row["moved_nodes"] / written, row["file_bytes"] / 1e6, valid / nodes]
            texts.append(table(f"Cleaning, {keys} keys, {5 * self.count(OPERATIONS):,} insertions", heads, rows))
        return "\n".join(texts)

    def mixed(self):
        """Figure 15 and table 4."""
        what = {"measured s": lambda row: row["seconds"], "modelled s": modelled_seconds,
                "reads a search": lambda row: of_kind(row, "search", "reads"),
                "KB read a search": lambda row: of_kind(row, "search", "read_bytes") / 1e3,
                "KB written an insertion": lambda row: row["work"]["written_bytes"] / row["kinds"]["insert"]["count"] / 1e3,
                "KiB of memory at most": lambda row: row["memory_bytes"] / 1024,
                "changes that wait at most": lambda row: row["waiting"],
                "file MB": lambda row: row["file_bytes"] / 1e6}
        # Rivals run next to each other: the disk is not the same all the time. BFTL takes as long as all others.
        wanted = [(structure, name) for name in self.options.mixes for structure in self.structures(ALL) if structure != "bftl"]
        wanted += [(structure, name) for name in self.options.mixes for structure in self.structures(["bftl"])]
        rows = self.together(lambda of: self.run(of[0], MIXED_RECORDS, self.options.mixed_operations, MIXED[of[1]], MEMORY[of[0]]), wanted)
        made = dict(zip(wanted, rows))
        texts, panels = [], {}
        for title, figure in what.items():
            rows = {LABELS[structure]: [figure(made[structure, name]) for name in self.options.mixes] for structure in self.structures(ALL)}
            panels[title] = rows
            texts.append(table(f"{title}, insertions/searches", self.options.mixes, rows))
        texts.append(table("the paper's seconds (table 4)", list(MIXED)[:5], {LABELS[name]: row for name, row in AS_B_TREE_MIXED.items()}))
        self.draw("figure-15", "mixed workloads (figure 15)", self.options.mixes, {name: panels[name] for name in ("measured s", "modelled s")})
        heading = (f"Figure 15 and table 4: {self.count(self.options.mixed_operations):,} operations on {self.count(MIXED_RECORDS):,} records with 896 KB "
                   "(OLTP: 72 % searches, 24 % insertions, 3 % ranges of 100 keys, 1 % deletions)\n")
        return "\n".join([heading, *texts])

    def scans(self):
        """Ranges of 1,000 keys, in a tree as it was loaded and after ten times as many insertions and deletions as it has records."""
        rows, records = {}, self.count(SCANNED_RECORDS)
        for structure in self.structures(OURS):
            for churn in (0, CHURN * records):
                settings = {"range": SCANNED_KEYS, "churn": churn} | MEMORY[structure]
                row = self.run(structure, SCANNED_RECORDS, SCANS, [0, 0, 0, 0, 100], settings)
                work, nodes = row["work"], sum(file[2] for file in row["subfiles"])
                rows[f"{structure}, changed" if churn else structure] = [
                    work["reads"] / row["operations"], work["read_bytes"] / node_bytes(structure) / row["operations"],
                    1e6 * row["seconds"] / row["operations"], nodes, row["churned"]["written_bytes"] / node_bytes(structure) / nodes,
                    row["moved_nodes"] / nodes]
        heads = ["reads", "nodes read", "us a scan", "live nodes", "written/live", "moved/live"]
        return table(f"Scans of {SCANNED_KEYS:,} keys before and after {CHURN} times as many insertions and deletions as records", heads, rows)

    def recovery(self):
        """Opening."""
        rows = {}
        for records in OPENED_RECORDS:
            row = self.run("gannet", records, 1_000, [0, 100, 0, 0, 0], {"buffers": 56, "cache": 512})
            rows[f"{self.count(records):,} keys"] = [1000 * row["open_seconds"], row["file_bytes"] / 1e6]
        return table("Opening Gannet's tree after its process has ended", ["ms", "file MB"], rows)

    def stores(self):
        """Gannet's tree and other stores, each in a memory group of the same limit with its page cache."""
        target = TARGET / "engines"
        build(["cargo", "build", "--release", "--locked", "--target-dir", str(target)], ROOT / "research/peers/stores")
        peer, texts = target / "release" / "stores-peer", []
        records, operations = self.count(STORE_RECORDS), self.count(STORE_OPERATIONS)
        for name, mix in STORE_MIXES.items():
            rows = {}
            for store in ["gannet", *STORES]:
                row = self.store(peer, store, records, operations, mix)
                if row is None:
                    continue
                rows[store] = [row["seconds"], operations / row["seconds"], row["cpu_seconds"], row["read_bytes"] / operations / 1e3,
                               row["written_bytes"] / operations / 1e3, row["file_bytes"] / 1e6, row["group"]["most_used_bytes"] / MIB]
            heads = ["measured s", "operations/s", "CPU s", "KB read", "KB written", "file MB", "MiB used"]
            texts.append(table(f"Stores: {operations:,} insertions/searches {name} on {records:,} records, {STORE_MEMORY / MIB:.0f} MiB of memory each; "
                               "KB an operation that the kernel read for the process and that it wrote or made dirty", heads, rows))
        return "\n".join(texts)

    def store(self, peer, store, records, operations, mix):
        """One run of a store in its memory group, on a copy of what was loaded outside of it."""
        loaded, place = self.folder / f"{store}-{records}", self.folder / "store"
        wanted = ["--records", records, "--operations", operations, "--mix", *mix]
        if store == "gannet":
            more = [word for name, value in STORE_GANNET.items() for word in (f"--{name}", value)]
            load = [self.program, "trees", loaded, "--structure", store, "--records", records, *MANY, "--load-only"]
            ask = [self.program, "trees", place, "--structure", store, "--loaded", *wanted, *more]
        else:
            cache = ["--cache-bytes", STORE_CACHE[store]] if STORE_CACHE[store] else []
            load = [peer, "load", store, loaded, "--records", records, *cache]
            ask = [peer, "run", store, place, *cache, *wanted]
        if not loaded.exists():
            note(f"loading {loaded.name}")
            run(load).json()
        cleared(place)
        copied(loaded, place)
        limits.forget(place)
        with MemoryGroup(STORE_MEMORY) as group:
            done = run(ask, group=group)
            if group.figures()["kills"]:
                note(f"{store} {mix}: killed, for it needs more memory")
                return None
            row = done.json() | {"store": store, "group": group.figures(), "cpu_seconds": done.cpu_seconds,
                                 "read_bytes": done.device_bytes_read, "written_bytes": done.device_bytes_written}
        note(f"{store} {mix}: {row['seconds']:.1f} s")
        self.rows.append(row | {"structure": None})
        cleared(place)
        return row

    def structures(self, some):
        return [name for name in some if name in self.options.structures]

    def count(self, number):
        return round(number * self.options.scale)

    def together(self, make, wanted):
        """Some runs, as many at a time as was asked for."""
        with ThreadPoolExecutor(self.options.jobs) as pool:
            return list(pool.map(make, wanted))

    def save(self):
        self.result.rows = self.rows
        self.result.more = {"rates": self.rates, "modelled": self.modelled, "misses": self.misses()}
        self.result.write()

    def misses(self):
        """Runs that took more memory than their share of the paper's."""
        rows = (row for row in self.rows if row.get("variant") and row["mix"] in MIXED.values() and not row["churn"])
        return [f"{row['variant']} {row['mix']}: {row['memory_bytes']:,} bytes of memory, {MEMORY_LIMIT:,} at most"
                for row in rows if row["memory_bytes"] > MEMORY_LIMIT]

    def single(self, structure, kind, fan_out, buffer, cache=0, **more):
        """100,000 operations of one kind. Ours and the LA-tree have three quarters of the write buffer for what waits, and the rest
        to write nodes; it is the head of the FD-tree.
        """
        settings = {"fan-out": fan_out, "write-buffer": buffer, "cache": cache} | SETTINGS.get(structure, {}) | more
        if structure in OURS:
            streams = 1 if structure == "rolling" else 2
            settings["write-buffer"] = max(1, buffer // 4 // streams)
            settings["buffers"] = max(1, buffer - streams * settings["write-buffer"])
        if structure == "fd-tree":
            settings = {"fan-out": fan_out, "cache": cache, "head": buffer, "ratio": MEMORY[structure]["ratio"]}
        if structure.startswith("la-tree"):
            settings |= {"write-buffer": max(1, buffer // 4), "buffers": max(1, buffer - buffer // 4), "buffer-most": MEMORY[structure]["buffer-most"]}
        return self.run(structure, RECORDS, OPERATIONS, MIXES[kind], settings, f"F {fan_out} WB {buffer}")

    def run(self, structure, records, operations, mix, settings, shape=None):
        """One run on a copy of the loaded index."""
        variant, structure = structure, VARIANTS.get(structure, structure)
        wanted = {"structure": structure, "variant": variant, "records": self.count(records), "operations": self.count(operations), "mix": mix, "shape": shape}
        asked = wanted | {name.replace("-", "_"): value for name, value in settings.items()}
        known = [row for row in self.rows if all(row.get(name) == value for name, value in asked.items())]
        if known:
            return known[0]
        fan_out, subfile = settings.get("fan-out", 256), settings.get("subfile")
        form = ["--structure", structure, "--records", self.count(records), "--fan-out", fan_out]
        form += ["--subfile", subfile] if subfile else []
        form += ["--apart"] if "apart" in settings else []
        form += MANY if records >= MANY_RECORDS else []
        loaded = self.folder / f"{variant if 'apart' in settings else structure}-{records}-{fan_out}-{subfile}"
        with self.loading:
            if not loaded.exists():
                note(f"loading {loaded.name}")
                run([self.program, "trees", loaded, *form, "--load-only"]).json()
        place = self.folder / f"run-{next(self.numbers)}"
        copied(loaded, place)
        shown = {name: value for name, value in settings.items() if name not in ("fan-out", "subfile", "apart")}
        more = [word for name, value in shown.items() for word in ([f"--{name}"] if value is True else [f"--{name}", value])]
        done = run([self.program, "trees", place, *form, "--loaded", "--operations", self.count(operations), "--mix", *mix, *more])
        row = done.json() | {"variant": variant, "shape": shape, "cpu_seconds": done.cpu_seconds, "peak_resident_bytes": done.peak_resident_bytes}
        note(f"{variant} {mix} {settings}: {row['seconds']:.1f} s, modelled {modelled_seconds(row):.1f}")
        with self.loading:
            self.rows.append(row)
            self.save()
        cleared(place)
        return row

    def draw(self, name, title, heads, panels, scale="log"):
        """A picture with a panel for each title, a line for each structure."""
        pyplot = plots.matplotlib()
        figure, places = pyplot.subplots(1, len(panels), figsize=(6 * len(panels), 4.5), squeeze=False, layout="constrained")
        figure.suptitle(title)
        colours = {LABELS[structure]: colour for structure, colour in COLOURS.items()}
        for place, (panel, rows) in zip(places[0], panels.items()):
            for label, values in rows.items():
                place.plot(heads, [value or float("nan") for value in values], marker="o", label=label, color=colours.get(label))
            place.set_title(panel)
            place.set_yscale(scale)
            place.grid(alpha=0.3)
        places[0][0].legend(fontsize="small")
        for ending in ("png", "svg"):
            figure.savefig(PLACE / f"{self.name}-{name}.{ending}", dpi=120)
        pyplot.close(figure)


def copied(loaded, place):
    """A copy of an index. Gannet's keeps its root beside its folder."""
    shutil.copytree(loaded, place)
    if root_of(loaded).exists():
        shutil.copy(root_of(loaded), root_of(place))


def cleared(place):
    remove(place)
    root_of(place).unlink(missing_ok=True)


def root_of(place):
    return place.with_suffix(".root")


def modelled_seconds(row):
    return row["work"]["modelled_read_seconds"] + row["work"]["modelled_write_seconds"]


def of_kind(row, kind, what):
    """A figure of one kind of operations, for each of them."""
    return row["kinds"][kind]["work"][what] / row["kinds"][kind]["count"]


def node_bytes(structure):
    """The engine's nodes are pages."""
    return 4096 if structure.startswith("gannet") else 8192


def newest(subfiles):
    """Nodes that count in each of the newest subfiles, the oldest of these first; none where there are fewer."""
    valid = [file[2] for file in subfiles[-SUBFILES:]]
    return [None] * (SUBFILES - len(valid)) + valid


main()
