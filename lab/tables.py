"""The tables of README and docs: for each its lines, its columns and how a figure is rounded.
`scripts/tables` writes them.

A table is made from one result file. A line stands for some of the file's rows, and a column makes
one figure of these: the median where runs were repeated. Settings in a marker choose among the
rows, such as `threads=8`.
"""
import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from published import AS_B_TREE_INSERTS, AS_B_TREE_MIXED, AS_B_TREE_RATES, HYBRID_CACHE

MIB = 1 << 20
ENGINES = {"gannet": "Gannet", "tantivy": "Tantivy", "lucene": "Lucene"}


def significant(value):
    """Three digits, thousands parted by commas."""
    if isinstance(value, int) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def tenths(value):
    return f"{value:,.1f}"


def hundredths(value):
    return f"{value:,.2f}"


def percent(value):
    return f"{value:+.2f}"


def signed(value):
    return f"{value:+.1f}"


def whole(value):
    return f"{value:,.0f}"


@dataclass(frozen=True)
class Column:
    """A figure of the rows that a line stands for; `of` gives None where there is none."""
    head: str
    of: Callable
    rounded: Callable = significant


@dataclass(frozen=True)
class Table:
    """`lines` gives {name: rows} of a result; `columns` is a list, or gives one for a result."""
    first: str
    lines: Callable
    columns: list | Callable


def cells(table, result, choice):
    """The head of a table and its lines, as text."""
    columns = table.columns(result) if callable(table.columns) else table.columns
    lines = table.lines(dict(result, rows=[row for row in result["rows"] if chosen(row, choice)]))
    if not lines:
        raise LookupError(f"no row of the result fits {choice or 'the table'}")
    body = [[name, *(text(column, rows) for column in columns)] for name, rows in lines.items()]
    return [[table.first, *(column.head for column in columns)], *body]


def chosen(row, choice):
    return all(str(row.get(name)) == value for name, value in choice.items())


def text(column, rows):
    value = column.of(rows)
    return "-" if value is None else value if isinstance(value, str) else column.rounded(value)


def by(name):
    """Lines that stand for the rows with the same value of a field, in the order of the file."""
    def lines(result):
        found = {}
        for row in result["rows"]:
            if (value := at(row, name)) is not None:
                found.setdefault(str(value), []).append(row)
        return found
    return lines


def at(row, path):
    """The value at a path of names parted by slashes, or None where the row has no such place."""
    for name in path.split("/"):
        row = row.get(name) if isinstance(row, dict) else None
    return row


def median(path, scale=1, **only):
    """The median of a field over the rows that have `only` these values."""
    def of(rows):
        values = [at(row, path) for row in rows if all(row.get(name) == value for name, value in only.items())]
        values = [value for value in values if value is not None]
        return statistics.median(values) * scale if values else None
    return of


def largest(path, scale=1, **only):
    def of(rows):
        values = [at(row, path) for row in rows if all(at(row, name) == value for name, value in only.items())]
        values = [value for value in values if value is not None]
        return max(values) * scale if values else None
    return of


# Memory


def memory_columns(result):
    """The largest excess for each budget, then what was killed and rejected."""
    budgets = sorted({row["case"]["memory_mib"] for row in result["rows"]})
    above = [Column(f"{budget} MiB", largest_excess(budget), signed) for budget in budgets]
    return above + [
        Column("commands", len, whole),
        Column("killed", lambda rows: sum(row["killed"] for row in rows), whole),
        Column("documents rejected, at most", largest("rejected"), whole),
    ]


def largest_excess(budget):
    def of(rows):
        values = [row.get("excess_bytes") for row in rows if row["case"]["memory_mib"] == budget]
        return max((value for value in values if value is not None), default=None) if values else None
    return lambda rows: None if (most := of(rows)) is None else most / MIB


FRONT_MEMORY = {"index": "indexing", "search fuzzy": "a fuzzy query", "search phrase-16": "a phrase of 16 words",
                "search top": "the best 10,000 documents", "bench --fetch": "many queries with documents and snippets"}


def front_memory_lines(result):
    """A few commands of `memory-operations`, in words."""
    lines = by("operation")(result)
    return {words: lines[operation] for operation, words in FRONT_MEMORY.items() if operation in lines}


# Queries


def query_columns(result):
    """Each figure of all engines that were asked, and the ratio of Gannet's rate to the faster
    peer's.
    """
    engines = [name for name in ENGINES if any(row["engine"] == name for row in result["rows"])]
    figures = [("queries/s", "qps", 1), ("KB a query", "bytes_read_per_query/os", 1e-3),
               ("CPU us a query", "cpu_us_per_query", 1), ("p99 us", "latency_us_p99", 1)]
    columns = [Column(f"{head}: {ENGINES[name]}", median(path, scale, engine=name)) for head, path, scale in figures for name in engines]
    return columns + [Column("ratio", rate_ratio, hundredths)]


def rate_ratio(rows):
    rates = {name: median("qps", engine=name)(rows) for name in ENGINES}
    peers = [rate for name, rate in rates.items() if name != "gannet" and rate]
    return rates["gannet"] / max(peers) if rates["gannet"] and peers else None


FRONT_QUERIES = {
    "mix": "a mix of all kinds", "web-all": "a log of web queries", "phrase-1000": "phrases",
    "and-1000": "both of two words", "and-100000": "both of two very frequent words", "or-1000": "either of two words",
    "or-1000+documents": "the same, with documents and snippets",
}


def front_query_lines(result):
    """Queries a second of some sets, in words, and documents a second of indexing."""
    lines = by("set")(result)
    front = {f"queries/s: {words}": lines[name] for name, words in FRONT_QUERIES.items() if name in lines}
    indexes = result["settings"]["indexes"].items()
    indexed = [{"engine": name, "qps": figures["documents"] / figures["seconds"]} for name, figures in indexes]
    return front | {f"documents/s indexed, {result['settings']['flushes']} commits": indexed}


