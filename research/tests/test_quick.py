"""Tests of what `research/measure/quick.py` runs."""
import unittest

import quick
from folders import FOLDERS, ROOT

# These are run by hand: proofs of what is promised, and parts of other scripts.
LEFT_OUT = {"research/measure/quick.py", "research/measure/passages.py"}


class Parts(unittest.TestCase):
    def test_every_script_of_the_lab_is_in_a_part(self):
        folders = [folder for folder in FOLDERS if folder.name != "proofs"]
        paths = [path for folder in folders for path in folder.glob("*.py") if path.read_text().startswith("#!")]
        scripts = {str(path.relative_to(ROOT)) for path in paths} - LEFT_OUT
        run = {command[0] for commands in quick.PARTS.values() for command in commands}
        self.assertEqual(scripts - run, set())
        self.assertEqual([script for script in run if not (quick.ROOT / script).exists()], [])

    def test_no_result_goes_where_figures_are_quoted(self):
        words = [str(word) for commands in quick.PARTS.values() for command in commands for word in command]
        self.assertEqual([word for word in words if "/results/" in word], [])


if __name__ == "__main__":
    unittest.main()
