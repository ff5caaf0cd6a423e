"""Filters, orders, facets and aggregations over shards: as one index has them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from shards import MEMORY, write

import gannet
import gannet.ray
from gannet import InvalidError

pytestmark = pytest.mark.filterwarnings("ignore")

WORDS = ["whale", "ship", "sea", "ice", "rope", "captain"]
QUERIES = ["*:*", "whale", "whale OR ship", "+sea -ice", "body:rope", "captain^2 ice"]
FILTERS: list[Any] = [
    None,
    "price:[5 TO 15]",
    "price:>12.5",
    "kind:=k3",
    ["size:<20", "day:[2023-03 TO 2023-08]"],
    "open:=true",
    "rare:*",
    gannet.field("price") < 9,
]
SORTS: list[Any] = [
    None,
    "size",
    "-size",
    ["price", "size"],
    "-day",
    ["kind", "-price"],
    ["open", "day", "_id"],
    "-rare",
    ["-_score", "size"],
    ["_score"],
]
FACETS: list[Any] = [None, "kind", ["kind", "open"], {"day": 4, "kind": 2, "size": 30}, "rare"]
AGGS: list[Any] = [
    None,
    {"p": {"stats": {"field": "price"}}},
    {
        "k": {
            "terms": {"field": "kind", "size": 3},
            "aggs": {"p": {"max": {"field": "price"}}, "d": {"cardinality": {"field": "day"}}},
        }
    },
    {"m": {"date_histogram": {"field": "day", "calendar_interval": "month"}}},
    {"h": {"histogram": {"field": "price", "interval": 5}}, "c": {"cardinality": {"field": "size"}}},
    {"w": {"filter": "body:whale", "aggs": {"o": {"terms": {"field": "open"}}}}},
    {"r": {"range": {"field": "size", "ranges": [{"to": 10}, {"from": 10}]}}},
    {"x": {"terms": {"field": "rare"}}, "q": {"percentiles": {"field": "size"}}},
    {"s": {"composite": {"sources": [{"k": {"terms": {"field": "kind"}}}], "size": 4}}},
]


def rows(count: int) -> list[dict[str, Any]]:
    draw = random.Random(11)
    all: list[dict[str, Any]] = []
    for number in range(count):
        row: dict[str, Any] = {
            "id": f"d{number}",
            "body": " ".join(draw.choices(WORDS, k=draw.randint(1, 9))),
            "size": draw.randint(0, 40),
        }
        if draw.random() < 0.9:
            # Eighths add up to the same sum in any order.
            row["price"] = draw.randint(0, 160) / 8
        if draw.random() < 0.9:
            row["day"] = f"2023-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
        if draw.random() < 0.8:
            row["kind"] = [f"k{draw.randint(0, 7)}" for _ in range(draw.randint(1, 2))]
        if draw.random() < 0.7:
            row["open"] = draw.random() < 0.5
        all.append(row)
    # A field that most shards lack.
    all[7]["rare"] = "one"
    return all


@pytest.fixture(scope="module")
def place(cluster: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    uri = tmp_path_factory.mktemp("values") / "shop"
    write(rows(1500), uri, shards=3)
    return uri


@pytest.fixture(scope="module")
def shards(place: Path) -> Iterator[gannet.ray.ShardedIndex]:
    with gannet.ray.open(place, memory=MEMORY) as index:
        yield index


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[gannet.Index]:
    with gannet.open(tmp_path_factory.mktemp("one") / "one.gnt", memory=MEMORY) as index:
        index.add(rows(1500))
        index.checkpoint()
        yield index


def with_id(sort: Any) -> Any:
    keys = [sort] if isinstance(sort, str) else list(sort)
    return keys if "_id" in keys else [*keys, "_id"]


def close(found: Any, wanted: Any) -> bool:
    """Whether two answers are the same but for the last bits of numbers."""
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(close(found[k], wanted[k]) for k in wanted)
    if isinstance(wanted, (list, tuple)):
        return len(found) == len(wanted) and all(map(close, found, wanted))
    if isinstance(wanted, float):
        return bool(found == pytest.approx(wanted, rel=1e-5, nan_ok=True))
    return bool(found == wanted)


def test_answers_are_those_of_one_index(
    shards: gannet.ray.ShardedIndex, one: gannet.Index
) -> None:
    draw = random.Random(5)
    for number in range(300):
        query, filter = draw.choice(QUERIES), draw.choice(FILTERS)
        sort, facets, aggs = draw.choice(SORTS), draw.choice(FACETS), draw.choice(AGGS)
        k, offset = draw.choice([0, 3, 20]), draw.choice([0, 0, 7])
        asked = (number, query, filter, sort, facets, aggs, k, offset)
        options: dict[str, Any] = {"filter": filter, "facets": facets, "aggs": aggs}
        found = shards.search(query, k, offset=offset, sort=sort, count=True, **options)
        order = {"ties": "id"} if sort is None else {"sort": with_id(sort)}
        wanted = one.search(query, k, offset=offset, count=True, **options, **order)
        assert found.ids == wanted.ids, asked
        assert found.total == wanted.total, asked
        assert close(found.scores, wanted.scores), asked
        assert close([hit.sort for hit in found], [hit.sort for hit in wanted]), asked
        assert close(found.facets, wanted.facets), (asked, found.facets, wanted.facets)
        assert close(found.aggs, wanted.aggs), (asked, found.aggs, wanted.aggs)


def test_pages_go_on_behind_a_hit(shards: gannet.ray.ShardedIndex, one: gannet.Index) -> None:
    for sort in [["-price", "size"], ["day"], ["kind", "_id"], ["-_id"]]:
        wanted = one.search("*:*", 1500, sort=with_id(sort) if sort != ["-_id"] else sort).ids
        seen: list[str] = []
        after = None
        while True:
            page = shards.search("*:*", 90, sort=sort, after=after, sources=False)
            if not page:
                break
            seen += page.ids
            after = page[-1].sort
        assert seen == wanted, sort


def test_hits_have_their_documents_and_snippets(shards: gannet.ray.ShardedIndex) -> None:
    found = shards.search("whale", 5, sort="-price", filter="size:>5", highlight="body")
    assert len(found) == 5
    prices = [hit["price"] for hit in found]
    assert prices == sorted(prices, reverse=True)
    assert prices == [hit.sort[0] for hit in found]
    assert all("whale" in (hit.snippet or "") and hit["size"] > 5 for hit in found)
    far = shards.search("whale", 3, offset=40, sort="-price")
    assert far[0]["price"] == far[0].sort[0]


def test_what_is_wrong_is_told(shards: gannet.ray.ShardedIndex) -> None:
    for options, part in [
        ({"sort": "_doc"}, "_doc is a place in one index"),
        ({"after": [1]}, "give these too"),
        ({"sort": "size", "after": [1]}, "1 values for the 2 keys size, _id"),
        ({"sort": "absent"}, "absent"),
        ({"facets": "absent"}, "absent"),
        ({"filter": "absent:1"}, "absent"),
        ({"aggs": {"a": {"strange": {}}}}, "strange"),
        ({"filter": 7}, "expected a query"),
    ]:
        with pytest.raises(InvalidError, match=part):
            shards.search("*:*", **options)  # type: ignore[arg-type]
