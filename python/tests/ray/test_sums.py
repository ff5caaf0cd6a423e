"""What replicas know of all shards: sums are those of one index, or none are given."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from shards import MEMORY, documents, questions

import gannet
from gannet.ray._hashing import shard_of
from gannet.ray._search import likely
from gannet.ray._sums import Sums

FIELDS = ("id", "title", "body", "kind", "price")


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[gannet.Index]]:
    """Shards of which the last has a field of its own."""
    rows = documents(600)
    folder = tmp_path_factory.mktemp("parts")
    made = [gannet.open(folder / str(shard), memory=MEMORY) for shard in range(3)]
    for shard, index in enumerate(made):
        index.add([row for row in rows if shard_of(row["id"], 3) == shard])
    made[2].add({"id": "priced", "body": "whaa", "price": "low"})
    yield made
    for index in made:
        index.close()


def total(parts: list[gannet.Index], query: str) -> gannet.Statistics:
    first, *others = (part.statistics(query, fields=FIELDS) for part in parts)
    return sum(others, first)


def test_known_sums_rank_as_sums_that_are_given(parts: list[gannet.Index]) -> None:
    sums = Sums()
    queries = [*questions(80, seed=3), "price:low whaa", "price:lo*", "-whaa", "*"]
    for query in queries:
        sums.learn(total(parts, query))
    for query in queries:
        for part in parts:
            given = total(parts, query)
            known = sums.of(part.statistics(query, fields=FIELDS), FIELDS)
            assert known is not None
            wanted = part.search(query, 20, statistics=given, ties="id")
            found = part.search(query, 20, statistics=known, ties="id")
            assert (found.ids, found.scores) == (wanted.ids, wanted.scores), query


def test_what_is_not_known_is_not_made_up(parts: list[gannet.Index]) -> None:
    sums, counted = Sums(), parts[0].statistics("body:whaa body:shipb", fields=FIELDS)
    assert sums.of(counted, FIELDS) is None
    sums.learn(total(parts, "body:whaa"))
    assert sums.of(counted, FIELDS) is None
    sums.learn(total(parts, "body:shipb"))
    assert sums.of(counted, FIELDS) is not None
    # The same word in another field, and words that are only similar.
    assert sums.of(parts[0].statistics("title:whaa", fields=FIELDS), FIELDS) is None
    sums.learn(total(parts, "whaa~"))
    assert sums.of(parts[0].statistics("whaa~", fields=FIELDS), FIELDS) is None


def test_the_oldest_terms_go_first(parts: list[gannet.Index]) -> None:
    sums = Sums(most=3)
    for word in ["whaa", "whab", "whac", "whad"]:
        sums.learn(total(parts, f"body:{word}"))
    known = [
        sums.of(parts[1].statistics(f"body:{word}", fields=FIELDS), FIELDS) is not None
        for word in ["whaa", "whab", "whac", "whad"]
    ]
    assert known == [False, True, True, True]


def test_a_shard_seldom_has_more_than_is_likely() -> None:
    assert [likely(10, shards) for shards in [1, 2, 4, 8, 64]] == [10, 10, 7, 5, 2]
    assert (likely(0, 4), likely(1, 4), likely(1000, 4)) == (0, 1, 283)
    chance, more = random.Random(1), 0
    for _ in range(1000):
        shards = [chance.randrange(4) for _ in range(10)]
        more += max(shards.count(shard) for shard in range(4)) >= likely(10, 4)
    assert more < 50
