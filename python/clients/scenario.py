"""What a program asks of a search server, through whichever Python client is installed.

`scripts/clients` runs it with elasticsearch-py 7 to 9 and with opensearch-py:
scenario.py URL DOCUMENTS. All of them take a `body`, so the requests are the same.
"""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

try:
    import elasticsearch as package
    from elasticsearch import Elasticsearch as Client
    from elasticsearch import helpers
except ImportError:
    import opensearchpy as package
    from opensearchpy import OpenSearch as Client
    from opensearchpy import helpers

IS_OPENSEARCH = package.__name__ == "opensearchpy"
BadRequest = getattr(package, "BadRequestError", None) or package.RequestError

MAPPINGS = {
    "properties": {
        "title": {"type": "text", "fields": {"raw": {"type": "keyword", "ignore_above": 256}}},
        "body": {"type": "text", "analyzer": "english"},
        "kind": {"type": "keyword"},
        "place": {"type": "long"},
        "price": {"type": "double"},
        "day": {"type": "date"},
        "flag": {"type": "boolean"},
    }
}


@contextlib.contextmanager
def raises(kind: type[Exception], words: str) -> Iterator[None]:
    try:
        yield
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError(f"no {kind.__name__} with {words}")


def about(client: Any, documents: list[Any]) -> None:
    info = client.info()
    assert info["version"]["number"] and "Gannet" in info["tagline"], info
    assert client.ping()
    # The client of OpenSearch takes a `timeout` for its own, in seconds.
    waits = {} if IS_OPENSEARCH else {"timeout": "5s"}
    assert client.cluster.health(wait_for_status="yellow", **waits)["status"] == "green"
    assert len(client.nodes.info()["nodes"]) == 1
    assert client.nodes.stats()["nodes"]
    assert client.cluster.stats()["indices"]["docs"]["count"] >= 0


def mapping(client: Any, documents: list[Any]) -> None:
    settings = {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "1s"}
    made = client.indices.create(index="wiki", body={"settings": settings, "mappings": MAPPINGS})
    assert made["acknowledged"] and made["index"] == "wiki", made
    assert client.indices.exists(index="wiki")
    assert not client.indices.exists(index="none")
    told = client.indices.get_mapping(index="wiki")["wiki"]["mappings"]
    assert told == MAPPINGS, told
    settings = client.indices.get_settings(index="wiki")["wiki"]["settings"]["index"]
    assert settings["number_of_shards"] == "1", settings
    client.indices.put_mapping(index="wiki", body={"properties": {"later": {"type": "keyword"}}})
    field = client.indices.get_field_mapping(index="wiki", fields="later")
    assert field["wiki"]["mappings"]["later"]["mapping"]["later"]["type"] == "keyword", field
    tokens = client.indices.analyze(index="wiki", body={"field": "body", "text": "The whales"})
    assert [token["token"] for token in tokens["tokens"]] == ["whale"], tokens
    assert "wiki" in client.indices.get(index="*")


def bulk(client: Any, documents: list[Any]) -> None:
    actions = ({"_index": "wiki", "_id": d["id"], "_source": d} for d in documents)
    assert helpers.bulk(client, actions, chunk_size=64, refresh=True) == (len(documents), [])
    many = list(helpers.parallel_bulk(client, [{"_index": "wiki", "_id": "p", "place": 1}]))
    assert many[0][0], many
    with raises(helpers.BulkIndexError, "1 document"):
        helpers.bulk(client, [{"_index": "wiki", "_id": "x", "_source": {"place": "far"}}])
    body = [{"delete": {"_index": "wiki", "_id": "p"}}, {"delete": {"_index": "wiki", "_id": "q"}}]
    done = client.bulk(body=body)
    statuses = [item["delete"]["status"] for item in done["items"]]
    assert statuses == [200, 404] and not done["errors"], done
    assert client.count(index="wiki")["count"] == len(documents)


