"""The place of a sharded index on object storage.

    manifest.json                     what is served, see `_manifest`
    shards/<shard>/<epoch>-<write>/   one state of a shard, published whole and never changed

There is no lock: of two writes at once, one replaces the manifest, and the other is told.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cached_property

import gannet

from .._errors import DeviceError, GannetError
from .._native import ObjectFolder
from ._states import gone, left_over

_MANIFEST = "manifest.json"


class ObjectStore:
    """The objects below a URL, whose manifest is replaced by compare-and-swap."""

    memory_to_publish = 64 << 20
    """Bytes that publishing takes beside the budget of the index."""

    def __init__(self, uri: str) -> None:
        self.uri = uri.rstrip("/")
        self.manifest = f"{self.uri}/{_MANIFEST}"

    def read_manifest(self) -> tuple[bytes, str | None] | None:
        """The manifest and its version, if there is one."""
        return self._objects.read(_MANIFEST)

    def replace_manifest(self, known: str | None, text: bytes) -> bool:
        """Replaces the manifest of a version, or makes the first; whether it did."""
        try:
            return self._objects.replace(_MANIFEST, known, text)
        except DeviceError as error:
            raise DeviceError(
                f"{error}; whether this write counts is not known: open the index and look at its "
                "epoch, or write the same again"
            ) from error

    @contextmanager
    def locked(self) -> Generator[None, None, None]:
        """Keeps nobody away."""
        yield

    def state(self, name: str) -> str:
        """Where a state of a shard is, as `gannet.open` takes it."""
        return f"{self.uri}/shards/{name}"

    def need(self, name: str) -> str:
        """The same of a state that has to be there."""
        where = self.state(name)
        if not ObjectFolder(where).has_index():
            raise gone(where)
        return where

    def publish(self, index: gannet.Index, name: str) -> int:
        """Makes a state of an index; its bytes."""
        report = index.publish(self.state(name), memory=self.memory_to_publish)
        return int(report["bytes"])

    def remove(self, names: list[str]) -> None:
        """Removes states that no manifest names. What cannot be removed is left to later writes."""
        # One that fails has waited for the store already.
        with suppress(GannetError):
            for name in names:
                ObjectFolder(self.state(name)).remove_all()

    def sweep(self, kept: set[str], epoch: int) -> None:
        """Removes what earlier writes have left, up to an epoch."""
        with suppress(GannetError):
            objects = ObjectFolder(f"{self.uri}/shards").names()
            there = {"/".join(name.split("/")[:2]) for name in objects}
            self.remove(left_over(sorted(there), kept, epoch))

    @cached_property
    def _objects(self) -> ObjectFolder:
        return ObjectFolder(self.uri)
