"""Full-text search for flash.

    import gannet

    with gannet.open("books.gnt") as ix:
        ix.add({"id": "1", "title": "Moby-Dick", "body": "Call me Ishmael."})
        for hit in ix.search("ishmael"):
            print(hit.id, hit.score, hit["title"])

An `Index` takes documents and answers queries with `Hits`. A `Snapshot` is an index at one moment,
a `Query` is built from parts, and `Rankings` are the answers of `search_many`. `Statistics` let
several indexes answer like one. Every exception is a `GannetError`.
"""

from __future__ import annotations

import atexit as _atexit
import json as _json
import weakref as _weakref
from collections.abc import Mapping as _Mapping
from os import PathLike as _PathLike
from typing import Any as _Any
from typing import Literal as _Literal
from typing import Never as _Never

from . import _native
from ._errors import (
    ClosedError,
    ConflictError,
    DamagedError,
    DeviceError,
    ExpiredError,
    ForkError,
    FormatError,
    GannetError,
    InternalError,
    InvalidError,
    LimitError,
    LockedError,
    MissingError,
    NotFoundError,
    OptionError,
    SearchTimeoutError,
    StoppedError,
)
from ._fuse import Fused, fuse
from ._native import (
    Batch,
    CancelToken,
    Document,
    Field,
    Hit,
    Hits,
    Index,
    Matching,
    Query,
    Rankings,
    Searcher,
    Snapshot,
    Statistics,
    Table,
    Written,
    restore,
)
from ._show import Plan

__all__ = [
    "Batch",
    "CancelToken",
    "ClosedError",
    "ConflictError",
    "DamagedError",
    "DeviceError",
    "Document",
    "ExpiredError",
    "Field",
    "ForkError",
    "FormatError",
    "Fused",
    "GannetError",
    "Hit",
    "Hits",
    "Index",
    "InternalError",
    "InvalidError",
    "LimitError",
    "LockedError",
    "Matching",
    "MissingError",
    "NotFoundError",
    "OptionError",
    "Plan",
    "Query",
    "Rankings",
    "SearchTimeoutError",
    "Searcher",
    "Snapshot",
    "Statistics",
    "StoppedError",
    "Table",
    "Written",
    "__version__",
    "field",
    "fuse",
    "open",
    "restore",
]

__version__: str = _native.VERSION

# They are mappings, as their stubs say, which `isinstance` has to be told.
_register: _Any = getattr(_Mapping, "register")
for _class in (Hit, Document):
    _register(_class)

# What is still open when the interpreter ends is closed, so that what was written is kept.
_open_indexes: _weakref.WeakSet[Index] = _weakref.WeakSet()


_OPTIONS = [
    "memory",
    "read_only",
    "create",
    "analyzer",
    "analyzers",
    "mapping",
    "durability",
    "backend",
    "cache_dir",
    "cache_size",
    "cache_writes",
    "result_cache",
    "result_ttl",
]


def field(name: str) -> Field:
    """A field that queries are made of: `field("price") > 5`, `field("kind").isin(["a", "b"])`."""
    return Field(name)


def open(
    path: str | _PathLike[str],
    *,
    memory: int | str | None = None,
    read_only: bool = False,
    create: bool = True,
    analyzer: str | None = None,
    analyzers: _Mapping[str, str] | None = None,
    mapping: _Mapping[str, str | _Mapping[str, object]] | None = None,
    durability: _Literal["async", "sync"] = "async",
    backend: _Literal["auto", "uring", "pread"] = "auto",
    cache_dir: str | _PathLike[str] | None = None,
    cache_size: int | str | None = None,
    cache_writes: int | str | None = None,
    result_cache: int | str | None = None,
    result_ttl: float | None = None,
    **unknown: _Never,
) -> Index:
    """Opens the index in the folder `path`, and makes one where there is none.

    A URL, such as s3://bucket/wiki, opens what `publish` has put there, with `read_only=True`.

    One handle writes at a time; with `read_only=True` any number read beside it, in this process or
    in others.

    - `memory` is the budget, 16 MiB or more: everything that grows with data stays within it. It
      is 512 MiB unless given, or less where the machine or the container of the process has little.
    - `create=False` makes it an error if there is no index.
    - `analyzer` is that of text fields not seen so far ("standard", "english", "keyword", ...), and
      `analyzers` has those of single fields by their names.
    - `mapping` declares types of fields ("text", "keyword", "long", "double", "boolean", "date", "ip"),
      as in `{"price": "double", "note": {"type": "text", "analyzer": "english"}}`, and `fields`,
      `format`, `null_value`, `ignore_above`, `column` and `terms` as the guide has them. A document
      with a value that does not fit is rejected.
    - `durability="sync"` makes each write durable before it returns; else `sync()` does.
    - `cache_dir` keeps answers in a folder on flash, and pages of a slow device, of at most
      `cache_size`, to which `cache_writes` bytes are written in a second at most. Another process
      that asks the same of the same state finds the answer.
    - `result_cache` keeps answers in so much of the memory, and reuses them; 0 keeps none.
    - `result_ttl` lets answers of earlier states be reused too, until they are so many seconds old;
      it needs a `cache_dir` or a `result_cache`.
    """
    for name in unknown:
        raise _native.no_option("open", _OPTIONS, name)
    index = _native.open(
        path,
        memory=memory,
        read_only=read_only,
        create=create,
        analyzer=analyzer,
        analyzers=None if analyzers is None else dict(analyzers),
        mapping=None if mapping is None else _json.dumps(dict(mapping)),
        durability=durability,
        backend=backend,
        cache_dir=cache_dir,
        cache_size=cache_size,
        cache_writes=cache_writes,
        result_cache=result_cache,
        result_ttl=result_ttl,
    )
    _open_indexes.add(index)
    return index


@_atexit.register
def _close_all() -> None:
    for index in list(_open_indexes):
        try:
            index.close()
        except ForkError:
            # A forked child has no part in the index of its parent.
            pass