def crud(client: Any, documents: list[Any]) -> None:
    first = documents[0]
    assert client.get(index="wiki", id=first["id"])["_source"] == first
    assert client.exists(index="wiki", id=first["id"])
    written = client.index(index="notes", id="1", body={"text": "one"}, refresh=True)
    assert (written["result"], written["_version"]) == ("created", 1), written
    seq_no, term = written["_seq_no"], written["_primary_term"]
    changed = client.update(index="notes", id="1", body={"doc": {"more": 2}})
    assert (changed["result"], changed["_version"]) == ("updated", 2), changed
    again = client.update(index="notes", id="1", body={"doc": {"more": 2}})
    assert again["result"] == "noop", again
    with raises(package.ConflictError, "version_conflict_engine_exception"):
        client.index(index="notes", id="1", body={}, if_seq_no=seq_no, if_primary_term=term)
    with raises(package.ConflictError, "version_conflict_engine_exception"):
        client.create(index="notes", id="1", body={})
    with raises(package.NotFoundError, "document_missing_exception"):
        client.update(index="notes", id="2", body={"doc": {}})
    made = client.update(index="notes", id="3", body={"doc": {"a": 1}, "doc_as_upsert": True})
    assert made["result"] == "created", made
    assert client.get_source(index="notes", id="1") == {"text": "one", "more": 2}
    got = client.mget(index="notes", body={"ids": ["1", "2"]})["docs"]
    assert [doc["found"] for doc in got] == [True, False], got
    assert client.delete(index="notes", id="1")["result"] == "deleted"
    assert not client.exists(index="notes", id="1")
    with raises(package.NotFoundError, "not_found"):
        client.delete(index="notes", id="1")
    client.indices.delete(index="notes")


def queries(client: Any, documents: list[Any]) -> None:
    def found(query: Any) -> set[str]:
        answer = client.search(index="wiki", body={"query": query, "size": len(documents)})
        hits = answer["hits"]["hits"]
        assert answer["hits"]["total"] == {"value": len(hits), "relation": "eq"}, answer["hits"]
        scores = [hit["_score"] for hit in hits]
        assert scores == sorted(scores, reverse=True)
        return {hit["_id"] for hit in hits}

    def where(fits: Callable[[Any], bool]) -> set[str]:
        return {d["id"] for d in documents if fits(d)}

    seventh = documents[7]
    word = max(seventh["title"].split(), key=len)
    everything = where(lambda d: True)
    assert found({"match_all": {}}) == everything
    assert found({"match_none": {}}) == set()
    assert found({"term": {"kind": {"value": "odd"}}}) == where(lambda d: d["kind"] == "odd")
    assert found({"terms": {"place": [3, 5]}}) == where(lambda d: d["place"] in (3, 5))
    assert found({"range": {"price": {"gte": 5, "lt": 15}}}) == where(lambda d: 5 <= d["price"] < 15)
    days = {"range": {"day": {"gte": "2024-01-10", "lte": "2024-01-11"}}}
    assert found(days) == where(lambda d: d["day"][:10] in ("2024-01-10", "2024-01-11"))
    assert found({"term": {"flag": True}}) == where(lambda d: d["flag"])
    assert found({"exists": {"field": "title"}}) == everything
    assert found({"ids": {"values": [seventh["id"]]}}) == {seventh["id"]}
    assert seventh["id"] in found({"match": {"title": {"query": seventh["title"], "operator": "and"}}})
    assert seventh["id"] in found({"match_phrase": {"title": seventh["title"]}})
    assert seventh["id"] in found({"match_phrase_prefix": {"title": seventh["title"][:-1]}})
    assert seventh["id"] in found({"multi_match": {"query": word, "fields": ["title^2", "body"]}})
    assert found({"term": {"title.raw": seventh["title"]}}) == where(lambda d: d["title"] == seventh["title"])
    assert seventh["id"] in found({"prefix": {"title": word[:3].lower()}})
    assert seventh["id"] in found({"wildcard": {"title": {"value": word[:3].lower() + "*"}}})
    assert seventh["id"] in found({"fuzzy": {"title": {"value": word.lower()[:-1] + "z"}}})
    assert seventh["id"] in found({"query_string": {"query": f"title:{word}"}})
    kind = {"term": {"kind": seventh["kind"]}}
    both = {"bool": {"must": [{"match": {"title": word}}], "filter": [kind], "must_not": []}}
    assert seventh["id"] in found(both)
    assert found({"constant_score": {"filter": kind}}) == where(lambda d: d["kind"] == seventh["kind"])
    assert seventh["id"] in found({"dis_max": {"queries": [{"match": {"title": word}}, kind]}})
    assert found({"bool": {"must_not": kind}}) == where(lambda d: d["kind"] != seventh["kind"])


