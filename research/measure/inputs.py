"""What the lab works on: a corpus, queries made from it and from the logs, an index of each engine. All are kept in target/lab."""
import contextlib
import itertools
import json
import os
from pathlib import Path

import corpora
from engines import gannet_lab
from harness import CORPORA, ROOT, note, remove, run

PLACE = ROOT / "target" / "lab"


def source(corpus, documents):
    """The corpus as a file of JSON lines, cut to the first documents if so asked."""
    path = corpora.corpus(corpus) if corpus in corpora.CORPORA else Path(corpus)
    if documents is None:
        return path
    cut = PLACE / f"{path.stem}-{documents}.jsonl"
    if not cut.exists():
        PLACE.mkdir(parents=True, exist_ok=True)
        with open(path, "rb") as lines, open(cut.with_suffix(".unfinished"), "wb") as out:
            out.writelines(itertools.islice(lines, documents))
        cut.with_suffix(".unfinished").rename(cut)
    return cut


def queries(path, folder, seed, count, lab=None):
    """The folder of all sets of queries for a corpus: synthetic ones and those of the logs."""
    made = folder / f"queries-{seed}-{count}"
    if made.exists():
        return made
    making, lab = made.with_suffix(".unfinished"), lab or gannet_lab()
    remove(making)
    note(f"making queries in {made}")
    counts = run([lab, "wsbench", path, making, "--seed", seed, "--queries", count]).json()
    for kind, log in [("web", "web-log-25k.tsv"), ("game", "search-benchmark-game.jsonl")]:
        if (CORPORA / "queries" / log).exists():
            counts["queries"] |= run([lab, "log", kind, CORPORA / "queries" / log, making]).json()["queries"]
    (making / "counts.json").write_text(json.dumps(counts, indent=1))
    making.rename(made)
    return made


def index(engine, path, folder, flushes):
    """The engine's index of the corpus and its figures, from an earlier run if nothing changed since."""
    every = -(-count_lines(path) // flushes)
    built, mark = folder / engine.index_name, folder / f"{engine.index_name}.json"
    identity = [engine.identity(), every, path.stat().st_size]
    with contextlib.suppress(OSError, ValueError, KeyError):
        marked = json.loads(mark.read_text())
        if marked["identity"] == identity and built.exists():
            return built, marked["figures"]
    remove(built)
    note(f"{engine.name} indexes {path.name}, a commit every {every} documents")
    load = os.getloadavg()[0]
    figures = engine.index(built, path, every).json() | {"load_at_start": load}
    mark.write_text(json.dumps({"identity": identity, "figures": figures}))
    return built, figures


def count_lines(path):
    with open(path, "rb") as lines:
        return sum(1 for _ in lines)
