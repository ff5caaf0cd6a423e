"""The exceptions that only shards have."""

from __future__ import annotations

from .._errors import GannetError


class UnavailableError(GannetError):
    """No replica of a shard answers: wait for its restart, or search with `partial=True`."""


class WriteLostError(GannetError):
    """A write lost what a shard had received. The manifest is as it was: write again."""
