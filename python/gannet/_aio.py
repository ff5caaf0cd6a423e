"""Searching without blocking the event loop."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, SupportsIndex, Unpack

from ._native import CancelToken

if TYPE_CHECKING:
    from ._native import Hits, Query, Searcher
    from ._options import SearchOptions


async def search(
    searcher: Searcher, query: str | Query, k: SupportsIndex, **options: Unpack[SearchOptions]
) -> Hits:
    """Searches on a thread. Where the task is cancelled, the search ends soon."""
    token = CancelToken()
    call = partial(searcher.search, query, k, cancel=token, **options)
    try:
        return await asyncio.get_running_loop().run_in_executor(None, call)
    except asyncio.CancelledError:
        token.cancel()
        raise
