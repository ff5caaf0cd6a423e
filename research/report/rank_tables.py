"""Tables of `research/measure/costs.py`: what each path of the ranking buys, and two programs side by side."""
from columns import Column, at, percent, whole

FIGURES = ["instructions", "reads", "bytes"]
# What a path does, about how many lines it took, and what became of it, by the program without it.
PATHS = {
    "one-leaf": ("the list of one word offers its documents itself", 130, "kept"),
    "direct": ("what was found is offered at once, without a batch", 260, "kept"),
    "prefilter": ("one word's documents are left out by their own scores", 90, "kept"),
    "block-skips": ("blocks of one word are skipped by their bounds", 60, "kept"),
    "two-phases": ("a phrase is verified last, by the ranking", 150, "kept"),
    "best-first": ("of the first phrases those are verified that may be best", 45, "gone"),
    "conjunction-gather": ("an intersection gives its documents in batches", 40, "kept"),
    "conjunction-blocks": ("stretches of an intersection are skipped by bounds of blocks", 100, "kept"),
    "floor-beside": ("the first word of an intersection knows what the others add", 30, "kept"),
    "block-end": ("these stretches end where blocks end", 15, "kept"),
    "block-intersection": ("whole blocks are intersected", 200, "kept"),
    "spread": ("dense blocks are intersected by a table", 25, "kept"),
    "union-blocks": ("words of a union are left for later by bounds of blocks", 50, "kept"),
    "asked-by-blocks": ("such words are asked only for what the others found", 60, "kept"),
    "union-floors": ("the others know what they must exceed", 15, "kept"),
    "ask-required": ("of words left for later the required ones come first", 30, "kept"),
    "first-windows": ("of many windows a few are read first", 6, "kept"),
    "windows-ahead": ("windows are read ahead", 60, "kept"),
    "whole-lists": ("short lists are read with their heads", 15, "kept"),
    "later-lists": ("lists of words left for later are read ahead where they are dense", 8, "kept"),
    "dense-tables": ("norms and deletions are read ahead where candidates are dense", 20, "kept"),
    "dense-followers": ("so are the other lists of an intersection", 10, "kept"),
    "sums": ("a table of sums leaves out documents of a union", 170, "kept where all are counted"),
    "prefilter-rest": ("prefiltering rests after a block that it does not thin out", 12, "kept"),
}


def path_lines(result):
    """The paths that were switched off, each with its rows and those of the program with all."""
    first = result["settings"]["programs"][0]
    found = {}
    for row in result["rows"]:
        if row["program"] != first:
            found.setdefault(PATHS[row["program"]][0], []).append(row)
    return {path: rows + [row for row in result["rows"] if row["program"] == first] for path, rows in found.items()}


def path_columns(result):
    """The lines, and by how many per cent a query of each set takes more instructions without the
    path, or reads where no instructions were counted.
    """
    first = result["settings"]["programs"][0]
    sets = [row["set"] for row in result["rows"] if row["program"] == first]
    figure = "instructions" if result["settings"]["queries"] else "reads"
    return [
        Column("lines", lambda rows: PATHS[rows[0]["program"]][1], whole),
        *(Column(f"`{name}`, %", more(figure, first, name), percent) for name in dict.fromkeys(sets)),
        *(Column(f"{other}, at most, %", largest_more(other, first), percent) for other in ["reads", "bytes", "rounds"] if other != figure),
        Column("", lambda rows: PATHS[rows[0]["program"]][2]),
    ]


def more(figure, first, name):
    """By how many per cent a figure of a set is larger than that of the first program."""
    def of(rows):
        rows = [row for row in rows if row["set"] == name]
        before = [at(row, figure) for row in rows if row["program"] == first]
        after = [at(row, figure) for row in rows if row["program"] != first]
        return (after[0] / before[0] - 1) * 100 if before and after and before[0] else None
    return of


def largest_more(figure, first):
    def of(rows):
        all_sets = (more(figure, first, name)(rows) for name in {row["set"] for row in rows})
        return max((value for value in all_sets if value is not None), default=None)
    return of


def cost_lines(result):
    """A line for each set of a corpus."""
    found = {}
    for row in result["rows"]:
        found.setdefault(f"{row['corpus']}, `{row['set']}`", []).append(row)
    return found


def cost_columns(result):
    """Each figure of all programs, and by how many per cent the last is more than the first."""
    names = result["settings"]["programs"]

    def of(name, figure):
        return lambda rows: next((at(row, figure) for row in rows if row["program"] == name), None)

    def change(figure):
        def of_rows(rows):
            before, after = (of(name, figure)(rows) for name in (names[0], names[-1]))
            return (after / before - 1) * 100 if before and after is not None else None
        return of_rows
    return [
        *(Column(f"instructions: {name}", of(name, "instructions"), whole) for name in names),
        *(Column(f"{figure}: more, %", change(figure), percent) for figure in FIGURES),
    ]
