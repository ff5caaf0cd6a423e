"""Tests of `research/peers/cpu.py`: which queries are asked, and which index of a peer is the better one."""
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

import folders  # The modules of all folders are known behind it.
import cpu
from harness import Unable


class Sets(unittest.TestCase):
    def test_queries_are_taken_evenly_from_all_of_a_set(self):
        with TemporaryDirectory() as drawn:
            (Path(drawn) / "or-10.tsv").write_text("".join(f"or\tword{number}\n" for number in range(1000)))
            (Path(drawn) / "term-10.tsv").write_text("term\ta\nterm\tb\n")
            self.assertEqual(cpu.sample(Path(drawn), "or-10")[:3], ["or\tword0\n", "or\tword5\n", "or\tword10\n"])
            self.assertEqual(len(cpu.sample(Path(drawn), "or-10")), cpu.QUERIES)
            self.assertEqual(cpu.sample(Path(drawn), "term-10"), ["term\ta\n", "term\tb\n"], "fewer than there may be")
            with self.assertRaisesRegex(Unable, "no queries of game"):
                cpu.sample(Path(drawn), "game")
            for kind in ("and", "phrase"):
                (Path(drawn) / f"game-{kind}.tsv").write_text(f"{kind}\ta b\n")
            self.assertEqual(cpu.sample(Path(drawn), "game"), ["and\ta b\n", "phrase\ta b\n"])


class Indexes(unittest.TestCase):
    def test_the_better_index_of_a_peer_is_the_one_that_takes_less(self):
        medians = {"gannet": 1.0, "gannet-rebuilt": 0.5, "tantivy": 3.0, "tantivy-merged": 2.0, "seekstorm": 1.0}
        self.assertEqual([cpu.best(engine, medians) for engine in medians], [None, None, 2.0, 2.0, None])


if __name__ == "__main__":
    unittest.main()
