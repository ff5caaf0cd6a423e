"""Seeded sequences of writes with versions and conflicts, and requests that are malformed."""
import itertools

from opensearch_documents import MAPPING, SETTINGS, document
from opensearch_requests import INDEX, search

NUMBERS = itertools.count()


def sequence(random, length=25):
    """Writes to an index of their own, each followed now and then by what is there.

    Elasticsearch counts the deletion of what is not there, and remembers the version of what was deleted. Gannet does neither,
    and every later answer would show it. So only documents that are there are deleted, mostly those that are not written again,
    and what is not there is deleted last.
    """
    name = f"writes{next(NUMBERS)}"
    steps = [("PUT", path, {"mappings": MAPPING, "settings": SETTINGS}) for path in (f"/{name}", "/writes_other")]
    for _ in range(length):
        steps += random.choice([write, write, bulk, update, remove, read, conditional, conditional])(random, name)
    if random.random() < 0.1:
        steps.append(("DELETE", f"/{name}/_doc/none", None))
    steps += [("POST", f"/{name}/_refresh", None), ("POST", f"/{name}/_search", {"sort": ["_id"], "size": 100}),
              ("POST", f"/{name}/_count", None), ("DELETE", f"/{name}", None), ("GET", f"/{name}/_doc/1", None), ("DELETE", f"/{name}", None)]
    return steps


def gone(random):
    """The ID of a document that is deleted: seldom one that is written again."""
    return number(random) if random.random() < 0.03 else f"gone{next(NUMBERS)}"


def number(random):
    return str(random.randint(1, 8))


def write(random, name):
    source = document(random)
    return [(random.choice(["PUT", "POST"]), random.choice([f"/{name}/_doc/{number(random)}", f"/{name}/_doc/{number(random)}?op_type=create", f"/{name}/_create/{number(random)}",
                                                            f"/{name}/_doc/{number(random)}?refresh=true"]), source)]


def conditional(random, name):
    condition = random.choice([f"if_seq_no={random.randint(0, 12)}&if_primary_term=1", f"if_seq_no={random.randint(0, 3)}&if_primary_term=1", "if_seq_no=3",
                               f"version={random.randint(1, 4)}"])
    path = f"/{name}/_doc/{number(random)}?{condition}"
    what = random.random()
    if what < 0.02:
        return [("DELETE", path, None)]
    return [("PUT", path, None if what < 0.1 else document(random))]


def update(random, name):
    body = random.choice([{"doc": {"n": random.randint(0, 5)}}, {"doc": {"tag": "beta"}, "doc_as_upsert": True}, {"doc": {"n": 1}, "upsert": {"n": 9, "title": "new"}},
                          {"doc": {"n": 1}, "detect_noop": False}, {"doc": {}}, {"doc": {"title": None}}])
    return [("POST", f"/{name}/_update/{number(random)}" + random.choice(["", "?if_seq_no=2&if_primary_term=1", "?retry_on_conflict=2"]), body)]


def remove(random, name):
    path = f"/{name}/_doc/{gone(random)}"
    return [("PUT", path, document(random)), ("DELETE", path, None)]


def read(random, name):
    one = number(random)
    return [(*random.choice([("GET", f"/{name}/_doc/{one}"), ("GET", f"/{name}/_source/{one}"), ("HEAD", f"/{name}/_doc/{one}"), ("GET", f"/{name}/_doc/{one}?version=2")]), None)]


def bulk(random, name):
    lines = []
    for _ in range(random.randint(1, 6)):
        action = random.choice(["index", "index", "create", "delete", "update"])
        target = {"_id": number(random)}
        if random.random() < 0.15:
            target |= random.choice([{"if_seq_no": random.randint(0, 9), "if_primary_term": 1}, {"_index": "writes_other"}])
        if action == "delete":
            target = {"_id": gone(random)}
            lines += [{"index": target}, document(random)]
        lines.append({action: target})
        if action == "update":
            lines.append(random.choice([{"doc": {"n": random.randint(0, 5)}}, {"doc": {"tag": "x"}, "doc_as_upsert": True}]))
        elif action != "delete":
            lines.append(random.choice([document(random), document(random), {"n": "no number"}, {"at": "no date"}, {"flag": "maybe"}]))
    return [("POST", f"/{name}/_bulk", lines)]


