"""Shards on object storage: the same answers, and all or nothing without a lock."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import ray
from s3_server import S3Server
from shards import (
    dataset,
    documents,
    eventually,
    ids_in,
    kill,
    pid_of,
    processes,
    questions,
    replica,
    write,
)

import gannet
import gannet.ray
from gannet.ray import _manifest
from gannet.ray._place import place_of

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("cluster")]

MEMORY = "96MiB"

FEW = [{"id": str(place), "body": f"text number{place}"} for place in range(50)]
ALL = {row["id"] for row in FEW}


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return f"s3://shards{tmp_path}"


def states_in(s3: S3Server, uri: str) -> set[str]:
    """The states of which there are objects."""
    prefix = uri.removeprefix("s3:/") + "/shards/"
    return {"/".join(path.removeprefix(prefix).split("/")[:2]) for path in s3.below(prefix)}


def test_answers_are_those_of_one_index(uri: str, tmp_path: Path) -> None:
    rows = documents(600)
    write(rows, uri, shards=2)
    with (
        gannet.open(tmp_path / "one", memory="16MiB") as one,
        gannet.ray.open(uri, replicas=1, memory="32MiB") as copied,
        gannet.ray.open(uri, replicas=1, memory="32MiB", cache_size="64MiB") as cached,
    ):
        one.add(rows)
        for index in (copied, cached):
            for query in questions(40):
                found, wanted = index.search(query), one.search(query, ties="id")
                assert found.ids == wanted.ids, query
                assert found.scores == pytest.approx(wanted.scores, rel=1e-5), query
                assert [hit.json for hit in found] == [hit.json for hit in wanted], query
        call = replica(cached, 0, 0).__ray_call__
        paths = ray.get(call.remote(lambda reader: [one.path for one in reader._held.values()]))
        assert [path.startswith("s3://") for path in paths] == [True]
    assert ids_in(uri) == {row["id"] for row in rows}


def test_later_writes_replace_add_and_delete(uri: str, s3: S3Server) -> None:
    write(FEW, uri, shards=1)
    with gannet.ray.open(uri, replicas=1, memory="32MiB", cache_size="32MiB") as index:
        wrote = write([{"id": "7", "body": "changed"}, {"id": "new", "body": "added"}], uri)
        assert (wrote.epoch, wrote.documents) == (2, 51)
        assert index.search("number7").ids == ["7"] and index.get("new") is None
        assert index.refresh() and not index.refresh()
        assert index.search("number7").ids == [] and index.search("changed").ids == ["7"]
        assert gannet.ray.delete(["7", "nobody"], uri, memory=MEMORY).documents == 50
        # Two writes later, the state that it reads is gone: it moves on by itself.
        write([{"id": "last", "body": "last"}], uri)
        write([{"id": "last", "body": "changed"}], uri)
        kill(pid_of(replica(index, 0, 0)))
        eventually(lambda: not index.missing(timeout=1.0))
        assert index.epoch == 2
        assert index.search("changed").ids == ["last"] and index.epoch == 5
    manifest = _manifest.need(place_of(uri))
    assert manifest.states <= states_in(s3, uri) and len(states_in(s3, uri)) == 2
    assert ids_in(uri) == ALL - {"7"} | {"new", "last"}


def test_of_two_writes_at_once_one_is_told(uri: str, s3: S3Server) -> None:
    write(FEW, uri, shards=1)
    path = uri.removeprefix("s3:/") + "/manifest.json"

    def meanwhile(row: dict[str, Any]) -> dict[str, Any]:
        place = place_of(uri)
        found = place.read_manifest()
        assert found is not None
        text = json.dumps(json.loads(found[0]) | {"epoch": 2}).encode()
        assert place.replace_manifest(found[1], text)
        return row

    rows = dataset([{"id": "lost", "body": "x"}], 1).map(meanwhile)
    before = states_in(s3, uri)
    with pytest.raises(gannet.ConflictError, match="another write was finished meanwhile"):
        gannet.ray.write(rows, uri, memory=MEMORY)
    assert json.loads(s3.objects[path])["epoch"] == 2
    assert ids_in(uri) == ALL
    # What the slower one has published counts for nothing, and the next write removes it. It
    # removes what a dead write has left, too.
    assert states_in(s3, uri) >= before
    left = uri.removeprefix("s3:/") + "/shards/0/00000003-dead/zone-00000001/1"
    s3.objects[left] = b"half"
    assert write([{"id": "found", "body": "x"}], uri).epoch == 3
    assert not any("/00000002-" in state for state in states_in(s3, uri))
    assert left not in s3.objects
    assert ids_in(uri) == ALL | {"found"}


def test_a_writer_that_is_killed_while_it_publishes_goes_on(
    uri: str, s3: S3Server, cluster: Any
) -> None:
    write(FEW, uri, shards=1)
    killed: list[int] = []

    def killing(path: str) -> None:
        # The last object of the publication: all but it are there.
        if "/00000002-" in path and path.endswith("superblock") and not killed:
            killed.extend(processes(cluster, "ShardWriter"))
            kill(killed[0])

    s3.on_write = killing
    try:
        # Rows that are made while they are written have a process for each shard, however few
        # they are.
        rows = dataset([{"id": "new", "body": "added"}], 1).map(lambda row: row)
        assert gannet.ray.write(rows, uri, memory=MEMORY).documents == 51
    finally:
        s3.on_write = lambda path: None
    assert len(killed) == 1 and ids_in(uri) == ALL | {"new"}


def test_bad_uses_say_what_to_do(uri: str, s3: S3Server) -> None:
    with pytest.raises(gannet.FormatError, match="there is no manifest.json"):
        gannet.ray.open(uri)
    with pytest.raises(gannet.InvalidError, match="64 MiB to publish it: give 80 MiB or more"):
        write(FEW, uri, memory="64MiB")
    write(FEW, uri, shards=1)
    s3.is_denied = True
    try:
        with pytest.raises(gannet.DeviceError, match="manifest.json.*check the credentials"):
            gannet.ray.open(uri)
    finally:
        s3.is_denied = False
    for state in states_in(s3, uri):
        gannet._native.ObjectFolder(f"{uri}/shards/{state}").remove_all()
    with pytest.raises(gannet.ExpiredError, match=r"shard 0: .* is gone"):
        gannet.ray.open(uri, replicas=1, memory="32MiB")
