"""Keyword arguments that several calls share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypedDict

if TYPE_CHECKING:
    from ._native import Query, Statistics


class SearchOptions(TypedDict, total=False):
    """Those of `search`."""

    offset: SupportsIndex
    filter: str | Query | list[str | Query] | None
    sort: str | Sequence[str] | None
    after: Sequence[bool | int | float | str | None] | None
    collapse: str | None
    facets: str | Sequence[str] | Mapping[str, int] | None
    aggs: Mapping[str, Any] | None
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
