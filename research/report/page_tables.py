"""The tables of pages: lines of Markdown from the entries of claims.toml, with their origin below."""
import os

from claim_files import Verdict, significant
from page_text import BEGIN, END, MARKER
from result_rows import Wrong, loaded, place

ORDER = ["**reversed**", "not tested", "in part", "holds"]


def renewed(text, of, folder):
    """A page with its tables made anew; `of` is its ClaimFile."""
    before, after, number = text.splitlines(), [], 0
    while number < len(before):
        after.append(before[number])
        number += 1
        marker = MARKER.match(after[-1])
        if not marker:
            continue
        end = next((at for at in range(number, len(before)) if before[at].startswith((BEGIN, END))), None)
        if end is None or before[end] != END:
            raise Wrong(f"line {number}: the table has no end: expected a line {END} before the next table")
        try:
            after += table(marker["name"], of, folder)
        except Wrong as error:
            raise Wrong(f"line {number}: table {marker['name']!r}: {error}") from error
        number = end
    return "\n".join(after) + "\n"


def table(name, of, folder):
    verdicts = [verdict for verdict in of.verdicts if verdict.table == name]
    entry = next((entry for entry in of.tables if entry.name == name), None)
    if not verdicts and entry is None:
        raise Wrong(f"{of.path.name} has no such table: expected one of {', '.join(sorted(names(of)))}")
    heads, lines = verdict_lines(verdicts) if verdicts else made(entry)
    most = entry.rows if entry else 12
    if not 0 < len(lines) <= most:
        raise Wrong(f"it has {len(lines)} rows: expected 1 to {most}")
    files = dict.fromkeys(file for one in verdicts or [entry] for file in one.file.split())
    return [row(heads), "|" + "---|" * len(heads), *map(row, lines), "", origin(files, folder)]


def names(of):
    return {entry.name for entry in of.tables} | {verdict.table for verdict in of.verdicts}


def made(entry):
    heads, lines = entry.answer()
    if unknown := set(entry.format) - set(heads):
        raise Wrong(f"it has no column {unknown.pop()!r}, only {', '.join(heads)}")
    return heads, [[cell(value, entry.format.get(head)) for head, value in zip(heads, line)] for line in lines]


def cell(value, form):
    if value is None:
        return "-"
    return value if isinstance(value, str) else format(value, form) if form else significant(value)


def verdict_lines(verdicts):
    """A line for each, what reverses first."""
    found = [(verdict.says, verdict.paper, *here(verdict), verdict.why) for verdict in verdicts]
    found.sort(key=lambda line: ORDER.index(line[3]))
    return ["the paper says", "the paper", "here", "verdict", "why"], found


def here(verdict: Verdict):
    """The figures and the verdict. Columns `low` and `high` of a query are the spread of runs."""
    heads, lines = verdict.answer()
    spread = [f" ({significant(line[heads.index('low')])} to {significant(line[heads.index('high')])})" for line in lines if "low" in heads]
    figures = [figure for line in lines for head, figure in zip(heads, line) if head not in ("low", "high")]
    known = verdict.verdict(figures)
    if known == "not tested":
        return "-", known
    least, most = significant(min(figures)), significant(max(figures))
    return f"{least if least == most else f'{least} to {most}'} {verdict.unit}{''.join(spread)}".strip(), known


def row(values):
    return "| " + " | ".join(str(value).replace("|", "\\|") for value in values) + " |"


def origin(files, folder):
    """Where the figures are from, in one line; the result file has the command and all settings."""
    return "From " + "; ".join(f"[{name}]({os.path.relpath(place(name), folder)}) ({about(loaded(name))})" for name in files) + "."


def about(result):
    """When, from which commit and where. Load of other programs is told where there was any."""
    machine = result["machine"]
    changes = " with changes" if result["uncommitted_changes"] else ""
    load = f", load {machine['load_at_start']:.1f} at the start" if machine["load_at_start"] >= 1 else ""
    return f"{result['date'][:10]}, commit {str(result['commit'])[:9]}{changes}, {machine['processor']}, {machine['cores']} cores{load}"
