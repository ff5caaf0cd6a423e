"""What a table is made of: its lines, its columns, and how a figure is rounded.

A table is made from one result file. A line stands for some of the file's rows, and a column makes
one figure of these: the median where runs were repeated. Settings in a marker choose among the
rows, such as `threads=8`.
"""
import statistics
from collections.abc import Callable
from dataclasses import dataclass

MIB = 1 << 20
ENGINES = {"gannet": "Gannet", "tantivy": "Tantivy", "lucene": "Lucene", "seekstorm": "SeekStorm",
           "seekstorm-ngrams": "SeekStorm, n-grams"}


def significant(value):
    """Three digits, thousands parted by commas."""
    if isinstance(value, int) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def tenths(value):
    return f"{value:,.1f}"


def hundredths(value):
    return f"{value:,.2f}"


def two_digits(value):
    """Of ratios of one run, which repeat no better."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def percent(value):
    return f"{value:+.2f}"


def signed(value):
    return f"{value:+.1f}"


def whole(value):
    return f"{value:,.0f}"


@dataclass(frozen=True)
class Column:
    """A figure of the rows that a line stands for; `of` gives None where there is none."""
    head: str
    of: Callable
    rounded: Callable = significant


@dataclass(frozen=True)
class Table:
    """`lines` gives {name: rows} of a result; `columns` is a list, or gives one for a result."""
    first: str
    lines: Callable
    columns: list | Callable


def cells(table, result, choice):
    """The head of a table and its lines, as text."""
    columns = table.columns(result) if callable(table.columns) else table.columns
    lines = table.lines(dict(result, rows=[row for row in result["rows"] if chosen(row, choice)]))
    if not lines:
        raise LookupError(f"no row of the result fits {choice or 'the table'}")
    body = [[name, *(text(column, rows) for column in columns)] for name, rows in lines.items()]
    return [[table.first, *(column.head for column in columns)], *body]


def joined(results):
    """One result with the rows of all, each with the corpus of its file; `parts` has the results."""
    if len(results) == 1:
        return results[0]
    rows = [{"corpus": result["settings"]["corpus"]} | row for result in results for row in result["rows"]]
    return dict(results[0], rows=rows, parts=results)


def chosen(row, choice):
    return all(str(row.get(name)) == value for name, value in choice.items())


def text(column, rows):
    value = column.of(rows)
    return "-" if value is None else value if isinstance(value, str) else column.rounded(value)


def by(name):
    """Lines that stand for the rows with the same value of a field, in the order of the file."""
    def lines(result):
        found = {}
        for row in result["rows"]:
            if (value := at(row, name)) is not None:
                found.setdefault(str(value), []).append(row)
        return found
    return lines


def at(row, path):
    """The value at a path of names parted by slashes, or None where the row has no such place."""
    for name in path.split("/"):
        row = row.get(name) if isinstance(row, dict) else None
    return row


def median(path, scale=1, **only):
    """The median of a field over the rows that have `only` these values."""
    def of(rows):
        values = [at(row, path) for row in rows if all(row.get(name) == value for name, value in only.items())]
        values = [value for value in values if value is not None]
        return statistics.median(values) * scale if values else None
    return of


def largest(path, scale=1, **only):
    def of(rows):
        values = [at(row, path) for row in rows if all(at(row, name) == value for name, value in only.items())]
        values = [value for value in values if value is not None]
        return max(values) * scale if values else None
    return of


# Memory
