"""Opening files in folders where others may write, too."""

from __future__ import annotations

import os


def no_link(path: str, flags: int) -> int:
    """An opener for `open` that follows no link and waits for no reader of a pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