FRONT_RATES = [Column(head, median("qps", engine=name), whole) for name, head in ENGINES.items()]


# Phrase filters


def filter_lines(result):
    """The rows of a corpus and set."""
    return by("name")({"rows": [row | {"name": f"{row['corpus']}, `{row['set']}`"} for row in result["rows"]]})


def space_lines(result):
    return by("corpus")(result)


def to_text(kind):
    """The index with these filters, as a share of the JSON lines."""
    def of(rows):
        shares = [row["index_bytes"] / row["source_bytes"] for row in rows if row["filters"] == kind]
        return shares[0] if shares else None
    return of


def filter_gain(rows):
    with_filters, without = (median("qps", filters=kind)(rows) for kind in ("common", "none"))
    return with_filters / without if with_filters and without else None


def phrase_lines(result):
    """The sets that `lab/paper.py` asked with each kind of filters: a row for each kind, and for a
    kind that was not asked.
    """
    found = {}
    for key, figures in result["results"]["bench"].items():
        name, _, kind = key.partition(", filters ")
        name, _, without = name.partition(" without ")
        row = figures | {"filters": kind or "common", "asked": not without, "positive": result["results"]["positive"].get(name)}
        found.setdefault(f"`{name}`", []).append(row)
    return found


def phrase_columns():
    def figure(head, path, scale, kinds):
        return [Column(f"{head}: {kind}" + ("" if asked else ", not asked"), median(path, scale, filters=kind, asked=asked)) for kind, asked in kinds]
    asked = [("none", True), ("common", True), ("bloom", True)]
    return [
        *figure("KB", "bytes_read_per_query/engine", 1e-3, [*asked, ("common", False)]), *figure("reads", "reads_per_query", 1, asked),
        *figure("CPU us", "cpu_us_per_query", 1, asked), Column("positive, %", positive_share, whole),
    ]


def positive_share(rows):
    """Of the documents with all words of a phrase, how many have the phrase."""
    of = rows[0]["positive"]
    return 100 * of["phrase"] / of["all_words"] if of and of["all_words"] else None


def filter_rates(result):
    return [Column(f"queries/s: {kind}", median("qps", filters=kind)) for kind in result["settings"]["kinds"]]


FILTERS = [
    *(Column(f"queries/s: {kind}", median("qps", filters=kind)) for kind in ("none", "common")),
    Column("ratio", filter_gain, hundredths),
    *(Column(f"KB a query: {kind}", median("bytes_read_per_query/os", 1e-3, filters=kind)) for kind in ("none", "common")),
]
FILTER_SPACE = [
    Column("JSON lines, MB", median("source_bytes", 1e-6)),
    *(Column(f"index to them: {kind}", to_text(kind), hundredths) for kind in ("none", "common")),
]


# Indexing


def peer(rows, tokenizer):
    """The rows of the peer's variant with the shortest time among those with a tokenizer; of
    all, where none is given.
    """
    by_variant = {}
    for row in rows:
        if row["engine"] == "tantivy" and row["variant"].endswith(tokenizer):
            by_variant.setdefault(row["variant"], []).append(row)
    return min(by_variant.values(), key=median("seconds"), default=[])


def rate_columns():
    """Seconds, CPU and memory of Gannet, of Tantivy with the same words, and of its fastest
    variant; then the ratios of rates.
    """
    who = [("Gannet", lambda rows: [row for row in rows if row["engine"] == "gannet"]),
           ("Tantivy, same words", lambda rows: peer(rows, "unicode")), ("fastest", lambda rows: peer(rows, ""))]
    what = [("s", median("seconds"), significant), ("CPU s", median("cpu_seconds"), significant),
            ("held MiB", largest("held_bytes", 1 / MIB), whole)]
    columns = [Column(f"{name}: {head}", lambda rows, of=of, some=some: of(some(rows)), rounded) for name, some in who for head, of, rounded in what]
    for name, some in who[1:]:
        columns += [Column(f"rate to {name}", times(some, "seconds"), hundredths), Column("by CPU", times(some, "cpu_seconds"), hundredths)]
    return columns


def times(some, path):
    """How many times as fast Gannet is as the peer: the peer's time divided by Gannet's."""
    def of(rows):
        ours, theirs = median(path, engine="gannet")(rows), median(path)(some(rows))
        return theirs / ours if ours and theirs else None
    return of


def engine_lines(result):
    """The rows of `ingest`, by engine and kind of commit."""
    rows = [row | {"name": f"{ENGINES[row['engine']]} {row['kind']}".strip()} for row in result["rows"] if "commits" in row or "index_bytes" in row]
    return by("name")({"rows": rows})


INGEST = [
    Column("MB written", median("bytes_written", 1e-6)),
    Column("index, MB", median("index_bytes", 1e-6)),
    Column("documents/s", lambda rows: statistics.median(row.get("documents", row.get("docs")) / row["seconds"] for row in rows), whole),
    Column("CPU s", median("cpu_seconds")),
    Column("longest write, ms", median("longest_write_seconds", 1e3)),
    Column("longest commit, ms", median("longest_commit_seconds", 1e3)),
    Column("peak MiB", median("peak_resident_bytes", 1 / MIB), whole),
]


def phase_lines(result):
    """The phases of `churn`."""
    found = [phase for row in result["rows"] if "churn" in row for phase in row["churn"]["phases"]]
    return by("phase")({"rows": found})


CHURN = [
    Column("seconds", median("seconds")),
    Column("MB written", median("bytes_written", 1e-6)),
    Column("MB read", median("bytes_read", 1e-6)),
    Column("largest, MB", median("largest_bytes", 1e-6)),
    Column("MB after", median("bytes", 1e-6)),
    Column("dead documents", median("dead_documents"), whole),
]


