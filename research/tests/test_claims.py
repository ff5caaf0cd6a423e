"""Verdicts on what papers claim."""
import unittest

import claims
import hybrid_cache_claims
import mfis_claims
import smart_ssd_claims
import wiser_claims


class Verdicts(unittest.TestCase):
    def test_a_claim_holds_holds_partly_or_reverses(self):
        more = claims.Claim("more", "2", lambda rows: rows[0]["x"], 1.1, 1.0, "")
        less = claims.Claim("less", "0.5", lambda rows: rows[0]["x"], 0.9, 1.0, "")
        for claim, figure, expected in [(more, 1.5, "holds"), (more, 1.05, "partly"), (more, 0.7, "**reverses**"),
                                        (less, 0.5, "holds"), (less, 0.95, "partly"), (less, 1.3, "**reverses**")]:
            self.assertEqual(claims.verdict(claim, figure), expected)
            lines = claims.claim_lines([claim])({"rows": [{"x": figure}]})
            self.assertEqual(lines[claim.text][0]["verdict"], expected)

    def test_a_factor_holds_with_half_of_the_gain_to_twice_of_it(self):
        more = claims.factor("more", (3, 2), lambda rows: rows[0]["x"], "")
        less = claims.factor("less", 0.5, lambda rows: rows[0]["x"], "")
        for claim, figure, expected in [(more, 1.5, "holds"), (more, 5, "holds"), (more, 1.4, "partly"), (more, 5.1, "partly"), (more, 1, "**reverses**"),
                                        (less, 0.6, "holds"), (less, 0.34, "holds"), (less, 0.7, "partly"), (less, 0.3, "partly"), (less, 1, "**reverses**")]:
            self.assertEqual(claims.verdict(claim, figure), expected, (claim.text, figure))
        self.assertEqual(more.paper, "2 to 3")
        self.assertEqual(claims.bounds(more), {"holds if": "1.50 to 5.00", "reverses if": "\u2264 1.00"})
        self.assertEqual(claims.bounds(claims.Claim("less", "", None, 0.9, 1.0, "")), {"holds if": "\u2264 0.90", "reverses if": "\u2265 1.00"})

    def test_a_claim_of_repeated_runs_shows_their_spread(self):
        rows = [{"x": 2, "runs": [{"x": 1}, {"x": 2}, {"x": 4}]}]
        lines = claims.claim_lines([claims.Claim("more", "", lambda rows: rows[0]["x"], 1.5, 1.0, "")])({"rows": rows})
        self.assertEqual((lines["more"][0]["here"], lines["more"][0]["verdict"]), ("2.00 times (1.00 to 4.00)", "holds"))

    def test_a_claim_without_rows_is_left_out(self):
        self.assertEqual(claims.claim_lines(claims.AS_B_TREE + mfis_claims.MFIS + mfis_claims.PSYNC + wiser_claims.WISER + wiser_claims.WISER_ENGINES + smart_ssd_claims.SMART_SSD)({"rows": []}), {})
        self.assertEqual(hybrid_cache_claims.hybrid_cache_claim_lines({"rows": []}), {})

    def test_a_claim_about_what_was_never_at_work_is_not_tested(self):
        claim = claims.Claim("more", "2", lambda rows: claims.NOT_TESTED, 1.1, 1.0, "nothing was that large")
        [line] = claims.claim_lines([claim])({"rows": []})["more"]
        self.assertEqual([column.of([line]) for column in claims.CLAIM_COLUMNS if column.head in ("here", "verdict", "why")],
                         ["-", "not tested", "nothing was that large"])

    def test_what_reverses_stands_first(self):
        def row(case, name, pages):
            parts = {part: {"pages": pages, "needed_bytes": 1} for part in ("dictionary", "zone", "filters", "positions", "offsets")}
            return {"case": case, "set": name, "memory": "none", "reads_per_query": pages, "bytes_per_query": 4096 * pages, "prefetching": 0,
                    "modelled_us_p50": pages, "modelled_us_p99": pages, "parts": parts | {"texts": {"pages": 0, "needed_bytes": 0}}}
        rows = [row("published", "phrase-10", 3), row("no filters", "phrase-10", 2), row("plain filters", "phrase-10", 4)]
        verdicts = [line[0]["verdict"] for line in wiser_claims.wiser_claim_lines({"rows": rows}).values()]
        self.assertEqual(verdicts[0], "**reverses**")
        self.assertEqual(verdicts, sorted(verdicts, key=claims.ORDER.get))
        self.assertIn("holds", verdicts)

    def test_a_policy_that_finds_less_than_the_other_reverses(self):
        def row(policy, found):
            return {"experiment": "policies", "log": "web", "capacity_mb": 1, "policy": policy, "hit_ratio": {"queries_without_slow_store": found}}

        def lines(*rows):
            found = hybrid_cache_claims.hybrid_cache_claim_lines({"rows": rows})
            return [(words, line[0]["here"], line[0]["verdict"]) for words, line in found.items() if line[0]["here"] != "-"]
        rows = [row("lru", 0.20), row("lru-partial", 0.30), row("cblru", 0.24), row("cbslru", 0.23)]
        found = {words: (here, verdict) for words, here, verdict in lines(*rows)}
        self.assertEqual(found["figure 14b: CBSLRU finds more than CBLRU"], ("-1.00 points", "**reverses**"))
        self.assertEqual(found["figure 14b: CBLRU finds more than LRU"], ("4.00 points", "partly"))
        self.assertEqual(found["figure 14b: CBLRU finds more than LRU with prefixes"], ("-6.00 points", "**reverses**"))

    def test_energy_that_is_even_holds_partly(self):
        def row(x, host, drive):
            return {"place": "16", "x": x, "host": {"ms": host, "mj": 3 * host}, "device": {"ms": drive, "mj": drive}}
        found = smart_ssd_claims.smart_ssd_claim_lines({"rows": [row(0.01, 1, 2), row(0.1, 1, 2.99), row(1, 2, 1.5), row(10, 2, 1), row(100, 2, 0.5)]})
        self.assertEqual(found["figure 16: difference takes less energy at each skew"][0]["verdict"], "partly")
        self.assertEqual(found["figure 16: difference is faster where the first list is not the longer"][0]["verdict"], "holds")


if __name__ == "__main__":
    unittest.main()
