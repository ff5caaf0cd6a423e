"""Tests of `research/measure/whole.py`, which makes the results of the pages again."""
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import results
import whole

SCRIPT = "import sys\nopen(sys.argv[-1], 'w').write('{}')\n"


class Commands(unittest.TestCase):
    def setUp(self):
        self.names = list(results.all_committed())

    def test_each_result_has_a_script_that_is_there_or_a_reason(self):
        for name in self.names:
            with self.subTest(name):
                script, *words = whole.command(name)
                self.assertTrue((results.ROOT / script).exists(), script)
                left = [word for word in words if word in whole.LEFT_OUT]
                self.assertEqual(left, ["--nodes"] if name in whole.IN_ONE else [])
                if script.startswith("research/proofs/"):
                    self.assertIn(script, whole.why_not(name))
        self.assertEqual((whole.OTHER_PROGRAMS | set(whole.IN_ONE)) - set(self.names), set())

    def test_programs_that_are_compared_are_not_asked_for(self):
        made = [name for name in self.names if whole.why_not(name) is None]
        compared = [name for name in made for word in whole.command(name)[1:] if "=gannet" in word or word == "--gannet"]
        self.assertEqual(compared, [])

    def test_a_page_stands_for_what_it_shows(self):
        self.assertEqual(whole.chosen(["research/papers/mfis/page.md", "psync"]), ["mfis-whole", "psync"])
        self.assertIn("peers-linux", whole.chosen(["research/peers/page.md"]))

    def test_an_unknown_result_is_told(self):
        with self.assertRaisesRegex(whole.Unable, "nothing is neither"):
            whole.chosen(["nothing"])

    def test_a_script_that_fails_or_writes_nothing_is_told(self):
        for script, failed in [(SCRIPT, None), (SCRIPT + "sys.exit(3)", "status 3"), ("", "it wrote no result")]:
            with tempfile.TemporaryDirectory() as folder, mock.patch.object(whole, "MADE", Path(folder)):
                (Path(folder) / "one.json").write_text("of an earlier run")
                path = Path(folder) / "script.py"
                path.write_text(script)
                with mock.patch.object(whole, "command", lambda _: [str(path)]):
                    row = whole.row_of("one", "commit")
                self.assertEqual(row.get("failed"), failed)


if __name__ == "__main__":
    unittest.main()
