"""What documents that come, are replaced and deleted may cost at most, and which of these aims a
result of `maintenance.py` misses.
"""
ENGINES = {"gannet": "Gannet", "tantivy": "Tantivy", "lucene": "Lucene"}
MIB = 1 << 20

# What an index may take beside the documents that live, and for each of these.
SPARE_BYTES, TIMES = 256 * MIB, 1.5


def missed_aims(result):
    """A line for each aim that is missed, of each corpus."""
    programs, found = result["settings"].get("programs", []), []
    for corpus in dict.fromkeys(row["corpus"] for row in result["rows"]):
        rows = [row for row in result["rows"] if row["corpus"] == corpus]
        # Programs that are compared have something taken out, and no aim for queries beside writing.
        aims = [*ingest(rows), *churn(rows), *commits(rows), *(during(rows) if len(programs) < 2 else [])]
        found += [f"{corpus}: {words}: {here:.2f}, at {sense} {bound:.1f}" for words, here, sense, bound in aims
                  if (here > bound if sense == "most" else here < bound)]
    return found


def ingest(rows):
    """What Gannet writes and how fast, with commits that are syncs, against its index and its peers."""
    by_engine = {row["engine"]: row for row in rows if row.get("kind") in ("sync", "")}
    ours = by_engine.get("gannet")
    if ours is None:
        return
    yield "bytes written to those of the index", ours["bytes_written"] / ours["index_bytes"], "most", 2.0
    for name, row in by_engine.items():
        # Of a file system in memory no bytes are counted.
        if row is not ours and row["bytes_written"]:
            yield f"bytes written to {ENGINES[name]}'s", ours["bytes_written"] / row["bytes_written"], "most", 0.5
    if "tantivy" in by_engine:
        yield "documents/s to Tantivy's", by_engine["tantivy"]["seconds"] / ours["seconds"], "least", 1.0


def churn(rows):
    """The most that an index took of what it may."""
    for row in rows:
        if "churn" in row:
            live = row["churn"]["fresh_bytes"] / row["churn"]["documents"]
            taken = [size / (TIMES * live * documents + SPARE_BYTES) for phase in row["churn"]["phases"] for documents, size in phase["sizes"]]
            if taken:
                yield "size to what is allowed, at each look", max(taken), "most", 1.0


def commits(rows):
    """Size and queries of what many commits leave, once idle maintenance is done, to one commit."""
    row = next((row for row in rows if "tiny" in row), None)
    if row is None:
        return
    for kind, name in {"commits": "small commits", "flushes": "with flushes"}.items():
        yield f"{name}: size", row["tiny"][kind]["index_bytes"] / row["tiny"]["bulk"]["index_bytes"], "most", 1.3
        slowest = [fastest(asked["bulk"]) / fastest(asked[kind]) for asked in row["queries"].values()]
        if slowest:
            yield f"{name}: time of a query, the worst set", max(slowest), "most", 1.2


def fastest(runs):
    return max(run["qps"] for run in runs)


def during(rows):
    """p99 beside writing to that without."""
    for row in rows:
        if "during" in row:
            phases = {phase["phase"]: phase["queries"].get("all", {}).get("latency_us", {}).get("p99") for phase in row["during"]["phases"]}
            if phases["both"] and phases["ask"]:
                yield f"{row['during']['settings']['readers']} that ask: p99 beside writing to that without", phases["both"] / phases["ask"], "most", 3.0