SEQUENCES = {"sequence of writes": sequence}

# Left out are bodies at which OpenSearch fails by a mistake of its own, and those that versions of
# Elasticsearch answer in different ways.
BODIES = [
    '{"query": {"match_all": {}}', '{"query": []}', '{"query": {"nosuch": {}}}', '{"size": -1}', '{"size": "many"}', '{"from": -5}', '{"size": 20000}', '{"from": 9999, "size": 10}',
    '{"query": {"term": {}}}', '{"query": {"term": {"n": "word"}}}', '{"query": {"term": {"flag": "perhaps"}}}', '{"query": {"range": {"n": {"gte": "x"}}}}', '{"query": {"range": {"at": {"gte": "never"}}}}',
    '{"query": {"match": {"title": {"query": "a", "operator": "nor"}}}}', '{"query": {"match": {"title": {"qurey": "a"}}}}', '{"query": {"bool": {"most": []}}}', '{"query": {"bool": {"must": "x"}}}',
    '{"query": {"terms": {"tag": "alpha"}}}', '{"query": {"ids": {"values": "m1"}}}', '{"query": {"ids": {}}}', '{"query": {"exists": {}}}', '{"query": {"exists": {"field": 3}}}',
    '{"query": {"match": {"title": "a", "body": "b"}}}', '{"query": {"term": {"tag": ["a", "b"]}}}', '{"query": {"match_all": {}, "match_none": {}}}', '{"query": null}', '{"query": {"dis_max": {}}}',
    '{"query": {"constant_score": {}}}', '{"query": {"match_all": {"boost": -1}}}', '{"sort": [{"nosuch": "asc"}]}', '{"sort": [{"title": "asc"}]}', '{"sort": [{"n": "up"}]}', '{"sort": 7}',
    '{"sort": ["n"], "search_after": [1, 2]}', '{"search_after": [1]}', '{"sort": ["n"], "search_after": ["x"]}', '{"_source": 7}', '{"highlight": {}}', '{"highlight": {"fields": 3}}',
    '{"aggs": {"a": {"nosuch": {"field": "n"}}}}', '{"aggs": {"a": {}}}', '{"aggs": {"a": {"terms": {}}}}', '{"aggs": {"a": {"terms": {"field": "title"}}}}', '{"aggs": {"a": {"terms": {"field": "n", "size": 0}}}}',
    '{"aggs": {"a": {"avg": {"field": "tag"}}}}', '{"aggs": {"a": {"histogram": {"field": "n", "interval": 0}}}}', '{"aggs": {"a": {"date_histogram": {"field": "at"}}}}',
    '{"aggs": {"a": {"date_histogram": {"field": "at", "calendar_interval": "2d"}}}}', '{"aggs": {"a": {"range": {"field": "n"}}}}', '{"aggs": {"a[b]": {"max": {"field": "n"}}}}',
    '{"aggs": {"a": {"max": {"field": "n"}, "min": {"field": "n"}}}}', '{"collapse": {"field": "title"}}', '{"collapse": {"field": "nosuch"}}', '{"min_score": "x"}', '{"timeout": "soon"}',
    '{"nosuch": 1}', '[]', '"text"', '7', 'null', '', '{', 'x', '{"query": {"query_string": {"query": "a AND"}}}', '{"query": {"query_string": {"query": "(a"}}}', '{"query": {"query_string": {}}}', '{"query": {"prefix": {"n": "1"}}}',
    '{"query": {"fuzzy": {"n": "1"}}}', '{"query": {"wildcard": {"tag": {}}}}', '{"query": {"match": {"n": "word"}}}', '{"query": {"match": {"n": {"query": "word", "lenient": true}}}}',
    '{"query": {"multi_match": {"query": "a", "type": "nosuch", "fields": ["title"]}}}', '{"query": {"match_phrase": {"title": {"query": "a", "slop": -1}}}}', '{"docvalue_fields": ["title"]}', '{"docvalue_fields": "n"}',
    '{"query": {"match": {"title": null}}}', '{"query": {"term": {"tag": null}}}', '{"query": {"range": {"n": {"gte": null}}}}', '{"query": {"range": {"n": 5}}}', '{"query": {"range": {"n": {"from": 1, "to": 3}}}}',
    '{"query": {"bool": {"minimum_should_match": "x", "should": [{"match_all": {}}]}}}', '{"query": {"terms": {"tag": [null]}}}', 
    '{"query": {"term": {"n": 1.5}}}', '{"query": {"terms": {"n": [1, "x"]}}}', '{"query": {"match_none": {}}, "size": 0, "aggs": {"a": {"avg": {"field": "n"}}, "b": {"min": {"field": "n"}}, "c": {"stats": {"field": "n"}}, "d": {"sum": {"field": "n"}}}}',
]

