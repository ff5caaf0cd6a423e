"""Seeded random searches: each kind of query alone and in others, orders, pages, sources, values, highlights, aggregations."""
from opensearch_aggregations import aggregations
from opensearch_documents import NUMBERS, PRICES, TAGS, WORDS

INDEX = "same"
TEXTS, KEYWORDS = ["title", "body"], ["tag", "word", "title.raw"]
NUMERIC = {"n": NUMBERS, "price": PRICES, "small": list(range(-20, 21))}
DATES = ["2001-05-06", "1999", "2010-10", "1970-01-01", "2015-06-07T08:09:10Z", "now-20y/y", "2020-01-01||-3M/M", 1000000000000, "1850-01-05"]
DAYS = ["1999-12-31", "2010-01-01", "2025-07-08", 1262304000000]


def word(random):
    return random.choice(WORDS)


def words(random, least=1, most=4):
    return " ".join(word(random) for _ in range(random.randint(least, most)))


def maybe(random, share, **members):
    return members if random.random() < share else {}


def boost(random):
    return maybe(random, 0.15, boost=random.choice([0.5, 2, 3.5]))


# Kinds of queries


def match(random):
    more = maybe(random, 0.3, operator=random.choice(["and", "or", "AND"])) | maybe(random, 0.2, minimum_should_match=random.choice([1, 2, "50%", "-1", "75%"]))
    return {"match": {random.choice(TEXTS): {"query": words(random)} | more | boost(random)}}


def match_short(random):
    field = random.choice([*TEXTS, *KEYWORDS])
    return {"match": {field: words(random) if field in TEXTS else random.choice(TAGS)}}


def match_fuzzy(random):
    spoilt = list(word(random))
    if len(spoilt) > 3:
        spoilt[random.randrange(1, len(spoilt))] = random.choice("abcdefg")
    return {"match": {random.choice(TEXTS): {"query": "".join(spoilt), "fuzziness": random.choice(["AUTO", 1, 0])}}}


def match_phrase(random):
    return {"match_phrase": {random.choice(TEXTS): random.choice([words(random, 2, 3), {"query": words(random, 2, 3), "slop": random.randint(0, 3)} | boost(random)])}}


def match_phrase_prefix(random):
    cut = words(random, 1, 2)
    return {"match_phrase_prefix": {random.choice(TEXTS): {"query": cut[:max(2, len(cut) - 2)]} | maybe(random, 0.2, max_expansions=random.choice([1, 2, 5]))}}


def multi_match(random):
    fields = random.choice([["title", "body"], ["title^2", "body"], ["title", "tag"], ["body"], ["ti*", "body"]])
    return {"multi_match": {"query": words(random), "fields": fields, "type": random.choice(["best_fields", "most_fields", "phrase"])}
            | maybe(random, 0.2, tie_breaker=0.3) | maybe(random, 0.2, operator="and")}


def term(random):
    field, value = random.choice([
        ("tag", random.choice(TAGS)), ("word", word(random)), ("body", word(random)), ("n", random.choice(NUMBERS)), ("price", random.choice(PRICES)),
        ("flag", random.choice([True, False, "true"])), ("small", random.randint(-20, 20)), ("at", random.choice(["2001", "2010-10", "1961-03-04"])),
        ("day", random.choice(DAYS)), ("title.raw", word(random)), ("nothing", "x")])
    return {"term": {field: random.choice([value, {"value": value} | boost(random)])}}


def terms(random):
    field, values = random.choice([("tag", TAGS), ("word", WORDS), ("n", NUMBERS), ("price", PRICES), ("body", WORDS), ("day", DAYS)])
    # Not of `flag`: OpenSearch scores one value of a boolean as a `term` does, Elasticsearch not.
    return {"terms": {field: [random.choice(values) for _ in range(random.randint(0, 4))]} | boost(random)}


def span(random):
    field = random.choice([*NUMERIC, "at", "day", "tag", "word"])
    if field in NUMERIC:
        values = [*NUMERIC[field], 2.5, -1.5, "7"]
    else:
        values = {"at": DATES, "day": DAYS}.get(field, ["a", "beta", "s", "zz", "Sea"])
    low, high = random.choice(["gt", "gte"]), random.choice(["lt", "lte"])
    bounds = {low: random.choice(values), high: random.choice(values)}
    for name in (low, high):
        if random.random() < 0.3:
            bounds.pop(name)
    return {"range": {field: bounds | boost(random)}}


