"""Searching over shards: as one index, with slow replicas, dead ones and missing shards."""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from conftest import NODE
from shards import (
    MEMORY,
    dataset,
    documents,
    eventually,
    kill,
    pid_of,
    questions,
    replica,
    write,
)

import gannet
import gannet.ray
from gannet.ray._router import result

pytestmark = pytest.mark.filterwarnings("ignore")

ROWS = documents(3000)


@pytest.fixture(scope="module")
def place(cluster: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sharded index of all rows."""
    uri = tmp_path_factory.mktemp("shards") / "wiki"
    wrote = write(ROWS, uri, shards=3)
    assert (wrote.epoch, wrote.documents) == (1, len(ROWS))
    return uri


@pytest.fixture(scope="module")
def shards(place: Path) -> Iterator[gannet.ray.ShardedIndex]:
    with gannet.ray.open(place, replicas=2, memory=MEMORY) as index:
        yield index


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[gannet.Index]:
    """One index of the same rows."""
    with gannet.open(tmp_path_factory.mktemp("one") / "one.gnt", memory=MEMORY) as index:
        index.add(ROWS)
        index.checkpoint()
        yield index


def expected(one: gannet.Index, query: str, k: int) -> list[tuple[str, float]]:
    """The best `k` of one index, equal scores in the order of their IDs."""
    hits = one.search(query, 3000, sources=False)
    pairs = sorted(zip(hits.ids, hits.scores, strict=True), key=lambda pair: (-pair[1], pair[0]))
    return pairs[:k]


def test_answers_are_those_of_one_index(
    shards: gannet.ray.ShardedIndex, one: gannet.Index
) -> None:
    queries = questions(400)
    found = shards.search_many(queries, k=25)
    answered = 0
    for query, answer in zip(queries, found.values(), strict=True):
        wanted = expected(one, query, 25)
        assert [id for id, _ in answer] == [id for id, _ in wanted], query
        assert [score for _, score in answer] == pytest.approx(
            [score for _, score in wanted], rel=1e-5
        )
        answered += bool(wanted)
    assert answered > 350


def test_a_page_has_its_documents(shards: gannet.ray.ShardedIndex, one: gannet.Index) -> None:
    for query in questions(24, seed=5):
        hits = shards.search(query, 5, offset=5, count=True)
        wanted = expected(one, query, 10)[5:]
        assert hits.ids == [id for id, _ in wanted]
        assert hits.scores == pytest.approx([score for _, score in wanted], rel=1e-5)
        assert (hits.total, hits.total_is_exact) == (one.count(query), True)
        assert [hit.source for hit in hits] == [one[id].source for id in hits.ids]
        assert not hits.is_partial and hits.epoch == 1


def test_snippets_are_of_the_same_documents(shards: gannet.ray.ShardedIndex) -> None:
    plain = shards.search("body:whaa body:shipb", 7, offset=2)
    marked = shards.search("body:whaa body:shipb", 7, offset=2, highlight="body")
    assert marked.ids == plain.ids
    assert all("<em>" in (hit.snippet or "") for hit in marked)
    assert marked[0].json == plain[0].json and marked[0]["id"] == marked[0].id


def test_queries_of_parts_and_tables(shards: gannet.ray.ShardedIndex) -> None:
    query = gannet.Query.words("whaa") & ~gannet.Query.words("shipb")
    hits = shards.search(query, 3, operator="and")
    assert len(hits) == 3
    assert list(hits.to_pandas().columns) == ["id", "score", "title", "body", "kind"]
    assert hits.to_arrow().num_rows == hits.to_polars().height == 3
    assert shards.search(query, 3, sources=False)[0].json is None


def test_a_document_is_got_from_its_shard(shards: gannet.ray.ShardedIndex) -> None:
    for row in ROWS[:20]:
        hit = shards.get(row["id"])
        assert hit is not None and hit.source == row
    assert shards.get("nobody") is None
    assert len(shards) == len(ROWS) and shards.fields["body"] == "standard"


def test_bad_searches_say_what_to_do(shards: gannet.ray.ShardedIndex) -> None:
    with pytest.raises(gannet.InvalidError, match="whose sum is at most 10000"):
        shards.search("whaa", 20_000)
    with pytest.raises(gannet.InvalidError):
        shards.search('"whaa')
    with pytest.raises(gannet.SearchTimeoutError, match="give it more time"):
        shards.search("whaa", timeout=1e-9)
    with pytest.raises(gannet.InvalidError, match=r"memory='20MiB': .*: give 32 MiB or more"):
        gannet.ray.open(shards.uri, memory="20MiB")
    with pytest.raises(gannet.InvalidError, match=r"replicas=9: .* has 2: give a number from 1"):
        gannet.ray.open(shards.uri, replicas=9)


def test_replicas_of_a_shard_are_on_different_nodes(shards: gannet.ray.ShardedIndex) -> None:
    def node(_: Any) -> str:
        return str(ray.get_runtime_context().get_node_id())

    for shard in range(3):
        both = [replica(shards, shard, number) for number in range(2)]
        assert len({ray.get(one.__ray_call__.remote(node)) for one in both}) == 2


def test_an_index_can_be_handed_to_tasks(shards: gannet.ray.ShardedIndex) -> None:
    @ray.remote(num_cpus=0)
    def best(index: gannet.ray.ShardedIndex, query: str) -> list[str]:
        return index.search(query).ids

    assert ray.get(best.remote(shards, "whaa")) == shards.search("whaa").ids


def test_a_slow_replica_is_asked_twice(shards: gannet.ray.ShardedIndex) -> None:
    wanted = shards.search("whaa").ids
    slow = pid_of(replica(shards, 1, 0))
    os.kill(slow, signal.SIGSTOP)
    try:
        for _ in range(4):
            begun = time.monotonic()
            assert shards.search("whaa").ids == wanted
            assert time.monotonic() - begun < 3
        # It is asked last for a while.
        assert shards._replicas is not None and (1, 0) in shards._replicas._avoided
        other = pid_of(replica(shards, 1, 1))
        os.kill(other, signal.SIGSTOP)
        try:
            with pytest.raises(gannet.SearchTimeoutError):
                shards.search("whaa", timeout=0.5)
        finally:
            os.kill(other, signal.SIGCONT)
    finally:
        os.kill(slow, signal.SIGCONT)


def test_a_replica_that_was_killed_is_passed_over_and_comes_back(
    shards: gannet.ray.ShardedIndex,
) -> None:
    wanted = shards.search("whaa").ids
    for shard in (0, 2):
        dead = pid_of(replica(shards, shard, 0))
        kill(dead)
        assert shards.search("whaa").ids == wanted

        def again(shard: int = shard, dead: int = dead) -> bool:
            try:
                return pid_of(replica(shards, shard, 0)) != dead
            except ray.exceptions.RayActorError:
                return False

        assert eventually(again) < 15
        assert shards.search("whaa").ids == wanted


def test_a_replica_whose_disk_broke_is_passed_over(place: Path) -> None:
    def broken(reader: Any) -> None:
        for file in reader._scratch.folder.glob("*/zone-*"):
            os.truncate(file, 0)

    with gannet.ray.open(place, memory=MEMORY) as index:
        bad = replica(index, 1, 0)
        ray.get(bad.__ray_call__.remote(broken))
        with pytest.raises((gannet.DamagedError, gannet.DeviceError), match="shard 1"):
            ids = [f"d{n}" for n in range(60)]
            result(bad.documents.remote(index._manifest.shards[1].state, ids))
        with gannet.ray.open(place, replicas=1, memory=MEMORY) as whole:
            for query in questions(6, seed=7):
                assert index.search(query).ids == whole.search(query).ids
        assert index._replicas is not None and (1, 0) in index._replicas._avoided


def test_a_lost_node_is_passed_over_and_its_replicas_come_back(
    place: Path, cluster: Any
) -> None:
    lost = cluster.add_node(**NODE)
    with gannet.ray.open(place, memory=MEMORY) as index:
        wanted = index.search("whaa", 5)
        cluster.remove_node(lost, allow_graceful=False)
        begun = time.monotonic()
        while time.monotonic() - begun < 2:
            hits = index.search("whaa", 5)
            assert (hits.ids, hits.missing) == (wanted.ids, {})
        shards = index._manifest.shards

        def whole() -> bool:
            calls = [
                actor.load.remote(shards[number], index.fields)
                for number, some in enumerate(index._replicas.actors if index._replicas else [])
                for actor in some
            ]
            try:
                ray.get(calls, timeout=1)
                return True
            except ray.exceptions.RayError:
                return False

        eventually(whole, 10)
        assert index.search("whaa", 5).ids == wanted.ids


def test_a_shard_without_replicas_is_named(place: Path) -> None:
    with gannet.ray.open(place, replicas=1, memory=MEMORY) as index:
        wanted = index.search("whaa", 100, count=True, sources=False)
        gone = {id for id in wanted.ids if gannet.ray._hashing.shard_of(id, 3) == 1}
        killed = replica(index, 1, 0)
        pid = pid_of(killed)
        ray.kill(killed, no_restart=True)
        # The kill is under way when the call returns.
        eventually(lambda: not Path(f"/proc/{pid}").exists())
        with pytest.raises(gannet.ray.UnavailableError, match="shard 1: none of its replicas"):
            index.search("whaa")
        hits = index.search("whaa", 100, partial=True)
        assert hits.is_partial and list(hits.missing) == [1] and not hits.total_is_exact
        assert gone and not gone & set(hits.ids) and hits.total < wanted.total
        assert list(index.missing()) == [1]


def test_a_closed_index_says_so(place: Path) -> None:
    index = gannet.ray.open(place, replicas=1, memory=MEMORY)
    pid = pid_of(replica(index, 0, 0))
    index.close()
    index.close()
    assert index.closed and "closed" in repr(index)
    with pytest.raises(gannet.ClosedError, match="open it again"):
        index.search("whaa")
    with pytest.raises(gannet.ClosedError):
        pickle.dumps(index)
    eventually(lambda: not Path(f"/proc/{pid}").exists())


def test_a_damaged_shard_is_named(tmp_path: Path, cluster: Any) -> None:
    write(documents(300), tmp_path / "wiki", shards=2)
    state = next((tmp_path / "wiki/shards/1").iterdir())
    largest = max(state.iterdir(), key=lambda file: file.stat().st_size)
    with open(largest, "r+b") as file:
        for place in range(4096, largest.stat().st_size, 4096):
            file.seek(place + 100)
            file.write(b"\xff" * 64)
    with pytest.raises(gannet.GannetError, match="shard 1: ") as raised:
        gannet.ray.open(tmp_path / "wiki", replicas=1, memory=MEMORY)
    assert isinstance(raised.value, gannet.DamagedError | gannet.FormatError)


def test_a_shard_of_another_write_is_named(tmp_path: Path, cluster: Any) -> None:
    for name, field in [("wiki", "body"), ("other", "text")]:
        rows = [{"id": row["id"], field: row["body"]} for row in documents(200)]
        write(rows, tmp_path / name, shards=2)
    state = next((tmp_path / "wiki/shards/1").iterdir())
    other = next((tmp_path / "other/shards/1").iterdir())
    state.rename(tmp_path / "away")
    other.rename(state)
    with pytest.raises(gannet.FormatError, match='shard 1: .* field "text" is standard'):
        gannet.ray.open(tmp_path / "wiki", replicas=1, memory=MEMORY)


def test_a_dataset_has_what_a_query_finds(place: Path, one: gannet.Index) -> None:
    rows = gannet.ray.read(place, "whaa -shipb", memory=MEMORY).take_all()
    wanted = dict(expected(one, "whaa -shipb", 3000))
    assert {row["id"]: row["score"] for row in rows} == pytest.approx(wanted, rel=1e-5)
    assert all(row["body"] == one[row["id"]]["body"] for row in rows)
    assert gannet.ray.read(place, "nothingofthesort", memory=MEMORY).count() == 0


def test_queries_of_a_dataset_are_answered(shards: gannet.ray.ShardedIndex) -> None:
    queries = questions(40)
    asked = dataset([{"number": place, "query": query} for place, query in enumerate(queries)], 2)
    rows = asked.map_batches(
        gannet.ray.Searcher,
        fn_constructor_args=[shards],
        fn_constructor_kwargs={"k": 4},
        concurrency=1,
        batch_size=10,
    ).take_all()
    wanted = list(shards.search_many(queries, 4).values())
    assert len(rows) == len(queries)
    for row in rows:
        assert list(row["ids"]) == [id for id, _ in wanted[row["number"]]]
        assert len(row["scores"]) == len(row["ids"])