def during_lines(result):
    """Only writing, only asking, and both, by the number of threads that ask."""
    found = {}
    for row in result["rows"]:
        asked = row.get("during", {"phases": []})
        for phase in asked["phases"]:
            readers = asked["settings"]["readers"]
            name = {"write": "only writing", "ask": f"{readers} that ask, alone",
                    "both": f"{readers} that ask, beside writing"}[phase["phase"]]
            found.setdefault(name, []).append(phase)
    return found


DURING = [
    *(Column(f"{share} us", median(f"queries/all/latency_us/{share}"), whole) for share in ("p50", "p95", "p99", "max")),
    Column("queries/s", median("queries_per_second"), whole),
    Column("documents/s", median("documents_per_second"), whole),
]


def check_lines(result):
    return {check["name"]: [check] for check in result["checks"]}


CHECKS = [
    Column("figure", lambda rows: rows[0]["figure"] if not isinstance(rows[0]["figure"], list) else str(rows[0]["figure"])),
    Column("target", lambda rows: str(rows[0]["target"])),
    Column("holds", lambda rows: "yes" if rows[0]["holds"] else "no"),
]


# Ordered indexes on a modelled drive


RATES = ["sequential_read", "sequential_write", "random_read", "random_write"]
PLAIN = {"fan_out": 256, "write_buffer": 32, "cache": 0}
KINDS = {"insert": [100, 0, 0, 0, 0], "search": [0, 100, 0, 0, 0], "update": [0, 0, 100, 0, 0], "delete": [0, 0, 0, 100, 0]}
MIXED = {"10/90": [10, 90, 0, 0, 0], "30/70": [30, 70, 0, 0, 0], "50/50": [50, 50, 0, 0, 0], "70/30": [70, 30, 0, 0, 0],
         "90/10": [90, 10, 0, 0, 0], "OLTP": [24, 72, 0, 1, 3]}


def drive_lines(result):
    """The rates of the modelled drive, by size and requests under way."""
    rates = (result["modelled"] or {"rates": []})["rates"]
    return {f"{row['bytes'] >> 10} KiB, {row['depth']} at a time": [row] for row in rates}


def published_rate(kind):
    def of(rows):
        rates = AS_B_TREE_RATES.get(rows[0]["bytes"]) if rows[0]["depth"] == 32 else None
        return rates and rates[kind]
    return of


def single_lines(result):
    """Runs of one kind of operations, by structure; the paper's structures and Gannet's."""
    return tree_lines(row for row in result["rows"] if row["mix"] in KINDS.values())


def mixed_lines(result):
    return tree_lines(row for row in result["rows"] if row["mix"] in MIXED.values())


def tree_lines(rows):
    return by("name")({"rows": [row | {"name": f"`{row['structure']}`"} for row in rows if row.get("structure")]})


def inserts(path, scale=1):
    return median(path, scale, mix=KINDS["insert"], **PLAIN)


def modelled_seconds(**only):
    def of(rows):
        parts = [median(f"work/modelled_{what}_seconds", **only)(rows) for what in ("read", "write")]
        return None if None in parts else sum(parts)
    return of


def published_insert(part):
    return lambda rows: AS_B_TREE_INSERTS.get(rows[0]["structure"], [None] * 3)[part]


def published_mixed(part):
    return lambda rows: AS_B_TREE_MIXED.get(rows[0]["structure"], [None] * 6)[part]


def shaped(fan_out, write_buffer):
    return PLAIN | {"fan_out": fan_out, "write_buffer": write_buffer}


DRIVE_RATES = [
    *(Column(kind.replace("_", " "), median(f"{kind}/rate"), whole) for kind in RATES),
    *(Column(f"the paper's {kind.replace('_', ' ')}", published_rate(at), whole) for at, kind in enumerate(RATES)),
]
INSERTS = [
    Column("reads", inserts("work/reads"), whole), Column("writes", inserts("work/writes"), whole),
    Column("MB written", inserts("work/written_bytes", 1e-6), whole),
    Column("modelled reads, s", inserts("work/modelled_read_seconds"), tenths),
    Column("writes, s", inserts("work/modelled_write_seconds"), tenths),
    Column("both, s", modelled_seconds(mix=KINDS["insert"], **PLAIN), tenths),
    *(Column(f"the paper's {what}", published_insert(part), whole) for part, what in enumerate(["reads", "writes", "both"])),
]
SINGLE = [
    *(Column(f"insert, F {fan_out} WB {buffer}", modelled_seconds(mix=KINDS["insert"], **shaped(fan_out, buffer)), tenths)
      for fan_out, buffer in [(64, 32), (256, 1), (256, 32)]),
    *(Column(kind, modelled_seconds(mix=KINDS[kind], **PLAIN), tenths) for kind in ("search", "update", "delete")),
]
MIXED_SECONDS = [
    *(Column(name, modelled_seconds(mix=mix), tenths) for name, mix in MIXED.items()),
    *(Column(f"the paper's {name}", published_mixed(at), whole) for at, name in enumerate(list(MIXED)[:5])),
]

AMPLIFICATION = [
    Column("FIFO", median("fifo"), hundredths), Column("closed form", median("fifo_closed_form"), hundredths),
    Column("greedy", median("greedy"), hundredths), Column("mean field", median("greedy_closed_form"), hundredths),
]


# Caches in tiers


def experiment(name):
    """The rows of one experiment of `lab/tiers.py`."""
    return lambda result: [row for row in result["rows"] if row["experiment"] == name]


def tier_lines(name, title):
    """Lines of an experiment; `title` makes the name of a row's line."""
    return lambda result: by("name")({"rows": [row | {"name": title(row)} for row in experiment(name)(result)]})


def against(baseline):
    """The rows of each other policy, each with the row of the baseline at its log and capacity."""
    def lines(result):
        rows = experiment("policies")(result)
        base = {(row["log"], row["capacity_mb"]): row for row in rows if row["policy"] == baseline}
        others = [row | {"base": base[row["log"], row["capacity_mb"]]} for row in rows if row["policy"] != baseline]
        return by("policy")({"rows": others})
    return lines


