"""`gannet serve` as the clients of Elasticsearch and OpenSearch see it.

GANNET names the command. Everything that a client raises for an error of the server is asked for by
its type, since that is what programs catch.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import elasticsearch
import opensearchpy
import pytest
import zstandard
from elasticsearch import helpers

SAMPLE = Path(__file__).parents[2] / "sample" / "sample.jsonl.zst"
DOCUMENTS = 200

MAPPINGS = {
    "properties": {
        "title": {"type": "text"},
        "body": {"type": "text", "analyzer": "english"},
        "kind": {"type": "keyword"},
        "place": {"type": "long"},
    }
}


def sample() -> list[dict[str, Any]]:
    with SAMPLE.open("rb") as file:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), "utf-8")
        documents = [json.loads(line) for line, _ in zip(lines, range(DOCUMENTS), strict=False)]
    for place, document in enumerate(documents):
        document["kind"] = ["odd", "even"][place % 2]
        document["place"] = place
    return documents


class Running:
    """The command, started with a folder, at a port that is free."""

    def __init__(self, folder: Path, *more: str) -> None:
        command = [os.environ["GANNET"], "serve", str(folder), "--listen", "127.0.0.1:0"]
        command += ["--json", "--memory", "320MiB", *more]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = json.loads(self.process.stdout.readline())["url"]

    def end(self, by: int = signal.SIGTERM) -> int:
        self.process.send_signal(by)
        with self.process:
            return self.process.wait(timeout=10)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = Running(tmp_path_factory.mktemp("indexes"))
    yield server.url
    assert server.end() == 0


@pytest.fixture(scope="module")
def es(url: str) -> Iterator[elasticsearch.Elasticsearch]:
    """A client with an index of a part of the sample."""
    with elasticsearch.Elasticsearch(url) as client:
        client.indices.create(index="wiki", mappings=MAPPINGS)
        actions = ({"_index": "wiki", "_id": d["id"], "_source": d} for d in sample())
        assert helpers.bulk(client, actions, chunk_size=64) == (DOCUMENTS, [])
        yield client


def test_the_client_accepts_the_server(es: elasticsearch.Elasticsearch) -> None:
    info = es.info()
    assert info["version"]["number"] == "8.19.0"
    assert "Gannet" in info["tagline"]
    assert es.ping()
    assert es.cluster.health(wait_for_status="yellow")["status"] == "green"
    assert es.license.get()["license"]["type"] == "basic"
    assert "wiki" in es.cat.indices(format="json")[0]["index"]
    assert es.indices.exists(index="wiki")
    assert not es.indices.exists(index="none")
    mapping = es.indices.get_mapping(index="wiki")["wiki"]["mappings"]
    assert mapping["properties"]["body"] == MAPPINGS["properties"]["body"]


def test_documents_are_read_and_changed(es: elasticsearch.Elasticsearch) -> None:
    first = sample()[0]
    assert es.get(index="wiki", id=first["id"])["_source"] == first
    assert es.exists(index="wiki", id=first["id"])
    written = es.index(index="notes", id="1", document={"text": "one"}, refresh=True)
    assert (written["result"], written["_version"]) == ("created", 1)
    assert es.update(index="notes", id="1", doc={"more": "two"})["result"] == "updated"
    assert es.get_source(index="notes", id="1") == {"text": "one", "more": "two"}
    got = es.mget(index="notes", ids=["1", "2"])["docs"]
    assert [doc["found"] for doc in got] == [True, False]
    assert es.delete(index="notes", id="1")["result"] == "deleted"
    assert not es.exists(index="notes", id="1")
    assert es.indices.delete(index="notes")["acknowledged"]


def test_searches_find_what_python_finds(es: elasticsearch.Elasticsearch) -> None:
    documents = sample()

    def ids(**search: Any) -> set[str]:
        found = es.search(index="wiki", size=DOCUMENTS, source=False, **search)
        hits = found["hits"]["hits"]
        assert found["hits"]["total"] == {"value": len(hits), "relation": "eq"}
        scores = [hit["_score"] for hit in hits]
        assert scores == sorted(scores, reverse=True)
        return {hit["_id"] for hit in hits}

    def where(kind: str) -> set[str]:
        return {d["id"] for d in documents if d["kind"] == kind}

    assert ids(query={"match_all": {}}) == {d["id"] for d in documents}
    assert ids(query={"term": {"kind": "odd"}}) == where("odd")
    assert ids(query={"terms": {"place": [3, 5]}}) == {documents[3]["id"], documents[5]["id"]}
    word = max(documents[7]["title"].split(), key=len).lower()
    with_word = ids(query={"match": {"title": word}})
    assert documents[7]["id"] in with_word
    both = {"bool": {"must": {"match": {"title": word}}, "filter": {"term": {"kind": "even"}}}}
    assert ids(query=both) == with_word & where("even")
    assert es.count(index="wiki", query={"term": {"kind": "even"}})["count"] == DOCUMENTS // 2
    found = es.search(
        index="wiki",
        query={"match": {"title": word}},
        highlight={"fields": {"title": {}}},
        source=["title"],
        size=1,
    )
    hit = found["hits"]["hits"][0]
    assert set(hit["_source"]) == {"title"}
    assert "<em>" in hit["highlight"]["title"][0]
    many = es.msearch(searches=[{"index": "wiki"}, {"size": 0}, {"index": "none"}, {}])
    assert [one["status"] for one in many["responses"]] == [200, 404]


def test_errors_have_the_types_that_programs_catch(es: elasticsearch.Elasticsearch) -> None:
    with pytest.raises(elasticsearch.NotFoundError) as not_found:
        es.search(index="none")
    assert not_found.value.error == "index_not_found_exception"
    with pytest.raises(elasticsearch.NotFoundError):
        es.get(index="wiki", id="none")
    with pytest.raises(elasticsearch.NotFoundError) as missing:
        es.update(index="wiki", id="none", doc={})
    assert missing.value.error == "document_missing_exception"
    with pytest.raises(elasticsearch.ConflictError) as conflict:
        es.create(index="wiki", id=sample()[0]["id"], document={"title": "again"})
    assert conflict.value.error == "version_conflict_engine_exception"
    with pytest.raises(elasticsearch.BadRequestError) as exists:
        es.indices.create(index="wiki")
    assert exists.value.error == "resource_already_exists_exception"
    with pytest.raises(elasticsearch.BadRequestError, match="did you mean"):
        es.search(index="wiki", query={"mtach": {"title": "x"}})
    with pytest.raises(elasticsearch.BadRequestError, match="geohash_grid"):
        es.search(index="wiki", aggs={"a": {"geohash_grid": {"field": "place"}}})
    with pytest.raises(elasticsearch.BadRequestError, match="nowhere"):
        es.search(index="wiki", sort=[{"nowhere": "desc"}])
    with pytest.raises(helpers.BulkIndexError) as failed:
        helpers.bulk(es, [{"_index": "wiki", "_id": "x", "place": "far"}])
    assert failed.value.errors[0]["index"]["error"]["type"] == "document_parsing_exception"


def test_the_client_of_opensearch_is_served_too(url: str, es: elasticsearch.Elasticsearch) -> None:
    client = opensearchpy.OpenSearch(url)
    assert client.info()["version"]["number"] == "8.19.0"
    client.indices.create(index="other", body={"mappings": MAPPINGS})
    actions = [{"_index": "other", "_id": d["id"], "_source": d} for d in sample()]
    assert opensearchpy.helpers.bulk(client, actions)[0] == DOCUMENTS
    query = {"query": {"term": {"kind": "odd"}}, "size": 1}
    found = client.search(index="other", body=query)
    assert found["hits"]["total"]["value"] == DOCUMENTS // 2
    with pytest.raises(opensearchpy.NotFoundError):
        client.get(index="other", id="none")
    with pytest.raises(opensearchpy.ConflictError):
        client.create(index="other", id=sample()[0]["id"], body={})
    with pytest.raises(opensearchpy.RequestError):
        client.search(index="other", body={"query": {"none": {}}})
    client.indices.delete(index="other")
    assert not client.indices.exists(index="other")
    client.close()


def test_several_indexes_and_aliases_are_one_search(es: elasticsearch.Elasticsearch) -> None:
    for name in ["part-0", "part-1"]:
        es.indices.create(index=name, mappings=MAPPINGS)
    actions = [
        {"_index": f"part-{place % 2}", "_id": d["id"], "_source": d}
        for place, d in enumerate(sample())
    ]
    assert helpers.bulk(es, actions) == (DOCUMENTS, [])
    es.indices.update_aliases(actions=[{"add": {"index": "part-*", "alias": "parts"}}])
    assert set(es.indices.get_alias(name="parts")) == {"part-0", "part-1"}
    assert es.indices.exists_alias(name="parts")
    for names in ["part-0,part-1", ["part-*"], "parts", "part-*,-part-1,part-1"]:
        found = es.search(index=names, size=DOCUMENTS)
        hits = found["hits"]["hits"]
        assert {hit["_id"] for hit in hits} == {d["id"] for d in sample()}
        assert {hit["_index"] for hit in hits} == {"part-0", "part-1"}
    assert es.count(index="parts")["count"] == DOCUMENTS
    assert es.count(index="part-0,none", ignore_unavailable=True)["count"] == DOCUMENTS // 2
    with pytest.raises(elasticsearch.NotFoundError):
        es.count(index="part-0,none")
    with pytest.raises(elasticsearch.BadRequestError, match="no write index"):
        es.index(index="parts", document={})
    write = {"index": "part-1", "alias": "parts", "is_write_index": True}
    es.indices.update_aliases(actions=[{"add": write}])
    assert es.index(index="parts", id="x", document={})["_index"] == "part-1"
    moved = es.reindex(source={"index": "parts"}, dest={"index": "whole"})
    assert moved["created"] == DOCUMENTS + 1
    swap = [{"remove_index": {"index": "part-*"}}, {"add": {"index": "whole", "alias": "parts"}}]
    es.indices.update_aliases(actions=swap)
    assert es.count(index="parts")["count"] == DOCUMENTS + 1
    gone = es.delete_by_query(index="parts", query={"term": {"kind": "odd"}})
    assert gone["deleted"] == DOCUMENTS // 2
    again = es.update_by_query(index="parts", conflicts="proceed")
    assert again["updated"] == DOCUMENTS // 2 + 1
    es.indices.delete_alias(index="whole", name="parts")
    es.indices.delete(index="whole")


def test_every_document_is_met_once(url: str, es: elasticsearch.Elasticsearch) -> None:
    ids = {d["id"] for d in sample()}
    met = [hit["_id"] for hit in helpers.scan(es, index="wiki", size=30)]
    assert (len(met), set(met)) == (DOCUMENTS, ids)
    odd = {"query": {"term": {"kind": "odd"}}}
    by_score = list(helpers.scan(es, index="wiki", query=odd, size=7, preserve_order=True))
    assert len(by_score) == DOCUMENTS // 2
    pit = es.open_point_in_time(index="wiki", keep_alive="1m")["id"]
    met, after = [], None
    while True:
        point = {"id": pit, "keep_alive": "1m"}
        sort = [{"_shard_doc": "asc"}]
        found = es.search(pit=point, sort=sort, search_after=after, size=30)
        if not found["hits"]["hits"]:
            break
        met += [hit["_id"] for hit in found["hits"]["hits"]]
        after = found["hits"]["hits"][-1]["sort"]
    assert (len(met), set(met)) == (DOCUMENTS, ids)
    assert es.close_point_in_time(id=pit)["succeeded"]
    with pytest.raises(elasticsearch.NotFoundError):
        es.search(pit={"id": pit})
    client = opensearchpy.OpenSearch(url)
    met = [hit["_id"] for hit in opensearchpy.helpers.scan(client, index="wiki", size=30)]
    assert (len(met), set(met)) == (DOCUMENTS, ids)
    point = client.create_pit(index="wiki", params={"keep_alive": "1m"})["pit_id"]
    found = client.search(body={"pit": {"id": point}, "size": 0})
    assert found["hits"]["total"]["value"] == DOCUMENTS
    assert client.delete_pit(body={"pit_id": [point]})["pits"][0]["successful"]
    client.close()


def test_templates_and_questions(es: elasticsearch.Elasticsearch) -> None:
    es.cluster.put_component_template(name="common", template={"mappings": MAPPINGS})
    es.indices.put_index_template(
        name="logs",
        index_patterns=["logs-*"],
        composed_of=["common"],
        template={"aliases": {"logs": {}}},
    )
    assert es.indices.exists_index_template(name="logs")
    es.index(index="logs-1", id="1", document={"kind": "a b", "place": 1})
    mapping = es.indices.get_mapping(index="logs")["logs-1"]["mappings"]
    assert mapping["properties"]["kind"] == {"type": "keyword"}
    assert es.search(index="logs", query={"term": {"kind": "a b"}})["hits"]["total"]["value"] == 1
    caps = es.field_caps(index="logs", fields="*")["fields"]
    assert caps["place"]["long"]["searchable"]
    query = {"match": {"kind": "a b"}}
    assert es.explain(index="logs", id="1", query=query)["matched"]
    assert es.indices.validate_query(index="logs", query=query)["valid"]
    assert es.cat.aliases(format="json")[0]["alias"] == "logs"
    es.indices.delete_index_template(name="logs")
    es.cluster.delete_component_template(name="common")
    es.indices.delete(index="logs-1")


def key(file: Path, *scopes: str) -> dict[str, str]:
    command = [os.environ["GANNET"], "keys", "create", str(file), "--json"]
    command += [word for scope in scopes for word in ("--scope", scope)]
    return dict(json.loads(subprocess.check_output(command, text=True)))


def test_keys_and_tls_are_as_clients_know_them(tmp_path: Path) -> None:
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl to make a certificate")
    (tmp_path / "indexes").mkdir()
    keys, cert, private = (tmp_path / name for name in ("keys", "cert.pem", "key.pem"))
    admin, reader = key(keys, "admin:*"), key(keys, "read:logs-*")
    make = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(private), "-out", str(cert)]
    subprocess.run([*make.split(), *names, *files], check=True, capture_output=True)
    server = Running(
        tmp_path / "indexes",
        *("--keys", str(keys), "--tls-cert", str(cert), "--tls-key", str(private)),
    )
    assert server.url.startswith("https://")
    of = {"hosts": server.url, "ca_certs": str(cert)}
    with elasticsearch.Elasticsearch(**of, api_key=admin["encoded"]) as client:
        client.index(index="logs-1", id="1", document={"a": "x"})
        client.index(index="secret", id="1", document={"a": "x"})
    with elasticsearch.Elasticsearch(**of, basic_auth=(reader["id"], reader["secret"])) as client:
        assert client.count(index="logs-*")["count"] == 1
        with pytest.raises(elasticsearch.AuthorizationException):
            client.count(index="secret")
        with pytest.raises(elasticsearch.AuthorizationException):
            client.index(index="logs-1", document={})
    wrong = pytest.raises(elasticsearch.AuthenticationException)
    with elasticsearch.Elasticsearch(**of) as client, wrong:
        client.info()
    assert server.end() == 0


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_what_was_acknowledged_survives_the_end(tmp_path: Path, by: int) -> None:
    server = Running(tmp_path)
    with elasticsearch.Elasticsearch(server.url) as client:
        for n in range(20):
            client.index(index="notes", id=str(n), document={"n": n})
    start = time.monotonic()
    assert server.end(by) == (0 if by != signal.SIGKILL else -by)
    assert time.monotonic() - start < 10
    server = Running(tmp_path)
    with elasticsearch.Elasticsearch(server.url) as client:
        assert client.count(index="notes")["count"] == 20
    assert server.end() == 0


def test_an_alias_is_never_half_changed(tmp_path: Path) -> None:
    """A server that is killed between two states of an alias comes back with one of them."""
    for _ in range(4):
        server = Running(tmp_path)
        with elasticsearch.Elasticsearch(server.url, max_retries=0) as client:
            for name in ["even", "odd"]:
                client.options(ignore_status=400).indices.create(index=name)
            killer = threading.Timer(0.3, server.process.kill)
            killer.start()
            with pytest.raises(elasticsearch.ConnectionError):
                for n in itertools.count():
                    new, old = ("even", "odd") if n % 2 == 0 else ("odd", "even")
                    add = {"add": {"index": new, "alias": "current"}}
                    gone = {"remove": {"index": old, "alias": "current", "must_exist": False}}
                    client.indices.update_aliases(actions=[gone, add])
            killer.join()
        with server.process:
            server.process.wait(timeout=10)
        server = Running(tmp_path)
        with elasticsearch.Elasticsearch(server.url) as client:
            assert len(client.indices.get_alias(name="current")) == 1
        assert server.end() == 0


def test_values_order_hits_and_are_counted(es: elasticsearch.Elasticsearch) -> None:
    """Ranges, orders, pages behind a hit, and aggregations, as clients write them."""
    rows = [
        {"_index": "sales", "_id": str(n), "n": n, "price": n / 4, "day": f"2024-01-{n % 28 + 1:02}"}
        | ({"kind": "even"} if n % 2 == 0 else {"kind": "odd"})
        for n in range(100)
    ]
    helpers.bulk(es, rows, refresh=True)
    query = {"range": {"price": {"gte": 5, "lt": 15}}}
    found = es.search(index="sales", query=query, sort=[{"n": "desc"}], size=7)
    assert [hit["_source"]["n"] for hit in found["hits"]["hits"]] == [59, 58, 57, 56, 55, 54, 53]
    assert found["hits"]["total"]["value"] == 40
    after = found["hits"]["hits"][-1]["sort"]
    found = es.search(index="sales", query=query, sort=[{"n": "desc"}], size=2, search_after=after)
    assert [hit["_id"] for hit in found["hits"]["hits"]] == ["52", "51"]
    aggs = {
        "kinds": {"terms": {"field": "kind.keyword"}, "aggs": {"top": {"max": {"field": "price"}}}},
        "days": {"date_histogram": {"field": "day", "calendar_interval": "week"}},
        "odd": {"filter": {"term": {"kind": "odd"}}},
    }
    found = es.search(index="sales", size=0, aggs=aggs)
    kinds = {one["key"]: one for one in found["aggregations"]["kinds"]["buckets"]}
    assert (kinds["odd"]["doc_count"], kinds["odd"]["top"]["value"]) == (50, 24.75)
    assert found["aggregations"]["odd"]["doc_count"] == 50
    days = found["aggregations"]["days"]["buckets"]
    assert sum(day["doc_count"] for day in days) == 100
    assert days[0]["key_as_string"].startswith("2024-01-01")
    month = {"range": {"day": {"gte": "2024-01-10", "lte": "2024-01-11"}}}
    assert es.count(index="sales", query=month)["count"] == 8