def hits(client: Any, documents: list[Any]) -> None:
    word = max(documents[7]["title"].split(), key=len)
    body = {
        "query": {"match": {"title": word}},
        "highlight": {"fields": {"title": {"pre_tags": ["<b>"], "post_tags": ["</b>"]}}},
        "_source": ["title"],
        "docvalue_fields": ["place", {"field": "day", "format": "yyyy"}],
        "fields": ["kind"],
        "size": 1,
    }
    hit = client.search(index="wiki", body=body)["hits"]["hits"][0]
    assert set(hit["_source"]) == {"title"}, hit
    assert "<b>" in hit["highlight"]["title"][0], hit
    assert hit["fields"]["day"] == ["2024"] and len(hit["fields"]["kind"]) == 1, hit
    met, after = [], None
    while True:
        body = {"sort": [{"price": "desc"}, {"place": {"order": "asc"}}], "size": 150, "_source": False}
        if after:
            body["search_after"] = after
        page = client.search(index="wiki", body=body)["hits"]["hits"]
        if not page:
            break
        met += [hit["_id"] for hit in page]
        after = page[-1]["sort"]
    assert met == [d["id"] for d in sorted(documents, key=lambda d: -d["price"])]
    body = {"collapse": {"field": "kind"}, "sort": ["place"], "query": {"match_all": {}}}
    page = client.search(index="wiki", body=body)["hits"]["hits"]
    assert [hit["fields"]["kind"] for hit in page] == [["even"], ["odd"]], page
    body = {"query": {"match_all": {}}, "post_filter": {"term": {"kind": "odd"}}, "size": 0}
    assert client.search(index="wiki", body=body)["hits"]["total"]["value"] == len(documents) // 2
    assert client.search(index="wiki", q="kind:odd", size=1)["hits"]["total"]["value"] == len(documents) // 2


def pages(client: Any, documents: list[Any]) -> None:
    everything = {d["id"] for d in documents}
    met = [hit["_id"] for hit in helpers.scan(client, index="wiki", size=70)]
    assert (len(met), set(met)) == (len(documents), everything)
    page = client.search(index="wiki", scroll="1m", size=150, body={"sort": ["place"]})
    met = []
    while page["hits"]["hits"]:
        met += [hit["_id"] for hit in page["hits"]["hits"]]
        page = client.scroll(body={"scroll_id": page["_scroll_id"], "scroll": "1m"})
    assert met == [d["id"] for d in documents]
    assert client.clear_scroll(body={"scroll_id": [page["_scroll_id"]]})["succeeded"]
    if IS_OPENSEARCH:
        pit = client.create_pit(index="wiki", params={"keep_alive": "1m"})["pit_id"]
    else:
        pit = client.open_point_in_time(index="wiki", keep_alive="1m")["id"]
    met, after = [], None
    while True:
        body = {"pit": {"id": pit, "keep_alive": "1m"}, "sort": [{"place": "asc"}], "size": 150}
        if after:
            body["search_after"] = after
        page = client.search(body=body)["hits"]["hits"]
        if not page:
            break
        met += [hit["_id"] for hit in page]
        after = page[-1]["sort"]
    assert met == [d["id"] for d in documents]
    if IS_OPENSEARCH:
        assert client.delete_pit(body={"pit_id": [pit]})["pits"][0]["successful"]
    else:
        assert client.close_point_in_time(body={"id": pit})["succeeded"]
    many = client.msearch(body=[{"index": "wiki"}, {"size": 0}, {"index": "none"}, {}])
    assert [one["status"] for one in many["responses"]] == [200, 404], many


