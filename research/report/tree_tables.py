"""The tables of ordered indexes on a modelled drive, from the results of `research/papers/as-btree/trees.py`."""
from claims import AS_B_TREE, CLAIM_COLUMNS, claim_lines, is_of_figure_7, shape_of, variant_of
from columns import Column, Table, by, hundredths, largest, median, tenths, whole
from published import AS_B_TREE_FILES, AS_B_TREE_INSERTS, AS_B_TREE_MIXED, AS_B_TREE_RATES

PAPERS = ["b-tree", "as-b-tree", "bftl"]
RATES = ["sequential_read", "sequential_write", "random_read", "random_write"]
PLAIN = {"shape": "F 256 WB 32", "cache": 0}
# Operations of the paper's runs. Modelled seconds and counts of fewer are scaled to these.
OF_SINGLE, OF_MIXED = 100_000, 1_000_000
KINDS = {"insert": [100, 0, 0, 0, 0], "search": [0, 100, 0, 0, 0], "update": [0, 0, 100, 0, 0], "delete": [0, 0, 0, 100, 0]}
FILED = [KINDS["insert"], KINDS["search"]]
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
    return tree_lines(row for row in result["rows"] if row["mix"] in KINDS.values() and not is_of_figure_7(row))


def mixed_lines(result):
    return tree_lines(row for row in result["rows"] if row["mix"] in MIXED.values())


def tree_lines(rows):
    named = (row for row in rows if row.get("structure") and variant_of(row))
    return by("name")({"rows": [row | {"name": f"`{variant_of(row)}`", "shape": shape_of(row)} for row in named]})


def inserts(path, scale=1):
    def of(rows):
        parts = [median(part, mix=KINDS["insert"], **PLAIN)(rows) for part in (path, "operations")]
        return None if None in parts else scale * parts[0] * OF_SINGLE / parts[1]
    return of


def modelled_seconds(operations=None, **only):
    """The modelled seconds of so many operations, or of those that there were."""
    def of(rows):
        parts = [median(f"work/modelled_{what}_seconds", **only)(rows) for what in ("read", "write")]
        return None if None in parts else sum(parts) * (operations / median("operations", **only)(rows) if operations else 1)
    return of


def each(kind, what, scale=1, **only):
    """A figure of one kind of operations, for each of them."""
    def of(rows):
        parts = [median(f"kinds/{kind}/{part}", **only)(rows) for part in (f"work/{what}", "count")]
        return None if None in parts else scale * parts[0] / parts[1]
    return of


def written(**only):
    """KB that are written for an insertion, whenever that is."""
    def of(rows):
        parts = [median(part, **only)(rows) for part in ("work/written_bytes", "kinds/insert/count")]
        return None if None in parts else parts[0] / parts[1] / 1000
    return of


def published_insert(part):
    return lambda rows: AS_B_TREE_INSERTS.get(rows[0]["structure"], [None] * 3)[part]


def published_mixed(part):
    return lambda rows: AS_B_TREE_MIXED.get(rows[0]["structure"], [None] * 6)[part]


def shaped(fan_out, write_buffer):
    return PLAIN | {"shape": f"F {fan_out} WB {write_buffer}"}


DRIVE_RATES = [
    *(Column(kind.replace("_", " "), median(f"{kind}/rate"), whole) for kind in RATES),
    *(Column(f"the paper's {kind.replace('_', ' ')}", published_rate(at), whole) for at, kind in enumerate(RATES)),
]
INSERTS = [
    Column("reads", inserts("work/reads"), whole), Column("writes", inserts("work/writes"), whole),
    Column("MB written", inserts("work/written_bytes", 1e-6), whole),
    Column("modelled reads, s", inserts("work/modelled_read_seconds"), tenths),
    Column("writes, s", inserts("work/modelled_write_seconds"), tenths),
    Column("both, s", modelled_seconds(OF_SINGLE, mix=KINDS["insert"], **PLAIN), tenths),
    *(Column(f"the paper's {what}", published_insert(part), whole) for part, what in enumerate(["reads", "writes", "both"])),
]
SINGLE = [
    *(Column(f"insert, F {fan_out} WB {buffer}", modelled_seconds(OF_SINGLE, mix=KINDS["insert"], **shaped(fan_out, buffer)), tenths)
      for fan_out, buffer in [(64, 32), (256, 1), (256, 32)]),
    *(Column(kind, modelled_seconds(OF_SINGLE, mix=KINDS[kind], **PLAIN), tenths) for kind in ("search", "update", "delete")),
]


def mixes(result):
    """The mixes that there are runs of."""
    return {name: mix for name, mix in MIXED.items() if any(row["mix"] == mix for row in result["rows"])}


def mixed_seconds(result):
    published = enumerate(list(MIXED)[:5])
    return [*(Column(name, modelled_seconds(OF_MIXED, mix=mix), tenths) for name, mix in mixes(result).items()),
            *(Column(f"the paper's {name}", published_mixed(at), whole) for at, name in published if name in mixes(result))]


