"""The tables of documents that come, are replaced and deleted: `research/measure/maintenance.py`."""
import statistics

from columns import Column, ENGINES, MIB, Table, at, by, hundredths, median, whole


def engine_lines(result):
    """The rows of `ingest`, by engine and kind of commit."""
    rows = [row | {"name": f"{ENGINES[row['engine']]} {row['kind']}".strip()} for row in result["rows"] if "commits" in row or "index_bytes" in row]
    return by("name")({"rows": rows})


INGEST = [
    Column("MB written", median("bytes_written", 1e-6)),
    Column("index, MB", median("index_bytes", 1e-6)),
    Column("written / index", lambda rows: statistics.median(row["bytes_written"] / row["index_bytes"] for row in rows), hundredths),
    Column("documents/s", lambda rows: statistics.median(row.get("documents", row.get("docs")) / row["seconds"] for row in rows), whole),
    Column("CPU s", median("cpu_seconds")),
    Column("flushes", median("flushes"), whole),
    Column("longest write, ms", median("longest_write_seconds", 1e3)),
    Column("longest commit, ms", median("longest_commit_seconds", 1e3)),
    Column("peak MiB", median("peak_resident_bytes", 1 / MIB), whole),
]

def at_most(bound, here):
    return aim(f"at most {bound:.1f}", here, here <= bound)


def aim(words, here, holds):
    """The rows of a line of a table of aims."""
    return [{"aim": words, "here": hundredths(here), "holds": "yes" if holds else "no"}]


AIMS = [Column(head, lambda rows, name=name: rows[0][name]) for head, name in (("aim", "aim"), ("here", "here"), ("holds", "holds"))]


def ingest_aims(result):
    """What Gannet writes and how fast, with commits that are syncs, against its index and its peers."""
    by_engine = {row["engine"]: row for row in result["rows"] if row.get("kind") in ("sync", "")}
    ours = by_engine.get("gannet")
    if ours is None:
        return {}
    # Of a file system in memory no bytes are counted.
    peers = {ENGINES[name]: row for name, row in by_engine.items() if row is not ours and row["bytes_written"]}
    lines = {"bytes written to those of the index": at_most(2.0, ours["bytes_written"] / ours["index_bytes"])}
    lines |= {f"bytes written to {name}'s": at_most(0.5, ours["bytes_written"] / row["bytes_written"]) for name, row in peers.items()}
    tantivy = by_engine.get("tantivy")
    if tantivy:
        rate = tantivy["seconds"] / ours["seconds"]
        lines["documents/s to Tantivy's"] = aim("at least 1.0", rate, rate >= 1)
    return lines


WRITTEN_FOR = {"log": "the log with the documents", "postings": "chunks", "nodes": "nodes", "tables": "tables", "roots": "roots",
               "moved_documents": "documents moved"}


def written_lines(result):
    """What Gannet writes for, with syncs alone."""
    row = next((row for row in result["rows"] if row.get("kind") == "sync"), None)
    if row is None:
        return {}
    return {words: [{"bytes": row["bytes_written_for"][name], "of": row["bytes_written"]}] for name, words in WRITTEN_FOR.items()}


WRITTEN = [Column("MB", median("bytes", 1e-6)), Column("of all, %", lambda rows: 100 * rows[0]["bytes"] / rows[0]["of"], whole)]

# What an index may take beside the documents that live, and for each of these.
SPARE_BYTES, TIMES = 256 * MIB, 1.5


def phase_lines(result):
    """The phases of `churn`, what a rebuild gives, and an index built of what is left."""
    found = {}
    for row in result["rows"]:
        if "churn" not in row:
            continue
        churned = row["churn"]
        live = churned["fresh_bytes"] / churned["documents"]
        for phase in churned["phases"]:
            fullest = max((size / (TIMES * live * documents + SPARE_BYTES) for documents, size in phase["sizes"]), default=None)
            found.setdefault(phase["phase"], []).append(phase | {"fullest": fullest})
        rebuilt = churned["full"]
        found.setdefault("rebuild", []).append(rebuilt | {"bytes": rebuilt["allocated"] - rebuilt["free"]})
        found.setdefault("built of what is left", []).append({"bytes": churned["fresh_bytes"]})
    return found


CHURN = [
    Column("seconds", median("seconds")),
    Column("MB written", median("bytes_written", 1e-6)),
    Column("MB read", median("bytes_read", 1e-6)),
    Column("largest, MB", median("largest_bytes", 1e-6)),
    Column("of what is allowed", median("fullest"), hundredths),
    Column("MB after", median("bytes", 1e-6)),
    Column("dead documents", median("dead_documents"), whole),
    Column("snapshots given up", median("reader/snapshots_given_up"), whole),
]


def churn_aims(result):
    """The most that the index took of what it may."""
    fullest = [row["fullest"] for rows in phase_lines(result).values() for row in rows if row.get("fullest")]
    return {"size to what is allowed, at each look": at_most(1.0, max(fullest))} if fullest else {}


WORN, FRESH = "maintenance-index", "maintenance-fresh"


def worn_lines(result):
    """Queries to a worn index and to a fresh one, by set."""
    found = {}
    for row in result["rows"]:
        if "churn" in row:
            for state, sets in row["queries"].items():
                for name, asked in sets.items():
                    found.setdefault(f"`{name}`", []).append({"state": state} | asked)
    return found


def worn(state, index):
    """CPU us a query of an index, in a state of the worn one."""
    def of(rows):
        times = [run["cpu_us_per_query"] for row in rows if row["state"] == state for run in row[index]]
        return statistics.median(times) if times else None
    return of