def change(path):
    """The change of the mean over all capacities to the baseline's, in per cent."""
    def of(rows):
        pairs = [(at(row, path), at(row["base"], path)) for row in rows]
        pairs = [(value, base) for value, base in pairs if value is not None and base is not None]
        base = sum(base for _, base in pairs)
        return 100 * (sum(value for value, _ in pairs) / base - 1) if base else None
    return of


def mean_points(path):
    """The mean over capacities of the difference to the baseline, in points of per cent."""
    return lambda rows: statistics.mean(100 * (at(row, path) - at(row["base"], path)) for row in rows)


def published_change(place):
    return lambda rows: HYBRID_CACHE.get(rows[0]["policy"], [None] * 5)[place]


def peer_lines(result):
    """Gannet with and without an admission, and the best of foyer's settings."""
    own = [row | {"name": row["policy"]} for row in experiment("policies")(result) if row["policy"].startswith("gannet")]
    best = [row | {"name": f"foyer, {row['order']}"} for row in experiment("foyer")(result) if row["is_best"]]
    rows = sorted(own + best, key=lambda row: row["capacity_mb"])
    return by("name")({"rows": [row | {"name": f"{row['capacity_mb']} MB, {row['name']}"} for row in rows]})


def situation_lines(result):
    """The nine situations, with the policies' probabilities and times."""
    found = {}
    for row in experiment("policies")(result):
        for situation in row["situations"]:
            found.setdefault(SITUATIONS[situation["situation"] - 1], []).append(situation | {"policy": row["policy"]})
    return found


def point_lines(result):
    """What the drive had done after each tenth of the log."""
    found = {}
    for row in experiment("policies")(result):
        for point in row["points"]:
            found.setdefault(f"{point['queries']:,}", []).append(point | {"policy": row["policy"]})
    return found


def dollars(when):
    """What memory and flash of a row cost by the prices of lab/prices.json."""
    prices = json.loads((Path(__file__).parent / "prices.json").read_text())[when]
    memory, flash = prices["memory_dollars_per_gb"], prices["flash_dollars_per_gb"]
    return lambda rows: (memory * rows[0]["capacity_mb"] * 1e6 + flash * rows[0]["flash_bytes"]) / 1e9


def setting_lines(result):
    """The rows of every policy and of all of foyer's settings at a log and capacity."""
    rows = experiment("policies")(result) + experiment("foyer")(result)
    return by("name")({"rows": [row | {"name": f"{row['log']}, {row['capacity_mb']} MB"} for row in rows]})


def own(rows, policy="gannet"):
    return next(row for row in rows if row["policy"] == policy)


def best_of(path, scale, better, chosen):
    """The best figure of the chosen rows, with the name of its policy."""
    def of(rows):
        row = better((row for row in rows if chosen(row["policy"])), key=lambda row: at(row, path), default=None)
        if row is None:
            return None
        name = row["order"] if row["policy"] == "foyer" else row["policy"]
        return f"{tenths(at(row, path) * scale)} {name}"
    return of


def is_best(path, better):
    """Whether Gannet's figure is that of the best of all rows."""
    return lambda rows: "holds" if at(own(rows), path) == better(at(row, path) for row in rows) else "does not hold"


def is_half(rows):
    written = [own(rows, policy)["flash"]["written_bytes"] for policy in ("gannet", "gannet-all")]
    return "holds" if 2 * written[0] <= written[1] else "does not hold"


def bound(result):
    """The hit ratio by bytes that no cache surpasses that reads what queries use and no more."""
    name = "bytes_needed_before_in_second_half"
    return lambda rows: 100 * result["workloads"][rows[0]["log"]][name]


def holds_columns(result):
    others = lambda policy: policy not in ("gannet", "foyer")
    columns = []
    for head, path, scale, better in [("bytes, %", "hit_ratio/bytes", 100, max), ("response, ms", "modelled_response_us", 1e-3, min)]:
        columns += [
            Column(f"{head}: gannet", median(path, scale, policy="gannet"), tenths),
            Column("best other", best_of(path, scale, better, others)),
            Column("foyer's best", best_of(path, scale, better, lambda policy: policy == "foyer")),
            *([Column("bound", bound(result), tenths)] if better is max else []),
            Column("at least as good", is_best(path, better)),
        ]
    return columns + [
        Column("MB written: gannet", median("flash/written_bytes", 1e-6, policy="gannet"), whole),
        Column("admitting all", median("flash/written_bytes", 1e-6, policy="gannet-all"), whole), Column("at most half", is_half),
    ]


PATTERN = {
    "requests": ("requests", whole, 1), "reads among them, %": ("reads", tenths, 100),
    "pages that were read before, %": ("pages_read_before", tenths, 100), "begin elsewhere than the last one ended, %": ("random", tenths, 100),
    "leave a part of their list, %": ("leave_a_part", tenths, 100), "pages of asked lists that are passed over, %": ("pages_skipped", tenths, 100),
}


def pattern_lines(result):
    """What queries ask of the slow store without a cache, from the file's `workloads`."""
    workloads = result["workloads"]
    lines = {name: [{"log": log, "text": rounded(scale * about["pattern"][key])} for log, about in workloads.items()]
             for name, (key, rounded, scale) in PATTERN.items()}
    for place, (share, _) in enumerate(workloads["web"]["pattern"]["reads_of_hottest"]):
        lines[f"reads that go to the hottest {100 * share:.0f} % of pages, %"] = [
            {"log": log, "text": tenths(100 * about["pattern"]["reads_of_hottest"][place][1])} for log, about in workloads.items()]
    return lines


CURVES = [("used share of the longest lists, %", "utilization_of_longest", 100), ("accesses", "accesses_by_rank", 1), ("EV", "efficiency_by_rank", 1)]


