"""The pages: claims and what shows them, links, and the list of result files."""
import os
import re
import unittest
from pathlib import Path

import pages
from page_claims import Claim, Proof, Shown, about, between, exactly, spans

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"

# Figures that are no claims, by page and with the reason: limits, defaults, and settings of a
# measurement that say what was done, not what came of it.
SETTINGS = {
    "README.md": {},
    "docs/benchmarks.md": {},
    "docs/guide.md": {
        "`--timeout` (10 s)": "a default",
        "where a sixty-fourth of the index comes back from zones of which a tenth is dead": "a threshold of the code",
        "(16 MiB or more; 512 MiB by default)": "the least budget and the default",
        "up to 0.3 MiB at 16 MiB, 2 MiB at 64 MiB, 16 MiB from about 450 MiB on": "limits that follow from the division of the budget",
        "50 ms at most or, if it ran for longer, a tenth of that": "a limit",
        "and 1.5 MiB: together a quarter of `--memory` at most, so 512 MiB allow 63 GiB": "limits of the cache",
        "at most a quarter of it together": "a limit",
        "more than an eighth of the cache": "a limit",
        "`--result-ttl 30s` also reuses answers of earlier states for 30 seconds": "an example of an option",
        "`reused after 1.2 s`": "an example of an output",
    },
    "docs/python.md": {
        "about 20 bytes a hit": "the size of an ID, where it ends, and a score",
        "it ranks twice": "what the code does",
        "a budget of 96 MiB less than the limit, and 1 GiB without": "a setting of the comparison",
        "2 threads, a heap of 100 MiB and 1 GiB, IDs in a fast field, a pool of 2 threads": "a setting of the comparison",
        "1 worker with 64 MiB and 2 with 2 GiB, positions, a pool of 2 threads": "a setting of the comparison",
        "160 MiB and 1 thread, 8 GiB and 2 threads": "a setting of the comparison",
        "the backend of numba, 2 threads": "a setting of the comparison",
        "a cache of 64 MiB and 1 GiB": "a setting of the comparison",
    },
    "docs/ray.md": {
        "Ray may run a task twice": "what Ray does",
        "in pieces of up to 32 MiB": "a limit",
        "The tests here take 500 ms and 3": "settings of the tests",
    },
    "docs/remote.md": {
        "`--refresh` (10 s)": "a default",
        "a gap of at most 64 KiB": "a default",
        "two words that some 1,000 documents have, 10 documents, snippets": "what is asked",
        "with 10 documents and snippets each": "what is asked",
        "a third party": "who told a price",
        "The default is 64 KiB": "a default",
        "--cache-size 10GiB": "an example of an option",
        "two root slots of 4 KiB": "the format",
        "a sixteenth of `--memory` (1 MiB to 16 MiB), the opening pack at most an eighth": "limits",
        "needs `--memory 128MiB`": "a limit",
        "`--remote-timeout` (30 s)": "a default",
    },
    "docs/offload.md": {
        "Addresses below 32 KiB": "the profile",
        "counts as 16 operators": "a rule of counting, called assumed",
        "a burst of 32 bytes": "a rule of counting",
        "a page of flash 10 uJ. A byte on the link is 1 nJ for the profile of 2016 and 0.1 nJ": "the profile, called assumed",
        "it has 1,536 words": "the size of SRAM",
        "At most 12 lists": "a limit",
        "fitted to 525 queries": "what the planner was fitted to",
        "up to a fifth of all weights": "a constant of the planner",
        "half an interval": "a rule of the planner",
        "answers each query twice": "what the command does",
        "up to 256 KiB": "a limit",
        "600 queries, the faults of 12, and 500 rounds": "sizes of tests",
        "a seventh": "a program",
        "differ by less than 4 times": "the paper's algorithm",
        "all lists are looked at twice": "the paper's algorithm",
        "A posting has 32 bytes: document, precomputed score, and 24 bytes": "the paper's postings",
        "30,000 results in 12 ms and their ranking in 5 ms": "the paper's figures, which the calibration takes",
        "one page of 4 KiB": "the profile",
        "Calibrated anew with 4, 16 or 64 pages": "what was varied",
        "5 ns for an access. The rest of its 8 ms": "the profile",
        "has 1 % of its shorter list as results": "what was assumed of the paper's query",
        "(figure 12 at 100 %)": "a point of the paper's figure",
        "From 10 to 100 %": "two points of the paper's figure",
        "The paper's 163 ms": "the paper's figure",
        "its mean of 3.8 lists": "the paper's figure",
        "looks at each list twice": "the paper's algorithm",
        "half as large and half again as large": "what was varied",
        "half of the SRAM": "what was varied",
        "a posting of 32 bytes": "the paper's postings",
        "It takes 0.2 % of the list": "8 bytes for a page of 4 KiB",
        "up to 16 pages": "a limit",
        "99.2 % of the range": "128 / 129",
        "at most 10 % more": "what is called good",
    },
    "docs/experiments.md": {
        "24 GiB of memory": "the machine",
        "saved less than 3 % on every set": "the rule by which a path went",
        "they are half as large again": "an idea that is not built; nothing was measured",
    },
    "docs/experiments/memory.md": {
        "at most budget + 32 MiB; more than budget + 64 MiB fails": "the aim and the limit",
        "on a twentieth of each corpus": "what is run",
        "in groups of budget + 64 MiB": "the limit",
        "`--eightfold` indexes and asks `passages8` with 64 MiB": "what is run",
        "in a memory group of budget + 64 MiB": "the limit",
    },
    "docs/experiments/instructions.md": {},
    "docs/experiments/ranking.md": {
        "saves less than 3 % on every set went": "the rule by which a path went",
        "with 16 MiB": "what is run",
        "a twentieth does not show": "the corpus",
        "540,000 passages: levels are those of a twentieth": "the corpus",
    },
    "docs/experiments/mechanisms.md": {
        "an empty cache of 16 MiB": "what is run",
        "A flush rests 100 us in every 200": "a constant of the code",
        "the last quarter of all passages is written, with 64 MiB": "what is run",
    },
    "docs/experiments/techniques.md": {
        "the memory a sixteenth of the index": "what is run",
        "have 64 pages or fewer": "a constant of the code",
        "little memory (16 MiB)": "what is run",
        "(first 200 queries)": "what is run",
        "with 16 MiB and 8 threads": "what is run",
    },
    "docs/experiments/wiser.md": {
        "if twice these bytes": "the rule of the paper, with a number",
        "128 KiB or more": "the paper's threshold",
        "segment of 128 KiB": "the size of a segment",
        "zones from 10.7 KiB, segments of 32 KiB. Read-ahead of 128 KiB": "the scaled threshold, and the default of Linux",
        "or 16 KiB of them together": "Elasticsearch's groups",
        "a sixteenth of the published index": "what is run",
        "Passages, of 110 words": "the corpus",
        "Articles, of 2,200 words": "the corpus",
        "Wikipedia of May 2018, 6 million documents": "the paper's corpus",
        "makes them in 25 minutes and more": "about how long a command takes",
        "figure 19 at 128 MB against 8 GB": "the paper's figure",
        "smaller than 8 GB": "the corpus",
        "512 MB for 18 GB": "the paper's setting",
        "memory is a sixteenth of the index": "what is run",
    },
    "docs/experiments/cache.md": {
        "The index has 540,000 documents": "the corpus",
        "times 9.3 for the paper's 5,000,000 documents. A posting takes 8 bytes": "what is modelled",
        "25,000 queries drawn": "what is asked",
        "the first half": "what is asked",
        "the half that is measured": "what is asked",
        "results get 20 % of memory. Flash is ten times the memory of results and a hundred times that of lists": "the paper's sizes",
        "The paper's 20 to 200 MB are flash (1 and 2 MB of memory) or memory (20 MB)": "the paper's sizes",
        "blocks of 128 KB": "the paper's blocks",
        "Six results of 20 KB fit into a block of 128 KB": "the paper's sizes",
        "at most half of what `gannet-all` writes": "the aim",
        "With 5 MB on the drawn log": "a setting of a row",
        "half of them cannot be left out": "the aim",
        "to read twice what is needed": "what was tried",
        "The web log with 5 MB": "what is run",
        "more than 99 % in a trace": "the paper's figure",
        "CBSLRU with 5 MB": "what is run",
        "(14.5 and 1.9 dollars a GB)": "prices, with their sources in a file",
        "from 2 MB on, lists until 10 MB": "settings of rows",
        "three seeks of 13 ms": "the disk's profile",
        "6.5 ms a block": "the drive's profile",
        "a third class": "a class",
        "test every policy on a small log, twice": "what a test does",
    },
    "docs/experiments/drives.md": {
        "times of 75 and 85 us": "the profile",
        "1,000 blocks of 64 pages": "what is run",
        "65,536 pages": "what was run elsewhere",
        "within 1 %": "what a test holds, printed by the command beside",
        "random writes of 4 KiB are what": "what was fitted",
        "128,000 random writes of 4 KiB a second": "printed by the command beside; the model gives the same anywhere",
    },
    "ARCHITECTURE.md": {
        "30 %; of an index that is only read 80 %, or 45 %": "the division of the budget",
        "a 512th of its size and 1.5 MiB": "the division of the budget",
        "and 1 MiB each": "the division of the budget",
        "| 8 % |": "the division of the budget",
        "1/8, at most 36 MiB": "the division of the budget",
        "at most 38 %": "the division of the budget",
        "at least 1/16, half of that": "the division of the budget",
        "a root slot of 4 KiB": "the format",
        "batches of up to 1 MiB": "a limit",
        "a quarter of the documents, and 1,024 at least, is deleted, when idle a sixteenth": "thresholds of the code",
        "less than 8 bytes a page": "the size of the map",
        "read twice": "a rule of the flash tier",
        "1 MiB of scratch": "a limit",
    },
}


