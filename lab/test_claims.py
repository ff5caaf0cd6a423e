"""Verdicts on what papers claim."""
import unittest

import claims


class Verdicts(unittest.TestCase):
    def test_a_claim_holds_holds_partly_or_reverses(self):
        more = claims.Claim("more", "2", lambda rows: rows[0]["x"], 1.1, 1.0, "")
        less = claims.Claim("less", "0.5", lambda rows: rows[0]["x"], 0.9, 1.0, "")
        for claim, figure, expected in [(more, 1.5, "holds"), (more, 1.05, "partly"), (more, 0.7, "**reverses**"),
                                        (less, 0.5, "holds"), (less, 0.95, "partly"), (less, 1.3, "**reverses**")]:
            self.assertEqual(claims.verdict(claim, figure), expected)
            lines = claims.claim_lines([claim])({"rows": [{"x": figure}]})
            self.assertEqual(lines[claim.text][0]["verdict"], expected)

    def test_a_claim_without_rows_is_left_out(self):
        self.assertEqual(claims.claim_lines(claims.AS_B_TREE + claims.MFIS)({"rows": []}), {})


if __name__ == "__main__":
    unittest.main()