def curve_lines(result):
    """Terms by rank: the mean over ranks from each power of two to the next."""
    found = {}
    for log, about in result["workloads"].items():
        for _, curve, scale in CURVES:
            for rank, value in about["curves"][curve]:
                found.setdefault(f"{rank:,} to {2 * rank - 1:,}", []).append({"log": log, "curve": curve, "value": value * scale})
    return found


POLICIES = ("lru", "lru-partial", "lru-grows", "cblru", "cbslru", "gannet")
SITUATIONS = ["S1 result: memory", "S2 lists: memory", "S3 result: flash", "S4 lists: memory, flash", "S5 lists: flash",
              "S6 lists: memory, flash, disk", "S7 lists: memory, disk", "S8 lists: flash, disk", "S9 lists: disk"]
WITHOUT_STORE = "hit_ratio/queries_without_slow_store"
TIER_HITS = [
    Column("results, %", median("hit_ratio/results", 100), tenths), Column("lists, %", median("hit_ratio/lists", 100), tenths),
    Column("bytes, %", median("hit_ratio/bytes", 100), tenths),
    Column("queries without the disk, %", median(WITHOUT_STORE, 100), tenths),
    Column("modelled response, ms", median("modelled_response_us", 1e-3), tenths),
]
TIER_PEERS = [*TIER_HITS, Column("MB written", median("flash/written_bytes", 1e-6), whole)]
TIER_POLICIES = [
    *TIER_HITS,
    Column("writes in it, ms", median("modelled_flash_write_us", 1e-3), tenths),
    Column("measured CPU of caches, us", median("measured_cache_cpu_us"), tenths),
    Column("of search, us", median("measured_search_cpu_us"), whole),
    Column("queries/s", median("modelled_and_measured_queries_per_second"), tenths),
    Column("modelled erases", median("flash/modelled_erased_blocks"), whole), Column("MB written", median("flash/written_bytes", 1e-6), whole),
    Column("write amplification", median("flash/modelled_device_write_amplification"), hundredths),
    Column("modelled us a page", median("flash/modelled_access_us_per_page"), whole),
]
CHANGES = [("hit ratio, points", mean_points(WITHOUT_STORE)), ("response, %", change("modelled_and_measured_us")),
           ("throughput, %", change("modelled_and_measured_queries_per_second")), ("erases, %", change("flash/modelled_erased_blocks")),
           ("access time, %", change("flash/modelled_access_us")), ("of a page, %", change("flash/modelled_access_us_per_page"))]
# The paper has one access time: that of a request.
TIER_CHANGES = [column for place, (head, of) in enumerate(CHANGES)
                for column in (Column(head, of, signed), Column("the paper's", published_change(place), signed))[:2 if place < 5 else 1]]
TIER_GAINS = [Column(head, of, signed) for head, of in CHANGES]
TIER_SITUATIONS = [column for name in POLICIES for column in (
    Column(f"{name}, %", median("probability", 100, policy=name), tenths), Column("ms", median("modelled_us", 1e-3, policy=name), tenths))]
TIER_POINTS = [
    *(Column(f"erases: {name}", median("modelled_erased_blocks", policy=name), whole) for name in POLICIES),
    *(Column(f"us a page: {name}", median("modelled_access_us_per_page", policy=name), whole) for name in POLICIES),
]
TIER_CLASSES = [Column(f"{log}: {name}", median(path, 100, log=log, classes=name), tenths) for log in ("web", "zipf")
                for name, path in [("RC", "hit_ratio/results"), ("IC", "hit_ratio/lists"), ("RIC", WITHOUT_STORE)]]
TIER_STORES = [Column(f"{log}: index on the {store}, ms", median("modelled_response_us", 1e-3, log=log, store=store), tenths)
               for log in ("web", "zipf") for store in ("disk", "drive")]
TIER_COSTS = [Column("dollars, 2012", dollars("paper"), hundredths), Column("dollars, 2026", dollars("today"), hundredths),
              *(Column(f"{log}: modelled ms", median("modelled_response_us", 1e-3, log=log), tenths) for log in ("web", "zipf"))]
TIER_PATTERN = [*(Column(log, lambda rows, log=log: next(row["text"] for row in rows if row["log"] == log)) for log in ("web", "zipf"))]
TIER_CURVES = [Column(f"{log}: {head}", median("value", log=log, curve=curve)) for log in ("web", "zipf") for head, curve, _ in CURVES]


# The Smart SSD paper


def smart_lines(name, key):
    """Lines of a list beside the rows, each with its own head."""
    return lambda result: {row[key]: [row] for row in result[name]}


SMART_COMPARISONS = [
    Column("paper", largest("paper")),
    Column("modelled", lambda rows: rows[0]["modelled"]),
    Column("error, %", lambda rows: rows[0]["error_percent"], signed),
    Column("what it is", lambda rows: rows[0]["kind"]),
]
SMART_CLAIMS = [Column("model", lambda rows: "agrees" if rows[0]["agrees"] else "**differs**"), Column("modelled", lambda rows: rows[0]["modelled"])]


def smart_point_lines(result):
    return {f"{row['place']}: {row['x']:g}": [row] for row in result["rows"]}


def smart_part(side, *names):
    return lambda rows: sum(rows[0][side][name] for name in names)


def smart_ratio(name):
    return lambda rows: rows[0]["host"][name] / rows[0]["device"][name]


SMART_POINTS = [
    Column("results", largest("results"), whole),
    *(Column(f"{side}: ms", smart_part(of, "ms")) for side, of in (("drive", "device"), ("host", "host"))),
    Column("host / drive, time", smart_ratio("ms"), hundredths),
    Column("host / drive, energy", smart_ratio("mj"), hundredths),
    Column("drive: I/O", smart_part("device", "io_ms")),
    Column("processor", smart_part("device", "cpu_ms")),
    Column("memory", smart_part("device", "memory_ms")),
    Column("sending", smart_part("device", "sending_ms")),
    Column("host: I/O", smart_part("host", "io_ms")),
    Column("operation", smart_part("host", "cpu_ms", "memory_ms")),
    Column("ranking and query", smart_part("host", "host_ms")),
]


