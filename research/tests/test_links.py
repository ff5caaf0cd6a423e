"""Links of pages, the list of result files, and the chart of the front page."""
import os
import re
import unittest
from pathlib import Path

import front_chart
from folders import RESEARCH, ROOT
from results import COMMITTED, all_committed

HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")


def project_files(*endings):
    """The files of the project with these endings, without what is built."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in ("target", "node_modules") and not name.startswith(".")]
        found += [Path(folder) / name for name in names if name.endswith(endings)]
    return sorted(found)


def without_code(text):
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def anchors(path):
    """The names of a page's headings in links: small letters, hyphens, no other signs."""
    titles = HEADING.findall(without_code(path.read_text()))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


class Links(unittest.TestCase):
    def test_each_link_of_a_page_has_its_file_and_its_heading(self):
        for page in project_files(".md"):
            text = re.sub(r"`[^`]*`", "", without_code(page.read_text()))
            for file, anchor in LINK.findall(text):
                to = (page.parent / file).resolve() if file else page
                self.assertTrue(to.exists(), f"{page.relative_to(ROOT)}: {file} is missing")
                if anchor:
                    self.assertIn(anchor, anchors(to), f"{page.relative_to(ROOT)}: {file} has no heading {anchor!r}")

    def test_each_page_that_a_file_names_is_there(self):
        for path in project_files(".md", ".py", ".rs", ".toml", "Makefile"):
            for named in re.findall(r"(?<![\w/.])docs/[\w/-]+\.md", path.read_text()):
                self.assertTrue((ROOT / named).exists(), f"{path.relative_to(ROOT)} names {named}, which is missing")


class ResultFiles(unittest.TestCase):
    def test_each_result_file_is_listed_and_used(self):
        there = all_committed()
        for page, folder in ((ROOT / "docs/results/README.md", ROOT / "docs/results"), (RESEARCH / "README.md", RESEARCH)):
            listed = {(page.parent / file).resolve() for file in re.findall(r"\]\(([\w/-]+\.json)\)", page.read_text())}
            of_folder = {path for path in there.values() if path.is_relative_to(folder)}
            self.assertEqual(listed, of_folder, f"{page.relative_to(ROOT)} lists each result file below its folder, and no other")
        shown = {file for path in project_files("claims.toml") for files in re.findall(r'^file = "(.*)"$', path.read_text(), re.MULTILINE) for file in files.split()}
        self.assertEqual(set(there) - shown, set(), "no page has a table of these: show one, or remove the file")

    def test_the_chart_of_the_front_page_is_that_of_its_result(self):
        self.assertEqual((ROOT / "docs" / "mix.svg").read_text(), front_chart.picture(), "run research/report/front_chart.py")

    def test_results_have_distinct_names(self):
        paths = [path for place in COMMITTED for path in ROOT.glob(f"{place}/*.json")]
        self.assertEqual(len(paths), len({path.name for path in paths}))


if __name__ == "__main__":
    unittest.main()
