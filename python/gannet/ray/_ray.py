"""Ray itself, imported in one place so that a missing package is an error with the fix.

Most of Ray's API is made at run time, which type checkers cannot follow: it is `Any` here.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from .._errors import GannetError, InvalidError


_TRACING = ["ray.data.exceptions", "ray.data._internal.execution.streaming_executor_state"]
"""The loggers that print the frames of Ray where a task fails."""


def imported(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise InvalidError(
            f"{name} cannot be imported ({error}): pip install 'gannet[ray]'"
        ) from error


ray: Any = imported("ray")
ray_errors: Any = imported("ray.exceptions")


def connected() -> None:
    """Starts Ray on this machine, as Ray's own calls do, unless the program is connected."""
    if not ray.is_initialized():
        ray.init()


def live_nodes() -> list[str]:
    """The IDs of the nodes that are alive, in a fixed order."""
    return sorted(node["NodeID"] for node in ray.nodes() if node["Alive"])


def on_node(node: str) -> dict[str, Any]:
    """Options that place an actor on a node, or on another when that one is lost.

    The work of our actors is in threads of the engine, and they must not wait for the tasks that
    ask them: they take no processor. But Ray places an actor that takes nothing at all wherever it
    likes, so each takes a little memory.
    """
    strategies = import_module("ray.util.scheduling_strategies")
    return {
        "num_cpus": 0,
        "memory": 1 << 20,
        "scheduling_strategy": strategies.NodeAffinitySchedulingStrategy(node_id=node, soft=True),
    }


class _Hidden(logging.Filter):
    """Keeps errors from the console. Ray's log on disk has them."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno >= logging.ERROR:
            record.hide = True
        return True


@contextmanager
def traces_in_the_log() -> Generator[None, None, None]:
    """Has Ray Data write traces of errors to its log alone, since the error itself is raised."""
    hidden = _Hidden()
    loggers = [logging.getLogger(name) for name in _TRACING]
    for logger in loggers:
        logger.addFilter(hidden)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(hidden)


def own_error(error: BaseException) -> GannetError | None:
    """The exception of Gannet within one of Ray, which wraps what its workers raise."""
    seen: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop(0)
        if one is None or one in seen:
            continue
        # Ray derives classes of its own from those of exceptions; they do not print as ours.
        if isinstance(one, GannetError) and not isinstance(one, ray_errors.RayError):
            # Ray Data adds what it tried.
            return type(one)(str(one).partition("\nFailed to ")[0])
        seen.append(one)
        cause = getattr(one, "cause", None)
        waiting += [cause if isinstance(cause, BaseException) else None]
        waiting += [one.__cause__, one.__context__]
    return None
