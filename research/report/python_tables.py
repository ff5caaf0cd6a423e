"""The tables of measurements of the Python package: `research/proofs/python_*.py`."""
from columns import MIB, Column, by, largest, tenths, whole

PACKAGES = {"gannet": "Gannet", "gannet-dicts": "Gannet, dicts and single calls", "tantivy": "tantivy-py", "lancedb": "LanceDB", "duckdb": "DuckDB fts", "bm25s": "bm25s",
            "sqlite": "SQLite FTS5"}


def package_lines(result):
    """The rows of each package, with the limit and then without."""
    named = [row | {"name": f"{PACKAGES[row['engine']]}, {limit_of(row)}"} for row in result["rows"]]
    lines = by("name")({"rows": sorted(named, key=lambda row: (not row["limit_mib"], list(PACKAGES).index(row["engine"])))})
    return lines


def limit_of(row):
    return f"{row['limit_mib']} MiB" if row["limit_mib"] else "no limit"


def rate(work, count, time):
    """So many a second of a process that ended well; why there is none otherwise."""
    def of(rows):
        found = [row for row in rows if row["what"] == work]
        if not found:
            return "no index"
        row = found[0]
        if count in row:
            return row[count] / row[time]
        return "killed" if row["kills"] else "failed"
    return of


def only(work, of):
    return lambda rows: of([row for row in rows if row["what"] == work])


PEERS = [
    Column("documents a CPU second", rate("index", "documents", "cpu_seconds"), whole),
    Column("documents/s", rate("index", "documents", "seconds"), whole),
    Column("index, MB", only("index", largest("index_bytes", 1e-6)), whole),
    Column("held MiB: indexing", only("index", largest("held_bytes", 1 / MIB)), whole),
    Column("queries a CPU second", rate("search", "queries", "cpu_seconds"), whole),
    Column("queries/s", rate("search", "queries", "seconds"), whole),
    Column("held MiB: searching", only("search", largest("held_bytes", 1 / MIB)), whole),
    Column("peak MiB with page cache", only("search", largest("group_peak_bytes", 1 / MIB)), whole),
    Column("queries", only("search", largest("queries")), whole),
    Column("kills", lambda rows: sum(row["kills"] for row in rows), whole),
    Column("of 10 alike", only("search", largest("alike")), tenths),
]