def smart_sweep_columns(result):
    places = result["request_sizes"][0]["factors"]
    costs = [Column(f"{side}, us", largest(name)) for side, name in (("drive", "device_request_us"), ("host", "host_request_us"))]
    return costs + [Column(place if place.startswith("table") else f"figure {place}", largest(f"factors/{place}"), hundredths) for place in places]


def smart_vary_lines(result):
    found = {}
    for row in result["rows"]:
        found.setdefault(row["key"] or "as it is", []).append(row)
    return found


def smart_varied(table, factor, cost):
    def of(rows):
        fits = [row for row in rows if row["table"] == table and (not row["key"] or row["factor"] == factor)]
        return fits[0][f"host_{cost}"] / fits[0][f"drive_{cost}"] if fits else None
    return of


SMART_VARY = [Column(f"{table}: {head}, {'half' if factor < 1 else 'x 1.5'}", smart_varied(table, factor, cost), hundredths)
              for table in ("table 3", "table 4", "table 5") for head, cost in (("time", "ms"), ("energy", "mj")) for factor in (0.5, 1.5)]


def smart_early_lines(result):
    """Of each place, side and way the queries."""
    found = {}
    for row in result["rows"]:
        for side, of in (("drive", "device"), ("host", "host")):
            found.setdefault(f"{row['place']}: {side}, {row['way']}", []).append(row[of] | {"ranked": row["results"]})
    return dict(sorted(found.items()))


def smart_mean(path):
    return lambda rows: statistics.mean(at(row, path) for row in rows)


SMART_EARLY = [
    Column("queries", len, whole), Column("modelled ms", smart_mean("ms")), Column("mJ", smart_mean("mj")), Column("I/O, ms", smart_mean("io_ms")),
    *(Column(head, smart_mean(path), whole) for head, path in (
        ("operators", "counts/operators"), ("accesses to DRAM", "counts/dram_accesses"), ("accesses to SRAM", "counts/sram_accesses"),
        ("pages", "counts/flash_pages"), ("link bytes", "counts/link_bytes"), ("documents ranked", "ranked"))),
]


def smart_early_point_lines(result):
    found = {}
    for row in result["rows"]:
        found.setdefault(f"{row['place']}: {row['x']:g}", []).append(row)
    return found


def smart_early_cost(side, way, cost):
    return lambda rows: next(row[side][cost] for row in rows if row["way"] == way)


def smart_early_ratio(way, cost):
    host, drive = (smart_early_cost(side, way, cost) for side in ("host", "device"))
    return lambda rows: host(rows) / drive(rows)


SMART_EARLY_POINTS = [
    *(Column(f"{side}, {way}: ms", smart_early_cost(of, way, "ms")) for side, of in (("drive", "device"), ("host", "host")) for way in ("plain", "early")),
    *(Column(f"host / drive, {way}: {head}", smart_early_ratio(way, cost), hundredths) for way in ("plain", "early") for head, cost in (("time", "ms"), ("energy", "mj"))),
]


# Drives that run programs, with an index and a log


def offload_plan_lines(result):
    def name(row):
        frames = f"frames of 1/{row['frames']}" if row["frames"] else "cold"
        return f"{row['profile']}, {row['set']}, {frames}"
    return {name(row): [row] for row in result["plans"]}


def offload_good(rows):
    return rows[0]["good"] / rows[0]["queries"] * 100


def offload_regret(rows):
    """The planner's regret as a part of that of the better constant choice, which may be none."""
    constant = rows[0]["regret_of_better_constant_ms"]
    return rows[0]["regret_ms"] / constant if constant > 0 else None


OFFLOAD_PLANS = [
    Column("queries", largest("queries"), whole), Column("drive faster", largest("drive_faster"), whole), Column("drive chosen", largest("drive_chosen"), whole),
    *(Column(f"{head}, ms", largest(f"{name}_ms")) for head, name in (("host", "host"), ("drive", "drive"), ("planner", "chosen"), ("perfect", "perfect"))),
    Column("within 10 %, %", offload_good, tenths), Column("regret / constant's", offload_regret, hundredths),
]


def offload_worst_lines(result):
    rows = sorted((row for row in result["worst"] if row["frames"] == 0), key=lambda row: -row["regret_ms"])[:10]
    return {f"{row['profile']}, {row['set']}, {', '.join(f'{count:,}' for count in row['frequencies'])}": [row] for row in rows}


OFFLOAD_WORST = [Column("chosen", lambda rows: rows[0]["chosen"]), *(
    Column(head, largest(name)) for head, name in (("regret, ms", "regret_ms"), ("host, estimated", "host_before_ms"), ("host", "host_ms"),
                                                   ("drive, estimated", "drive_before_ms"), ("drive", "drive_ms")))]


def offload_square_lines(result):
    """Each of host and drive, plain and early, for the sets that rank."""
    found = {}
    for row in result["rows"]:
        for profile, modelled in row["modelled"].items():
            for side in ("host", "drive"):
                for way in ("plain", "early"):
                    if way in modelled[side]:
                        name = f"{profile}, {row['set']}: {side}, {way}"
                        cost = modelled[side][way] | row["counted"][way]
                        cost["read"] = cost["host_pages" if side == "host" else "pages"]
                        cost["link"] = 4096 * cost["read"] if side == "host" else cost["link_bytes"]
                        cost["accesses"] = cost["dram_accesses"] + cost["sram_accesses"]
                        found.setdefault(name, []).append(cost)
    return dict(sorted(found.items()))


def mean_of(name):
    return lambda rows: statistics.mean(row[name] for row in rows)


