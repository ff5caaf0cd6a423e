"""Queries, hits, many queries at once."""

from __future__ import annotations

import asyncio
import os
import pickle
import threading
from collections.abc import Callable, Mapping
from copy import deepcopy as copy_of
from pathlib import Path
from typing import Any

import numpy
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
    # Of one state: a vacuum beside it would change the statistics.
    now = ix.snapshot()
    hits = now.search("rare all", k=10_000)
    scores = dict(zip(hits.ids, hits.scores, strict=True))
    assert dict(now.matching("rare all")) == pytest.approx(scores)
    assert dict(now.matching("rare")) == pytest.approx(dict(now.search_many(["rare"])["0"]))
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
        ("title:[1 TO 2]", "range"),
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
        {"syntax": "lucene"},
        {"k": 10**9},
    ]:
        with pytest.raises(gannet.InvalidError):
            books.search("whale", **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        books.search()  # type: ignore[call-arg]


@pytest.mark.parametrize("k", [-1, 1.5, "3", True, None, 2**70])
def test_numbers_that_cannot_be_are_named(books: gannet.Index, k: Any) -> None:
    for name in ("k", "offset"):
        with pytest.raises(gannet.InvalidError, match=f"{name}=.*: expected a whole number from 0"):
            books.search("whale", **{name: k})
    with pytest.raises(gannet.InvalidError, match="k="):
        books.search_many(["whale"], k=k)
    with pytest.raises(gannet.InvalidError, match="k="):
        asyncio.run(books.search_async("whale", k=k))
    if k is not None:
        with pytest.raises(gannet.InvalidError, match="threads="):
            books.search_many(["whale"], threads=k)
        with pytest.raises(gannet.InvalidError, match="expected_version="):
            books.add({"id": "1"}, expected_version=k)


def test_numbers_of_numpy_are_numbers(books: gannet.Index) -> None:
    assert books.search("whale", k=numpy.int64(1), offset=numpy.uint8(1)).ids == ["1"]
    assert len(books.search_many(["whale"], k=numpy.int32(1))[numpy.int64(0)]) == 1
    assert books.search("whale")[numpy.int64(-1)].id == "1"


@pytest.mark.parametrize("given", [True, 5, ["body", 5], {"body": 1}, b"body"])
def test_names_of_fields_that_cannot_be_are_named(books: gannet.Index, given: Any) -> None:
    for name in ("highlight", "fields"):
        with pytest.raises(gannet.InvalidError, match=f'{name}=.*, as in {name}="body"'):
            books.search("whale", **{name: given})


def test_options_of_other_packages_are_answered_with_the_right_name(books: gannet.Index) -> None:
    for name, words in [
        ("limit", "search has no option limit=: k= says how many"),
        ("top_k", "k= says how many"),
        ("skip", "offset="),
        ("where", "filter= of search"),
        ("order_by", "sort= of search"),
        ("group_by", "facets= and aggs="),
        ("default_field", 'name the field in the query: "title:whale"'),
        ("colour", "search has no option colour=: it has k=, offset=, filter=, sort=, after="),
    ]:
        named: Any = {name: 1}
        with pytest.raises(TypeError, match=words) as raised:
            books.search("whale", **named)
        assert isinstance(raised.value, gannet.InvalidError)
        with pytest.raises(gannet.OptionError, match="search has no option"):
            asyncio.run(books.search_async("whale", **named))
    with pytest.raises(gannet.OptionError, match="search_many has no option limit=: k="):
        books.search_many(["whale"], limit=1)  # type: ignore[call-arg]
    with pytest.raises(gannet.OptionError, match="add has no option id_field=: id= names the field"):
        books.add([], id_field="x")  # type: ignore[call-arg]


def test_hits_with_some_fields(books: gannet.Index) -> None:
    books.add({"id": "9", "body": "whale", "by": {"name": "x", "born": 1819}, "parts": [{"a": 1, "b": 2}]})
    hits = books.search("whale", fields=["title", "by.name", "parts.a"])
    assert [hit.source for hit in hits if hit.id != "9"] == [{"title": "The Whale"}, {"title": "Moby-Dick"}]
    assert books.search("id:9", fields="by.name")[0].source == {"by": {"name": "x"}}
    assert books.search("id:9", fields=["by", "id"])[0].source == {
        "id": "9",
        "by": {"name": "x", "born": 1819},
    }
    assert books.search("id:9", fields="parts.a")[0].source == {"parts": [{"a": 1}]}
    assert list(hits.to_pandas().columns) == ["id", "score", "title", "by", "parts"]
    assert [hit.snippet for hit in books.search("rope", fields="title", highlight="body")] != [None]
    with pytest.raises(gannet.InvalidError, match="title"):
        books.search("whale", fields=["titel"])
    with pytest.raises(gannet.InvalidError, match="sources=False"):
        books.search("whale", fields=["title"], sources=False)


TEXTS = [
    "",
    "   ",
    "?",
    "Where is the whale?",
    "rope: harpoon",
    "whale OR",
    "AND",
    '"open',
    "((((",
    "a:b:c",
    "titel: whale",
    "whale^",
    "whale ~99",
    "[1 TO",
    "year:[1 TO 2]",
    "\\",
    "*",
    "-",
    "+-!",
    "whale && || !",
    "C++ #tag @user $5 100%",
    "\ud800 whale",
    "whale\x00\n\t",
    "\U0001f433",
    "(" * 5000,
    "whale " * 5000,
    " ".join(f"word{n}" for n in range(5000)),
    "x" * 60_000,
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_plain_text_is_never_an_error(books: gannet.Index, text: str) -> None:
    found = books.search(text, syntax="plain")
    assert books.count(text, syntax="plain") == found.total
    assert books.search_many([text], syntax="plain").queries == ["0"]
    books.statistics(text, syntax="plain")
    if not found.notes or len(text) < 10_000:
        assert len(list(books.matching(text, syntax="plain"))) == found.total
        assert books.search(books.parse(text, syntax="plain")).ids == found.ids
    if "whale" in text:
        assert {"1", "3"} <= set(found.ids), text


def test_plain_text_of_too_many_words_is_asked_in_part(ix: gannet.Index) -> None:
    ix.add({"id": "1", **{f"f{n}": "whale" for n in range(30)}})
    for text in ["whale " + " ".join(f"w{n}" for n in range(9000)), "whale " + "\u6771" * 9000]:
        found = ix.search(text, syntax="plain")
        assert found.ids == ["1"] and any("first" in note for note in found.notes)


def test_plain_text_is_words(books: gannet.Index) -> None:
    assert books.search("rope: harpoon", syntax="plain").ids == ["3"]
    assert books.search("whale -rope", syntax="plain").ids == ["3", "1"]
    assert books.search("white rope", syntax="plain", operator="and").ids == []
    assert books.search(Query.words("whale") & ~Query.words("rope"), syntax="plain").ids == ["1"]
    assert asyncio.run(books.search_async("best of?", syntax="plain")).ids == ["2"]
    assert books.delete_matching("times?!", syntax="plain").deleted == 1


def test_hits_and_documents_are_mappings(books: gannet.Index) -> None:
    hit, document = books.search("rope")[0], books["3"]
    for one in (hit, document):
        assert isinstance(one, Mapping)
        assert one == document.source and {**one} == document.source
        assert list(one.values()) == list(document.source.values())
        assert list(one.items()) == list(document.source.items())
        assert one != {"id": "3"} and one != 3 and hit == document
        match one:
            case {"title": title}:
                assert title == "The Whale"
    assert books.add(hit).replaced == 1 and books["3"].version == 2
    bare = books.search("rope", sources=False)[0]
    assert bare != 3 and bare == bare


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_results_and_queries_are_pickled(books: gannet.Index, protocol: int) -> None:
    def again(given: Any) -> Any:
        return pickle.loads(pickle.dumps(given, protocol))

    query = Query.words("whale", "body") & ~Query.words("rope").boost(2.5)
    hits = books.search("whale", highlight="body", fields=["title"], count=True)
    copy = again(hits)
    assert (copy.ids, copy.scores, copy.total, copy.total_is_exact) == (
        hits.ids,
        hits.scores,
        2,
        True,
    )
    assert (copy.query, copy.took, copy.io, copy.notes) == (
        hits.query,
        hits.took,
        hits.io,
        hits.notes,
    )
    assert [hit.source for hit in copy] == [hit.source for hit in hits]
    assert [hit.snippets for hit in copy] == [hit.snippets for hit in hits]
    assert copy.to_pandas().equals(hits.to_pandas())
    with pytest.raises(gannet.InvalidError, match="pickled without a plan"):
        copy.explain()
    explained = books.search("whale", explain=True)
    assert again(explained).explain() == explained.explain()
    assert again(explained.explain()).steps == explained.explain().steps
    turned = hits.rescore(lambda hit: len(hit["title"]))[:1]
    assert again(turned).ids == turned.ids and again(turned).scores == turned.scores
    assert again(hits[1]) == hits[1] and again(hits[1]).score == hits[1].score
    assert again(books["1"]) == books["1"] and again(books["1"]).version == 1
    bare = again(books.search("whale", sources=False))
    with pytest.raises(gannet.InvalidError, match="sources=False"):
        bare[0]["title"]
    many = books.search_many({"a": "whale", "b": "nothing"})
    assert again(many).to_columns() == many.to_columns() and again(many).queries == ["a", "b"]
    written = books.add({"id": "1", "body": "x"})
    assert repr(again(written)) == repr(written)
    fused = gannet.fuse([hits, ["9"]])
    assert [entry.id for entry in again(fused)] == [entry.id for entry in fused]
    for query in [
        query,
        Query.everything(),
        Query.range("year", "1", None),
        Query.fuzzy("whale"),
        Query.fuzzy("whale", distance=1),
        Query.phrase("white whale", slop=3),
        Query.prefix("wh"),
        Query.wildcard("w?ale*", "body"),
        Query.regexp("w[h-k]al(e|es)", "body"),
        Query.exists("year"),
        Query.some_of(query, Query.words("a", operator="and"), at_least=2),
        Query.words("a").as_filter() | query,
        books.parse('+(a b c)~2 "c d"~3 e* #(f) -g'),
    ]:
        assert again(query) == query and hash(again(query)) == hash(query)
    assert copy_of(hits).ids == hits.ids


def resident() -> int:
    """Bytes of memory that this process has."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_results_that_are_held_give_back_their_texts(ix: gannet.Index) -> None:
    text = " ".join(f"filler{n}" for n in range(400))
    ix.add({"id": str(n), "body": f"all {text}"} for n in range(1000))
    ix.search("all", 1000)
    before = resident()
    held = [ix.search("all", 1000) for _ in range(40)]
    assert resident() - before < 40 << 20, "these would be 170 MB"
    # What was given back is read again.
    assert all(hits[999]["body"].startswith("all filler0") for hits in held)
    assert held[0].to_pandas().shape == (1000, 3)
    ix.add({"id": held[0].ids[0], "body": "another"})
    ix.delete([held[0].ids[1]])
    for place in (0, 1):
        with pytest.raises(gannet.ExpiredError, match="has changed since: search again"):
            held[0][place]["body"]
    assert held[0][2]["body"] and held[-1][0]["body"].startswith("all")
    with ix.snapshot() as state:
        old = state.search("all", 900)
        ix.delete(old.ids[:1])
        others = [state.search("all", 900) for _ in range(3)]
        assert old[0]["body"].startswith("all") and len(others) == 3
    with pytest.raises(gannet.ClosedError):
        old[1]["body"]


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


def test_regular_expressions(books: gannet.Index) -> None:
    assert set(books.search(Query.regexp("w[a-k]al(e|ing)", "body")).ids) == {"1", "3"}
    assert books.search(Query.regexp("wh", "body")).ids == []
    for pattern, reason in [("w(hale", "a parenthesis is not closed"), ("a&b", "not there in Gannet yet")]:
        with pytest.raises(gannet.InvalidError, match=reason):
            books.search(Query.regexp(pattern, "body"))


def test_queries_that_are_too_deep(books: gannet.Index) -> None:
    ways: list[Callable[[Query], Query]] = [
        lambda query: ~query,
        lambda query: query.boost(2),
        lambda query: query.as_filter(),
        lambda query: Query.some_of(query),
        lambda query: Query.words("white") & ~query,
        lambda query: Query.words("white") | query.as_filter(),
    ]
    for deeper in ways:
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
    with pytest.raises(TypeError, match="ix.get"):
        hits["3"]  # type: ignore[call-overload]
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
    with pytest.raises(gannet.MissingError, match="none/run.txt"):
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
