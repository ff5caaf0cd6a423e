"""The table of the least reads, of `research/measure/paper.py`."""
import unittest

from columns import cells
from paper_tables import ALL_FIT, PAPER_TABLES


def pages(read, least, read_to_least, memory):
    return {"queries": 100, "read_pages_per_query": read, "least_pages_per_query": least, "read_to_least": read_to_least, "needed_pages_per_query": None,
            "read_to_needed": None, "settings": {"memory_bytes": memory}}


class Least(unittest.TestCase):
    def shown(self, asked):
        head, *lines = cells(PAPER_TABLES["paper-least"], {"rows": [], "results": {"pages": asked}}, {})
        return [dict(zip(head, line)) for line in lines]

    def test_reads_in_vain_are_told_from_a_run_with_memory_for_all_pages(self):
        asked = {"mix": pages(3, 2, 1.5, 50 * 4096), f"mix{ALL_FIT}": pages(1.02, 1, 1.02, 400 * 4096), "mix, filters bloom": pages(9, 9, 1, 4096)}
        [line] = self.shown(asked)
        self.assertEqual([line["least / memory"], line["read / least"], line["read / used, with memory for all"]], ["4.00", "1.50", "1.02"])

    def test_a_run_whose_pages_all_fit_tells_it_too(self):
        [line] = self.shown({"mix": pages(1.02, 1, 1.02, 400 * 4096)})
        self.assertEqual([line["least / memory"], line["read / used, with memory for all"]], ["0.25", "1.02"])

    def test_a_run_with_evictions_does_not(self):
        [line] = self.shown({"mix": pages(3, 2, 1.5, 50 * 4096)})
        self.assertEqual(line["read / used, with memory for all"], "-")


if __name__ == "__main__":
    unittest.main()
