"""Targets that are missed end `make lab` of research/ with status 1."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import missed


class Missed(unittest.TestCase):
    def test_missed_targets_and_missing_results_are_listed(self):
        with tempfile.TemporaryDirectory() as folder:
            good, bad, none = (Path(folder) / name for name in ("good.json", "bad.json", "none.json"))
            good.write_text(json.dumps({"rows": [], "misses": []}))
            bad.write_text(json.dumps({"rows": [], "misses": ["too slow: 3 s, 2 at most"]}))
            self.assertEqual(missed.misses([good]), [])
            self.assertEqual(missed.misses([good, bad]), ["bad: too slow: 3 s, 2 at most"])
            self.assertEqual(len(missed.misses([none])), 1)
            check = {"name": "kills", "figure": 1, "target": 0}
            none.write_text(json.dumps({"rows": [], "checks": [check | {"holds": False}, check | {"holds": True}]}))
            self.assertEqual(missed.misses([none]), ["none: kills = 1 (target 0)"])
            for paths, status in [([good], 0), ([good, bad], 1)]:
                done = subprocess.run([sys.executable, missed.__file__, *paths], capture_output=True, text=True)
                self.assertEqual(done.returncode, status, done.stdout)

    def test_misses_of_a_file_without_them_follow_from_its_rows(self):
        case = {"corpus": "linux", "memory_mib": 32, "backend": "pread", "threads": 8}
        row = {"case": case, "operation": "index", "killed": False, "timed_out": False, "exit_code": 0, "excess_bytes": 33 << 20}
        old = {"command": "research/measure/memory.py --full", "rows": [row, row | {"excess_bytes": 32 << 20}]}
        self.assertEqual(missed.misses_of(old), ["index, linux, 32 MiB, pread, threads 8: 33.0 MiB above the budget, more than 32"])
        self.assertEqual(missed.misses_of(old | {"misses": []}), [], "what the file says goes first")
        self.assertEqual(missed.misses_of(old | {"command": "research/peers/run.py"}), [])


class Aims(unittest.TestCase):
    """What is missed by aims that follow from rows."""

    def test_aims_of_writing_are_those_of_each_corpus(self):
        def rows(corpus, written):
            return [{"corpus": corpus, "engine": "gannet", "kind": "sync", "bytes_written": written, "index_bytes": 10, "seconds": 2},
                    {"corpus": corpus, "engine": "tantivy", "kind": "", "bytes_written": 30, "index_bytes": 10, "seconds": 1}]
        result = {"command": "research/measure/maintenance.py", "settings": {}, "rows": rows("passages", 21) + rows("articles", 15)}
        found = missed.misses_of(result)
        self.assertEqual(found, ["passages: bytes written to those of the index: 2.10, at most 2.0", "passages: bytes written to Tantivy's: 0.70, at most 0.5",
                                 "passages: documents/s to Tantivy's: 0.50, at least 1.0", "articles: documents/s to Tantivy's: 0.50, at least 1.0"])

    def test_a_p99_beside_writing_is_compared_where_one_program_ran(self):
        def phase(name, p99):
            return {"phase": name, "queries": {"all": {"latency_us": {"p99": p99}}}}
        row = {"corpus": "passages", "during": {"settings": {"readers": 2}, "phases": [{"phase": "write", "queries": {}}, phase("ask", 10), phase("both", 31)]}}
        result = {"command": "research/measure/maintenance.py", "settings": {"programs": ["gannet-lab"]}, "rows": [row]}
        self.assertEqual(missed.misses_of(result), ["passages: 2 that ask: p99 beside writing to that without: 3.10, at most 3.0"])
        self.assertEqual(missed.misses_of(result | {"settings": {"programs": ["gannet-lab", "before"]}}), [])

    def test_a_run_that_is_too_small_for_an_aim_misses_none(self):
        built = {kind: {"index_bytes": 10} for kind in ("bulk", "commits", "flushes")}
        ours = {"corpus": "small", "engine": "gannet", "kind": "sync", "bytes_written": 0, "index_bytes": 10, "seconds": 1}
        asked = {"settings": {"readers": 1}, "phases": [{"phase": "ask", "queries": {}}, {"phase": "both", "queries": {}}]}
        rows = [{"corpus": "small", "tiny": built, "queries": {}}, ours, ours | {"engine": "lucene", "kind": ""}, {"corpus": "small", "during": asked}]
        self.assertEqual(missed.misses_of({"command": "research/measure/maintenance.py", "settings": {}, "rows": rows}), [])

    def test_aims_of_caches_are_those_of_settings_that_ran(self):
        def row(policy, hits, response, written, capacity=1):
            return {"experiment": "policies", "policy": policy, "log": "web", "capacity_mb": capacity, "hit_ratio": {"bytes": hits},
                    "modelled_response_us": response, "flash": {"written_bytes": written}}
        missing = [row("lru", 0.6, 9e3, 5e6), row("gannet", 0.5, 7e3, 2e6), row("gannet-all", 0.45, 6e3, 3e6)]
        result = {"command": "research/papers/two-tier-cache/tiers.py", "rows": missing, "workloads": {"web": {"bytes_needed_before_in_second_half": 0.75}}}
        self.assertEqual(missed.misses_of(result), ["web, 1 MB: bytes, %: 50.0, the best has 60.0 lru", "web, 1 MB: response, ms: 7.0, the best has 6.0 gannet-all",
                                                    "web, 1 MB: MB written: 2, at most half of 3"])
        self.assertEqual(missed.misses_of(result | {"rows": [row("lru", 0.6, 9e3, 5e6, capacity=2)]}), [], "Gannet's policies did not run")

    def test_aims_of_the_planner_are_those_of_cold_queries(self):
        def plan(good, regret, frames=0):
            return {"set": "ranked or", "profile": "smart-fast", "frames": frames, "queries": 100, "good": good, "regret_ms": regret, "regret_of_better_constant_ms": 1,
                    **dict.fromkeys(("drive_faster", "drive_chosen", "host_ms", "drive_ms", "chosen_ms", "perfect_ms"), 1)}
        result = {"command": "research/papers/smart-ssd/offload.py", "rows": [], "plans": [plan(94, 0.3), plan(90, 2.0, frames=4)]}
        self.assertEqual(missed.misses_of(result), ["smart-fast, ranked or, cold: good choices: 94.0 %, at least 95",
                                                    "smart-fast, ranked or, cold: regret: 0.30 of the constant's, at most 0.25"])
        self.assertEqual(missed.misses_of(result | {"plans": [plan(95, 0.25)]}), [])
        self.assertEqual(missed.misses_of(result | {"plans": [plan(0, 0) | {"queries": 0}]}), [], "no query is of the kind")


if __name__ == "__main__":
    unittest.main()
