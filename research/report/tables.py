"""The tables of README and docs: for each its lines and its columns. `scripts/tables` writes them."""
import statistics

from answer_tables import ANSWERS
from claims import CLAIM_COLUMNS
from columns import (
    Column, ENGINES, MIB, Table, at, by, hundredths, largest, median, percent, signed, significant,
    tenths, whole,
)
from drive_tables import (
    OFFLOAD_PLANS, OFFLOAD_SQUARE, OFFLOAD_VARY, OFFLOAD_WORST, SMART_COMPARISONS,
    SMART_EARLY, SMART_EARLY_POINTS, SMART_POINTS, SMART_VARY, offload_map_columns,
    offload_map_lines, offload_plan_lines, offload_square_lines, offload_vary_lines,
    offload_worst_lines, smart_early_lines, smart_early_point_lines, smart_lines, smart_point_lines,
    smart_sweep_columns, smart_vary_lines,
)
from figure_runs import INDEX, index_lines
from hybrid_cache_claims import hybrid_cache_claim_lines
from smart_ssd_claims import smart_ssd_claim_lines
from tier_tables import (
    TIER_CHANGES, TIER_CLASSES, TIER_COSTS, TIER_CURVES, TIER_GAINS, TIER_PATTERN, TIER_PEERS,
    TIER_POINTS, TIER_POLICIES, TIER_SITUATIONS, TIER_STORES, against, curve_lines, holds_columns,
    pattern_lines, peer_lines, point_lines, setting_lines, situation_lines, tier_lines,
)
from mechanism_tables import MECHANISMS, ORDERS
from mfis_tables import MFIS_TABLES
from paper_tables import PAPER_TABLES
from peer_tables import PEER_TABLES
from python_tables import PEERS, package_lines
from rank_tables import cost_columns, cost_lines, path_columns, path_lines
from tree_tables import TREE_TABLES
from wiser_claims import wiser_claim_lines, wiser_engine_lines
from wiser_tables import WISER_TABLES
from writing_tables import WRITING_TABLES


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
    engines = asked_engines(result)
    figures = [("queries/s", "qps", 1), ("KB a query", "bytes_read_per_query/os", 1e-3),
               ("CPU us a query", "cpu_us_per_query", 1), ("p99 us", "latency_us_p99", 1)]
    columns = [Column(f"{head}: {ENGINES[name]}", median(path, scale, engine=name)) for head, path, scale in figures for name in engines]
    return columns + [Column("ratio", rate_ratio, hundredths)]


def rate_ratio(rows):
    rates = {name: median("qps", engine=name)(rows) for name in ENGINES}
    peers = [rate for name, rate in rates.items() if name != "gannet" and rate]
    return rates["gannet"] / max(peers) if rates["gannet"] and peers else None