def mixed_counts(result):
    return [*(Column(f"reads a search, {name}", each("search", "reads", mix=mix), hundredths) for name, mix in mixes(result).items()),
            *(Column(f"KB written an insertion, {name}", written(mix=mix), hundredths) for name, mix in mixes(result).items()),
            Column("KiB of memory", largest("memory_bytes", 1 / 1024), whole), Column("changes that wait", largest("waiting"), whole)]


def never_cleaned(row):
    """Whether subfiles of an AS B-tree are left as they are."""
    return row.get("valid_percent") == 0


def file_lines(result):
    """The runs of table 3, by structure."""
    rows = [row for row in result["rows"] if row.get("shape") == PLAIN["shape"] and row["cache"] == 0 and row["structure"] in PAPERS and row["mix"] in FILED]
    named = ((f"`{row['variant']}`" + (", never cleaned" if never_cleaned(row) else ""), row) for row in rows)
    return by("name")({"rows": [row | {"name": name} for name, row in named]})


def published_file(rows):
    return AS_B_TREE_FILES.get(rows[0]["structure"] + ("-uncleaned" if never_cleaned(rows[0]) else ""))


FILES = [
    Column("MB after the insertions", median("file_bytes", 1e-6, mix=KINDS["insert"]), tenths),
    Column("before", median("file_bytes", 1e-6, mix=KINDS["search"]), tenths),
    Column("MB written by them", median("work/written_bytes", 1e-6, mix=KINDS["insert"]), tenths),
    Column("the paper's MB", published_file, tenths),
]


def cached_lines(kind):
    """The runs of figures 13 and 14, by structure."""
    def lines(result):
        return tree_lines(row for row in result["rows"] if row["mix"] == KINDS[kind] and row.get("shape") == PLAIN["shape"]
                          and not row["apart"] and not is_of_figure_7(row))
    return lines


def caches(result):
    """The sizes of caches in nodes, of single operations."""
    return sorted({row["cache"] for row in result["rows"] if row["mix"] in KINDS.values() and row.get("shape")})


def cached_columns(result):
    def reads(cache):
        def of(rows):
            parts = [median(path, cache=cache)(rows) for path in ("work/reads", "operations")]
            return None if None in parts else parts[0] / parts[1]
        return of
    return [*(Column(f"{cache} nodes", modelled_seconds(OF_SINGLE, cache=cache), tenths) for cache in caches(result)),
            *(Column(f"reads, {cache}", reads(cache), hundredths) for cache in caches(result))]


# Subfiles of figure 7.
SUBFILES = 10


def spread_lines(result):
    """An AS B-tree with subfiles of the paper's size, by keys, keys a node and whether it is cleaned."""
    rows = [row for row in result["rows"] if row.get("shape") is None and row.get("variant") == "as-b-tree" and row["cache"] == 0]
    def name(row):
        return f"{row['keys']} keys, F {row['fan_out']}, " + ("never cleaned" if never_cleaned(row) else f"cleaned below {row['valid_percent']} %")
    return by("name")({"rows": [row | {"name": name(row)} for row in rows]})


def nodes_of(age):
    """Nodes that count in one of the newest subfiles; 0 is the newest."""
    def of(rows):
        files = rows[0]["subfiles"]
        return files[-1 - age][2] if age < len(files) else None
    return of


SPREAD = [
    *(Column("newest" if age == 0 else f"{age} before", nodes_of(age), whole) for age in reversed(range(SUBFILES))),
    Column("nodes in all", lambda rows: sum(file[2] for file in rows[0]["subfiles"]), whole),
    Column("moved", median("moved_nodes"), whole), Column("MB of files", median("file_bytes", 1e-6), whole),
]

TREE_TABLES = {
    "drive-rates": Table("MB/s, modelled", drive_lines, DRIVE_RATES),
    "trees-inserts": Table("100,000 insertions", single_lines, INSERTS),
    "trees-single": Table("s of 100,000 operations, modelled", single_lines, SINGLE),
    "trees-files": Table("structure", file_lines, FILES),
    "trees-cached-inserts": Table("s of 100,000 insertions, modelled", cached_lines("insert"), cached_columns),
    "trees-cached-searches": Table("s of 100,000 searches, modelled", cached_lines("search"), cached_columns),
    "trees-spread": Table("nodes that count in subfiles of 64 MiB", spread_lines, SPREAD),
    "trees-mixed": Table("s of 1,000,000 operations, modelled", mixed_lines, mixed_seconds),
    "trees-mixed-counts": Table("structure", mixed_lines, mixed_counts),
    "as-b-tree-claims": Table("the AS B-tree's paper says", claim_lines(AS_B_TREE), CLAIM_COLUMNS),
}
