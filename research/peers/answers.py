"""Whether engines give the same answers: the scores of the best documents, rank by rank.

Scores and not identifiers: documents of equal score stand in whatever order an engine keeps them. Engines agree on a query
when they find equally many documents and each score is within a small share. That share is there for Lucene's words: its
Unicode tables are of another version, so a few documents are a token longer or shorter for it.
"""
import json
import tempfile
from pathlib import Path

TOLERANCE = 0.02
ASKED = 200


def of(engine, folder, queries, cache_bytes, options):
    """The scores of the best documents for the first queries of a file, on the scale without k1 + 1."""
    with tempfile.TemporaryDirectory() as made:
        first, dump = Path(made) / "first.tsv", Path(made) / "answers.jsonl"
        first.write_text("".join(line + "\n" for line in queries.read_text().splitlines()[:ASKED]))
        engine.bench(folder, first, cache_bytes, ["--dump", dump, *options]).json()
        rows = [json.loads(line) for line in dump.read_text().splitlines()]
    return [[hit["score"] * engine.score_factor for hit in row["hits"]] for row in rows]


def agreement(ours, theirs):
    """The share of queries that two engines answer alike."""
    if len(ours) != len(theirs):
        return 0.0
    return sum(map(alike, ours, theirs)) / max(1, len(ours))


def alike(ours, theirs):
    near = all(abs(a - b) <= TOLERANCE * max(a, b) for a, b in zip(ours, theirs))
    return len(ours) == len(theirs) and near
