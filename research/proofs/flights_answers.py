"""Answers of aggregations in research/proofs/flights.py, compared with what DuckDB says.

Not a script of its own. What is right is a dictionary by aggregation and by the keys of the
buckets above it; each comparison takes its part out, and what is left in the end is missing.
"""
import math

import duckdb

from flights_sql import ALWAYS, BUCKETS, METRICS, OF_NOTHING, kind_of


def compared(oracle, aggs, answer):
    """Sentences that say where an answer is another one."""
    differs = []
    compare(oracle, aggs, answer, (), (), differs)
    left = [{"at": path, "missing": rows} for path, found in oracle.rows.items() for above, rows in found.items() if kind_at(aggs, path) not in METRICS]
    return differs + [str(own)[:300] for own in left]


def kind_at(aggs, path):
    for name in path:
        kind, _, below = kind_of(aggs[name])
        aggs = below
    return kind


def compare(oracle, aggs, answer, path, above, differs):
    for name, own in aggs.items():
        kind, given, below = kind_of(own)
        at, found = (*path, name), answer[name]
        expected = oracle.rows.get(at, {}).pop(above, [])
        if kind not in BUCKETS:
            figures = expected[0] if expected else None
            if not metric_equals(kind, given, found, figures):
                differs.append(f"{at} {above}: {found}, expected {figures}")
            continue
        buckets = list(entries(kind, given, found))
        counted = [(*key, bucket["doc_count"]) for key, bucket in buckets]
        wanted = [row[:-1] for row in expected]
        if kind in ALWAYS:
            wanted = dict((row[:-1], row[-1]) for row in wanted)
            wanted = [(*key, wanted.get(key, 0)) for key, _ in buckets]
        if counted != wanted:
            first = next((pair for pair in zip(counted, wanted) if pair[0] != pair[1]), None)
            differs.append(f"{at} {above}: {len(counted)} buckets, expected {len(wanted)}: {first}")
        if kind == "terms" and expected and found["sum_other_doc_count"] != expected[0][-1] - sum(row[-2] for row in expected):
            differs.append(f"{at} {above}: sum_other_doc_count {found['sum_other_doc_count']}")
        for key, bucket in buckets:
            compare(oracle, below, bucket, at, (*above, *key), differs)


def entries(kind, given, found):
    """The buckets with their keys as SQL has them."""
    if kind in ("filter", "missing", "global"):
        yield (0,), found
    elif kind == "filters":
        yield from (((name,), bucket) for name, bucket in found["buckets"].items())
    elif kind == "composite":
        yield from ((tuple(bucket["key"].values()), bucket) for bucket in found["buckets"])
    elif kind in ("range", "date_range"):
        left = list(enumerate(given["ranges"]))
        for bucket in found["buckets"]:
            same = lambda own: all((name in own) == (name in bucket) and (name not in own or end_of(own[name]) == bucket[name]) for name in ("from", "to"))
            place = next(place for place in left if same(place[1]))
            left.remove(place)
            yield (place[0],), bucket
    else:
        yield from (((bucket["key"],), bucket) for bucket in found["buckets"])


def end_of(value):
    if not isinstance(value, str):
        return value
    (millis,) = duckdb.execute(f"SELECT epoch_ms(TIMESTAMP '{value}')").fetchone()
    return millis


def metric_equals(kind, given, found, figures):
    if kind == "percentiles":
        own = [figure for name, figure in found["values"].items() if not name.endswith("_as_string")]
        return all(close(*pair) for pair in zip(own, figures or [None] * len(own)))
    names = METRICS[kind]
    figures = figures or [OF_NOTHING.get(name, 0 if kind in ("sum", "value_count", "cardinality") else None) for name in names]
    return all(close(found[name], figure) for name, figure in zip(names, figures))


def close(one, other):
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
