"""Writing: documents of a Dataset come, and others go by their IDs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Never

from .._errors import InvalidError
from ._hashing import id_text, shard_of
from ._manifest import Manifest
from ._known import known
from ._ray import connected, own_error, traces_in_the_log
from ._rows import TOGETHER, rows_here
from ._sending import MOST_BYTES, Sender
from ._writer import WriterOptions
from ._writing import IDS, Writing, answer


_OPTIONS = "shards id memory analyzer analyzers local"
"""The options of `write`, as errors list them."""


@dataclass(frozen=True)
class Wrote:
    """What a write did."""

    epoch: int
    """The epoch that is served now."""
    documents: int
    """Documents of the whole index."""


def write(
    ds: Any,
    uri: str | os.PathLike[str],
    *,
    shards: int | None = None,
    id: str | None = None,
    memory: int | str = "512MB",
    analyzer: str | None = None,
    analyzers: Mapping[str, str] | None = None,
    local: str | os.PathLike[str] | None = None,
    **unknown: Never,
) -> Wrote:
    """Adds the rows of a Dataset, a list of dicts or a table to the sharded index at a place, or replaces documents.

    All rows can be found when the call returns, or none: until then, and after an error, readers
    see what was there before.

    - `uri` is a folder that all nodes see under this path, or s3://BUCKET/PREFIX. The first write
      makes the index.
    - `shards` is how many it gets, 8 unless told otherwise. It stays so.
    - `id` is the column of the IDs, "id" unless told otherwise. A row replaces the document with
      its ID.
    - `memory` is the budget of the writer of each shard. On S3, 64 MiB of it are for publishing.
    - `analyzer` and `analyzers` are those of `gannet.open`, for fields not seen so far.
    - `local` is a folder on the local disk of each node; that for temporary files otherwise.
    """
    known(unknown, "write", _OPTIONS)
    options = WriterOptions(memory, analyzer, dict(analyzers or {}), _path(local))
    connected()
    rows = rows_here(ds)
    is_small = rows is not None and rows.are_few
    with Writing(uri, options, shards=shards, id=id, is_small=is_small) as writing:
        if rows is None:
            _write_dataset(ds, writing)
        else:
            sender = Sender(writing.job, writing.writers, answer, MOST_BYTES)
            for table in rows.tables:
                sender.add(table)
            sender.end()
        return _wrote(writing.commit())


def _write_dataset(ds: Any, writing: Writing) -> None:
    from ._datasink import GannetDatasink  # It imports ray.data.

    try:
        with traces_in_the_log():
            ds.write_datasink(GannetDatasink(writing.job, writing.writers))
    except Exception as error:
        own = own_error(error)
        if own is None:
            raise
        # What Ray says of its tasks is of no use to who wrote.
        raise own from None


def delete(
    ids: Iterable[str | int],
    uri: str | os.PathLike[str],
    *,
    memory: int | str = "512MB",
    local: str | os.PathLike[str] | None = None,
) -> Wrote:
    """Deletes documents by ID, all at once; unknown IDs are passed over."""
    options = WriterOptions(memory, local=_path(local))
    ids = list(ids)
    with Writing(uri, options, is_small=len(ids) <= TOGETHER) as writing:
        if writing.before is None:
            raise InvalidError(f"{os.fspath(uri)}: there is no index to delete from")
        parts: list[list[str]] = [[] for _ in writing.writers]
        for id in ids:
            text = id_text(id, writing.job.id)
            parts[shard_of(text, len(parts))].append(text)
        for shard, part in enumerate(parts):
            for start in range(0, len(part), IDS):
                some = part[start : start + IDS]
                answer(writing.writers[shard].delete.remote(some), shard)
        return _wrote(writing.commit())


def _path(local: str | os.PathLike[str] | None) -> str | None:
    return None if local is None else os.fspath(local)


def _wrote(manifest: Manifest) -> Wrote:
    return Wrote(manifest.epoch, manifest.documents)
