"""Several indexes that answer like one: statistics that are added up, equal scores ordered by ID."""

from __future__ import annotations

import asyncio
import json
import pickle
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import gannet
from gannet import Query, Statistics

WORDS = ["whale", "rope", "harpoon", "sea", "white", "times", "best", "captain"]
FIELDS = ["body", "note"]


def document(number: int) -> dict[str, str]:
    words = [WORDS[(number * step + step) % 7 % len(WORDS)] for step in range(1, 2 + number % 5)]
    fields = {"id": f"d{number * 37 % 100}", "body": " ".join(words)}
    # Only one shard has the field.
    return fields | ({"note": "rare sea"} if number == 50 else {})


@pytest.fixture
def indexes(tmp_path: Path) -> Iterator[list[gannet.Index]]:
    """One index of all documents, and three that share them."""
    with ExitStack() as stack:
        open_ = [gannet.open(tmp_path / name, memory="16MiB") for name in ["all", "0", "1", "2"]]
        for index in open_:
            stack.enter_context(index)
        for number in range(100):
            open_[0].add(document(number))
            open_[1 + number % 3].add(document(number))
        yield open_


QUERIES = [
    "whale",
    "sea rope",
    "+sea +rope best",
    '"whale sea"',
    "wha*",
    "harpon~",
    "#(sea) whale^2",
    "note:rare body:sea",
    "*:*",
    Query.words("sea") & ~Query.words("rope"),
]


def summed(shards: list[gannet.Index], query: str | Query) -> Statistics:
    return sum((shard.statistics(query, fields=FIELDS) for shard in shards), start=no_statistics())


def no_statistics() -> Statistics:
    return Statistics.from_json('{"version": 1, "fields": {}}')


@pytest.mark.parametrize("query", QUERIES)
def test_shards_answer_like_one_index(indexes: list[gannet.Index], query: str | Query) -> None:
    one, *shards = indexes
    total = summed(shards, query)
    assert total == one.statistics(query) and hash(total) == hash(one.statistics(query))
    for k, offset in [(1, 0), (7, 0), (5, 3), (50, 0)]:
        expected = one.search(query, k, offset=offset, ties="id")
        found = [
            (-hit.score, hit.id)
            for shard in shards
            for hit in shard.search(query, offset + k, statistics=total, ties="id")
        ]
        page = sorted(found)[offset : offset + k]
        assert page == [(-hit.score, hit.id) for hit in expected]


def test_equal_scores_are_ordered_by_id(indexes: list[gannet.Index]) -> None:
    one = indexes[0]
    ids = sorted(f"d{number}" for number in range(100))
    assert one.search("*:*", 5, ties="id").ids == ids[:5]
    assert one.search("*:*", 5, offset=93, ties="id").ids == ids[93:98]
    assert one.search("*:*", 5).ids == ["d0", "d37", "d74", "d11", "d48"]
    with pytest.raises(gannet.InvalidError, match="ties"):
        one.search("whale", ties="name")  # type: ignore[arg-type]


def test_whatever_searches_takes_statistics(indexes: list[gannet.Index]) -> None:
    one, *shards = indexes
    total = summed(shards, "sea rope")
    shard = shards[0]
    expected = shard.search("sea rope", statistics=total, ties="id")
    with shard.snapshot() as snapshot:
        assert snapshot.statistics("sea rope") == shard.statistics("sea rope")
        found = snapshot.search("sea rope", statistics=total, ties="id")
        assert (found.ids, found.scores) == (expected.ids, expected.scores)
    found = asyncio.run(shard.search_async("sea rope", statistics=total, ties="id"))
    assert found.ids == expected.ids
    assert expected.scores != shard.search("sea rope", ties="id").scores
    explained = str(expected.explain())
    assert f"{json.loads(total.to_json())['fields']['body']['documents']} = N" in explained
    queries = ["sea", "rope best"]
    several = sum(
        (shard.statistics(queries) for shard in shards[1:]), start=shards[0].statistics(queries)
    )
    assert several == one.statistics(queries)
    rankings = shard.search_many(queries, k=5, statistics=several, ties="id")
    for place, query in enumerate(queries):
        alone = shard.search(query, 5, statistics=several, ties="id")
        assert [id for id, _ in rankings[place]] == alone.ids


def test_statistics_add_up_and_travel(indexes: list[gannet.Index]) -> None:
    one, *shards = indexes
    total = summed(shards, "sea harpon~")
    assert sum(shard.statistics("sea harpon~") for shard in shards) == total
    assert pickle.loads(pickle.dumps(total)) == total
    assert Statistics.from_json(total.to_json()) == total
    assert total.fields == ["body", "note"] and repr(total) == "<Statistics of body, note>"
    assert shards[0].statistics("sea harpon~") != total
    with pytest.raises(gannet.InvalidError, match="same query"):
        total + one.statistics("rope")
    with pytest.raises(TypeError):
        total + 1  # type: ignore[operator]
    with pytest.raises(gannet.InvalidError, match="not to a number"):
        1 + total


def test_what_is_missing_is_an_error(indexes: list[gannet.Index]) -> None:
    one = indexes[0]
    with pytest.raises(gannet.InvalidError, match='lack the term "rope" of the field "body"'):
        one.search("body:sea body:rope", statistics=one.statistics("body:sea"))
    with pytest.raises(gannet.InvalidError, match='lack the field "body"'):
        one.search("body:sea", statistics=no_statistics())
    with pytest.raises(gannet.InvalidError, match="nots"):
        one.statistics("nots:x", fields=FIELDS)
    # A filter has no score, and a pattern of constant score needs no statistics.
    assert one.search("#(body:sea)", statistics=no_statistics()).ids
    assert one.search("body:wha*", statistics=no_statistics()).ids
    # A field that only others have.
    total = summed(indexes[1:], "note:rare")
    for index in indexes[1:]:
        index.search("note:rare", statistics=total)
    with pytest.raises(gannet.InvalidError, match="version 2"):
        Statistics.from_json('{"version": 2, "fields": {}}')
