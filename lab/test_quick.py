"""Tests of what `lab/quick.py` runs."""
import unittest
from pathlib import Path

import quick

LAB = Path(quick.__file__).parent


class Parts(unittest.TestCase):
    def test_every_script_of_the_lab_is_in_a_part(self):
        scripts = {f"lab/{path.name}" for path in LAB.glob("*.py") if path.read_text().startswith("#!")} - {"lab/quick.py"}
        run = {command[0] for commands in quick.PARTS.values() for command in commands}
        self.assertEqual(scripts - run, set())
        self.assertEqual([script for script in run if not (quick.ROOT / script).exists()], [])

    def test_no_result_goes_where_figures_are_quoted(self):
        words = [str(word) for commands in quick.PARTS.values() for command in commands for word in command]
        self.assertEqual([word for word in words if "docs/results" in word], [])


if __name__ == "__main__":
    unittest.main()
