"""Which shard a document belongs to, and what tells two contents of a document apart."""

from __future__ import annotations

import marshal
from hashlib import blake2b
from typing import Any

from .._errors import InvalidError

SCHEME = "blake2b-8"
"""The name of the hash in manifests: documents are found by it for as long as the index lives."""


def shard_of(id: str, shards: int) -> int:
    """The shard of a document with this ID."""
    digest = blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") % shards


def id_text(value: object, column: str) -> str:
    """An ID as an index keeps it."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    found = "nothing" if value is None or value == "" else f"{value!r} ({type(value).__name__})"
    raise InvalidError(
        f'column "{column}": expected an ID in each row, a string or an integer, found {found}: '
        "give each row one, or name another column with id="
    )


def content_digest(row: list[tuple[str, Any]]) -> str:
    """Tells rows with other contents apart. The columns have to be in a fixed order."""
    filled = [cell for cell in row if cell[1] is not None]
    try:
        # Its version 2 packs equal values into equal bytes.
        packed = marshal.dumps(filled, 2)
    except ValueError:  # A type that it does not know, as that of times.
        packed = repr(filled).encode("utf-8", "surrogatepass")
    return blake2b(packed, digest_size=8).hexdigest()