def exists(random):
    return {"exists": {"field": random.choice(["title", "body", "tag", "word", "n", "price", "small", "at", "day", "flag", "title.raw", "nothing"])}}


def prefix(random):
    field, values = random.choice([("tag", TAGS), ("word", WORDS), ("body", [w.lower() for w in WORDS]), ("title.raw", ["Moby", "Add", "wh"])])
    return {"prefix": {field: random.choice([v for v in values if v])[:random.randint(1, 3)]}}


def wildcard(random):
    field = random.choice(["tag", "word", "body", "title.raw"])
    return {"wildcard": {field: {"value": random.choice(["*a", "b?ta*", "w*e", "*20*", "se?", "????", "*", "c*f?", "Moby*1?"])} | boost(random)}}


def fuzzy(random):
    return {"fuzzy": {random.choice(["body", "word"]): {"value": random.choice(["whal", "shp", "seaa", "peacs", "harpon", "government", "cafe"])} | maybe(random, 0.5, fuzziness=random.choice([1, 2, "AUTO"]))}}


def regexp(random):
    return {"regexp": {random.choice(["tag", "word", "body"]): random.choice(["be.*", "[a-s]hip", "s(ea|hip)", "whal[ef]", "[0-9]+", "x", "ca.?e"])}}


def ids(random):
    return {"ids": {"values": [f"m{random.randint(0, 600)}" for _ in range(random.randint(0, 5))]} | boost(random)}


def query_string(random):
    one, two, three = (random.choice(["whale", "ship", "sea", "peace", "running", "war", "café"]) for _ in range(3))
    text = random.choice([f"{one} {two}", f"{one} AND {two}", f"{one} OR {two}", f"+{one} -{two}", f'"{one} {two}"', f"title:{one}", f"{one} NOT {two}", f"{one[:2]}*",
                          f"({one} AND {two}) OR {three}", f"tag:alpha {one}", f"{one}~1", f"{one}^2 {two}", f'"{one} {two}"~2', f"title:({one} OR {two})", f"{one} && {two}",
                          f"{one} || {two}", f"!{one} {two}", f"n:[1 TO 10]", f"n:>5", f"price:{{0 TO 10]", f"at:[2000 TO 2010]", f"_exists_:tag", f"{one[:1]}?{one[2:]}",
                          f"{one} AND {two} OR {three}", "*", f"wi-fi {one}", f"tag:\"beta gamma\""])
    return {"query_string": {"query": text, "default_field": random.choice(TEXTS)} | maybe(random, 0.3, default_operator=random.choice(["and", "AND", "or"]))}


def simple_query_string(random):
    one, two, three = (random.choice(["whale", "ship", "sea", "peace", "running", "war", "café"]) for _ in range(3))
    text = random.choice([f"{one} {two}", f"{one} + {two}", f"{one} | {two}", f"-{one} +{two}", f'"{one} {two}"', f"{one[:2]}*", f"({one} + {two}) | {three}", f"{one}~1",
                          f'"{one} {two}"~2', f"({one}", f"{one} +", f"{one} | -{two}", f"wi-fi {one}"])
    return {"simple_query_string": {"query": text, "fields": random.choice([["title"], ["body"], ["title^2", "body"]])}
            | maybe(random, 0.4, default_operator=random.choice(["and", "or"]))}


def match_all(random):
    return {"match_all": boost(random)}


def match_none(random):
    return {"match_none": {}}


def match_bool_prefix(random):
    return {"match_bool_prefix": {random.choice(TEXTS): words(random, 1, 3)[:-1] or "w"}}


LEAVES = [match, match_short, match_fuzzy, match_phrase, match_phrase_prefix, multi_match, term, terms, span, exists, prefix, wildcard, fuzzy, ids, query_string,
          simple_query_string, match_all, match_none, match_bool_prefix, regexp]
# Those without words whose expansion is cut differently, for places inside others.
PLAIN = [match, match_short, match_phrase, term, terms, span, exists, prefix, wildcard, ids, match_all]


