"""Folders of actors on the local disk of their node.

A folder belongs to the process that holds its lock. What dead processes left is removed when an
actor of the same kind starts for the same shard.
"""

from __future__ import annotations

import fcntl
import shutil
import tempfile
import time
from hashlib import blake2b
from pathlib import Path
from typing import IO

from .._errors import DeviceError, LockedError
from ._plain import no_link
from ._ray import ray

_PATIENCE = 10.0
"""Seconds for the process that an actor replaces to be gone."""


class Scratch:
    """A folder `<local>/gannet-ray/<node>/<kind>-<index>-<shard>-<token>` and its lock."""

    def __init__(self, local: str | None, kind: str, uri: str, shard: int, token: str) -> None:
        node = ray.get_runtime_context().get_node_id()[:16]
        index = blake2b(uri.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        base = Path(local or tempfile.gettempdir()) / "gannet-ray" / node
        prefix = f"{kind}-{index}-{shard}-"
        self.folder = base / (prefix + token)
        self.is_new = not self.folder.exists()
        try:
            base.mkdir(parents=True, exist_ok=True)
            _sweep(base, prefix, self.folder)
            self._lock = _lock(_lock_of(self.folder), _PATIENCE)
            # What it copies or caches are documents.
            self.folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise DeviceError(
                f"{base}: no folder can be made on the local disk ({error}): "
                "name another with local="
            ) from error

    def remove(self) -> None:
        """Removes the folder and gives up its lock."""
        shutil.rmtree(self.folder, ignore_errors=True)
        _lock_of(self.folder).unlink(missing_ok=True)
        self._lock.close()


def _sweep(base: Path, prefix: str, kept: Path) -> None:
    for lock in base.glob(f"{prefix}*.lock"):
        folder = lock.with_suffix("")
        if folder == kept:
            continue
        try:
            held = _lock(lock, 0.0)
        except LockedError:
            continue
        with held:
            shutil.rmtree(folder, ignore_errors=True)
            lock.unlink(missing_ok=True)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(folder.name + ".lock")


def _lock(path: Path, patience: float) -> IO[str]:
    file = open(path, "a", opener=no_link)
    end = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except BlockingIOError as error:
            if time.monotonic() >= end:
                file.close()
                raise LockedError(f"{path}: another process holds it: end that one") from error
        time.sleep(0.1)
