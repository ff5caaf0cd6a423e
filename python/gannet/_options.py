"""Keyword arguments that several calls share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict


class SearchOptions(TypedDict, total=False):
    """Those of `search`."""

    offset: int
    highlight: str | Sequence[str] | None
    operator: Literal["or", "and"]
    count: bool
    sources: bool
    explain: bool
    timeout: float | None