def aggregations(client: Any, documents: list[Any]) -> None:
    price = {"field": "price"}
    asked = {
        "kinds": {
            "terms": {"field": "kind", "order": {"top": "desc"}},
            "aggs": {"top": {"max": price}},
        },
        "flags": {"terms": {"field": "flag"}},
        "months": {"date_histogram": {"field": "day", "calendar_interval": "month"}},
        "prices": {"histogram": {"field": "price", "interval": 25}},
        "cheap": {"range": {"field": "price", "ranges": [{"to": 10}, {"from": 10}]}},
        "past": {"date_range": {"field": "day", "ranges": [{"to": "2024-02-01"}]}},
        "odd": {"filter": {"term": {"kind": "odd"}}, "aggs": {"mean": {"avg": price}}},
        "both": {"filters": {"filters": {"a": {"term": {"kind": "odd"}}, "b": {"match_all": {}}}}},
        "without": {"missing": {"field": "later"}},
        "all": {"global": {}},
        "pairs": {"composite": {"size": 1, "sources": [{"k": {"terms": {"field": "kind"}}}]}},
        "stats": {"stats": price},
        "more": {"extended_stats": price},
        "many": {"cardinality": {"field": "place"}},
        "half": {"percentiles": {"field": "price", "percents": [50]}},
        "number": {"value_count": price},
        "sum": {"sum": price},
        "min": {"min": price},
    }
    query = {"range": {"place": {"lt": 200}}}
    answer = client.search(index="wiki", body={"size": 0, "query": query, "aggs": asked})
    of = answer["aggregations"]
    some = documents[:200]
    assert [one["key"] for one in of["kinds"]["buckets"]] == ["odd", "even"], of["kinds"]
    assert {one["key_as_string"] for one in of["flags"]["buckets"]} == {"true", "false"}, of["flags"]
    assert of["months"]["buckets"][0]["key_as_string"] == "2024-01-01T00:00:00.000Z", of["months"]
    assert sum(one["doc_count"] for one in of["months"]["buckets"]) == 200
    assert [one["doc_count"] for one in of["prices"]["buckets"]] == [100, 100], of["prices"]
    assert [one["doc_count"] for one in of["cheap"]["buckets"]] == [40, 160], of["cheap"]
    assert of["past"]["buckets"][0]["doc_count"] == 31, of["past"]
    assert of["odd"]["mean"]["value"] == sum(d["price"] for d in some if d["kind"] == "odd") / 100
    assert of["both"]["buckets"]["a"]["doc_count"] == 100
    assert of["without"]["doc_count"] == 200 and of["all"]["doc_count"] == len(documents)
    assert of["pairs"]["after_key"] == {"k": "even"}, of["pairs"]
    assert of["stats"]["max"] == 49.75 and of["more"]["count"] == 200
    assert of["many"]["value"] == 200 and of["number"]["value"] == 200
    assert 24 < of["half"]["values"]["50.0"] < 26, of["half"]
    assert of["sum"]["value"] == sum(d["price"] for d in some) and of["min"]["value"] == 0


def names(client: Any, documents: list[Any]) -> None:
    client.indices.update_aliases(body={"actions": [{"add": {"index": "wiki", "alias": "now"}}]})
    assert client.indices.exists_alias(name="now")
    assert list(client.indices.get_alias(name="now")) == ["wiki"]
    assert client.count(index="now")["count"] == len(documents)
    client.indices.put_alias(index="wiki", name="odd", body={"filter": {"term": {"kind": "odd"}}})
    assert client.count(index="odd")["count"] == len(documents) // 2
    client.indices.delete_alias(index="wiki", name="odd")
    template = {"mappings": MAPPINGS, "aliases": {"logs": {}}}
    client.cluster.put_component_template(name="common", body={"template": template})
    body = {"index_patterns": ["logs-*"], "composed_of": ["common"], "priority": 10}
    client.indices.put_index_template(name="logs", body=body)
    assert client.indices.exists_index_template(name="logs")
    client.index(index="logs-1", body={"kind": "a b"})
    assert client.search(index="logs", body={"query": {"term": {"kind": "a b"}}})["hits"]["hits"]
    client.indices.delete(index="logs-1")
    client.indices.delete_index_template(name="logs")
    client.cluster.delete_component_template(name="common")
    caps = client.field_caps(index="wiki", fields="*")["fields"]
    assert caps["place"]["long"]["aggregatable"], caps
    query = {"query": {"match": {"kind": "odd"}}}
    assert client.explain(index="wiki", id=documents[1]["id"], body=query)["matched"]
    assert client.indices.validate_query(index="wiki", body=query)["valid"]
    rows = client.cat.indices(format="json", s="index")
    assert "wiki" in [row["index"] for row in rows], rows
    assert client.cat.count(index="wiki", format="json")[0]["count"] == str(len(documents))
    assert client.indices.stats(index="wiki")["indices"]["wiki"]["primaries"]["docs"]["count"]


