"""Tests of what each paper's `run.py` has, and that no script does anything before it has read its arguments."""
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import figure_runs
import whole
from folders import FOLDERS, PAPERS, RESEARCH, ROOT
from results import all_committed


class Papers(unittest.TestCase):
    def test_each_figure_has_a_script_and_a_result(self):
        for paper in PAPERS:
            figures = figure_runs.figures_of(paper)
            names = [name for figure in figures for name in figure.names.split()]
            self.assertEqual(len(names), len(set(names)), paper.name)
            for figure in figures:
                script, *_ = shlex.split(figure.command)
                self.assertTrue((paper / script).exists(), figure)
                self.assertEqual(all_committed()[figure.result].parent, paper / "results", figure)

    def test_a_figure_is_made_with_the_options_of_its_result(self):
        for paper in PAPERS:
            for figure in figure_runs.figures_of(paper):
                made, recorded = shlex.split(figure.command), whole.command(figure.result)
                self.assertEqual(made[0], Path(recorded[0]).name, figure)
                for option, value in zip(made, made[1:]):
                    if option.startswith("--") and option in recorded and option not in ("--tables", "--experiments"):
                        self.assertEqual(value, recorded[recorded.index(option) + 1], (figure, option))

    def test_an_unknown_figure_is_told(self):
        done = subprocess.run([sys.executable, PAPERS[0] / "run.py", "--figure", "none"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("invalid choice: 'none'", done.stderr)


class Arguments(unittest.TestCase):
    """Each script tells its options, with nothing but Python, and leaves nothing behind."""

    def helped(self, script):
        with tempfile.TemporaryDirectory() as home:
            environment = {"PATH": os.defpath, "HOME": home, "PYTHONDONTWRITEBYTECODE": "1", "PIP_NO_INDEX": "1"}
            done = subprocess.run([sys.executable, "-I", script, "--help"], env=environment, cwd=home, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            left = os.listdir(home)
        return script, done.returncode, "usage:" in done.stdout, left

    def test_help_comes_before_all_work(self):
        folders = [*FOLDERS, RESEARCH / "drives/offload/programs", ROOT / "scripts"]
        paths = [path for folder in folders for path in sorted(folder.iterdir()) if path.is_file() and path.suffix in (".py", "")]
        scripts = [path for path in paths if path.read_text().startswith("#!/usr/bin/env python3")]
        self.assertGreater(len(scripts), 40)
        with ThreadPoolExecutor(2) as pool:
            for script, status, is_help, left in pool.map(self.helped, scripts):
                self.assertEqual((status, is_help, left), (0, True, []), script)


if __name__ == "__main__":
    unittest.main()
