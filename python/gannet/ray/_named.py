"""Errors that say which shard they are of."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from .._errors import DeviceError, GannetError


@contextmanager
def named(shard: int) -> Generator[None, None, None]:
    """Puts the shard in front of messages of what is raised within."""
    prefix = f"shard {shard}: "
    try:
        yield
    except GannetError as error:
        text = str(error)
        raise type(error)(text if text.startswith(prefix) else prefix + text) from error
    except OSError as error:
        raise DeviceError(f"{prefix}{error}") from error