class Claims(unittest.TestCase):
    def test_the_words_of_each_claim_are_in_its_page(self):
        for page, claims in pages.CLAIMS.items():
            text = " ".join((ROOT / page).read_text().split())
            for claim in claims:
                self.assertIn(claim.words, text, f"{page} does not say this any more: change it in lab/*_claims.py")

    def test_each_claim_holds_for_what_its_result_file_gives(self):
        for page, claims in pages.CLAIMS.items():
            for claim in claims:
                shown_by, there, holds = claim.cells(RESULTS)
                self.assertEqual(holds, "yes", f"{page} says {claim.words!r}, and {shown_by} gives {there}")

    def test_each_proof_is_a_test_that_exists(self):
        for claims in pages.CLAIMS.values():
            for proof in filter(lambda claim: isinstance(claim, Proof), claims):
                self.assertIn(proof.test, (ROOT / proof.file).read_text(), proof)

    def test_each_figure_outside_tables_is_a_claim_or_a_setting(self):
        for page, settings in SETTINGS.items():
            claimed = [claim.words for claim in pages.CLAIMS.get(page, [])]
            left = pages.figures_left((ROOT / page).read_text(), [*claimed, *settings])
            self.assertEqual(left, [], f"{page}: add a claim to lab/user_claims.py, or a setting to lab/test_pages.py, or leave the figure out")

    def test_each_setting_is_still_in_its_page(self):
        for page, settings in SETTINGS.items():
            text = pages.prose((ROOT / page).read_text())
            self.assertEqual([words for words in settings if words not in text], [], page)

    def test_figures_are_found_in_prose_alone(self):
        text = ("It is 1.5 times as fast,\nand takes a third.\n\n| by hand | 3 MB |\n```\n4 MB\n```\n# 5 MB\n"
                "<!-- table: rate from rate.json -->\n| 6 MB |\n<!-- end -->\nFormat 7, figure 1, lists of 2015, `--top 10`.\n")
        self.assertEqual(len(pages.figures_left(text, [])), 3)
        self.assertEqual(len(pages.figures_left(text, ["1.5 times as fast, and", "| 3 MB |"])), 1, "words across lines")

    def test_words_allow_what_they_say(self):
        for allows, figures, expected in [
                (about(10), [10.4], True), (about(10), [10.6], False), (between(1, 2), [1, 3], False), (exactly(1, 2), [1, 2], True),
                (spans(1, 9), [1, 5, 9.1], True), (spans(1, 9), [1, 5], False), (spans(1, 9), [0.5, 9], False)]:
            self.assertEqual(allows(figures), expected, figures)

    def test_several_files_are_one_with_the_rows_of_all(self):
        rows = [len(Shown(file, "", RESULTS).rows) for file in ("queries", "offload", "queries offload")]
        self.assertEqual(rows[2], rows[0] + rows[1])
        self.assertEqual({row["corpus"] for row in Shown("queries offload", "", RESULTS).rows}, {"passages"})

    def test_a_claim_that_the_file_does_not_show_is_told(self):
        claim = Claim("twice the rate", "rate", "", lambda shown: len(shown.rows), exactly(-1))
        self.assertEqual(claim.cells(RESULTS)[2], "**no**")


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
        listed = set(re.findall(r"^\| \[([\w-]+)\]", (RESULTS / "README.md").read_text(), re.MULTILINE))
        self.assertEqual(listed, {path.stem for path in RESULTS.glob("*.json")}, "docs/results/README.md lists each file, and no other")
        texts = "\n".join(path.read_text() for path in project_files(".md") if path.parent != RESULTS)
        markers = re.findall(r"<!-- table: .* from (.*) -->", texts)
        shown = {file.removesuffix(".json") for files in markers for file in files.split()}
        self.assertEqual(listed - shown, set(), "no page has a table of these: show one, or remove the file")


if __name__ == "__main__":
    unittest.main()
