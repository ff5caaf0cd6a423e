"""What all shards together count of terms, as a replica has learned it from earlier searches.

The states of shards never change, so their sums do not either. A replica that knows those of a
query ranks in the first call of a search; otherwise the router has to add up first.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from typing import Any

import gannet

_MOST = 1 << 16
"""Terms that are kept. The oldest go first."""


class Sums:
    """The statistics over all shards of the states that one manifest names."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._fields: dict[str, tuple[int, int]] = {}
        self._terms: dict[tuple[str, str], int] = {}

    def learn(self, sums: gannet.Statistics) -> None:
        """Keeps sums, which have to be those of all shards."""
        fields = _fields(sums)
        with self._lock:
            for name, counts in fields.items():
                self._fields[name] = counts["documents"], counts["tokens"]
                for term, documents in counts["terms"].items():
                    self._terms[name, term] = documents
            for term in list(self._terms)[: max(len(self._terms) - self._most, 0)]:
                del self._terms[term]

    def of(self, counted: gannet.Statistics, names: Iterable[str]) -> gannet.Statistics | None:
        """The sums of what one shard counted, if all of them are known.

        A query may name the fields `names` too, which the shard may lack.
        """
        fields: dict[str, Any] = {
            name: {"documents": 0, "tokens": 0, "terms": {}, "similar": {}} for name in names
        }
        with self._lock:
            for name, counts in _fields(counted).items():
                # Each shard adds words of its own that are similar: they are not kept.
                if name not in self._fields or counts["similar"]:
                    return None
                documents, tokens = self._fields[name]
                terms = {term: self._terms.get((name, term)) for term in counts["terms"]}
                if None in terms.values():
                    return None
                fields[name] = {
                    "documents": documents,
                    "tokens": tokens,
                    "terms": terms,
                    "similar": {},
                }
        return gannet.Statistics.from_json(json.dumps({"version": 1, "fields": fields}))


def naming(statistics: gannet.Statistics, names: Iterable[str]) -> gannet.Statistics:
    """The same statistics, with which a search may name these fields too."""
    fields = _fields(statistics)
    for name in names:
        if name not in fields:
            fields[name] = {"documents": 0, "tokens": 0, "terms": {}, "similar": {}}
    return gannet.Statistics.from_json(json.dumps({"version": 1, "fields": fields}))


def _fields(statistics: gannet.Statistics) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(statistics.to_json())["fields"]
    return fields
