"""The steps of a search, by replicas in this process: how many there are, and that answers stay."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from shards import MEMORY, documents, questions

import gannet
import gannet.ray
from gannet.ray._hashing import shard_of
from gannet.ray._manifest import Manifest, Shard
from gannet.ray._reader import LEAST_MEMORY, ReaderOptions, ShardReader
from gannet.ray._router import Deadline, Replicas

ROWS = documents(1500)
SHARDS = 3


class Opened(ShardReader):
    """A replica that reads where the shard lies."""

    def _open(self, state: str, source: str) -> gannet.Index:
        return gannet.open(source, memory=LEAST_MEMORY // 2, read_only=True)


class Actor:
    """Calls of Ray that are answered at once; all goes through pickles as there."""

    def __init__(self, reader: ShardReader) -> None:
        self.reader = reader

    def __getattr__(self, name: str) -> Any:
        return Call(getattr(self.reader, name))


@dataclass
class Call:
    method: Callable[..., Any]

    def remote(self, *given: Any) -> Any:
        return pickle.loads(pickle.dumps(self.method(*pickle.loads(pickle.dumps(given)))))


@dataclass
class Direct(Replicas):
    """Asks them, and keeps which shards each step was for."""

    actors: list[list[Any]]
    steps: list[list[int]] = field(default_factory=list[list[int]])
    lost: set[int] = field(default_factory=set[int])

    def __post_init__(self) -> None:
        super().__init__(self.actors, 0.1)

    def ask(
        self,
        shards: Iterable[int],
        request: Callable[[int, Any], Any],
        deadline: Deadline,
        turn: int,
    ) -> tuple[dict[int, Any], dict[int, str]]:
        asked = list(shards)
        self.steps.append(asked)
        # They answer in any order.
        answers = {
            shard: request(shard, self.actors[shard][self.order(shard, turn)[0]])
            for shard in reversed(asked)
            if shard not in self.lost
        }
        return answers, dict.fromkeys(sorted(self.lost & set(asked)), "lost")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Manifest]:
    """Shards as a write makes them, with a field that only one has."""
    place = tmp_path_factory.mktemp("steps")
    return place, shards_of([*ROWS, {"id": "1", "price": "low", "body": "whaa"}], place)


def shards_of(rows: list[dict[str, Any]], place: Path) -> Manifest:
    shards: list[Shard] = []
    schema: dict[str, str] = {}
    for shard in range(SHARDS):
        state = f"{shard}/00000001-made"
        (place / "shards" / state).parent.mkdir(parents=True)
        with gannet.open(place / "shards" / state, memory=MEMORY) as index:
            index.add([row for row in rows if shard_of(row["id"], SHARDS) == shard])
            schema |= index.fields
            shards.append(Shard(state, len(index), 1))
    return Manifest(1, "id", schema, tuple(shards))


def opened(place: Path, manifest: Manifest, replicas: int = 1) -> gannet.ray.ShardedIndex:
    actors = [
        [
            Actor(Opened(str(place), number, shard.state, ReaderOptions(LEAST_MEMORY)))
            for _ in range(replicas)
        ]
        for number, shard in enumerate(manifest.shards)
    ]
    return gannet.ray.ShardedIndex(str(place), Direct(actors), manifest, owns=False)


def direct(index: gannet.ray.ShardedIndex) -> Direct:
    assert isinstance(index._replicas, Direct)
    return index._replicas


@pytest.fixture
def shards(made: tuple[Path, Manifest]) -> gannet.ray.ShardedIndex:
    return opened(*made)


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[gannet.Index]:
    """One index of the same rows."""
    with gannet.open(tmp_path_factory.mktemp("one") / "one.gnt", memory=MEMORY) as index:
        index.add([*ROWS, {"id": "1", "price": "low", "body": "whaa"}])
        yield index


def is_of_one(hits: gannet.ray.ShardedHits, one: gannet.Index, query: str, k: int = 10) -> bool:
    wanted = one.search(query, k, ties="id")
    return (
        hits.ids == wanted.ids
        and hits.scores == pytest.approx(wanted.scores, rel=1e-5)
        and [hit.json for hit in hits] == [hit.json for hit in wanted]
    )


def test_known_terms_need_one_call_of_each_shard(
    shards: gannet.ray.ShardedIndex, one: gannet.Index
) -> None:
    steps = direct(shards).steps
    for query in [*questions(80, seed=9), "whab~ shipa", "price:low whaa", "kind:novel", "*"]:
        for known in (False, True):
            steps.clear()
            assert is_of_one(shards.search(query), one, query), query
            # A shard that has many of the best is asked for more.
            whole = [step for step in steps if len(step) == SHARDS]
            if known:
                assert len(whole) == (2 if "~" in query else 1), query


def test_words_of_many_queries_are_known(
    shards: gannet.ray.ShardedIndex, one: gannet.Index
) -> None:
    shards.search_many(["wham shipc", "seaj"])
    direct(shards).steps.clear()
    assert is_of_one(shards.search("seaj shipc", 300), one, "seaj shipc", 300)
    assert direct(shards).steps[0] == [0, 1, 2] and len(direct(shards).steps) <= 2


def test_replicas_that_know_other_terms(made: tuple[Path, Manifest], one: gannet.Index) -> None:
    index = opened(*made, replicas=2)
    for query in ["whaa", "whaa shipb", "shipb", "whaa shipb seaa"]:
        assert is_of_one(index.search(query), one, query)
    for shard in range(SHARDS):
        # One that was started again has forgotten all.
        for actor in direct(index).actors[shard]:
            actor.reader._sums.clear()
        for _ in range(2):
            assert is_of_one(index.search("whaa shipb"), one, "whaa shipb")


def test_lost_shards_teach_nothing(made: tuple[Path, Manifest], one: gannet.Index) -> None:
    index = opened(*made)
    index.search("whaa")
    direct(index).lost = {1}
    for query in ["whaa", "shipb", "whaa shipb"]:
        with pytest.raises(gannet.ray.UnavailableError, match="shard 1: "):
            index.search(query)
        hits = index.search(query, partial=True)
        assert list(hits.missing) == [1] and not hits.total_is_exact
        assert hits.ids and all(shard_of(id, SHARDS) != 1 for id in hits.ids)
    direct(index).lost = set()
    for query in ["whaa", "shipb", "whaa shipb"]:
        assert is_of_one(index.search(query), one, query)
    direct(index).lost = {0, 1, 2}
    assert index.search("whaa", partial=True).ids == []


def test_all_of_the_best_may_be_in_one_shard(tmp_path: Path) -> None:
    ids = [str(place) for place in range(200)]
    best = sorted(id for id in ids if shard_of(id, SHARDS) == 1)
    rows = [{"id": id, "body": "whale " * (1 + (id in best)) + "sea"} for id in ids]
    index = opened(tmp_path, shards_of(rows, tmp_path))
    for k, offset in [(40, 0), (20, 15), (10, 30), (0, 0)]:
        for highlight in [None, "body"]:
            hits = index.search("whale", k, offset=offset, highlight=highlight)
            assert hits.ids == best[offset : offset + k]
            assert [hit["id"] for hit in hits] == hits.ids


def test_a_state_is_searched_while_the_next_is_copied(made: tuple[Path, Manifest]) -> None:
    place, manifest = made
    state, later = (shard.state for shard in manifest.shards[:2])
    copies, may_end = threading.Event(), threading.Event()

    class Slow(Opened):
        def _open(self, state: str, source: str) -> gannet.Index:
            if state == later:
                copies.set()
                assert may_end.wait(30)
            return super()._open(state, source)

    reader = Slow(str(place), 0, state, ReaderOptions(LEAST_MEMORY))
    reader.documents(state, [])
    loads, searches = (
        threading.Thread(target=reader.documents, args=(one, [])) for one in (later, state)
    )
    loads.start()
    try:
        assert copies.wait(10)
        searches.start()
        searches.join(10)
        assert not searches.is_alive()
    finally:
        may_end.set()
        loads.join()
