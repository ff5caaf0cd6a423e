"""The tables of caches in tiers, from the results of `research/papers/two-tier-cache/tiers.py`."""
import json
import statistics
from pathlib import Path

from columns import Column, at, by, hundredths, median, signed, tenths, whole
from published import HYBRID_CACHE


def experiment(name):
    """The rows of one experiment of `research/papers/two-tier-cache/tiers.py`."""
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
    """What memory and flash of a row cost by the prices of research/report/prices.json."""
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


# What is compared with the best of all others: its name, where it is in a row, its scale, and which
# is better.
COMPARED = [("bytes, %", "hit_ratio/bytes", 100, max), ("response, ms", "modelled_response_us", 1e-3, min)]


def missed_aims(result):
    """A line for each aim that is missed, of the settings in which Gannet's policies ran."""
    found = []
    for name, rows in setting_lines(result).items():
        if not {"gannet", "gannet-all"} <= {row["policy"] for row in rows}:
            continue
        for head, path, scale, better in COMPARED:
            if is_best(path, better)(rows) != "holds":
                best = best_of(path, scale, better, lambda policy: policy != "gannet")(rows)
                found.append(f"{name}: {head}: {tenths(scale * at(own(rows), path))}, the best has {best}")
        if is_half(rows) != "holds":
            written = [whole(own(rows, policy)["flash"]["written_bytes"] / 1e6) for policy in ("gannet", "gannet-all")]
            found.append(f"{name}: MB written: {written[0]}, at most half of {written[1]}")
    return found


def holds_columns(result):
    others = lambda policy: policy not in ("gannet", "foyer")
    columns = []
    for head, path, scale, better in COMPARED:
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