def query(random, depth=2):
    what = random.random()
    if depth == 0 or what < 0.5:
        return random.choice(PLAIN)(random)
    if what < 0.6:
        return {"constant_score": {"filter": query(random, depth - 1)} | boost(random)}
    if what < 0.7:
        return {"dis_max": {"queries": [query(random, depth - 1) for _ in range(random.randint(1, 3))]} | maybe(random, 0.5, tie_breaker=0.4)}
    if what < 0.75:
        return {"boosting": {"positive": query(random, depth - 1), "negative": query(random, 0), "negative_boost": 0.3}}
    return boolean(random, depth)


def boolean(random, depth=2):
    out = {}
    for name in ("must", "should", "must_not", "filter"):
        if random.random() < 0.5:
            count = random.choice([1, 1, 2, 3])
            out[name] = [query(random, depth - 1) for _ in range(count)]
            if count == 1 and random.random() < 0.5:
                out[name] = out[name][0]
    if "should" in out and random.random() < 0.3:
        out["minimum_should_match"] = random.choice([0, 1, 2, "50%", -1])
    return {"bool": out | boost(random)}


# Searches


def search(body):
    return ("POST", f"/{INDEX}/_search", body)


def key(random):
    name = random.choice(["n", "price", "small", "at", "day", "flag", "tag", "word", "title.raw", "_score", "_id"])
    if name in ("_score", "_id"):
        return random.choice([name, {name: random.choice(["asc", "desc"])}])
    how = {"order": random.choice(["asc", "desc"])} | maybe(random, 0.3, missing=random.choice(["_first", "_last"])) | maybe(random, 0.2, unmapped_type="long")
    if name in ("n", "price") and random.random() < 0.3:
        how["mode"] = random.choice(["min", "max"])
    return random.choice([name, {name: how}, {name: how["order"]}])


def ordered(random):
    keys = [key(random) for _ in range(random.randint(1, 3))]
    # Asked for exactly: OpenSearch leaves out of some totals what cannot be among the first hits.
    return search({"query": query(random, 1), "track_total_hits": True, "sort": keys, "size": random.randint(1, 30)} | maybe(random, 0.3, track_scores=True))


def page(random):
    return search({"query": query(random), "from": random.choice([0, 1, 7, 30, 900]), "size": random.choice([0, 1, 5, 50])} | maybe(random, 0.2, track_total_hits=random.choice([True, False, 10])))


def behind(random):
    name, value = random.choice([("n", random.choice(NUMBERS)), ("price", random.choice(PRICES)), ("tag", random.choice(TAGS)), ("small", 3), ("at", 1000000000000),
                                 # Stand-ins of missing values.
                                 ("n", random.choice([2**63 - 1, -2**63])), ("small", random.choice([2**31 - 1, -2**31])), ("price", random.choice(["Infinity", "-Infinity"]))])
    return search({"query": query(random, 1), "sort": [{name: random.choice(["asc", "desc"])}, {"_id": "asc"}], "search_after": [value, f"m{random.randint(0, 500)}"], "size": 15})


def sources(random):
    choice = random.choice([False, True, "title", ["title", "n"], ["t*"], {"includes": ["t*", "n"], "excludes": ["tag"]}, {"excludes": ["body"]}, [], ["*a*"]])
    return search({"query": query(random, 1), "_source": choice, "size": 5})


def values(random):
    dates = [random.choice(["at", {"field": "at", "format": "yyyy/MM/dd"}]), random.choice(["day", {"field": "day", "format": "epoch_millis"}])]
    names = random.sample(["tag", "word", "n", "price", "flag", "small", "title.raw", "nothing", *dates], 3)
    return search({"query": query(random, 1), "docvalue_fields": names, "size": 8, "_source": False})


def fields(random):
    names = random.sample(["tag", "word", "n", "price", "at", "day", "flag", "small", "title.raw", "title", "body", "t*", {"field": "at", "format": "yyyy"}], 2)
    return search({"query": query(random, 1), "fields": names, "size": 8, "_source": False})


def highlight(random):
    asked = random.choice([match, match_phrase, multi_match, term])(random)
    options = maybe(random, 0.3, pre_tags=["<b>"], post_tags=["</b>"]) | {"number_of_fragments": 0}
    return search({"query": asked, "highlight": {"fields": {random.choice(["title", "body", "*"]): {}}} | options, "size": 5, "_source": False})


