"""The actor that writes one shard, on the local disk of its node."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gannet

from .._errors import ConflictError, ExpiredError, FormatError, GannetError, MissingError
from ._contents import Contents
from ._errors import WriteLostError
from ._manifest import Shard
from ._named import named
from ._place import place_of
from ._scratch import Scratch
from ._states import name_of_state


_LOST = (
    "its writer was started again on another node, or lost its local disk, and with it "
    "the rows of this write: the index is as it was before; write again"
)


@dataclass(frozen=True)
class WriterOptions:
    """How the writer of each shard works."""

    memory: int | str
    analyzer: str | None = None
    analyzers: Mapping[str, str] = field(default_factory=dict[str, str])
    local: str | None = None


@dataclass(frozen=True)
class Job:
    """One write, as its tasks and actors know it."""

    uri: str
    write: str
    """A name that no other write has."""
    epoch: int
    """The epoch that the write makes."""
    id: str
    """The column of the IDs."""
    options: WriterOptions

    def state(self, shard: int) -> str:
        """The name of the state of a shard that the write makes."""
        return name_of_state(shard, self.epoch, self.write)


@dataclass(frozen=True)
class Published:
    """What came of one shard."""

    shard: Shard
    fields: dict[str, str]


class ShardWriter:
    """Takes rows into an index and publishes it as a new state of its shard.

    A call ends when the rows are durable, so an actor that was killed goes on where it was when
    Ray starts it again on its node. Rows that arrive twice replace themselves.
    """

    def __init__(self, job: Job, number: int, before: Shard | None) -> None:
        self._job = job
        self._number = number
        self._before = before
        self._scratch: Scratch | None = None
        self._index: gannet.Index | None = None
        self._contents: Contents | None = None

    def start(self) -> None:
        """Opens the index. Nothing else is asked before this is answered."""
        with named(self._number):
            self._index = self._open(may_be_new=True)

    def add(self, rows: Any, lines: str) -> None:
        """Adds the rows of an Arrow table; `lines` are what `Contents` keeps of them."""
        index = self._opened()
        with self._at_work():
            index.add(rows, id=self._job.id)
            index.sync()
            self._mark_changed()
            assert self._contents is not None
            self._contents.add(lines)

    def delete(self, ids: list[str]) -> int:
        """Deletes documents; how many there were."""
        index = self._opened()
        with self._at_work():
            deleted = index.delete(ids).deleted
            index.sync()
            if deleted:
                self._mark_changed()
        return deleted

    def publish(self) -> Published:
        """Copies the index to the place of the shards, unless nothing was changed."""
        index = self._opened()
        assert self._contents is not None
        with self._at_work():
            self._contents.check()
            if self._before is not None and not self._changed.exists():
                return Published(self._before, index.fields)
            name = self._job.state(self._number)
            copied = place_of(self._job.uri).publish(index, name)
            return Published(Shard(name, len(index), copied), index.fields)

    def close(self) -> None:
        """Removes what is on the local disk."""
        if self._index is not None and self._contents is not None:
            self._contents.close()
            self._index.close()
        if self._scratch is not None:
            self._scratch.remove()

    def _opened(self) -> gannet.Index:
        if self._index is None:
            with named(self._number):
                self._index = self._open(may_be_new=False)
        return self._index

    def _open(self, may_be_new: bool) -> gannet.Index:
        job, options = self._job, self._job.options
        scratch = Scratch(options.local, "writer", job.uri, self._number, job.write)
        if scratch.is_new and not may_be_new:
            scratch.remove()
            raise WriteLostError(_LOST)
        self._scratch = scratch
        path = scratch.folder / "index"
        if not self._started.exists():
            shutil.rmtree(path, ignore_errors=True)
            if self._before is not None:
                self._restore(self._before, path)
        index = gannet.open(
            path,
            memory=options.memory,
            analyzer=options.analyzer,
            analyzers=options.analyzers or None,
        )
        self._contents = Contents(scratch.folder / "contents")
        self._started.touch()
        return index

    def _restore(self, before: Shard, path: Path) -> None:
        place, memory = place_of(self._job.uri), self._job.options.memory
        try:
            gannet.restore(place.need(before.state), path, memory=memory)
        except (ExpiredError, FormatError, MissingError) as error:
            # Where no lock keeps them away, others may have written twice meanwhile.
            try:
                place.need(before.state)
            except ExpiredError:
                raise ConflictError(
                    f"{before.state} is gone: other writes were finished meanwhile, so write again; "
                    "if that does not help, restore what was there"
                ) from error
            raise

    @contextmanager
    def _at_work(self) -> Generator[None, None, None]:
        """Names the shard in errors, and says when they come from a local disk that is gone."""
        with named(self._number):
            try:
                yield
            except (GannetError, OSError) as error:
                if self._started.exists():
                    raise
                raise WriteLostError(_LOST) from error

    @property
    def _started(self) -> Path:
        """A file that is there from when the index was opened first."""
        assert self._scratch is not None
        started: Path = self._scratch.folder / "started"
        return started

    @property
    def _changed(self) -> Path:
        assert self._scratch is not None
        changed: Path = self._scratch.folder / "changed"
        return changed

    def _mark_changed(self) -> None:
        self._changed.touch()
