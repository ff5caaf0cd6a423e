"""The tables of maintained lists: `research/papers/mfis/mfis.py`, with what the paper of MFIS publishes beside."""
import statistics

from claims import CLAIM_COLUMNS, claim_lines
from columns import Column, Table, at, by, hundredths, median, significant, tenths, whole
from mfis_claims import MFIS, PSYNC
from published import MFIS_GAINS, MFIS_QUERIES, MFIS_SMALL

GANNET = "gannet"


def beside(base):
    """A line for each strategy; its rows have that of another one, to be compared with."""
    def lines(result):
        found = by("strategy")(result)
        other = found.get(base, [None])[0]
        return {name: [row | {"beside": other} for row in rows] for name, rows in found.items()}
    return lines


def to_beside(of):
    """The ratio of a figure of a row to that of the row beside."""
    def ratio(rows):
        other = rows[0]["beside"]
        parts = of(rows), other and of([other])
        return None if None in parts or not parts[1] else parts[0] / parts[1]
    return ratio


def of_a_list(what, scale=1):
    """A figure of the lists that are asked for in the end, for each of them."""
    def of(rows):
        parts = [median(f"last/lists/{part}")(rows) for part in (f"work/{what}", "count")]
        return None if None in parts or not parts[1] else scale * parts[0] / parts[1]
    return of


def query_us(rows):
    """The mean time of a list, over all flushes that were followed by queries."""
    means = [asked["lists"]["mean_us"] for asked in rows[0]["asked"]]
    return sum(means) / len(means) if means else None


def said(published, place=None):
    """What the paper says of a strategy: one figure, or all."""
    def of(rows):
        figures = published.get(rows[0]["strategy"])
        if figures is None:
            return None
        return figures[place] if place is not None else ", ".join(map(hundredths, figures))
    return of


SECONDS, MODELLED = median("seconds"), median("work/modelled_seconds")
WORK = [
    Column("MB written", median("work/written_bytes", 1e-6), whole), Column("MB read", median("work/read_bytes", 1e-6), whole),
    Column("writes", median("work/writes"), whole), Column("reads", median("work/reads"), whole),
]
STRATEGIES = [
    *WORK, Column("s on the paper's disk, modelled", MODELLED, tenths), Column("MB of files", median("file_bytes", 1e-6), whole),
    Column("reads a list", of_a_list("reads"), hundredths), Column("KB a list", of_a_list("read_bytes", 1e-3), whole),
]
GAINS = [
    Column("s", SECONDS), Column("to MFIS", to_beside(SECONDS), hundredths),
    *(Column(f"the paper: {drive}", said(MFIS_GAINS, place), hundredths) for place, drive in enumerate(("ioDrive", "Vertex3", "P300"))),
    Column("us a list", query_us), Column("to MFIS", to_beside(query_us), hundredths), Column("the paper", said(MFIS_QUERIES)),
]
SMALL = [
    Column("s", SECONDS), Column("to Geometric", to_beside(SECONDS), hundredths), Column("the paper: flash", said(MFIS_SMALL, 1), hundredths),
    Column("s on the paper's disk, modelled", MODELLED), Column("to Geometric", to_beside(MODELLED), hundredths),
    Column("the paper: disk", said(MFIS_SMALL, 0), hundredths),
    Column("us a list", query_us), Column("to Geometric", to_beside(query_us), hundredths), Column("the paper: query", said(MFIS_SMALL, 2), hundredths),
    *WORK[:2],
]
THRESHOLDS = [Column("s", SECONDS), *WORK, Column("s on the paper's disk, modelled", MODELLED, whole)]


def gannet_meanwhile(rows):
    """MB that Gannet had written after as many flushes."""
    ours, done = rows[0]["beside"], len(rows[0]["flushes"])
    return ours and ours["flushes"][min(done, len(ours["flushes"])) - 1]["work"]["written_bytes"] / 1e6


