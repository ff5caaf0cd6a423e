"""The tables of `research/papers/wiser/wiser.py`: WiSER as published in the lab, each technique on and off.

A row is a set of queries in a case. Bytes of lists are all that is read but the texts of documents.
"""
from columns import Column, ENGINES, Table, at, by, hundredths, median, significant, tenths, whole

SETS = ["term-10", "term-1000", "term-100000", "and-100", "and-10000", "phrase-10", "phrase-1000", "phrase-10000", "web-phrase"]
PAGE = 4096
# So many queries have no 99th percentile but the slowest.
FEW = 100
LIST_PARTS = ["dictionary", "zone", "filters", "positions", "offsets"]
# Of figures 7, 9 and 10.
PARTS_OF = {"term": ["published", "elasticsearch"], "phrase": ["published", "no filters", "elasticsearch"]}
PAPER_TEXTS = {"published": ("1.0", "1.25"), "documents in groups": ("1.7", "1.0")}


def list_bytes(row):
    """Bytes that were read of lists and term entries."""
    return row["bytes_per_query"] - at(row, "parts/texts/pages") * PAGE


def of_set(name, figure, scale=1.0):
    """A figure of the row of a set, if there is one."""
    def of(rows):
        row = next((row for row in rows if row.get("set") == name), None)
        return None if row is None else figure(row) * scale
    return of


def case_lines(result):
    lines = {}
    for row in result["rows"]:
        if "case" in row:
            lines.setdefault(row["case"], []).append(row)
    return lines


def case_columns(result):
    """KB of lists by set, then what the case takes of flash and memory."""
    sets = [name for name in SETS if any(row.get("set") == name for row in result["rows"])]
    return [*(Column(f"`{name}`", of_set(name, list_bytes, 1e-3)) for name in sets),
            Column("lists, MB", lambda rows: rows[0]["index_bytes"]["lists"] / 1e6),
            Column("entries in memory, MB", lambda rows: rows[0]["index_bytes"]["memory"] / 1e6)]


def read_columns(result):
    sets = [name for name in SETS if any(row.get("set") == name for row in result["rows"])]
    return [Column(f"`{name}`", of_set(name, lambda row: row["reads_per_query"]), tenths) for name in sets]


def time_columns(result):
    """Modelled milliseconds of a query, the median and the tail, with what the tail is: of few queries it is the slowest."""
    asked = {row["set"]: row["queries"] for row in result["rows"] if "case" in row}
    tails = {name: f"p99 of {asked[name]:,}" if asked[name] > FEW else f"slowest of {asked[name]}" for name in SETS if name in asked}
    return [Column(f"`{name}`, {tail}", times_of(name)) for name, tail in tails.items()]


def times_of(name):
    def of(rows):
        row = next((row for row in rows if row.get("set") == name), None)
        return None if row is None else f"{row['modelled_us_p50'] / 1e3:.1f} / {row['modelled_us_p99'] / 1e3:.1f}"
    return of


def part_lines(result):
    """Sets of one word, and phrases, in the cases that the paper shows."""
    found = {}
    for row in result["rows"]:
        for kind, cases in PARTS_OF.items():
            if row.get("set", "").startswith(f"{kind}-") and row["case"] in cases:
                found[f"`{row['set']}`, {row['case']}"] = [row]
    return dict(sorted(found.items(), key=lambda line: line[0].split("`")[1]))


def needed(rows):
    return sum(at(rows[0], f"parts/{part}/needed_bytes") for part in LIST_PARTS)


PARTS = [
    *(Column(f"{part}, KB", lambda rows, part=part: at(rows[0], f"parts/{part}/pages") * PAGE / 1e3) for part in LIST_PARTS),
    *(Column(f"{part}, least KB", lambda rows, part=part: at(rows[0], f"parts/{part}/needed_bytes") / 1e3) for part in LIST_PARTS),
    Column("read, KB", lambda rows: list_bytes(rows[0]) / 1e3), Column("least, KB", lambda rows: needed(rows) / 1e3),
    Column("read / least", lambda rows: list_bytes(rows[0]) / needed(rows) if needed(rows) else None, tenths),
]


def text_lines(result):
    """The ways in which documents are stored: what is read of them, and what they take."""
    names = ["published", "no alignment", "documents in groups"]
    lines = case_lines(result)
    grouped = [row for row in lines.get("documents in groups", [])]
    return {name: [row | {"grouped": grouped[0]} for row in lines[name] if row["set"] == "and-100"] for name in names if name in lines and grouped}