def to_fresh(state):
    def of(rows):
        ours, fresh = worn(state, WORN)(rows), worn(state, FRESH)(rows)
        return ours / fresh if ours and fresh else None
    return of


WORN_QUERIES = [column for state, name in (("vacuumed", "vacuumed"), ("written anew", "rebuilt")) for column in (
    Column(f"CPU us: {name}", worn(state, WORN)), Column("fresh", worn(state, FRESH)), Column("to fresh", to_fresh(state), hundredths))]


def during_lines(result):
    """Only writing, only asking, and both, by the number of threads that ask."""
    found = {}
    for row in result["rows"]:
        asked = row.get("during", {"phases": []})
        for phase in asked["phases"]:
            readers = asked["settings"]["readers"]
            name = {"write": "only writing", "ask": f"{readers} that ask, alone",
                    "both": f"{readers} that ask, beside writing"}[phase["phase"]]
            # Results of before have one program without a name.
            program = f"{row['program']}: " if len(result["settings"].get("programs", [])) > 1 else ""
            found.setdefault(program + name, []).append(phase)
    return found


DURING = [
    *(Column(f"{share} us", median(f"queries/all/latency_us/{share}"), whole) for share in ("p50", "p95", "p99", "max")),
    Column("queries/s", median("queries_per_second"), whole),
    Column("documents/s", median("documents_per_second"), whole),
]

KINDS = {"bulk": "one commit", "commits": "small commits", "flushes": "some of them flushes", "beside": "the same before idle maintenance"}


def commit_lines(result):
    """Indexes of `tiny`, by how they were committed."""
    found = {}
    for row in result["rows"]:
        for kind, figures in row.get("tiny", {}).items():
            found.setdefault(KINDS[kind], []).append(figures | {"bulk_bytes": row["tiny"]["bulk"]["index_bytes"]})
    return found


COMMITS = [
    Column("commits", median("commits"), whole),
    Column("flushes", median("flushes"), whole),
    Column("MB written", median("bytes_written", 1e-6)),
    Column("index, MB", median("index_bytes", 1e-6)),
    Column("to one commit", lambda rows: rows[0]["index_bytes"] / rows[0]["bulk_bytes"], hundredths),
    Column("most files", median("most_files"), whole),
    Column("peak MiB", median("peak_resident_bytes", 1 / MIB), whole),
]


def commit_query_lines(result):
    """Queries to these indexes, by set."""
    return {f"`{name}`": [asked] for row in result["rows"] if "tiny" in row for name, asked in row["queries"].items()}


def least_cpu(kind):
    """CPU us a query, the least of the runs."""
    return lambda rows: min(at(run, "cpu_us_per_query") for run in rows[0][kind])


COMMIT_QUERIES = [
    *(Column(f"CPU us: {name}", least_cpu(kind)) for kind, name in KINDS.items()),
    *(Column(f"{name}, to one commit", lambda rows, kind=kind: least_cpu(kind)(rows) / least_cpu("bulk")(rows), hundredths)
      for kind, name in list(KINDS.items())[1:]),
]



def commit_aims(result):
    """Size and queries of what many commits leave, once idle maintenance is done, to one commit."""
    row = next((row for row in result["rows"] if "tiny" in row), None)
    if row is None:
        return {}
    lines, kinds = {}, {"commits": "small commits", "flushes": "with flushes"}
    for kind, name in kinds.items():
        lines[f"{name}: size"] = at_most(1.3, row["tiny"][kind]["index_bytes"] / row["tiny"]["bulk"]["index_bytes"])
        slowest = max((fastest(asked["bulk"]) / fastest(asked[kind]) for asked in row["queries"].values()), default=None)
        if slowest is not None:
            lines[f"{name}: time of a query, the worst set"] = at_most(1.2, slowest)
    return lines


def during_aims(result):
    """p99 beside writing to that without. Programs that are compared have something taken out, and no aim."""
    if len(result["settings"].get("programs", [])) > 1:
        return {}
    lines = {}
    for row in result["rows"]:
        if "during" in row:
            phases = {phase["phase"]: at(phase, "queries/all/latency_us/p99") for phase in row["during"]["phases"]}
            if phases["both"] and phases["ask"]:
                lines[f"{row['during']['settings']['readers']} that ask: p99 beside writing to that without"] = at_most(3.0, phases["both"] / phases["ask"])
    return lines


def missed_aims(result):
    """A line for each aim that is missed, of each corpus."""
    found = []
    for corpus in dict.fromkeys(row["corpus"] for row in result["rows"]):
        of_corpus = result | {"rows": [row for row in result["rows"] if row["corpus"] == corpus]}
        for aims in (ingest_aims, churn_aims, commit_aims, during_aims):
            found += [f"{corpus}: {words}: {line['here']}, {line['aim']}" for words, [line] in aims(of_corpus).items() if line["holds"] == "no"]
    return found


def fastest(runs):
    return max(run["qps"] for run in runs)


WRITING_TABLES = {
    "ingest": Table("engine", engine_lines, INGEST),
    "ingest-aims": Table("commits that are synced", ingest_aims, AIMS),
    "ingest-written": Table("what Gannet writes", written_lines, WRITTEN),
    "churn": Table("phase", phase_lines, CHURN),
    "churn-aims": Table("all phases", churn_aims, AIMS),
    "churn-queries": Table("set", worn_lines, WORN_QUERIES),
    "during": Table("threads", during_lines, DURING),
    "commits": Table("how it was written", commit_lines, COMMITS),
    "commit-aims": Table("to one commit", commit_aims, AIMS),
    "commit-queries": Table("set", commit_query_lines, COMMIT_QUERIES),
}
