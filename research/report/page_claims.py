"""What a page says of figures outside of tables, the result file that shows it, and whether it holds.

The claims themselves are in `user_claims.py` and `offload_claims.py`, by page. To add one, put a
`Claim` into the list of its page: the words as they stand there, the result file, a table of
`tables.py` (or none), the figure as a function of what is shown, and what the words allow. Then
run `scripts/tables`, which writes docs/claims.md and report/claims.md.
"""
import json
import os
from collections.abc import Callable
from dataclasses import dataclass

from columns import cells, chosen, joined, significant
from folders import ROOT
from results import committed
from tables import TABLES


# What the words of a claim allow: functions of the figures that the result file gives.


def between(low, high):
    return lambda figures: all(low <= figure <= high for figure in figures)


def about(figure, share=0.05):
    """This figure, rounded: it may differ by a share."""
    return between(figure - share * abs(figure), figure + share * abs(figure))


def at_most(most):
    return between(float("-inf"), most)


def at_least(least):
    return between(least, float("inf"))


def like(*expected, share=0.05):
    """These figures in this order, each rounded."""
    return lambda figures: len(figures) == len(expected) and all(about(one, share)([figure]) for one, figure in zip(expected, figures))


def spans(low, high, share=0.05):
    """Figures from about `low` to about `high`."""
    return lambda figures: about(low, share)([min(figures)]) and about(high, share)([max(figures)])


def exactly(*figures):
    """These figures in this order."""
    return lambda found: list(figures) == found


class Shown:
    """What a result file shows: its rows and settings, and the figures of one of its tables. Several
    files, with spaces between, are one with the rows of all.
    """

    def __init__(self, file, table, root=ROOT):
        self.root, self.files = root, file.split()
        self.result = joined([json.loads(committed(name, root).read_text()) for name in self.files])
        self.rows, self.settings = self.result["rows"], self.result["settings"]
        name, _, choice = table.partition(" ")
        self.choice = dict(word.split("=", 1) for word in choice.split())
        self.table = TABLES[name] if name else None

    def other(self, file, table=""):
        """What another file shows, for figures that compare two."""
        self.files += [file] if file not in self.files else []
        return Shown(file, table, self.root)

    def lines(self, containing=""):
        """The rows that the lines of the table stand for, by the name of the line."""
        rows = [row for row in self.rows if chosen(row, self.choice)]
        found = {name: rows for name, rows in self.table.lines(self.result | {"rows": rows}).items() if containing in name}
        if not found:
            raise LookupError(f"the table has no line with {containing!r}")
        return found

    def figure_of(self, head):
        """The function of a column, by its head."""
        columns = self.table.columns(self.result) if callable(self.table.columns) else self.table.columns
        found = [column.of for column in columns if column.head == head]
        if not found:
            raise LookupError(f"the table has no column {head!r}, only {[column.head for column in columns]}")
        return found[0]

    def at(self, line, head):
        """The figure of a line and a column."""
        return self.figure_of(head)(self.lines()[line])

    def column(self, head, containing=""):
        """The figures of a column in all lines whose name has these words."""
        figures = map(self.figure_of(head), self.lines(containing).values())
        return [figure for figure in figures if figure is not None]

    def line(self, name):
        """The figures of all columns of a line."""
        return [self.at(name, head) for head in cells(self.table, self.result, self.choice)[0][1:]]

    def texts(self, place):
        """The texts of a column, by its place behind the names of the lines."""
        return [line[place] for line in cells(self.table, self.result, self.choice)[1:]]

    def check(self, name):
        """The figure of a check of `research/proofs/NAME.py`."""
        return next(check["figure"] for check in self.result["checks"] if check["name"] == name)


@dataclass(frozen=True)
class Claim:
    """`figure` gives a number of what is shown, a list of like ones, or a tuple of different ones;
    `allows` tells whether the words hold for these.
    """
    words: str
    file: str
    table: str
    figure: Callable
    allows: Callable
    unit: str = ""

    def cells(self, root=ROOT, folder=ROOT):
        """What stands behind the words in a page of a folder: the files, the figures, whether it
        holds.
        """
        shown = Shown(self.file, self.table, root)
        found = self.figure(shown)
        found = found if isinstance(found, (list, tuple)) else [found]
        files = ", ".join(f"[{file}]({os.path.relpath(committed(file, root), folder)})" for file in shown.files)
        table = f"`{self.table}`" if self.table else "rows"
        return [f"{files}, {table}", f"{spoken(found)} {self.unit}".strip(), "yes" if self.allows(list(found)) else "**no**"]


@dataclass(frozen=True)
class Proof:
    """What a test shows, not a result file: a limit or a promise that holds each time."""
    words: str
    file: str
    test: str

    def cells(self, root=ROOT, folder=ROOT):
        return [f"[{self.file}]({os.path.relpath(root / self.file, folder)}), `{self.test}`", "a test", "yes"]


def spoken(figures):
    """One figure as it is, like ones as the span of them, different ones each."""
    if isinstance(figures, tuple):
        return ", ".join(map(significant, figures))
    least, most = significant(min(figures)), significant(max(figures))
    return least if least == most else f"{least} to {most}"
