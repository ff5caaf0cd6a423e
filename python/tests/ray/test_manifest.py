"""The manifest and the folder, without a cluster."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import gannet
from gannet.ray import _manifest
from gannet.ray._contents import Contents, line
from gannet.ray._hashing import content_digest, id_text, shard_of
from gannet.ray._manifest import Manifest, Shard
from gannet.ray._place import Place

FIRST = Manifest(1, "id", {"body": "standard"}, (Shard("0/00000001-a", 3, 4096),))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path / "wiki")
    made.create()
    return made


def test_a_manifest_is_read_as_it_was_written(place: Place) -> None:
    assert _manifest.load(place) is None
    _manifest.replace(place, FIRST)
    assert _manifest.load(place) == FIRST
    assert [one.name for one in place.folder.iterdir() if "new" in one.name] == []


def test_a_manifest_replaces_the_one_that_it_started_from(place: Place) -> None:
    _manifest.replace(place, FIRST)
    with pytest.raises(gannet.ConflictError, match="another write was finished meanwhile"):
        _manifest.replace(place, FIRST)
    assert _manifest.load(place) == FIRST


def test_one_writes_at_a_time(place: Place) -> None:
    with place.locked():
        with pytest.raises(gannet.LockedError, match="another write is under way"):
            with Place(place.uri).locked():
                pass
    with place.locked():
        pass


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "its format is 2, and this gannet reads up to 1: take a newer gannet"),
        ({"format": "x"}, "no manifest of gannet.ray"),
        ({"hash": "md5"}, "hash 'md5' is unknown"),
        ({"shards": None}, "no manifest of gannet.ray"),
        ({"shards": []}, "it names no shards"),
        ({"shards": [{"state": "../../etc", "documents": 1, "bytes": 1}]}, "no name of a shard"),
        ({"epoch": "one"}, "no manifest of gannet.ray"),
    ],
)
def test_what_is_no_manifest_says_what_to_do(
    place: Place, change: dict[str, Any], message: str
) -> None:
    _manifest.replace(place, FIRST)
    place.manifest.write_text(json.dumps(json.loads(place.manifest.read_text()) | change))
    with pytest.raises(gannet.FormatError, match=message):
        _manifest.load(place)


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"format": 1}', "\xff"])
def test_a_broken_manifest_is_named(place: Place, text: str) -> None:
    place.manifest.write_bytes(text.encode("latin-1"))
    with pytest.raises(gannet.FormatError, match="manifest.json: this is no manifest"):
        _manifest.load(place)


def test_a_missing_manifest_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(gannet.FormatError, match="write one with gannet.ray.write"):
        _manifest.need(Place(tmp_path))


def test_places_are_folders(tmp_path: Path) -> None:
    assert Place(f"file://{tmp_path}/a%20b").folder == tmp_path / "a b"
    for uri in ["s3://bucket/wiki", "gs://bucket", "http://host/wiki"]:
        with pytest.raises(gannet.InvalidError, match="give the path of a mount"):
            Place(uri)


def test_shards_of_ids_never_change() -> None:
    assert [shard_of(id, 8) for id in ["", "1", "17", "Zoë", "a/b"]] == [4, 6, 0, 0, 5]


def test_ids_are_strings_or_integers() -> None:
    assert [id_text(id, "id") for id in ["a", 7, -1]] == ["a", "7", "-1"]
    for id in [None, "", 1.5, True, b"x"]:
        with pytest.raises(gannet.InvalidError, match='column "id": expected an ID in each row'):
            id_text(id, "id")


def test_contents_differ_by_what_is_not_null() -> None:
    row = [("a", 1), ("b", "x")]
    assert content_digest(row) == content_digest([*row, ("c", None)])
    assert content_digest(row) != content_digest([("a", 2), ("b", "x")])
    # A string that Python keeps once, and the same made anew.
    again = [("".join(["", name]), value) for name, value in row]
    assert content_digest(row) == content_digest(again)
    when = datetime(2026, 1, 2)
    assert content_digest([("a", when)]) == content_digest([("a", datetime(2026, 1, 2))])
    assert content_digest([("a", when)]) != content_digest([("a", datetime(2026, 1, 3))])
    assert content_digest([("a", 1)]) != content_digest([("a", 1.0)])


def test_half_a_line_of_contents_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "contents"
    contents = Contents(path)
    contents.add(line("0" * 16, "one") + line("1" * 16, 'tw"o\n'))
    contents.close()
    path.write_text(path.read_text()[:-4])
    again = Contents(path)
    again.add(line("1" * 16, 'tw"o\n') + line("0" * 16, "one"))
    again.check()
    again.add(line("2" * 16, "one"))
    with pytest.raises(gannet.InvalidError, match='the ID "one" has two contents'):
        again.check()
    again.close()
