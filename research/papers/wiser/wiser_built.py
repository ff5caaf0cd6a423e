"""WiSER as published, built in the lab: its run and what it promises. A part of `research/papers/wiser/wiser.py`."""
import inputs
import results
from harness import note, remove, run

SETS = [f"{kind}-{level}" for kind in ("term", "and", "phrase") for level in (10, 100, 1000, 10000, 100000)] + ["web-term", "web-and", "web-phrase"]
# What the paper says of its filters, in per cent, and how many points another share may be away to
# be called the same.
EMPTY, SAVED, NEAR = 32, 29, 6


def built(options, program):
    """Builds and asks each corpus, and writes the result file."""
    settings = {name: getattr(options, name) for name in ("corpora", "documents", "queries", "limit", "share", "seed")}
    result = results.Result("wiser", settings, options.out)
    misses = []
    for corpus in options.corpora:
        source = inputs.source(corpus, options.documents.get(corpus))
        folder = inputs.PLACE / source.stem
        queries = inputs.queries(source, folder, options.seed, options.queries, program)
        files = folder / "wiser-files"
        remove(files)
        note(f"WiSER as published on {source.name}")
        sets = [name for name in SETS if (queries / f"{name}.tsv").exists()]
        found = run([program, "wiser", source, files, queries, "--sets", *sets, "--limit", options.limit, "--share", options.share]).json()
        remove(files)
        index = {"corpus": corpus, "kind": "index"} | found["index"] | found["settings"]
        result.rows.append(index)
        result.rows += [{"corpus": corpus} | row | {"memory": "none" if row["memory_bytes"] is None else "shared"} for row in found["rows"]]
        misses += missed(index)
        result.more = {"misses": misses}
        result.write()
    return result


def missed(index):
    """What differs too much from the paper's filters to be called them."""
    promises = [("empty filters, %", empty_share(index["lists"]), EMPTY), ("what the bitmap saves, %", bitmap_saves(index["lists"]), SAVED)]
    return [f"{index['corpus']}: {what}: {figure:.0f}, the paper {paper}" for what, figure, paper in promises if abs(figure - paper) > NEAR]


def empty_share(lists):
    return 100 * lists["empty_filters"] / lists["filters_in_all"]


def bitmap_saves(lists):
    return 100 * (1 - lists["filters"] / lists["filters_without_bitmap"])
