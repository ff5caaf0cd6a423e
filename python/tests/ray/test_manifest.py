"""The manifest in a folder and on object storage, without a cluster."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from s3_server import S3Server

import gannet
from gannet.ray import _manifest
from gannet.ray._contents import Contents, line
from gannet.ray._hashing import content_digest, id_text, shard_of
from gannet.ray._manifest import Manifest, Shard
from gannet.ray._folder import Folder
from gannet.ray._place import Place, place_of
from gannet.ray._states import left_over

FIRST = Manifest(1, "id", {"body": "standard"}, (Shard("0/00000001-a", 3, 4096),))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "wiki")
    made.create()
    return made


@pytest.fixture(params=["folder", "objects"])
def place(request: pytest.FixtureRequest, folder: Folder, s3: S3Server) -> Place:
    return folder if request.param == "folder" else place_of(f"s3://manifests{folder.folder}")


def put(place: Place, text: bytes) -> None:
    """Replaces the manifest, whatever it was."""
    found = place.read_manifest()
    assert place.replace_manifest(found[1] if found else None, text)


def test_a_manifest_is_read_as_it_was_written(place: Place) -> None:
    assert _manifest.load(place) is None
    _manifest.replace(place, FIRST)
    assert _manifest.load(place) == FIRST


def test_nothing_is_left_beside_a_manifest(folder: Folder) -> None:
    _manifest.replace(folder, FIRST)
    assert sorted(one.name for one in folder.folder.iterdir()) == ["manifest.json", "shards"]


def test_a_manifest_replaces_the_one_that_it_started_from(place: Place) -> None:
    _manifest.replace(place, FIRST)
    with pytest.raises(gannet.ConflictError, match="another write was finished meanwhile"):
        _manifest.replace(place, FIRST)
    assert _manifest.load(place) == FIRST


def test_one_writes_a_folder_at_a_time(folder: Folder) -> None:
    with folder.locked():
        with pytest.raises(gannet.LockedError, match="another write is under way"):
            with place_of(folder.uri).locked():
                pass
    with folder.locked():
        pass


def test_links_in_a_folder_are_not_followed(folder: Folder, tmp_path: Path) -> None:
    victim, missing = tmp_path / "victim", tmp_path / "missing"
    victim.write_text("kept")
    new = folder.folder / f"manifest.{os.getpid()}.new"
    for link in [folder.folder / "lock", new]:
        for target in [victim, missing]:
            link.symlink_to(target)
            with pytest.raises(gannet.DeviceError, match="cannot be"), folder.locked():
                folder.replace_manifest(None, b"other")
            link.unlink()
    assert victim.read_text() == "kept" and not missing.exists()


def test_objects_are_replaced_by_one_write(s3: S3Server, tmp_path: Path) -> None:
    place = place_of(f"s3://manifests{tmp_path}")
    _manifest.replace(place, FIRST)
    found = place.read_manifest()
    assert found is not None
    # Both have read the first one.
    assert place.replace_manifest(found[1], b"faster")
    assert not place.replace_manifest(found[1], b"slower")
    assert not place.replace_manifest(None, b"new")
    assert place.read_manifest() == (b"faster", s3.tag(f"/manifests{tmp_path}/manifest.json"))


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
    put(place, json.dumps(json.loads(place.read_manifest()[0]) | change).encode())  # type: ignore[index]
    with pytest.raises(gannet.FormatError, match=message):
        _manifest.load(place)


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"format": 1}', "\xff"])
def test_a_broken_manifest_is_named(place: Place, text: str) -> None:
    put(place, text.encode("latin-1"))
    with pytest.raises(gannet.FormatError, match="manifest.json: this is no manifest"):
        _manifest.load(place)


def test_a_missing_manifest_says_what_to_do(place: Place) -> None:
    with pytest.raises(gannet.FormatError, match="write one with gannet.ray.write"):
        _manifest.need(place)


def test_of_two_writes_that_read_the_same_one_is_told(s3: S3Server, tmp_path: Path) -> None:
    place = place_of(f"s3://manifests{tmp_path}")
    _manifest.replace(place, FIRST)
    mine, rival = replace(FIRST, epoch=2, id="mine"), replace(FIRST, epoch=2, id="rival")

    def meanwhile(path: str) -> None:
        s3.on_write = lambda path: None
        _manifest.replace(place_of(place.uri), rival)

    s3.on_write = meanwhile
    with pytest.raises(gannet.ConflictError, match="another write was finished meanwhile"):
        _manifest.replace(place, mine)
    assert _manifest.load(place) == rival


def test_a_write_whose_answer_was_lost_counts(s3: S3Server, tmp_path: Path) -> None:
    place = place_of(f"s3://manifests{tmp_path}")
    for epoch in (1, 2):
        s3.answers_lost = 1
        _manifest.replace(place, replace(FIRST, epoch=epoch))
        assert s3.answers_lost == 0
    assert _manifest.need(place).epoch == 2


def test_a_write_that_failed_says_that_it_may_count(s3: S3Server, tmp_path: Path) -> None:
    place = place_of(f"s3://manifests{tmp_path}")
    _manifest.replace(place, FIRST)

    def denied(path: str) -> None:
        s3.is_denied = True

    s3.on_write = denied
    try:
        with pytest.raises(gannet.DeviceError, match="look at its epoch, or write the same again"):
            _manifest.replace(place, replace(FIRST, epoch=2))
    finally:
        s3.is_denied, s3.on_write = False, lambda path: None
    assert _manifest.need(place) == FIRST


def test_places_are_folders_or_on_s3(tmp_path: Path) -> None:
    assert place_of(f"file://{tmp_path}/a%20b").uri == str(tmp_path / "a b")
    assert place_of("s3://bucket/wiki/").uri == "s3://bucket/wiki"
    for uri in ["gs://bucket", "http://host/wiki"]:
        with pytest.raises(gannet.InvalidError, match="give the path of a mount"):
            place_of(uri)
    with pytest.raises(gannet.InvalidError, match="give a URL as a string, and not as a Path"):
        place_of(Path("s3://bucket/wiki"))
    for uri in ["s3://bucket", "s3://", "s3://key:secret@bucket/wiki"]:
        with pytest.raises(gannet.InvalidError, match="expected s3://BUCKET/PREFIX"):
            _manifest.need(place_of(uri))


def test_states_of_later_writes_are_not_swept() -> None:
    there = ["0/00000001-a", "0/00000002-b", "0/00000003-c", "1/00000002-d", "1/notes"]
    kept = {"0/00000001-a", "1/00000002-d"}
    assert left_over(there, kept, 2) == ["0/00000002-b"]


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
