"""The tables of `research/measure/paper.py`: what each technique of Gannet reads and takes, switched on and off."""
from columns import Column, Table, at, hundredths, significant

SWITCHES = ["prefetch", "pruning", "batches"]
# A result has no more of a set than it was asked for.
WISER_WAY = "pruning, batches"
# Behind the name of a set that was asked with memory for all pages.
ALL_FIT = ", all in memory"
PAGE = 4096


def least_lines(result):
    """The figures of a set, then those with memory for all pages, if it was asked with that."""
    pages = result["results"]["pages"]
    names = [name for name in pages if ", " not in name and not name.startswith(("phrase", "less", "web", "game"))]
    return {f"`{name}`": [pages[name], pages.get(f"{name}{ALL_FIT}", pages[name])] for name in names}


def least_to_frames(rows):
    """Up to 1 nothing is ever evicted: the least is then one read of each page."""
    return rows[0]["least_pages_per_query"] * rows[0]["queries"] * PAGE / rows[0]["settings"]["memory_bytes"]


def read_to_used(rows):
    """Pages read to different pages used, where memory holds all of them."""
    return rows[1]["read_to_least"] if least_to_frames(rows[1:]) <= 1 else None


LEAST = [
    Column("queries", lambda rows: rows[0]["queries"]), Column("pages read", lambda rows: rows[0]["read_pages_per_query"]),
    Column("least", lambda rows: rows[0]["least_pages_per_query"]), Column("least / memory", least_to_frames, hundredths),
    Column("read / least", lambda rows: rows[0]["read_to_least"], hundredths), Column("read / used, with memory for all", read_to_used, hundredths),
    Column("needed", lambda rows: rows[0]["needed_pages_per_query"]), Column("read / needed", lambda rows: rows[0]["read_to_needed"], hundredths),
]


def asked(result, name, without, filters="common"):
    """The figures of a set without a technique, if it was asked so."""
    key = f"{name} without {without}" if without else name
    return result["results"]["bench"].get(key if filters == "common" else f"{key}, filters {filters}")


def plain_sets(result):
    return [name for name in result["results"]["bench"] if " without " not in name and ", filters" not in name and not name.startswith("less/")]


def switch_lines(result):
    """A line for a set with all techniques and without each."""
    lines = {}
    for name in plain_sets(result):
        for switch in [None, *SWITCHES]:
            figures = asked(result, name, switch)
            if figures and asked(result, name, SWITCHES[0]):
                lines[f"`{name}`, without {switch}" if switch else f"`{name}`"] = [figures]
    return lines


READ = [
    Column("KB a query", lambda rows: at(rows[0], "bytes_read_per_query/engine") / 1e3), Column("reads", lambda rows: rows[0]["reads_per_query"]),
    Column("rounds", lambda rows: rows[0]["rounds_per_query"]),
]


def way_lines(result):
    """Sets that were asked in WiSER's way and in Gannet's."""
    lines = {}
    for name in plain_sets(result):
        way = asked(result, name, WISER_WAY, "bloom")
        if way:
            lines[f"`{name}`"] = [way, asked(result, name, None)]
    return lines


def both(head, figure):
    """A figure in WiSER's way, then in Gannet's."""
    return [Column(f"{head}: {whose}", lambda rows, place=place: figure(rows[place])) for place, whose in enumerate(["WiSER's way", "Gannet"])]


WAYS = [
    *both("KB a query", lambda row: at(row, "bytes_read_per_query/engine") / 1e3), *both("reads", lambda row: row["reads_per_query"]),
    *both("rounds", lambda row: row["rounds_per_query"]),
]


def size_lines(result):
    """A line for each kind of filters, with the one without and the one with Bloom filters behind."""
    lists, indexes = result["results"]["lists"], result["results"].get("indexes", {})
    rows = {kind: of | indexes[kind] for kind, of in lists.items() if kind in indexes}
    return {kind: [row, rows["none"], rows["bloom"]] for kind, row in rows.items()}


def bitmap(rows):
    blooms = rows[0]["bloom_filters"]
    return 100 * (1 - rows[0]["filter_bytes"] / (9 * blooms)) if blooms else None


SIZES = [
    Column("index, MB", lambda rows: rows[0]["index_bytes"] / 1e6, significant),
    Column("to one without", lambda rows: rows[0]["index_bytes"] / rows[1]["index_bytes"], hundredths),
    Column("filters in chunks, MB", lambda rows: rows[0]["filter_bytes"] / 1e6),
    Column("to Bloom filters", lambda rows: rows[0]["filter_bytes"] / rows[2]["filter_bytes"], hundredths),
    Column("empty, % (the paper: 32)", lambda rows: 100 * rows[0]["empty_bloom_filters"] / rows[0]["bloom_filters"] if rows[0]["bloom_filters"] else None),
    Column("bitmap saves, % (29)", bitmap),
]

PAPER_TABLES = {
    "paper-least": Table("set", least_lines, LEAST),
    "paper-switches": Table("set", switch_lines, READ),
    "paper-way": Table("set", way_lines, WAYS),
    "paper-sizes": Table("filters", size_lines, SIZES),
}