def asked_engines(result):
    return [name for name in ENGINES if any(row["engine"] == name for row in result["rows"])]


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
    """The sets that `research/measure/paper.py` asked with each kind of filters: a row for each kind, and for a
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


def check_lines(result):
    return {check["name"]: [check] for check in result["checks"]}


def listed(figure):
    """A list as text; other figures as they are."""
    if not isinstance(figure, list):
        return figure
    return ", ".join(map(str, figure)) or "none"


CHECKS = [
    Column("figure", lambda rows: listed(rows[0]["figure"])),
    Column("target", lambda rows: str(listed(rows[0]["target"]))),
    Column("holds", lambda rows: "yes" if rows[0]["holds"] else "no"),
]


# The model of drives


AMPLIFICATION = [
    Column("FIFO", median("fifo"), hundredths), Column("closed form", median("fifo_closed_form"), hundredths),
    Column("greedy", median("greedy"), hundredths), Column("mean field", median("greedy_closed_form"), hundredths),
]


# Caches in tiers


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


def whole_run_lines(result):
    """Each result that was made, the longest first, and all together."""
    rows = sorted(result["rows"], key=lambda row: -row["seconds"])
    return {row["result"]: [row] for row in rows} | {"together": rows}


def quick_lines(result):
    """Each part, the longest first, and all together."""
    rows = sorted(result["rows"], key=lambda row: -row["seconds"])
    return {row["part"]: [row] for row in rows} | {"together": rows}


def days(rows):
    made = [row["date"][:10] for row in rows]
    return " to ".join(sorted({min(made), max(made)}))


WHOLE_RUN = [Column("minutes", lambda rows: sum(row["seconds"] for row in rows) / 60, tenths), Column("made on", days)]


TABLES = {
    # research/measure/memory.py: MiB of resident memory above the budget, at most.
    "memory": Table("corpus", by("case/corpus"), memory_columns),
    "memory-operations": Table("command", by("operation"), memory_columns),
    "front-memory": Table("what", front_memory_lines, memory_columns),
    # research/proofs/python_peers.py
    "python-peers": Table("package and limit", package_lines, PEERS),
    # research/peers/run.py
    "queries": Table("set", by("set"), query_columns),
    "answers": ANSWERS,
    **PEER_TABLES,
    # research/measure/filters.py
    "filters": Table("corpus and set", filter_lines, FILTERS),
    "filter-rates": Table("corpus and set", filter_lines, filter_rates),
    "filter-space": Table("corpus", space_lines, FILTER_SPACE),
    # research/measure/paper.py
    "phrase-filters": Table("set, a query", phrase_lines, phrase_columns()),
    **PAPER_TABLES,
    # research/measure/rate.py
    "rate": Table("corpus", by("corpus"), rate_columns()),
    # With the fastest variant alone.
    "rate-fastest": Table("corpus", by("corpus"), rate_columns()[:3] + rate_columns()[6:9] + rate_columns()[11:]),
    # research/measure/maintenance.py
    **WRITING_TABLES,
    # research/papers/as-btree/trees.py
    **TREE_TABLES,
    # research/papers/mfis/mfis.py
    **MFIS_TABLES,
    # research/papers/wiser/wiser.py
    "wiser-claims": Table("the paper of WiSER says", wiser_claim_lines, CLAIM_COLUMNS),
    "wiser-engine-claims": Table("the paper of WiSER says", wiser_engine_lines, CLAIM_COLUMNS),
    **WISER_TABLES,
    # research/drives/ssd.py
    "amplification": Table("utilization", by("utilization"), AMPLIFICATION),
    # research/papers/two-tier-cache/tiers.py
    "hybrid-cache-claims": Table("the hybrid cache paper says", hybrid_cache_claim_lines, CLAIM_COLUMNS),
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
    # research/papers/smart-ssd/smart_ssd.py
    "smart-comparisons": Table("modelled", smart_lines("comparisons", "what"), SMART_COMPARISONS),
    "smart-ssd-claims": Table("the Smart SSD paper says", smart_ssd_claim_lines, CLAIM_COLUMNS),
    "smart-points": Table("figure: value", smart_point_lines, SMART_POINTS),
    "smart-requests": Table("pages of a request", smart_lines("request_sizes", "request_pages"), smart_sweep_columns),
    # research/papers/smart-ssd/smart_vary.py
    "smart-vary": Table("number of smart-ssd-2016", smart_vary_lines, SMART_VARY),
    # research/papers/smart-ssd/smart_early.py
    "smart-early": Table("place: side, way", smart_early_lines, SMART_EARLY),
    "smart-early-points": Table("place: value", smart_early_point_lines, SMART_EARLY_POINTS),
    # research/papers/smart-ssd/offload.py
    "offload-plans": Table("profile, set, pages in memory", offload_plan_lines, OFFLOAD_PLANS),
    "offload-worst": Table("profile, set, documents of each word", offload_worst_lines, OFFLOAD_WORST),
    "offload-square": Table("profile, set: side, way", offload_square_lines, OFFLOAD_SQUARE),
    "offload-map-and": Table("bytes of a posting, cores", offload_map_lines("and", False), offload_map_columns),
    "offload-map-or": Table("bytes of a posting, cores", offload_map_lines("ranked or", False), offload_map_columns),
    "offload-map-or-early": Table("bytes of a posting, cores", offload_map_lines("ranked or", True), offload_map_columns),
    "offload-vary": Table("number of smart-ssd-2016", offload_vary_lines, OFFLOAD_VARY),
    # research/measure/mechanisms.py
    "mechanisms": MECHANISMS,
    "mechanisms-order": ORDERS,
    # research/measure/remote.py
    "remote": Table("gap", remote_lines, REMOTE),
    "remote-cached": Table("what", cached_lines, CACHED),
    "remote-publications": Table("each", publication_lines, PUBLICATIONS),
    # research/measure/instructions.py
    "instructions": Table("instructions of", instruction_lines, instruction_columns),
    # research/measure/costs.py
    "rank-paths": Table("without", path_lines, path_columns),
    "costs": Table("set", cost_lines, cost_columns),
    # research/measure/whole.py
    "whole": Table("result", whole_run_lines, WHOLE_RUN),
    "papers": Table("paper: figure or table", index_lines, INDEX),
    "quick": Table("part", quick_lines, [Column("seconds", lambda rows: sum(row["seconds"] for row in rows), whole)]),
    # research/proofs/NAME.py
    "checks": Table("what", check_lines, CHECKS),
}
