"""The place of a sharded index: a folder that all nodes share.

    manifest.json                     what is served, see `_manifest`
    lock                              held by the one that writes
    shards/<shard>/<epoch>-<write>/   one state of a shard, a backup that is never changed
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlparse

from .._errors import DeviceError, InvalidError, LockedError

_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*)://")


class Place:
    """The folder behind a URI."""

    def __init__(self, uri: str | os.PathLike[str]) -> None:
        self.folder = _folder(os.fspath(uri))
        self.uri = str(self.folder)
        """The same on all nodes, whatever folder their processes run in."""
        self.manifest = self.folder / "manifest.json"
        self.shards = self.folder / "shards"

    def create(self) -> None:
        """Makes the folders that are missing."""
        try:
            self.shards.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DeviceError(f"{self.uri}: the folder cannot be made: {error}") from error

    def state(self, name: str) -> Path:
        """The folder of one state of a shard, by the name that the manifest has."""
        return self.shards / name

    @contextmanager
    def locked(self) -> Generator[None, None, None]:
        """Keeps other writes away. The lock ends with the process, however that ends."""
        self.create()
        with open(self.folder / "lock", "a") as file:
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

    def remove(self, names: list[str]) -> None:
        """Removes states that no manifest names."""
        for name in names:
            shutil.rmtree(self.state(name), ignore_errors=True)

    def sweep(self, kept: set[str]) -> None:
        """Removes all states of shards that are not named; those may be of a write that died."""
        for shard in _entries(self.shards):
            for state in _entries(shard):
                if f"{shard.name}/{state.name}" not in kept:
                    shutil.rmtree(state, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _folder(uri: str) -> Path:
    scheme = _SCHEME.match(uri)
    if scheme is None:
        return Path(uri).absolute()
    if scheme[1].lower() == "file":
        return Path(unquote(urlparse(uri).path)).absolute()
    raise InvalidError(
        f"{uri}: shards are kept in a folder that all nodes share, and {scheme[1]}:// is none: "
        "give the path of a mount, and publish single indexes with `gannet publish`"
    )


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
