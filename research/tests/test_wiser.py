"""Verdicts on the WiSER paper, by its results."""
import json
import unittest

import wiser_built
from claims import NOT_TESTED
from results import committed
from wiser_claims import wiser_claim_lines
from wiser_tables import WISER_TABLES


def result(name):
    return json.loads(committed(f"wiser-{name}").read_text())


def row(case, name, **figures):
    parts = {part: {"pages": pages, "needed_bytes": 1} for part, pages in ({"texts": 0, "filters": 0, "positions": 0} | figures.pop("parts", {})).items()}
    return {"case": case, "set": name, "memory": "none", "parts": parts, "reads_per_query": 1, "bytes_per_query": 4096, "prefetching": 0, "queries": 100,
            "modelled_us_p50": 1000, "modelled_us_p99": 2000} | figures


class Verdicts(unittest.TestCase):
    def test_what_a_result_counts_as_a_miss_does_not_hold(self):
        texts = {"empty filters": "figure 11: 32 % of the filters are empty", "what the bitmap saves": "figure 11: the bitmap saves 29 %"}
        for corpus in ("passages", "articles"):
            found = result(corpus)
            misses = wiser_built.missed(next(row for row in found["rows"] if row.get("kind") == "index"))
            self.assertEqual(misses, found["misses"])
            for what, text in texts.items():
                holds = wiser_claim_lines(found)[text][0]["verdict"] == "holds"
                self.assertEqual(holds, not any(what in miss for miss in misses), (corpus, what))

    def test_prefetch_that_no_query_did_is_not_tested(self):
        text = "the same with a threshold scaled to the documents"
        for prefetching, reads, expected in [(0, 1, NOT_TESTED), (3, 2, "holds"), (3, 1, "**reverses**")]:
            rows = [row("scaled prefetch", "term-10", prefetching=prefetching), row("no prefetch", "term-10", reads_per_query=reads)]
            self.assertEqual(wiser_claim_lines({"rows": rows})[text][0]["verdict"], expected)

    def test_each_level_of_filters_has_its_verdict(self):
        rows = []
        for level, filters, saved in [(10, 1, 9), (100, 9, 3), (1000, 4, 0), (10000, 0, 0)]:
            rows.append(row("published", f"phrase-{level}", parts={"filters": filters, "positions": 1}))
            rows.append(row("no filters", f"phrase-{level}", parts={"positions": 1 + saved}))
        lines = wiser_claim_lines({"rows": rows})
        verdicts = [lines[f"figure 10: bytes of positions saved to bytes of filters read, level {level:,}"][0]["verdict"] for level in (10, 100, 1000, 10000)]
        self.assertEqual(verdicts, ["holds", "**reverses**", "**reverses**", NOT_TESTED])

    def test_the_tail_of_few_queries_is_called_the_slowest(self):
        rows = [row("published", "term-10"), row("published", "term-1000", queries=1000)]
        self.assertEqual([column.head for column in WISER_TABLES["wiser-times"].columns({"rows": rows})],
                         ["`term-10`, slowest of 100", "`term-1000`, p99 of 1,000"])


if __name__ == "__main__":
    unittest.main()
