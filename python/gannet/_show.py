"""What notebooks show: tables of HTML in which everything that comes from an index is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from ._native import Hits

_TEXT = 200
"""Characters that are shown of a field."""

_FIELDS = 4
"""Fields that are shown where there are no snippets."""

_MARK, _END = "<em>", "</em>"


class Plan(str):
    """How a query was carried out. It prints as text, and a notebook shows a table."""

    steps: list[tuple[str, int, int, int, int]]
    """Each phase: its name, rounds, reads, bytes and frames hit."""

    def __new__(cls, text: str, steps: Sequence[tuple[str, int, int, int, int]] = ()) -> Plan:
        plan = super().__new__(cls, text)
        plan.steps = list(steps)
        return plan

    def _repr_html_(self) -> str:
        head = ["step", "rounds", "reads", "bytes", "frames hit"]
        table = _table(head, ([escape(str(cell)) for cell in step] for step in self.steps), {0})
        return f"{table}<details><summary>all</summary><pre>{escape(self)}</pre></details>"


def hits(found: Hits) -> str:
    """A table of hits."""
    rows = (
        [str(rank), escape(hit.id), f"{hit.score:.3f}", _text_of(hit)]
        for rank, hit in enumerate(found, 1)
    )
    sign = "" if found.total_is_exact else "at least "
    head = f"<p>{sign}{found.total:,} documents for <code>{escape(found.query)}</code></p>"
    return head + _table(["", "id", "score", "text"], rows, left={1, 3})


def _text_of(hit: object) -> str:
    from ._native import Hit

    assert isinstance(hit, Hit)
    snippets = hit.snippets
    if snippets:
        texts = (text for field in snippets.values() for text in field)
        return "<br>".join(map(_marked, texts))
    try:
        fields = [(name, value) for name, value in hit.source.items() if name != "id"]
    except ValueError:
        # The search was made without sources.
        return ""
    shown = (f"<b>{escape(name)}</b>: {escape(_short(value))}" for name, value in fields[:_FIELDS])
    return "<br>".join(shown)


def _marked(snippet: str) -> str:
    """Only the marks themselves stay HTML; a text that has such tags shows more of them."""
    return escape(snippet).replace(escape(_MARK), "<mark>").replace(escape(_END), "</mark>")


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _TEXT else text[: _TEXT - 3] + "..."


def _table(head: Iterable[str], rows: Iterable[Iterable[str]], left: Container[int]) -> str:
    """A table whose columns at these places are texts; a notebook has all others at the right."""
    cells = _cells("th", head, left)
    body = "".join(f"<tr>{_cells('td', row, left)}</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def _cells(tag: str, row: Iterable[str], left: Container[int]) -> str:
    def style(place: int) -> str:
        return ' style="text-align: left"' if place in left else ""

    return "".join(f"<{tag}{style(place)}>{cell}</{tag}>" for place, cell in enumerate(row))
