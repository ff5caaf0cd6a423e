"""Keyword arguments that a call does not have: an error names those that it has."""

from __future__ import annotations

from collections.abc import Iterable

from .._native import no_option


def known(unknown: Iterable[str], call: str, options: str) -> None:
    """Raises an error for the first of these names, if there is one."""
    for name in unknown:
        raise no_option(call, options.split(), name)
