"""The manifest: one JSON file that names the shards of an index and their states.

A reader sees the manifest before or after a write, since it is replaced at once.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

from .._errors import ConflictError, FormatError
from ._hashing import SCHEME
from ._place import Place

FORMAT = 1
"""The version of the manifest that this package writes, and the newest that it reads."""


@dataclass(frozen=True)
class Shard:
    """One shard as a manifest has it."""

    state: str
    """Its name under `shards/`: `<shard>/<epoch>-<write>`."""
    documents: int
    bytes: int


@dataclass(frozen=True)
class Manifest:
    """What is served."""

    epoch: int
    """How many writes came before and with this one."""
    id: str
    """The column of the IDs."""
    schema: dict[str, str]
    """The analyzer of each field."""
    shards: tuple[Shard, ...]

    @property
    def documents(self) -> int:
        return sum(shard.documents for shard in self.shards)

    @property
    def states(self) -> set[str]:
        return {shard.state for shard in self.shards}

    @cached_property
    def served(self) -> str:
        """A name that no other set of states has."""
        states = json.dumps([shard.state for shard in self.shards])
        return blake2b(states.encode(), digest_size=8).hexdigest()


def load(place: Place) -> Manifest | None:
    """The manifest of a place; None if nothing was ever written there."""
    found = place.read_manifest()
    return _parse(place, found[0]) if found else None


def need(place: Place) -> Manifest:
    """The manifest of a place where there has to be one."""
    manifest = load(place)
    if manifest is None:
        raise FormatError(
            f"{place.uri}: there is no manifest.json, so no sharded index: "
            "write one with gannet.ray.write, and give its place as all nodes see it"
        )
    return manifest


def replace(place: Place, manifest: Manifest) -> None:
    """Puts a manifest in the place of the one before, durably and at once.

    The caller holds the lock of a folder. Where locks do not reach other machines, the epoch tells
    that another write was faster.
    """
    found = place.read_manifest()
    before, version = (_parse(place, found[0]).epoch, found[1]) if found else (0, None)
    text = json.dumps({"format": FORMAT, "hash": SCHEME, **asdict(manifest)}, indent=1)
    if before != manifest.epoch - 1 or not place.replace_manifest(version, text.encode()):
        raise ConflictError(
            f"{place.uri}: another write was finished meanwhile, and this one was given up: "
            "write again"
        )


def _parse(place: Place, text: bytes) -> Manifest:
    try:
        found: Any = json.loads(text)
        version = found["format"]
        if isinstance(version, int) and version > FORMAT:
            raise FormatError(
                f"{place.manifest}: its format is {version}, and this gannet reads up to {FORMAT}: "
                "take a newer gannet on this machine"
            )
        if version != FORMAT or found["hash"] != SCHEME:
            raise ValueError(f"format {version!r} with hash {found['hash']!r} is unknown")
        shards = tuple(
            Shard(_state(one["state"]), int(one["documents"]), int(one["bytes"]))
            for one in found["shards"]
        )
        schema = {str(name): str(analyzer) for name, analyzer in found["schema"].items()}
        if not shards:
            raise ValueError("it names no shards")
        return Manifest(int(found["epoch"]), str(found["id"]), schema, shards)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise _broken(place, reason) from error


def _state(name: object) -> str:
    """The name of a state, which leads nowhere but under `shards/`."""
    parts = name.split("/") if isinstance(name, str) else []
    if len(parts) != 2 or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"{name!r} is no name of a shard's state")
    return "/".join(parts)


def _broken(place: Place, reason: str) -> FormatError:
    return FormatError(
        f"{place.manifest}: this is no manifest of gannet.ray ({reason}): "
        "restore the file, or write the index again into an empty place"
    )
