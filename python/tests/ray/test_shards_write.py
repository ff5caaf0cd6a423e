"""Writing shards: all or nothing, whatever runs twice, dies or does not fit."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import ray
from shards import (
    MEMORY,
    dataset,
    documents,
    eventually,
    ids_in,
    kill,
    processes,
    replica,
    states_in,
    write,
)

import gannet
import gannet.ray
from gannet.ray import _manifest
from gannet.ray._hashing import shard_of
from gannet.ray._place import place_of

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("cluster")]

FEW = [{"id": str(place), "body": f"text number{place}"} for place in range(50)]
ALL = {row["id"] for row in FEW}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, cluster: Any) -> Path:
    """An index that the tests leave as it is."""
    place = tmp_path_factory.mktemp("served") / "wiki"
    write(FEW, place, shards=1)
    return place


@pytest.fixture
def uri(tmp_path: Path) -> Path:
    return tmp_path / "wiki"


def test_later_writes_replace_add_and_delete(uri: Path) -> None:
    write(FEW, uri, shards=2)
    with gannet.ray.open(uri, replicas=1, memory=MEMORY) as index:
        assert index.search("number7").ids == ["7"]
        wrote = write([{"id": "7", "body": "changed"}, {"id": "new", "body": "added"}], uri)
        assert (wrote.epoch, wrote.documents) == (2, 51)
        # What is open stays at its state until it is told.
        assert index.search("number7").ids == ["7"] and index.get("new") is None
        assert index.refresh() and not index.refresh()
        assert index.search("number7").ids == [] and index.search("changed").ids == ["7"]
        assert gannet.ray.delete(["7", "nobody", 8], uri, memory=MEMORY).documents == 49
        assert gannet.ray.delete(["7"], uri, memory=MEMORY).epoch == 3
        # Two writes later, the state that it reads is gone: it moves on by itself.
        write([{"id": "last", "body": "last"}], uri)
        write([{"id": "last", "body": "changed"}], uri)
        assert index.refresh() and index.search("changed").ids == ["last"]
    assert ids_in(uri) == ALL - {"7", "8"} | {"new", "last"}


def test_a_replica_stays_within_its_memory(uri: Path) -> None:
    def watch(reader: Any) -> None:
        """Keeps what the states take that are open while another is copied."""
        reader.budgets = []
        copy = reader._open

        def watched(*given: Any) -> gannet.Index:
            open_before = [one.memory for one in reader._held.values()]
            index: gannet.Index = copy(*given)
            reader.budgets.append(sum(open_before) + index.memory)
            return index

        reader._open = watched

    write(FEW, uri, shards=1)
    with gannet.ray.open(uri, replicas=1, memory="40MiB") as index:
        ray.get(replica(index, 0, 0).__ray_call__.remote(watch))
        for body in ("one", "two", "three"):
            write([{"id": "7", "body": body}], uri)
            assert index.refresh() and index.search(body).ids == ["7"]
        call = replica(index, 0, 0).__ray_call__
        assert ray.get(call.remote(lambda reader: reader.budgets)) == [40 << 20] * 3


def test_a_shard_without_changes_is_not_copied(uri: Path) -> None:
    write(FEW, uri, shards=2)
    before = states_in(uri)
    write([FEW[0] | {"body": "changed"}], uri)
    after = states_in(uri)
    assert len(set(before) & set(after)) == 2 and len(after) == 3
    again = gannet.ray.delete(["nobody"], uri, memory=MEMORY)
    assert again.epoch == 2 and states_in(uri) == after


def test_all_rows_are_read_where_a_search_ranks_fewer(uri: Path) -> None:
    number = 10_500
    write([{"id": str(place), "body": "same"} for place in range(number)], uri, shards=1)
    assert ids_in(uri) == {str(place) for place in range(number)}


def test_no_rows_make_an_empty_index(uri: Path) -> None:
    rows = dataset(FEW).filter(lambda row: row["id"] == "nobody")
    assert gannet.ray.write(rows, uri, shards=2, memory=MEMORY).documents == 0
    with gannet.ray.open(uri, replicas=1, memory=MEMORY) as index:
        assert index.search("text").ids == [] and len(index) == 0


def test_integers_are_ids(uri: Path) -> None:
    rows = [{"number": place, "body": "text"} for place in range(20)]
    assert write(rows, uri, shards=2, id="number").documents == 20
    assert ids_in(uri) == {str(place) for place in range(20)}
    with pytest.raises(gannet.InvalidError, match='has its IDs in the column "number"'):
        write(FEW, uri, id="id")
    with pytest.raises(gannet.InvalidError, match="has 2 shards, and shards=3 was given"):
        write(rows, uri, shards=3)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"body": "x"}], 'no column "id" for their IDs.*name it with id=.*may run a task twice'),
        ([{"id": "1", "price": float("nan")}], 'row 1: column "price": NaN'),
        ([{"id": "1", "body": b"\xff\x00"}], 'column "body"'),
        ([{"id": "1", "body": "x"}, {"id": "1", "body": "y"}], 'the ID "1" has two contents'),
        ([{"id": "1"} | {f"c{place}": "x" for place in range(1000)}], "1000|1,000|1001"),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_is_written(
    served: Path, rows: list[dict[str, Any]], message: str
) -> None:
    states, manifest = states_in(served), (served / "manifest.json").read_bytes()
    with pytest.raises(gannet.InvalidError, match=message) as raised:
        write(rows, served)
    assert "\n" not in str(raised.value)
    assert (states_in(served), (served / "manifest.json").read_bytes()) == (states, manifest)


def test_one_id_with_one_content_may_come_twice(uri: Path) -> None:
    assert write(FEW + FEW, uri, shards=1).documents == len(FEW)


def test_shards_have_to_agree_on_fields(uri: Path) -> None:
    ids = [str(place) for place in range(40)]
    numbers = [{"id": id, "x": 7} for id in ids if shard_of(id, 2) == 0]
    texts = [{"id": id, "x": "seven"} for id in ids if shard_of(id, 2) == 1]
    mixed = dataset(numbers, 1).union(dataset(texts, 1))
    with pytest.raises(gannet.InvalidError, match='"x" is keyword in shard 0 and standard in'):
        gannet.ray.write(mixed, uri, shards=2, memory=MEMORY)
    assert not (uri / "manifest.json").exists() and states_in(uri) == []
    exact = {"x": "keyword"}
    assert gannet.ray.write(mixed, uri, shards=2, analyzers=exact, memory=MEMORY).epoch == 1


def test_two_writes_at_once_lose_nothing(uri: Path) -> None:
    write(FEW, uri, shards=2)
    with place_of(uri).locked():
        with pytest.raises(gannet.LockedError, match="another write is under way"):
            write([{"id": "lost", "body": "x"}], uri)
    # A file system whose locks do not reach the other machine: the epoch tells.
    manifest = _manifest.need(place_of(uri))

    def meanwhile(row: dict[str, Any]) -> dict[str, Any]:
        found = json.loads((uri / "manifest.json").read_text())
        (uri / "manifest.json").write_text(json.dumps(found | {"epoch": 2}))
        return row

    rows = dataset([{"id": "lost", "body": "x"}], 1).map(meanwhile)
    with pytest.raises(gannet.ConflictError, match="another write was finished meanwhile"):
        gannet.ray.write(rows, uri, memory=MEMORY)
    assert _manifest.need(place_of(uri)).shards == manifest.shards


def test_a_task_that_runs_twice_changes_nothing(uri: Path, tmp_path: Path) -> None:
    rows = documents(2000)
    marker = tmp_path / "killed"

    def dies_once(batch: dict[str, Any]) -> dict[str, Any]:
        if "d1500" in batch["id"] and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), 9)
        return batch

    ds = dataset(rows, 2).map_batches(dies_once, batch_size=100)
    assert gannet.ray.write(ds, uri, shards=2, memory=MEMORY).documents == 2000
    assert marker.exists() and ids_in(uri) == {row["id"] for row in rows}


def test_a_writer_that_is_killed_goes_on(uri: Path, tmp_path: Path, cluster: Any) -> None:
    rows = documents(3000)
    kills: list[int] = []

    def killing() -> None:
        for number in range(3):
            eventually(lambda: (tmp_path / f"reached{number}").exists(), 60)
            # The one that was killed before is started again.
            eventually(lambda: len(processes(cluster, "ShardWriter")) == 2)
            kills.append(processes(cluster, "ShardWriter")[number % 2])
            kill(kills[-1])

    def reaches(batch: dict[str, Any]) -> dict[str, Any]:
        for number, id in enumerate(["d500", "d1500", "d2500"]):
            if id in batch["id"]:
                (tmp_path / f"reached{number}").touch()
        time.sleep(0.1)
        return batch

    killer = threading.Thread(target=killing)
    killer.start()
    ds = dataset(rows, 6).map_batches(reaches, batch_size=100)
    wrote = gannet.ray.write(ds, uri, shards=2, memory=MEMORY)
    killer.join()
    assert len(kills) == 3 and wrote.documents == 3000
    assert ids_in(uri) == {row["id"] for row in rows}


def test_a_write_that_dies_half_way_leaves_what_was_there(uri: Path) -> None:
    write(FEW, uri, shards=2)
    states = states_in(uri)

    def fails(row: dict[str, Any]) -> dict[str, Any]:
        if row["id"] == "n60":
            raise RuntimeError("the source broke")
        return row

    rows = [{"id": f"n{place}", "body": "new"} for place in range(100)]
    with pytest.raises(ray.exceptions.RayError, match="the source broke"):
        gannet.ray.write(dataset(rows, 10).map(fails), uri, memory=MEMORY)
    assert ids_in(uri) == ALL and states_in(uri) == states
    # One that died between the copies and the manifest leaves folders that nothing names.
    left = uri / "shards/0/00000002-dead"
    (left / "deep").mkdir(parents=True)
    assert ids_in(uri) == ALL
    assert write(rows, uri).documents == 150
    assert ids_in(uri) == ALL | {row["id"] for row in rows} and not left.exists()


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_writer_that_lost_its_disk_says_so(
    uri: Path, tmp_path: Path, cluster: Any, is_killed: bool
) -> None:
    write(FEW, uri, shards=2)

    def loses(row: dict[str, Any]) -> dict[str, Any]:
        if row["id"] == "n60" and not (tmp_path / "lost").exists():
            (tmp_path / "lost").touch()
        return row

    def losing() -> None:
        eventually(lambda: (tmp_path / "lost").exists(), 60)
        for folder in (tmp_path / "local").glob("gannet-ray/*/writer-*"):
            folder.rename(folder.with_name("gone-" + folder.name))
        if is_killed:
            for pid in processes(cluster, "ShardWriter"):
                kill(pid)

    loser = threading.Thread(target=losing)
    loser.start()
    rows = [{"id": f"n{place}", "body": "new"} for place in range(3000)]
    slow = dataset(rows, 60).map(loses)
    with pytest.raises(gannet.ray.WriteLostError, match=r"shard \d: .*write again"):
        gannet.ray.write(slow, uri, memory=MEMORY, local=tmp_path / "local")
    loser.join()
    assert ids_in(uri) == ALL
