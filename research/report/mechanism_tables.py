"""The tables of `research/measure/mechanisms.py`: programs with and without a mechanism of the engine."""
from columns import Column, Table, significant, tenths

WORDS = {"kept": "as it is", "two-levels": "two levels of delta postings", "no-frequent": "no tree of frequent words"}


def lines(result):
    """A line for each corpus and program, with the program that keeps all beside it."""
    kept = {row["corpus"]: row for row in result["rows"] if row["program"] == "kept"}
    return {f"{row['corpus']}, {WORDS.get(row['program'], row['program'])}": [row, kept[row["corpus"]]] for row in result["rows"]}


def figure(*path):
    def of(rows):
        value = rows[0]
        for name in path:
            value = value[name]
        return value
    return of


def ratio(*path):
    def of(rows):
        row, kept = rows
        return (figure(*path)([row]) / figure(*path)([kept]) - 1) * 100
    return of


def signed_percent(value):
    return f"{value:+.1f}"


MECHANISMS = Table("corpus, program", lines, [
    Column("MB written", lambda rows: rows[0]["written"] / 1e6, significant),
    Column("%", ratio("written"), signed_percent),
    Column("index, MB", lambda rows: rows[0]["index"] / 1e6, significant),
    Column("flushes", figure("flushes")),
    Column("reads: a word", figure("queries", "term", "reads")),
    Column("two words", figure("queries", "and", "reads")),
    Column("a phrase", figure("queries", "phrase", "reads")),
    Column("% of a phrase", ratio("queries", "phrase", "reads"), signed_percent),
])


def order_lines(result):
    """A line for each state of an index: as it was built, and rebuilt in each order."""
    found = {}
    for row in result["rows"]:
        states = {"as built": row} | {f"rebuilt, order {order}": row[order] for order in ("kept", "alike") if order in row}
        found |= {f"{row['corpus']}, {state}": [figures] for state, figures in states.items()}
    return found


ORDERS = Table("corpus, index", order_lines, [
    Column("index, MB", lambda rows: rows[0]["index"] / 1e6, significant),
    Column("CPU s", figure("cpu"), tenths),
    *[Column(f"CPU us: {kind}", figure("queries", kind, "warm_cpu_us")) for kind in ("term", "and", "or", "phrase")],
    Column("KB: either of two words", lambda rows: rows[0]["queries"]["or"]["bytes"] / 1e3),
])
