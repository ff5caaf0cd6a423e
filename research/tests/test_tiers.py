"""Tests of the figures of caches in tiers: what holds, what is taken over, what foyer's reads and writes take."""
import json
import tempfile
import unittest
from pathlib import Path

import results
import tier_aims
import tiers


def row(policy, hits, response, written, experiment="policies", **more):
    return {"experiment": experiment, "policy": policy, "log": "web", "capacity_mb": 1, "hit_ratio": {"bytes": hits},
            "modelled_response_us": response, "flash": {"written_bytes": written}} | more


def foyer(hits, response):
    return row("foyer", hits, response, 7e6, "foyer", order="lru")


class Aims(unittest.TestCase):
    """What the lab's policy is to reach."""

    def missed(self, *rows):
        return tier_aims.missed_aims({"rows": rows})

    def test_what_holds_is_no_miss(self):
        missed = self.missed(row("lru", 0.4, 9e3, 5e6), row("cblru", 0.3, 8e3, 5e6), row("gannet", 0.5, 7e3, 2e6), row("gannet-all", 0.45, 8e3, 4e6),
                             foyer(0.2, 7.5e3), foyer(0.1, 7.2e3))
        self.assertEqual(missed, [])

    def test_a_miss_names_the_best(self):
        missed = self.missed(row("lru", 0.6, 9e3, 5e6), row("gannet", 0.5, 7e3, 2e6), row("gannet-all", 0.45, 6e3, 3e6), foyer(0.2, 8e3))
        self.assertEqual(missed, ["web, 1 MB: bytes, %: 50.0, the best has 60.0 lru", "web, 1 MB: response, ms: 7.0, the best has 6.0 gannet-all",
                                  "web, 1 MB: MB written: 2, at most half of 3"])
        missed = self.missed(row("lru", 0.4, 9e3, 5e6), row("gannet", 0.5, 7e3, 2e6), row("gannet-all", 0.4, 8e3, 4e6), foyer(0.2, 6e3))
        self.assertEqual(missed, ["web, 1 MB: response, ms: 7.0, the best has 6.0 lru"], "foyer is faster")


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
