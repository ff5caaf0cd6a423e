"""Tests of the figures of caches in tiers: what holds, what is taken over, what foyer's reads and writes take."""
import json
import tempfile
import unittest
from pathlib import Path

import results
import columns
import tables
import tiers


def row(policy, hits, response, written, experiment="policies", **more):
    return {"experiment": experiment, "policy": policy, "log": "web", "capacity_mb": 1, "hit_ratio": {"bytes": hits},
            "modelled_response_us": response, "flash": {"written_bytes": written}} | more


def foyer(hits, response):
    return row("foyer", hits, response, 7e6, "foyer", order="lru")


class Holds(unittest.TestCase):
    """The table of what Gannet's policy is to reach."""

    def body(self, *rows):
        result = {"rows": rows, "workloads": {"web": {"bytes_needed_before_in_second_half": 0.75}}}
        _, body = columns.cells(tables.TABLES["tiers-holds"], result, {})
        return body

    def test_the_best_of_each_is_named_and_what_holds(self):
        body = self.body(row("lru", 0.4, 9e3, 5e6), row("cblru", 0.3, 8e3, 5e6), row("gannet", 0.5, 7e3, 2e6), row("gannet-all", 0.45, 8e3, 4e6),
                             foyer(0.2, 7.5e3), foyer(0.1, 7.2e3))
        self.assertEqual(body, ["web, 1 MB", "50.0", "45.0 gannet-all", "20.0 lru", "75.0", "holds", "7.0", "8.0 cblru", "7.2 lru", "holds",
                                "2", "4", "holds"])

    def test_a_miss_is_said(self):
        body = self.body(row("lru", 0.6, 9e3, 5e6), row("gannet", 0.5, 7e3, 2e6), row("gannet-all", 0.45, 6e3, 3e6), foyer(0.2, 8e3))
        self.assertEqual([cell for cell in body if cell == "does not hold"], ["does not hold"] * 3)
        body = self.body(row("lru", 0.4, 9e3, 5e6), row("gannet", 0.5, 7e3, 2e6), row("gannet-all", 0.4, 8e3, 4e6), foyer(0.2, 6e3))
        self.assertEqual(body.count("does not hold"), 1, "foyer is faster")

    def test_without_foyer_its_cells_are_empty(self):
        body = self.body(row("lru", 0.4, 9e3, 5e6), row("gannet", 0.5, 7e3, 2e6), row("gannet-all", 0.45, 8e3, 4e6))
        self.assertEqual([body[3], body[8]], ["-", "-"])


class Resumed(unittest.TestCase):
    """Runs that a file has already."""

    def test_runs_of_the_same_commit_and_settings_are_taken_over(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tiers.json"

            def resumed(zipf):
                result = results.Result("tiers", {"zipf": zipf}, path)
                tiers.resume(result)
                return result

            first = resumed(9)
            self.assertEqual((first.rows, first.more["workloads"]), ([], {}))
            first.rows.append(row("lru", 0, 0, 0, run="policies"))
            first.more["workloads"]["web"] = {"queries": 1}
            first.write()
            self.assertEqual((resumed(9).rows, resumed(9).more), (first.rows, first.more))
            self.assertEqual(resumed(8).rows, [], "another log")
            path.write_text(json.dumps(json.loads(path.read_text()) | {"commit": "another"}))
            self.assertEqual(resumed(9).rows, [], "another commit")


class Modelled(unittest.TestCase):
    """The response time of foyer."""

    def test_reads_have_a_first_price_and_writes_none(self):
        prices = {"flash_read": {"first_us": 1, "page_us": 10}, "disk_read": {"first_us": 100, "page_us": 2}, "flash_write": {"page_us": 5}}
        found = {"queries": 10, "flash_reads": 3, "flash_read_pages": 4, "store_reads": 2, "store_read_pages": 50,
                 "flash": {"written_bytes": 6 * tiers.PAGE}}
        self.assertEqual(tiers.modelled(found, prices), (3 + 40 + 200 + 100 + 30) / 10)


if __name__ == "__main__":
    unittest.main()
