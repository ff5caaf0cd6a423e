"""Targets that are missed end `make lab` with status 1."""
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


if __name__ == "__main__":
    unittest.main()