REQUESTS = [
    ("GET", "/nowhere/_search", None), ("GET", "/nowhere/_doc/1", None), ("DELETE", "/nowhere", None), ("GET", f"/{INDEX}/_doc/none", None), ("PUT", f"/{INDEX}", None), ("PUT", "/UPPER", None), ("PUT", "/_under", None),
    ("PUT", "/a,b", None), ("PUT", "/bad", '{"mappings": {"properties": {"a": {"type": "nosuch"}}}}'), ("PUT", "/bad", '{"mapping": {}}'), ("PUT", "/bad", '{"settings": {"number_of_shards": 0}}'), ("POST", f"/{INDEX}/_mapping", '{"properties": {"n": {"type": "text"}}}'),
    ("POST", f"/{INDEX}/_doc/x1", '{"n": "word"}'), ("POST", f"/{INDEX}/_doc/x1", '{"n": {"a": 1}}'), ("POST", f"/{INDEX}/_doc/x1", '{"at": "x"}'), ("POST", f"/{INDEX}/_doc/x1", '{"flag": 3}'), ("POST", f"/{INDEX}/_doc/x1", '[1]'), ("POST", f"/{INDEX}/_doc/x1", '{"a": '),
    ("POST", f"/{INDEX}/_doc/x1", ''), ("POST", f"/{INDEX}/_doc/x1", None), ("POST", f"/{INDEX}/_update/none", '{"doc": {"n": 1}}'), ("POST", f"/{INDEX}/_update/m1", '{}'), ("POST", f"/{INDEX}/_update/m1", '{"docs": {}}'),
    ("POST", f"/{INDEX}/_mget", '{"ids": []}'), ("POST", f"/{INDEX}/_mget", '{}'), ("POST", "/_mget", '{"docs": [{"_id": "1"}]}'), ("POST", f"/{INDEX}/_count", '{"size": 1}'), ("POST", f"/{INDEX}/_nosuch", None), ("PATCH", f"/{INDEX}", None), ("PUT", f"/{INDEX}/_search", None),
    ("GET", f"/{INDEX}/_search?nosuch=1", None), ("GET", f"/{INDEX}/_search?size=x", None), ("GET", f"/{INDEX}/_search?q=(", None), ("GET", "/_cat/nosuch", None), ("GET", f"/{INDEX}/_analyze", '{"analyzer": "nosuch", "text": "a"}'), ("GET", f"/{INDEX}/_analyze", '{}'),
    ("POST", "/_bulk", ["{\"index\": {}}", {"a": 1}]), ("POST", f"/{INDEX}/_bulk", [{"nosuch": {"_id": "1"}}, {"a": 1}]), ("POST", f"/{INDEX}/_bulk", [{"index": {"_id": "x9", "nosuch": 1}}, {"n": 1}]), ("POST", f"/{INDEX}/_bulk", []),
    ("POST", f"/{INDEX}/_msearch", ["{}", "{"]), ("POST", f"/{INDEX}/_msearch", [{}, {"size": -1}]), ("GET", "/_search/scroll", '{"scroll_id": "nosuch"}'), ("POST", "/_aliases", '{"actions": [{"add": {"index": "nowhere", "alias": "a"}}]}'), ("GET", "/_alias/nosuch", None),
    ("PUT", "/_index_template/bad", '{"nosuch": 1}'), ("GET", "/_index_template/nosuch", None), ("GET", "/_tasks/none:1", None), ("POST", f"/{INDEX}/_delete_by_query", None), ("POST", f"/{INDEX}/_delete_by_query", '{}'),
]

WRONG = {"malformed search": lambda random: [("POST", f"/{INDEX}/_search", random.choice(BODIES)) for _ in range(4)], "malformed request": lambda random: [random.choice(REQUESTS) for _ in range(3)]}
