"""Finds an ID that one write has with two contents.

Ray may run a task twice, so the same row may arrive twice. A file on the local disk gets a line
for each row: the digest of its content and its ID. It is read when all rows have arrived, in parts
that fit into memory.
"""

from __future__ import annotations

import json
from pathlib import Path

from .._errors import InvalidError

_PART = 64 << 20
"""Bytes of lines that are looked at together."""


def line(digest: str, id: str) -> str:
    """What the file gets for one row."""
    return f"{digest} {json.dumps(id)}\n"


class Contents:
    """The file of one shard."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # A process that was killed may have left half a line, whose rows arrive again.
        self._file = open(path, "a", encoding="ascii")
        if self._file.tell() > 0:
            self._file.write("\n")

    def add(self, lines: str) -> None:
        """Keeps lines, also if this process is killed."""
        self._file.write(lines)
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    def check(self) -> None:
        """Raises an error that names an ID with two contents, if there is one."""
        parts = self._file.tell() // _PART + 1
        for part in range(parts):
            self._check(part, parts)

    def _check(self, part: int, parts: int) -> None:
        seen: dict[str, str] = {}
        with open(self._path, encoding="ascii") as lines:
            for text in lines:
                digest, _, id = text.rstrip("\n").partition(" ")
                # Half a line has no closing quote.
                if len(id) < 2 or not id.endswith('"') or hash(id) % parts != part:
                    continue
                if seen.setdefault(id, digest) != digest:
                    raise InvalidError(
                        f"the ID {id} has two contents in this write: "
                        "give each row an ID of its own, or keep only the row that counts"
                    )
