"""Names of states of shards: `<shard>/<epoch>-<write>`."""

from __future__ import annotations

from collections.abc import Iterable

from .._errors import ExpiredError


def name_of_state(shard: int, epoch: int, write: str) -> str:
    """The name of the state of a shard that a write makes."""
    return f"{shard}/{epoch:08}-{write}"


def left_over(names: Iterable[str], kept: set[str], epoch: int) -> list[str]:
    """Those that are neither kept nor of a later write, which may be at work."""
    return [name for name in names if name not in kept and _epoch_of(name) <= epoch]


def gone(place: str) -> ExpiredError:
    """The error where a state is missing that a manifest has named."""
    return ExpiredError(
        f"{place} is gone, since newer writes took its place: refresh() and search again"
    )


def _epoch_of(name: str) -> float:
    epoch = name.partition("/")[2].partition("-")[0]
    # What no write has made is not removed.
    return int(epoch) if epoch.isdigit() else float("inf")
