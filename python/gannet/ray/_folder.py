"""The place of a sharded index: a folder that all nodes share.

    manifest.json                     what is served, see `_manifest`
    lock                              held by the one that writes
    shards/<shard>/<epoch>-<write>/   one state of a shard, a backup that is never changed
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import gannet

from .._errors import DeviceError, LockedError
from ._plain import no_link
from ._states import gone, left_over


class Folder:
    """A folder, whose manifest is replaced by a rename."""

    memory_to_publish = 0
    """Bytes that publishing takes beside the budget of the index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.uri = str(folder)
        """The same on all nodes, whatever folder their processes run in."""
        self.manifest = str(folder / "manifest.json")
        self._shards = folder / "shards"

    def read_manifest(self) -> tuple[bytes, str | None] | None:
        """The manifest, if there is one. The lock is what its version is elsewhere."""
        try:
            return Path(self.manifest).read_bytes(), None
        except FileNotFoundError:
            return None
        except OSError as error:
            raise DeviceError(f"{self.manifest}: {error}") from error

    def replace_manifest(self, _known: str | None, text: bytes) -> bool:
        """Replaces the manifest, durably and at once."""
        new = self.folder / f"manifest.{os.getpid()}.new"
        try:
            with open(new, "wb", opener=no_link) as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, self.manifest)
            _sync(self.folder)
        except OSError as error:
            raise DeviceError(f"{self.manifest}: it cannot be replaced: {error}") from error
        return True

    @contextmanager
    def locked(self) -> Generator[None, None, None]:
        """Keeps other writes away. The lock ends with the process, however that ends."""
        self.create()
        try:
            lock = open(self.folder / "lock", "a", opener=no_link)
        except OSError as error:
            raise DeviceError(f"{self.folder}: its lock cannot be opened: {error}") from error
        with lock as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise LockedError(
                    f"{self.uri}: another write is under way: wait for its end, and write again"
                ) from error
            except OSError as error:
                raise DeviceError(
                    f"{self.uri}: the file system cannot lock files ({error}): "
                    "mount it with locks, or take another"
                ) from error
            yield

    def create(self) -> None:
        """Makes the folders that are missing."""
        try:
            self._shards.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DeviceError(f"{self.uri}: the folder cannot be made: {error}") from error

    def state(self, name: str) -> str:
        """Where a state of a shard is, as `gannet.open` takes it."""
        return str(self._shards / name)

    def need(self, name: str) -> str:
        """The same of a state that has to be there."""
        where = self.state(name)
        if not Path(where).is_dir():
            raise gone(where)
        return where

    def publish(self, index: gannet.Index, name: str) -> int:
        """Makes a state of an index; its bytes."""
        target = self._shards / name
        target.parent.mkdir(parents=True, exist_ok=True)
        report = index.backup(target)
        _sync(target.parent)
        _sync(target.parent.parent)
        return int(report["bytes"])

    def remove(self, names: list[str]) -> None:
        """Removes states that no manifest names."""
        for name in names:
            shutil.rmtree(self.state(name), ignore_errors=True)

    def sweep(self, kept: set[str], epoch: int) -> None:
        """Removes what earlier writes have left, up to an epoch."""
        there = [
            f"{shard.name}/{state.name}"
            for shard in _entries(self._shards)
            for state in _entries(shard)
        ]
        self.remove(left_over(there, kept, epoch))


def _sync(folder: Path) -> None:
    """Makes the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
