"""What WiSER as built in the lab misses of the paper, by its results."""
import json
import unittest

import wiser_built
from results import committed


class Misses(unittest.TestCase):
    def test_a_result_has_the_misses_of_its_index(self):
        for corpus in ("passages", "articles"):
            found = json.loads(committed(f"wiser-{corpus}").read_text())
            misses = wiser_built.missed(next(row for row in found["rows"] if row.get("kind") == "index"))
            self.assertEqual(misses, found["misses"])
            for what in ("empty filters", "what the bitmap saves"):
                self.assertTrue(any(what in miss for miss in misses), (corpus, what))


if __name__ == "__main__":
    unittest.main()