def texts_to_groups(rows):
    return rows[0]["index_bytes"]["texts"] / rows[0]["grouped"]["index_bytes"]["texts"]


def paper_texts(place):
    return lambda rows: PAPER_TEXTS.get(rows[0]["case"], ("-", "-"))[place]


TEXTS = [
    Column("KB a query of `and-100`", lambda rows: at(rows[0], "parts/texts/pages") * PAGE / 1e3),
    Column("least KB", lambda rows: at(rows[0], "parts/texts/needed_bytes") / 1e3),
    Column("the paper's traffic, to aligned", paper_texts(0)),
    Column("MB", lambda rows: rows[0]["index_bytes"]["texts"] / 1e6), Column("space, to groups", texts_to_groups, hundredths),
    Column("the paper's", paper_texts(1)),
]


def space_lines(result):
    return {row["corpus"]: [row] for row in result["rows"] if row.get("kind") == "index"}


def layout(is_grouped, has_filters, what=lambda of: sum(of["file_bytes"][:-1])):
    def of(rows):
        found = next(of for of in rows[0]["layouts"] if (of["grouped"], of["filters"]) == (is_grouped, has_filters))
        return what(found) / 1e6
    return of


def empty_share(rows):
    return 100 * rows[0]["lists"]["empty_filters"] / rows[0]["lists"]["filters_in_all"]


def bitmap_saves(rows):
    return 100 * (1 - rows[0]["lists"]["filters"] / rows[0]["lists"]["filters_without_bitmap"])


def with_filters(rows):
    """The index with filters to the one without, documents counted."""
    texts = next(of["file_bytes"] for of in rows[0]["texts"] if of["stored"] == "aligned") / 1e6
    return (layout(True, True)(rows) + texts) / (layout(True, False)(rows) + texts)


def one_page(rows):
    return 100 * rows[0]["lists"]["lists_of_one_page"] / rows[0]["lists"]["lists"]


SPACE = [
    Column("documents", lambda rows: rows[0]["documents"], whole), Column("terms", lambda rows: rows[0]["terms"], whole),
    Column("grouped lists, MB", layout(True, False)), Column("with filters", layout(True, True)),
    Column("by stage, MB", layout(False, False)), Column("with filters ", layout(False, True)),
    Column("dictionary, MB", layout(False, False, lambda of: of["file_bytes"][-1])),
    Column("entries in memory, MB", layout(True, True, lambda of: of["entries_in_memory"])),
    Column("first words in memory, MB", layout(False, False, lambda of: of["first_words_in_memory"])),
    *(Column(f"{kind}, MB", lambda rows, kind=kind: rows[0]["lists"][kind] / 1e6) for kind in ("documents", "filters", "positions", "offsets")),
    Column("with filters to without (the paper: 1.5)", with_filters, hundredths),
    Column("empty filters, % (32)", empty_share, tenths), Column("bitmap saves, % (29)", bitmap_saves, tenths),
    Column("lists of a page or less, % (99)", one_page, tenths), Column("zones of 128 KiB", lambda rows: rows[0]["lists"]["zones_of_128_kib"], whole),
]

# The whole engines, and what is said of each.
ASKED = {"wiser": "WiSER's way", "wiser-base": "no filters"} | {name: ENGINES[name] for name in ("gannet", "tantivy", "lucene")}
ENGINE_FIGURES = [("queries/s", "qps", 1), ("KB a query", "bytes_read_per_query/os", 1e-3), ("p50 us", "latency_us_p50", 1)]
ENGINE_COLUMNS = [Column(f"{head}: {words}", median(path, scale, engine=name)) for head, path, scale in ENGINE_FIGURES for name, words in ASKED.items()]

WISER_TABLES = {
    "wiser-cases": Table("KB of lists a query", case_lines, case_columns),
    "wiser-reads": Table("reads a query, each a round", case_lines, read_columns),
    "wiser-times": Table("modelled ms a query, p50 / tail", case_lines, time_columns),
    "wiser-parts": Table("set and case", part_lines, PARTS),
    "wiser-texts": Table("documents", text_lines, TEXTS),
    "wiser-engines": Table("set", by("set"), ENGINE_COLUMNS),
    "wiser-space": Table("corpus", space_lines, SPACE),
}
