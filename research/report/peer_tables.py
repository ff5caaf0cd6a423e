"""The tables of Gannet beside its peers on several corpora, of one result file of `research/peers/run.py` each."""
from columns import MIB, Column, ENGINES, Table, median, two_digits

NO_LIMIT = "no limit"
# The least that Gannet takes. Of a small index it is more than the share that was asked for.
LEAST_BYTES = 16 * MIB


def memory_of(row):
    """The limit of a row, by the memory that it had."""
    if row["share"] == 0:
        return NO_LIMIT
    if row["share"] is None or row.get("cache_bytes") == LEAST_BYTES:
        return f"{row['cache_bytes'] / MIB:.0f} MiB"
    return f"1/{row['share']}"


def lines_by(*names):
    """Lines that stand for the rows that are equal in these: `corpus`, `set` or `memory`."""
    def lines(result):
        found = {}
        for row in result["rows"]:
            of = {"corpus": row.get("corpus", ""), "set": f"`{row['set']}`", "memory": memory_of(row)}
            found.setdefault(", ".join(of[name] for name in names), []).append(row)
        return found
    return lines


def of_set_and_engine(result):
    """A line for each set and engine, of the corpora side by side."""
    found = {}
    for row in result["rows"]:
        found.setdefault(f"`{row['set']}`, {ENGINES[row['engine']]}", []).append(row)
    return found


def indexed_corpora(result):
    """For each corpus what each engine told of its indexing."""
    return {part["settings"]["corpus"]: [{"engine": name} | told for name, told in part["settings"]["indexes"].items()]
            for part in result.get("parts", [result])}


def indexing_columns(result):
    """Figures that every engine tells, and how long a writer waited for Gannet at most."""
    told = [Column(f"{head}: {ENGINES[name]}", median(path, scale, engine=name)) for head, path, scale in INDEXING for name in engines_of(result)]
    return [*told, Column("longest commit, s: Gannet", median("longest_commit_seconds", engine="gannet"))]


def growth_columns(result):
    """For each figure the corpora, in the order of the files."""
    corpora = list(dict.fromkeys(row["corpus"] for row in result["rows"]))
    return [Column(f"{head}: {corpus}", median(path, scale, corpus=corpus)) for head, path, scale in GROWTH for corpus in corpora]


def engines_of(result):
    return [name for name in ENGINES if any(row["engine"] == name for row in result["rows"])]


def memories_of(result):
    """From the least memory that all may have to the shares of an index, and to no limit."""
    rows = [row for row in result["rows"] if row["share"] is not None or row.get("cache_bytes") == LEAST_BYTES]
    shares = {memory_of(row): row["share"] for row in rows}
    return sorted(shares, key=lambda memory: (memory == NO_LIMIT, "/" in memory, -(shares[memory] or 0)))


def ratio(peer, rows):
    """Gannet's rate to a peer's; None where either has none."""
    ours, theirs = median("qps", engine="gannet")(rows), median("qps", engine=peer)(rows)
    return ours / theirs if ours and theirs else None


def ratio_columns(result):
    """For each memory the ratio to each peer."""
    return [Column(f"{memory}: {ENGINES[peer]}", in_memory(memory, lambda rows, peer=peer: ratio(peer, rows)), two_digits)
            for memory in memories_of(result) for peer in engines_of(result) if peer != "gannet"]


def in_memory(memory, of):
    return lambda rows: of([row for row in rows if memory_of(row) == memory])


def figures(*wanted):
    """Columns of these figures for each engine."""
    def columns(result):
        return [Column(f"{head}: {ENGINES[name]}", median(path, scale, engine=name))
                for head, path, scale in wanted for name in engines_of(result)]
    return columns


RATE, BYTES, CPU = ("queries/s", "qps", 1), ("KB", "bytes_read_per_query/os", 1e-3), ("CPU us", "cpu_us_per_query", 1)
COSTS = figures(RATE, BYTES, CPU)
GROWTH = [RATE, BYTES, ("p99 us", "latency_us_p99", 1), ("opening ms", "open_ms", 1), ("peak MB", "peak_memory_bytes", 1e-6)]
INDEXING = [("s", "seconds", 1), ("GB written", "bytes_written", 1e-9), ("index GB", "index_bytes", 1e-9)]
LATENCIES = figures(*((f"{share} us", f"latency_us_{share}", 1) for share in ("p50", "p95", "p99")))

PEER_TABLES = {
    "peers-ratios": Table("corpus and set", lines_by("corpus", "set"), ratio_columns),
    "peers-costs": Table("memory and set", lines_by("memory", "set"), COSTS),
    "peers-growth": Table("set and engine", of_set_and_engine, growth_columns),
    "peers-indexing": Table("corpus", indexed_corpora, indexing_columns),
    "peers-latencies": Table("memory and set", lines_by("memory", "set"), LATENCIES),
}