OFFLOAD_SQUARE = [
    Column("queries", len, whole), Column("modelled ms", mean_of("ms")), Column("mJ", mean_of("mj")), Column("mJ by counts", mean_of("mj_by_counts")),
    *(Column(head, mean_of(name), whole) for head, name in (("operators", "operators"), ("accesses", "accesses"), ("pages", "read"), ("link bytes", "link"))),
]

OFFLOAD_CORES = (1, 4, 16)


def offload_map_lines(name, early):
    def lines(result):
        found = {}
        for row in result["map"]:
            if row["set"] == name and row["early"] == early and row["cores"] in OFFLOAD_CORES:
                found.setdefault(f"{row['width']:g}, {row['cores']:g}", []).append(row)
        return found
    return lines


def offload_map_columns(result):
    links = sorted({row["link_mb_s"] for row in result["map"]})
    def ratio(link):
        return lambda rows: next(row["host_ms"] / row["drive_ms"] for row in rows if row["link_mb_s"] == link)
    return [Column(f"{link / 1000:g} GB/s", ratio(link), hundredths) for link in links]


OFFLOAD_HEADLINES = {"and": False, "ranked or": True}


def offload_vary_lines(result):
    found = {}
    for row in result["vary"]:
        if OFFLOAD_HEADLINES.get(row["set"]) == row["early"]:
            found.setdefault(row["key"] or "as it is", []).append(row)
    return found


def offload_varied(name, factor, cost):
    def of(rows):
        fits = [row for row in rows if row["set"] == name and (not row["key"] or row["factor"] == factor)]
        return fits[0][f"host_{cost}"] / fits[0][f"drive_{cost}"] if fits else None
    return of


OFFLOAD_VARY = [Column(f"{name}: {head}, {'half' if factor < 1 else 'x 1.5'}", offload_varied(name, factor, cost), hundredths)
                for name in OFFLOAD_HEADLINES for head, cost in (("time", "ms"), ("energy", "mj")) for factor in (0.5, 1.5)]


# Object storage


# Of a cold query, the opening apart, and of the log.
REMOTE = [Column("cold query: rounds", median("asked/rounds", kind="cold"), tenths),
          Column("requests", median("asked/requests", kind="cold"), tenths),
          Column("KiB", median("asked/bytes", 1 / 1024, kind="cold"), whole),
          Column("ms", median("took_us", 1e-3, kind="cold"), whole),
          Column("opening: requests", median("opening/requests", kind="cold"), whole),
          Column("opening: KiB", median("opening/bytes", 1 / 1024, kind="cold"), whole),
          Column("log: requests a query", median("remote/requests_per_query", kind="log"), tenths),
          Column("KiB a query", median("remote/bytes_per_query", 1 / 1024, kind="log"), whole),
          Column("p50, ms", median("latency_us_p50", 1e-3, kind="log"), whole),
          Column("p95, ms", median("latency_us_p95", 1e-3, kind="log"), whole),
          Column("dollars for a million", median("dollars_a_million_queries", kind="log"), hundredths)]


def remote_lines(result):
    """A line for each gap across which requests are joined."""
    lines = {}
    for row in result["rows"]:
        if "gap" in row:
            lines.setdefault(f"{row['gap'] // 1024} KiB", []).append(row)
    return dict(sorted(lines.items(), key=lambda line: int(line[0].split()[0])))


def cached_lines(result):
    """A line for each pass over the log with a cache, and for the local index."""
    sizes = sorted({row["cache_bytes"] for row in result["rows"] if row["kind"] == "cached"}, reverse=True)
    names = {"first": "first pass", "second": "second pass, another process"}
    return {f"cache of {size / MIB:,.0f} MiB: {names[row['pass']]}" if row["pass"] in names else "local index": [row]
            for size in sizes for row in result["rows"] if row["kind"] == "cached" and row["cache_bytes"] == size}


def hit_ratio(rows):
    """Per cent of the pages that memory did not have that the cache had."""
    read = [(row["cache"]["read_pages"], row["served"]["pages"]) for row in rows if row["cache"]]
    return max((100 * hits / (hits + sent) for hits, sent in read), default=None)


def most_hits(rows):
    return max((100 * row["optimum"]["hits"] / row["optimum"]["requests"] for row in rows if "optimum" in row), default=None)


CACHED = [Column("queries", largest("queries"), whole),
          Column("requests of pages", largest("served/page_gets"), whole),
          Column("pages sent", largest("served/pages"), whole),
          Column("of these sent before", largest("served/repeated_pages"), whole),
          Column("pages read from the cache", largest("cache/read_pages"), whole),
          Column("hit ratio, %", hit_ratio, tenths),
          Column("at most, %", most_hits, tenths),
          Column("p50, ms", largest("latency_us_p50", 1e-3), hundredths),
          Column("p99, ms", largest("latency_us_p99", 1e-3), hundredths),
          Column("queries/s", largest("qps"), whole)]


def publication_lines(result):
    rows = [row for row in result["rows"] if row["kind"] == "publication"]
    return {f"{rows[0]['documents']} documents more": rows} if rows else {}


def share_of_new_pages(field):
    return lambda rows: sum(at(row, field) for row in rows) / sum(row["new_bytes"] for row in rows)


def median_share_of_new_pages(field):
    return lambda rows: statistics.median(at(row, field) / row["new_bytes"] for row in rows)


def instruction_lines(result):
    """A line for each kind of query, and for documents that are indexed."""
    lines = {}
    for row in result["rows"]:
        if not row["with"]:
            lines.setdefault(f"a {row['of']}", []).append(row)
    return lines


def instruction_columns(result):
    """Those of each program, and how many more the later ones take than the first, in per cent."""
    names = result["settings"]["programs"]

    def counted(name):
        return median("instructions", program=name)

    def more(name):
        return lambda rows: (counted(name)(rows) / counted(names[0])(rows) - 1) * 100
    return [*(Column(name, counted(name), whole) for name in names), *(Column(f"{name}: more, %", more(name), percent) for name in names[1:])]