def aggregated(random):
    return search({"query": query(random, 1), "size": 0, "aggs": aggregations(random)})


def collapsed(random):
    # Asked for exactly: OpenSearch leaves out of the total what cannot be among the first hits.
    return search({"query": query(random, 1), "track_total_hits": True, "collapse": {"field": random.choice(["word", "small"])}, "sort": random.choice([["n", "price"], [{"small": "desc"}, "at", "n"], ["_score", "n", "price"]]), "size": 20})


def least_score(random):
    return search({"query": query(random), "min_score": random.choice([0.1, 0.5, 1, 2, 3.5])} | maybe(random, 0.3, aggs={"t": {"terms": {"field": "tag"}}}))


def filtered_after(random):
    return search({"query": query(random, 1), "post_filter": query(random, 1), "aggs": {"t": {"terms": {"field": "tag"}}}})


def more_of_hits(random):
    return search({"query": query(random, 1), "size": 4} | maybe(random, 0.6, version=True) | maybe(random, 0.6, seq_no_primary_term=True))


def parameters(random):
    written = random.choice(["q=whale&df=body", "q=title:sea", "q=whale+ship&df=body&default_operator=AND", "size=3&sort=n:desc,_id", "q=tag:alpha&_source=tag", "from=5&size=2&q=sea&df=title",
                             "q=*&_source_includes=t*&size=4&sort=_id", "track_total_hits=false&size=1"])
    return ("GET", f"/{INDEX}/_search?{written}", None)


def count(random):
    return ("POST", f"/{INDEX}/_count", {"query": query(random)})


def several(random):
    lines = []
    for _ in range(random.randint(1, 4)):
        lines += [{} if random.random() < 0.5 else {"index": random.choice([INDEX, "nowhere"])}, {"query": query(random, 1), "size": 3}]
    return ("POST", f"/{INDEX}/_msearch", lines)


def many(random):
    return ("POST", f"/{INDEX}/_mget" + random.choice(["", "?_source=tag,n"]), random.choice([
        {"ids": [f"m{random.randint(0, 700)}" for _ in range(4)]},
        {"docs": [{"_id": f"m{random.randint(0, 700)}"} | maybe(random, 0.5, _source=random.choice([["tag"], False])) for _ in range(3)]}]))


def one(random):
    number = random.randint(0, 700)
    return ("GET", random.choice([f"/{INDEX}/_doc/m{number}", f"/{INDEX}/_source/m{number}", f"/{INDEX}/_doc/m{number}?_source=false", f"/{INDEX}/_doc/m{number}?_source_includes=t*"]), None)


def analyzed(random):
    return ("POST", f"/{INDEX}/_analyze", random.choice([{"field": random.choice([*TEXTS, "tag"]), "text": words(random)}, {"analyzer": random.choice(["standard", "simple", "whitespace", "keyword"]), "text": words(random)}]))


def explained(random):
    return ("POST", f"/{INDEX}/_validate/query", {"query": query(random, 1)})


def capabilities(random):
    return ("GET", f"/{INDEX}/_field_caps?fields=" + random.choice(["*", "t*", "n,price", "nothing"]), None)


SEARCHES = [ordered, page, behind, sources, values, fields, highlight, aggregated, aggregated, aggregated, collapsed, least_score, filtered_after, more_of_hits, parameters, count, several, many, one,
            analyzed, explained, capabilities]


def alone(leaf):
    def request(random):
        return search({"query": leaf(random), "size": 20})
    return request


def nested(leaf):
    def request(random):
        outer = boolean(random, 1)
        place = random.choice(["must", "should", "must_not", "filter"])
        inside = outer["bool"].get(place, [])
        outer["bool"][place] = [*(inside if isinstance(inside, list) else [inside]), leaf(random)]
        return search({"query": outer, "size": 20})
    return request


KINDS = {f"query {leaf.__name__}": alone(leaf) for leaf in LEAVES} | {f"bool of {leaf.__name__}": nested(leaf) for leaf in LEAVES} | {
    "nested queries": lambda random: search({"query": query(random, 3), "size": 20})} | {made.__name__.replace("_", " "): made for made in SEARCHES}
