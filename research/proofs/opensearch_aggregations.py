"""Seeded random trees of aggregations."""
METRICS = ["min", "max", "sum", "avg", "value_count", "stats", "extended_stats", "cardinality", "percentiles"]
NUMERIC = ["n", "price", "small"]


def aggregations(random, depth=2):
    return {f"a{number}": aggregation(random, depth) for number in range(random.choice([1, 1, 2]))}


def aggregation(random, depth):
    if depth == 0 or random.random() < 0.25:
        return metric(random)
    made = random.choice(BUCKETS)(random)
    if random.random() < 0.5 and "composite" not in made:
        made["aggs"] = aggregations(random, depth - 1)
    elif "composite" in made and random.random() < 0.5:
        made["aggs"] = {"m": metric(random)}
    return made


def metric(random):
    kind = random.choice(METRICS)
    field = random.choice(NUMERIC)
    if kind in ("min", "max", "value_count", "cardinality") and random.random() < 0.4:
        field = random.choice(["at", "day", "flag"] + (["tag", "word"] if kind in ("value_count", "cardinality") else []))
    out = {"field": field}
    if random.random() < 0.2 and field in NUMERIC:
        out["missing"] = 4
    return {kind: out}


def terms(random):
    out = {"field": random.choice(["tag", "word", "n", "small", "flag", "price", "title.raw"])}
    if random.random() < 0.5:
        out["size"] = random.randint(1, 20)
    if random.random() < 0.4:
        out["order"] = random.choice([{"_key": "asc"}, {"_key": "desc"}, {"_count": "asc"}, [{"_count": "desc"}, {"_key": "asc"}]])
    if random.random() < 0.2:
        out["min_doc_count"] = random.choice([1, 2, 5])
    if random.random() < 0.15 and out["field"] in ("tag", "word"):
        out["missing"] = "none"
    if random.random() < 0.15 and out["field"] in ("tag", "word"):
        out |= random.choice([{"include": "b.*"}, {"exclude": ["beta"]}, {"include": ["alpha", "beta", "sea"]}])
    return {"terms": out}


def ranges(random):
    bounds = sorted(random.sample([-100, -1, 0, 2.5, 7, 100], 2))
    return {"range": {"field": random.choice(NUMERIC), "ranges": [{"to": bounds[0]}, {"from": bounds[0], "to": bounds[1]}, {"key": "high", "from": bounds[1]}]}
            | ({"keyed": True} if random.random() < 0.3 else {})}


def date_ranges(random):
    return {"date_range": {"field": "at", "ranges": [{"to": "1990-01-01"}, {"from": "1990-01-01", "to": "2010-06"}, {"from": "now-10y/y"}]} | ({"format": "yyyy-MM"} if random.random() < 0.3 else {})}


def histogram(random):
    return {"histogram": {"field": "small", "interval": random.choice([1, 5, 2.5])} | ({"min_doc_count": random.choice([0, 1])} if random.random() < 0.5 else {}) | ({"offset": 2} if random.random() < 0.2 else {})}


def date_histogram(random):
    out = {"field": random.choice(["at", "day"])} | random.choice([{"calendar_interval": "year"}, {"calendar_interval": "quarter"}, {"calendar_interval": "month"}, {"fixed_interval": "3650d"}])
    if random.random() < 0.5:
        out["min_doc_count"] = 1
    if random.random() < 0.3:
        out["format"] = random.choice(["yyyy", "yyyy-MM-dd"])
    if random.random() < 0.2 and "calendar_interval" in out:
        out["time_zone"] = random.choice(["Europe/Paris", "-05:00"])
    return {"date_histogram": out}


def simple(random):
    return random.choice([{"term": {"tag": "alpha"}}, {"range": {"n": {"gte": 3}}}, {"match": {"body": "whale"}}, {"exists": {"field": "at"}}])


def filter_of(random):
    return {"filter": simple(random)}


def filters(random):
    return {"filters": random.choice([{"filters": {"one": simple(random), "two": simple(random)}}, {"filters": [simple(random), simple(random)]}, {"filters": {"one": simple(random)}, "other_bucket": True}])}


def missing(random):
    return {"missing": {"field": random.choice(["tag", "n", "at", "flag", "price"])}}


def everything(random):
    return {"composite": {"size": random.choice([3, 10]), "sources": random.sample([
        {"t": {"terms": {"field": "tag"}}}, {"w": {"terms": {"field": "word", "order": "desc"}}}, {"f": {"terms": {"field": "flag", "missing_bucket": True}}},
        {"h": {"histogram": {"field": "small", "interval": 10}}}, {"d": {"date_histogram": {"field": "at", "calendar_interval": "year"}}}], random.choice([1, 2]))}}


BUCKETS = [terms, terms, ranges, date_ranges, histogram, date_histogram, filter_of, filters, missing, everything]