def changes(client: Any, documents: list[Any]) -> None:
    body = {"source": {"index": "wiki"}, "dest": {"index": "copy"}}
    assert client.reindex(body=body)["created"] == len(documents)
    query = {"query": {"term": {"kind": "odd"}}}
    gone = client.delete_by_query(index="copy", body={"query": {"match": {"kind": "odd"}}})
    assert gone["deleted"] == len(documents) // 2, gone
    again = client.update_by_query(index="copy", conflicts="proceed")
    assert again["updated"] == len(documents) // 2, again
    assert client.count(index="copy", body=query)["count"] == 0
    task = client.reindex(body=body, wait_for_completion=False)["task"]
    assert client.tasks.get(task_id=task, wait_for_completion=True)["completed"]
    client.indices.refresh(index="copy")
    client.indices.flush(index="copy")
    client.indices.forcemerge(index="copy", max_num_segments=1)
    client.indices.delete(index="copy")


def errors(client: Any, documents: list[Any]) -> None:
    with raises(package.NotFoundError, "index_not_found_exception"):
        client.search(index="none", body={})
    with raises(package.NotFoundError, ""):
        client.get(index="wiki", id="none")
    with raises(BadRequest, "resource_already_exists_exception"):
        client.indices.create(index="wiki")
    with raises(BadRequest, "parsing_exception"):
        client.search(index="wiki", body={"query": {"mtach": {"title": "x"}}})
    with raises(BadRequest, "geohash_grid"):
        client.search(index="wiki", body={"aggs": {"a": {"geohash_grid": {"field": "place"}}}})
    with raises(BadRequest, "nowhere"):
        client.search(index="wiki", body={"sort": [{"nowhere": "desc"}]})
    with raises(BadRequest, "document_parsing_exception"):
        client.index(index="wiki", body={"place": "far"})
    # What is not there is told by its name.
    with raises(BadRequest, "[_ingest]"):
        client.ingest.put_pipeline(id="p", body={"processors": []})
    with raises(BadRequest, "[_termvectors]"):
        client.termvectors(index="wiki", id=documents[0]["id"])
    with raises(BadRequest, "top_hits"):
        client.search(index="wiki", body={"aggs": {"a": {"top_hits": {}}}})
    if not IS_OPENSEARCH:
        with raises(BadRequest, "[_ilm]"):
            client.ilm.get_lifecycle()
    assert client.indices.delete(index="wiki")["acknowledged"]


STEPS = [about, mapping, bulk, crud, queries, hits, pages, aggregations, names, changes, errors]


def main(url: str, file: str) -> int:
    # Clients warn of a `body` and of what is not for good in their servers.
    warnings.simplefilter("ignore")
    client = Client(url)
    documents = [json.loads(line) for line in Path(file).read_text().splitlines()]
    failed = 0
    for step in STEPS:
        try:
            step(client, documents)
        except Exception as error:
            failed += 1
            place = error.__traceback__
            while place.tb_next and place.tb_next.tb_frame.f_code.co_filename == __file__:
                place = place.tb_next
            print(f"{step.__name__}, line {place.tb_lineno}: {error!r}"[:600])
    client.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
