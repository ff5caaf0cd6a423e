"""What of two answers must be the same, and the first place where they differ."""
import math

from opensearch_documented import NAMES

SCORE = 1e-5
# Members that say how, when or where a request was carried out.
APART = {"reason", "caused_by", "root_cause", "index", "index_uuid", "shard", "grouped", "failed_shards", "phase", "resource.type", "resource.id", "took", "timed_out", "_shards", "_index", "max_score", "num_reduce_phases"}


class Different(Exception):
    """Two answers differ: where, and in what."""


def compare(method, path, one, other):
    """Compares the status and body of two answers: the own one, and that of the other server."""
    (status, body), (wanted, expected) = one, other
    if status != wanted:
        raise Different(f"status {status} {reason(body)!r}, expected {wanted} {reason(expected)!r}")
    if status >= 400 and isinstance(expected, dict) and isinstance(expected.get("error"), dict):
        return errors(body, expected)
    route = path.partition("?")[0]
    if route.endswith("_msearch"):
        same("answers", len(body["responses"]), len(expected["responses"]))
        for number, (found, right) in enumerate(zip(body["responses"], expected["responses"])):
            same(f"status of {number}", found["status"], right["status"])
            errors(found, right) if "error" in right else search(found, right)
    elif "hits" in (expected if isinstance(expected, dict) else {}):
        search(body, expected)
    elif route.endswith("_field_caps"):
        for name, kinds in expected["fields"].items():
            if not name.startswith("_"):
                same(f"field {name}", sorted(body["fields"].get(name, {})), sorted(kinds))
    elif route.endswith("_validate/query"):
        same("valid", body["valid"], expected["valid"])
    elif not (isinstance(expected, dict) and isinstance(expected.get("error"), str)):
        # An error that is a sentence has no type.
        alike("", body, expected)


def reason(body):
    error = body.get("error") if isinstance(body, dict) else body
    if isinstance(error, dict):
        root = (error.get("root_cause") or [error])[0]
        return f"{error.get('type')}: {root.get('type')}: {str(root.get('reason'))[:200]}"
    return str(error)[:200]


def errors(body, expected):
    """The type of the error, and that of its root."""
    found = body.get("error") if isinstance(body, dict) else None
    if not isinstance(found, dict):
        raise Different(f"error {body!r}, expected {reason(expected)!r}")
    right = expected["error"].get("type")
    if found.get("type") not in (right, NAMES.get(right)):
        raise Different(f"error {reason(body)!r}, expected {reason(expected)!r}")


def search(body, expected):
    if "total" in expected["hits"] or "total" in body["hits"]:
        total(body["hits"].get("total"), expected["hits"].get("total"))
    hits(body["hits"]["hits"], expected["hits"]["hits"])
    if expected["hits"]["max_score"] is not None and body["hits"]["max_score"] is not None:
        close("max_score", body["hits"]["max_score"], expected["hits"]["max_score"], SCORE)
    alike("aggregations", body.get("aggregations"), expected.get("aggregations"))


def total(found, expected):
    if not isinstance(expected, dict) or not isinstance(found, dict):
        return same("total", found, expected)
    if expected["relation"] == "gte":
        if found["value"] < expected["value"]:
            raise Different(f"total {found}, expected {expected}")
        return None
    return same("total", found, expected)


def hits(found, expected):
    """The same IDs in order; hits of one score may stand in any order among themselves, and the last ones may be others of it."""
    same("number of hits", len(found), len(expected))
    for place, (one, other) in enumerate(zip(found, expected)):
        if one.get("_score") is not None or other.get("_score") is not None:
            close(f"score of hit {place} {one['_id']}/{other['_id']}", one.get("_score"), other.get("_score"), SCORE)
        alike(f"sort of hit {place}", one.get("sort"), other.get("sort"))
    groups = {}
    for number, listed in enumerate((found, expected)):
        for hit in listed:
            at = next((rank for rank in groups if is_tied(rank, rank_of(hit))), rank_of(hit))
            groups.setdefault(at, (set(), set()))[number].add(hit["_id"])
    last = [rank for rank in groups][-1:] if found else []
    for rank, (own, right) in groups.items():
        if own != right and rank not in last:
            raise Different(f"hits of {rank}: only here {sorted(own - right)}, only there {sorted(right - own)}")
    right = {hit["_id"]: hit for hit in expected}
    for hit in found:
        if hit["_id"] in right:
            leave = {"_score", "sort", "_index"}
            alike(f"hit {hit['_id']}", {k: v for k, v in hit.items() if k not in leave}, {k: v for k, v in right[hit["_id"]].items() if k not in leave})


def rank_of(hit):
    return tuple(hit["sort"]) if "sort" in hit else (hit.get("_score"),)


def is_tied(one, other):
    return len(one) == len(other) and all(
        a == b or isinstance(a, (int, float)) and isinstance(b, (int, float)) and math.isclose(a, b, rel_tol=SCORE) for a, b in zip(one, other))


def alike(place, found, expected):
    """The same JSON, apart from the last digits of fractions."""
    if isinstance(found, dict) and isinstance(expected, dict):
        for name in sorted({*found, *expected} - APART):
            if name not in found or name not in expected:
                raise Different(f"{place}.{name}: {found.get(name, 'missing')!r}, expected {expected.get(name, 'missing')!r}"[:400])
            # Versions of Elasticsearch name some types of errors otherwise.
            is_renamed = name == "type" and isinstance(expected[name], str) and found[name] == NAMES.get(expected[name])
            if not is_renamed:
                alike(f"{place}.{name}", found[name], expected[name])
    elif isinstance(found, list) and isinstance(expected, list):
        same(f"length of {place}", len(found), len(expected))
        for number, pair in enumerate(zip(found, expected)):
            alike(f"{place}[{number}]", *pair)
    elif isinstance(found, (int, float)) and isinstance(expected, (int, float)) and not isinstance(found, bool):
        close(place, found, expected, 1e-9)
    else:
        same(place, found, expected)


def close(place, found, expected, tolerance):
    numbers = [value for value in (found, expected) if isinstance(value, (int, float))]
    if len(numbers) < 2 or not math.isclose(found, expected, rel_tol=tolerance, abs_tol=1e-12):
        raise Different(f"{place}: {found!r}, expected {expected!r}")


def same(place, found, expected):
    if found != expected or type(found) is not type(expected):
        raise Different(f"{place}: {found!r}, expected {expected!r}"[:400])
