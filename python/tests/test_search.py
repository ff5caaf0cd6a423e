"""Queries, hits, many queries at once."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

import gannet
from gannet import Query


def test_hits_are_a_sequence_that_is_decoded_on_demand(books: gannet.Index) -> None:
    hits = books.search("whale", highlight=["body", "title"], count=True)
    assert len(hits) == 2 and hits.total == 2 and hits.total_is_exact
    assert hits.ids == [hit.id for hit in hits] == ["3", "1"]
    assert hits.scores == sorted(hits.scores, reverse=True)
    first = hits[0]
    assert first["title"] == "The Whale" and first.score == hits.scores[0]
    assert hits[-1].id == "1" and hits[:1].ids == ["3"] and hits[::-1].ids == ["1", "3"]
    assert first.snippet == "A <em>whale</em>, a harpoon and a rope."
    assert first.snippets["title"] == ["The <em>Whale</em>"]
    assert dict(first)["year"] == 1851 and "year" in first and first.get("none") is None
    with pytest.raises(KeyError, match="no field .*titel.*; it has: id, title, body, year"):
        first["titel"]
    with pytest.raises(IndexError):
        hits[2]
    assert hits.took >= 0 and hits.io["bytes"] >= 0 and "whale" in hits.query


def test_pages_operators_and_totals(books: gannet.Index) -> None:
    assert books.search("whale", k=1, offset=1).ids == ["1"]
    assert books.search("white rope", operator="and").ids == []
    assert set(books.search("white rope", operator="or").ids) == {"1", "3"}
    assert books.count("*:*") == 3 and books.count("whale -white") == 1
    without = books.search("whale", sources=False)
    assert without.ids == ["3", "1"]
    with pytest.raises(gannet.InvalidError, match="sources=False"):
        without[0]["title"]


def test_all_that_match(ix: gannet.Index) -> None:
    number = 12_000
    ix.add({"id": str(n), "body": "all" + " rare" * (n % 5000 == 7)} for n in range(number))
    ix.delete([str(n) for n in range(2, number, 3)])
    left = [str(n) for n in range(number) if n % 3 != 2]
    found = ix.matching("all")
    first = next(found)
    ix.add({"id": "later", "body": "all"})
    assert sorted([first[0], *(id for id, _ in found)]) == sorted(left)
    hits = ix.search("rare all", k=10_000)
    scores = dict(zip(hits.ids, hits.scores, strict=True))
    assert dict(ix.matching("rare all")) == pytest.approx(scores)
    assert dict(ix.matching("rare")) == pytest.approx(dict(ix.search_many(["rare"])["0"]))
    assert {id for id, _ in ix.matching("rare")} == {"7", "5007"}
    assert list(ix.matching("nothing")) == []
    with pytest.raises(gannet.InvalidError, match="titel"):
        ix.matching("titel:x")
    everything = ix.snapshot().matching("*:*")
    ix.close()
    assert len(list(everything)) == len(left) + 1


@pytest.mark.parametrize(
    "query, words",
    [
        ("titel:x", "title"),
        ("a AND", "AND"),
        ('"open', "quote"),
        ("year:[1 TO 2]", "range"),
        (17, "expected a query, which is a string or a Query, found int"),
    ],
)
def test_bad_queries(books: gannet.Index, query: str, words: str) -> None:
    with pytest.raises(gannet.InvalidError, match=words):
        books.search(query)


def test_bad_options(books: gannet.Index) -> None:
    for options in [
        {"timeout": -1},
        {"timeout": float("nan")},
        {"operator": "xor"},
        {"highlight": "none"},
        {"k": 10**9},
    ]:
        with pytest.raises(gannet.InvalidError):
            books.search("whale", **options)  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        books.search("whale", k=-1)
    with pytest.raises(TypeError):
        books.search()  # type: ignore[call-arg]


def test_queries_of_parts(books: gannet.Index) -> None:
    whale, white = Query.words("whale"), Query.words("white", "body")
    for query, ids in [
        (whale & white, {"1"}),
        (whale & ~white, {"3"}),
        (whale | Query.words("times"), {"1", "2", "3"}),
        (~whale, {"2"}),
        (~~whale, {"1", "3"}),
        (Query.phrase("best of times"), {"2"}),
        (Query.phrase("best times", slop=1), {"2"}),
        (Query.phrase("the white", last="wh*"), {"1"}),
        (Query.prefix("harp", "body"), {"3"}),
        (Query.wildcard("w?ale"), {"1", "3"}),
        (Query.fuzzy("whalw", distance=1), {"1", "3"}),
        (Query.exists("year"), {"1", "2", "3"}),
        (Query.everything(), {"1", "2", "3"}),
        (Query.some_of(whale, white, Query.words("rope"), at_least=2), {"1", "3"}),
        (whale.as_filter() & white.boost(2), {"1"}),
        (books.parse("+whale -white"), {"3"}),
    ]:
        assert set(books.search(query).ids) == ids, str(query)
        # What is printed can be parsed, and means the same.
        assert set(books.search(str(query)).ids) == ids, str(query)
    assert whale & white == whale & white and whale != white
    assert len({whale, Query.words("whale"), white}) == 2
    assert repr(whale & ~white) == "<Query +whale -body:white>"
    with pytest.raises(TypeError):
        whale & "text"  # type: ignore[operator]


def test_queries_that_are_too_deep(books: gannet.Index) -> None:
    for deeper in [
        lambda query: ~query,
        lambda query: query.boost(2),
        lambda query: query.as_filter(),
        lambda query: Query.some_of(query),
        lambda query: Query.words("white") & ~query,
        lambda query: Query.words("white") | query.as_filter(),
    ]:
        query = Query.words("whale")
        with pytest.raises(gannet.InvalidError, match="nested more than 64 deep"):
            for _ in range(100_000):
                query = deeper(query)
        assert str(query) and books.search(query) is not None


def test_an_explanation_prints_and_shows_a_table(books: gannet.Index) -> None:
    for hits in [books.search("whale"), books.search("whale", explain=True)]:
        plan = hits.explain()
        assert "term" in plan and "idf" in plan and plan.steps
        assert plan._repr_html_().startswith("<table>")


def test_rescoring(books: gannet.Index) -> None:
    hits = books.search("whale")
    again = hits.rescore(lambda hit: -hit["year"] if hit.id == "3" else 5)
    assert again.ids == ["1", "3"] and again.scores == [5.0, -1851.0]
    assert hits.ids == ["3", "1"]
    with pytest.raises(gannet.InvalidError, match="nan"):
        hits.rescore(lambda hit: float("nan"))
    with pytest.raises(TypeError):
        hits.rescore(lambda hit: "high")  # type: ignore[arg-type, return-value]


def test_many_queries(books: gannet.Index, tmp_path: Path) -> None:
    queries = {"q1": "whale", "q2": Query.words("times"), "q3": "nothing"}
    found = books.search_many(queries, k=5)
    assert found.queries == ["q1", "q2", "q3"] and len(found) == 3
    single = books.search("whale")
    assert [id for id, _ in found["q1"]] == [id for id, _ in found[0]] == single.ids
    assert [score for _, score in found["q1"]] == pytest.approx(single.scores)
    assert found[-1] == [] and found.to_dict()["q2"].keys() == {"2"}
    with pytest.raises(KeyError):
        found["q9"]
    with pytest.raises(IndexError):
        found[3]
    found.to_trec(tmp_path / "run.txt", tag="test")
    run = (tmp_path / "run.txt").read_text().splitlines()
    assert run[0].split()[:4] == ["q1", "Q0", "3", "1"] and run[0].endswith(" test")
    assert books.search_many(["whale", "rope"]).queries == ["0", "1"]
    assert len(books.search_many([])) == 0


def test_many_queries_by_threads_are_as_one_by_one(ix: gannet.Index) -> None:
    ix.add({"id": str(n), "body": f"w{n % 7} w{n % 11} w{n % 13}"} for n in range(1000))
    queries = [f"w{n % 13} w{n % 5}" for n in range(100)]
    found = ix.search_many(queries, k=20, threads=4)
    for place, query in enumerate(queries):
        assert [id for id, _ in found[place]] == ix.search(query, k=20).ids


def test_bad_queries_of_many_are_named(books: gannet.Index, tmp_path: Path) -> None:
    with pytest.raises(gannet.InvalidError, match='query "b": .*title'):
        books.search_many({"a": "whale", "b": "titel:x"})
    with pytest.raises(gannet.InvalidError, match="for one query there is search"):
        books.search_many("whale")
    books.add({"id": "with blank", "body": "blank"})
    with pytest.raises(gannet.InvalidError, match="run.txt: .*with blank"):
        books.search_many({"a": "blank"}).to_trec(tmp_path / "run.txt")
    with pytest.raises(gannet.InvalidError, match="none/run.txt"):
        books.search_many({"a": "whale"}).to_trec(tmp_path / "none" / "run.txt")


def test_searching_without_blocking_the_loop(books: gannet.Index) -> None:
    async def all_at_once() -> list[gannet.Hits]:
        return await asyncio.gather(*(books.search_async("whale", k=1) for _ in range(20)))

    assert [hits.ids for hits in asyncio.run(all_at_once())] == [["3"]] * 20

    async def bad() -> None:
        await books.search_async("titel:x")

    with pytest.raises(gannet.InvalidError):
        asyncio.run(bad())


def test_a_cancelled_search_ends(books: gannet.Index) -> None:
    token = gannet.CancelToken()
    token.cancel()
    with pytest.raises(gannet.InvalidError, match="cancelled"):
        books.search_many(["whale"], cancel=token)


def test_threads_share_an_index(books: gannet.Index) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for n in range(20):
                books.add({"id": f"{number}-{n}", "body": "threads"})
                assert set(books.search("whale").ids) == {"3", "1"}
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [] and books.count("threads") == 80


def test_a_time_limit(ix: gannet.Index) -> None:
    ix.add({"id": str(n), "body": f"a{n % 997} b{n % 991}"} for n in range(3000))
    with pytest.raises(gannet.SearchTimeoutError, match="time limit") as raised:
        ix.search("a*^2 b* OR body:*1*", timeout=0, count=True)
    assert isinstance(raised.value, TimeoutError)


def test_a_budget_that_does_not_hold(path: Path) -> None:
    with gannet.open(path, memory="16MiB") as ix:
        with pytest.raises((gannet.LimitError, gannet.InvalidError), match="memory"):
            ix.add({"id": "1", "body": "word " * 1_000_000})