FLUSHES = Column("flushes", lambda rows: len(rows[0]["flushes"]), whole)
VOCABULARY = [
    FLUSHES, Column("s", SECONDS), Column("s on the paper's disk, modelled", MODELLED), WORK[0],
    Column("of these vocabulary", median("written_for_vocabulary", 1e-6), whole),
    Column("Gannet in as many flushes: MB written", gannet_meanwhile, whole), *WORK[1:],
    Column("MB of files", median("file_bytes", 1e-6), whole), Column("MB of vocabulary in memory", median("vocabulary_bytes", 1e-6), whole),
]
ASKED = [
    FLUSHES,
    *(Column(f"us a {what}: {share}", median(f"last/{what}s/{share}_us"), whole) for what in ("list", "pair") for share in ("p50", "mean")),
    Column("reads a list", of_a_list("reads"), tenths), Column("KB a list", of_a_list("read_bytes", 1e-3), whole),
    Column("8 threads: pairs/s", median("together/queries_per_second"), whole), Column("8 threads: CPU us a pair", median("together/cpu_us"), whole),
]

TREES = {"Frequent": "tree of frequent words", "Long": "tree of long lists", "Short": "tree of short lists", "Delta": "levels of delta postings"}


def part_lines(result):
    """What Gannet writes for, of a whole vocabulary."""
    row = next((row for row in result["rows"] if row["strategy"] == GANNET), None)
    if row is None:
        return {}
    details, nodes = row["details"], dict.fromkeys(TREES.values(), 0)
    for tree in details["trees"]:
        nodes[TREES[tree["tree"].partition("(")[0]]] += tree["nodes_written"] * row["page_bytes"]
    parts = {"chunks": details["chunks_written_bytes"]} | nodes | {"roots and mappings": row["written_for_tables"]}
    return {name: [{"bytes": written, "of": row["work"]["written_bytes"]}] for name, written in parts.items()}


PARTS = [Column("MB", median("bytes", 1e-6), significant), Column("of all, %", lambda rows: 100 * rows[0]["bytes"] / rows[0]["of"], whole)]


def psync_lines(result):
    """Batches of random transfers, by the size of these."""
    return by("name")({"rows": [row | {"name": f"{row['bytes'] >> 10} KiB"} for row in result["rows"] if "outstanding" in row]})


def psync_columns(what):
    """A column for each number of outstanding transfers, and the largest spread of a line where cells were measured more than once."""
    def spread(rows):
        runs = [[run[what] for run in row["runs"]] for row in rows]
        return max(100 * (max(rates) - min(rates)) / statistics.median(rates) for rates in runs)

    def columns(result):
        cells = [row for row in result["rows"] if "outstanding" in row]
        counts = sorted({row["outstanding"] for row in cells})
        spreads = [Column("largest spread, %", spread, whole)] if all("runs" in row for row in cells) else []
        return [*(Column(str(count), median(what, outstanding=count), whole) for count in counts), *spreads]
    return columns


def stream_lines(result):
    """What was maintained, by the table of the result that shows it."""
    return {f"`{table}`": rows[:1] for table, rows in by("table")(result).items()}


STREAM = [
    Column("documents", median("stream/documents"), whole), Column("flushes", median("stream/flushes"), whole),
    Column("documents a flush", median("stream/documents_a_flush"), whole),
    Column("lists", lambda rows: at(rows[0], "lists/all"), whole), Column("of these asked for as long ones", lambda rows: at(rows[0], "lists/long"), whole),
    Column("postings", median("postings"), whole),
]

MFIS_TABLES = {
    "mfis-streams": Table("marker", stream_lines, STREAM),
    "mfis-strategies": Table("strategy", by("strategy"), STRATEGIES),
    "mfis-gains": Table("strategy", beside("mfis"), GAINS),
    "mfis-small": Table("strategy", beside("geometric"), SMALL),
    "mfis-thresholds": Table("threshold", by("threshold"), THRESHOLDS),
    "mfis-vocabulary": Table("strategy", beside(GANNET), VOCABULARY),
    "mfis-asked": Table("strategy", by("strategy"), ASKED),
    "mfis-parts": Table("what Gannet writes", part_lines, PARTS),
    "mfis-claims": Table("the paper of MFIS says", claim_lines(MFIS), CLAIM_COLUMNS),
    "psync": Table("MB/s read", psync_lines, psync_columns("read")),
    "psync-written": Table("MB/s written", psync_lines, psync_columns("written")),
    "psync-claims": Table("the paper of MFIS says", claim_lines(PSYNC), CLAIM_COLUMNS),
}