PUBLICATIONS = [Column("publications", len, whole),
                Column("requests that write, each", median("served/puts"), whole),
                Column("KiB of new pages, each", median("new_bytes", 1 / 1024), whole),
                Column("KiB sent, each", median("served/sent_bytes", 1 / 1024), whole),
                Column("KiB of pages in packs, each", median("packed_bytes", 1 / 1024), whole),
                Column("sent / new, median", median_share_of_new_pages("served/sent_bytes"), hundredths),
                Column("sent / new, all together", share_of_new_pages("served/sent_bytes"), hundredths)]


TABLES = {
    # lab/memory.py: MiB of resident memory above the budget, at most.
    "memory": Table("corpus", by("case/corpus"), memory_columns),
    "memory-operations": Table("command", by("operation"), memory_columns),
    "front-memory": Table("what", front_memory_lines, memory_columns),
    # lab/run.py
    "queries": Table("set", by("set"), query_columns),
    "front-queries": Table("what", front_query_lines, FRONT_RATES),
    # lab/filters.py
    "filters": Table("corpus and set", filter_lines, FILTERS),
    "filter-rates": Table("corpus and set", filter_lines, filter_rates),
    "filter-space": Table("corpus", space_lines, FILTER_SPACE),
    # lab/paper.py
    "phrase-filters": Table("set, a query", phrase_lines, phrase_columns()),
    # lab/rate.py
    "rate": Table("corpus", by("corpus"), rate_columns()),
    # With the fastest variant alone.
    "rate-fastest": Table("corpus", by("corpus"), rate_columns()[:3] + rate_columns()[6:9] + rate_columns()[11:]),
    # lab/maintenance.py
    "ingest": Table("engine", engine_lines, INGEST),
    "churn": Table("phase", phase_lines, CHURN),
    "during": Table("threads", during_lines, DURING),
    # lab/trees.py
    "drive-rates": Table("MB/s, modelled", drive_lines, DRIVE_RATES),
    "trees-inserts": Table("structure", single_lines, INSERTS),
    "trees-single": Table("s, modelled", single_lines, SINGLE),
    "trees-mixed": Table("s, modelled", mixed_lines, MIXED_SECONDS),
    # lab/ssd.py
    "amplification": Table("utilization", by("utilization"), AMPLIFICATION),
    # lab/tiers.py
    "tiers-policies": Table("policy", tier_lines("policies", lambda row: f"{row['capacity_mb']} MB, {row['policy']}"), TIER_POLICIES),
    "tiers-holds": Table("log and memory", setting_lines, holds_columns),
    "tiers-pattern": Table("without a cache", pattern_lines, TIER_PATTERN),
    "tiers-curves": Table("rank", curve_lines, TIER_CURVES),
    "tiers-peers": Table("cache", peer_lines, TIER_PEERS),
    "tiers-changes": Table("against `lru`", against("lru"), TIER_CHANGES),
    "tiers-gains": Table("against `lru-partial`", against("lru-partial"), TIER_GAINS),
    "tiers-situations": Table("modelled", situation_lines, TIER_SITUATIONS),
    "tiers-points": Table("queries", point_lines, TIER_POINTS),
    "tiers-classes": Table("hit ratio, %", tier_lines("classes", lambda row: f"{row['capacity_mb']} MB"), TIER_CLASSES),
    "tiers-uncached": Table("documents", tier_lines("uncached", lambda row: f"{row['documents']:,.0f}"), TIER_STORES[:2]),
    "tiers-levels": Table("levels", tier_lines("levels", lambda row: f"{row['levels']}, {row['classes']}"), TIER_STORES),
    "tiers-costs": Table("memory", tier_lines("costs", lambda row: f"{row['capacity_mb']} MB, {row['flash_bytes'] / 1e6:,.0f} MB of flash"), TIER_COSTS),
    # lab/smart_ssd.py
    "smart-comparisons": Table("modelled", smart_lines("comparisons", "what"), SMART_COMPARISONS),
    "smart-claims": Table("what the paper says", smart_lines("claims", "claim"), SMART_CLAIMS),
    "smart-points": Table("figure: value", smart_point_lines, SMART_POINTS),
    "smart-requests": Table("pages of a request", smart_lines("request_sizes", "request_pages"), smart_sweep_columns),
    # lab/smart_vary.py
    "smart-vary": Table("number of smart-ssd-2016", smart_vary_lines, SMART_VARY),
    # lab/smart_early.py
    "smart-early": Table("place: side, way", smart_early_lines, SMART_EARLY),
    "smart-early-points": Table("place: value", smart_early_point_lines, SMART_EARLY_POINTS),
    # lab/offload.py
    "offload-plans": Table("profile, set, pages in memory", offload_plan_lines, OFFLOAD_PLANS),
    "offload-worst": Table("profile, set, documents of each word", offload_worst_lines, OFFLOAD_WORST),
    "offload-square": Table("profile, set: side, way", offload_square_lines, OFFLOAD_SQUARE),
    "offload-map-and": Table("bytes of a posting, cores", offload_map_lines("and", False), offload_map_columns),
    "offload-map-or": Table("bytes of a posting, cores", offload_map_lines("ranked or", False), offload_map_columns),
    "offload-map-or-early": Table("bytes of a posting, cores", offload_map_lines("ranked or", True), offload_map_columns),
    "offload-vary": Table("number of smart-ssd-2016", offload_vary_lines, OFFLOAD_VARY),
    # lab/remote.py
    "remote": Table("gap", remote_lines, REMOTE),
    "remote-cached": Table("what", cached_lines, CACHED),
    "remote-publications": Table("each", publication_lines, PUBLICATIONS),
    # lab/instructions.py
    "instructions": Table("instructions of", instruction_lines, instruction_columns),
    # measure/NAME.py
    "checks": Table("what", check_lines, CHECKS),
}
