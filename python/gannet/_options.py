"""Keyword arguments that several calls share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, SupportsIndex, TypedDict

if TYPE_CHECKING:
    from ._native import Statistics


class SearchOptions(TypedDict, total=False):
    """Those of `search`."""

    offset: SupportsIndex
    highlight: str | Sequence[str] | None
    fields: str | Sequence[str] | None
    operator: Literal["or", "and"]
    syntax: Literal["query", "plain"]
    count: bool
    sources: bool
    explain: bool
    statistics: Statistics | None
    ties: Literal["id"] | None
    timeout: float | None
