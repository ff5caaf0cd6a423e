"""The pages: claims and what shows them, links, and the list of result files."""
import os
import re
import unittest
from pathlib import Path

import front_chart
import pages
from folders import RESEARCH, ROOT
from page_claims import Claim, Proof, Shown, about, between, exactly, spans
from results import COMMITTED, all_committed

# Figures that are no claims, by page and with the reason: limits, defaults, and settings of a
# measurement that say what was done, not what came of it.
SETTINGS = {
    "README.md": {},
    "docs/benchmarks.md": {},
    "docs/guide.md": {
        "`--timeout` (10 s)": "a default",
        "where a sixty-fourth of the index comes back from zones of which a tenth is dead": "a threshold of the code",
        "(16 MiB or more)": "the least budget",
        "the budget is 512 MiB": "the default",
        "at least 48 MiB less than all of it": "a limit",
        "leaves less than 48 MiB of it": "a limit",
        "at most half of its memory": "a limit",
        "a hundredth of the budget: 163 KiB at 16 MiB, 5 MiB at 512 MiB, 16 MiB from 1.6 GiB on": "limits that follow from the division of the budget",
        "takes two seconds of processor time at most": "a bound that a test of measure/ shows",
        "50 ms at most or, if it ran for longer, a tenth of that": "a limit",
        "and 1.5 MiB: together a quarter of `--memory` at most, so 512 MiB allow 63 GiB": "limits of the cache",
        "at most a quarter of it together": "a limit",
        "more than an eighth of the cache": "a limit",
        "`--result-ttl 30s` also reuses answers of earlier states for 30 seconds": "an example of an option",
        "`reused after 1.2 s`": "an example of an output",
    },
    "docs/python.md": {
        "A search ranks 10,000 documents at most": "a limit",
        "about 20 bytes a hit": "the size of an ID, where it ends, and a score",
        "the search ranks twice": "what the code does",
        "a budget of 96 MiB less than the limit, and 1 GiB without": "a setting of the comparison",
        "2 threads, a heap of 100 MiB and 1 GiB, IDs in a fast field, a pool of 2 threads": "a setting of the comparison",
        "`search_many` 2,000 queries a call": "a setting of the comparison",
        "`publish` takes 64 MiB beside the budget of the index": "a default",
        "1 worker with 32 MiB, small buffers and caches; 2 with 2 GiB without limit; positions, a pool of 2 threads": "a setting of the comparison",
        "96 MiB and 1 thread to index, 8 GiB and 2 threads": "a setting of the comparison",
        "the backend of numba, 2 threads": "a setting of the comparison",
        "a cache of 64 MiB and 1 GiB": "a setting of the comparison",
    },
    "docs/ray.md": {
        "if the index has up to 64 MiB": "the limit of a small write",
        "`max_timeout` (10 s)": "a default",
        "(64 KiB). What asks for more": "a default",
        "a writer needs 80 MiB or more: 64 MiB are for publishing, and the rest is for its index": "limits",
        "With `cache_size=\"10GiB\"`": "an example of an option",
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
    "research/papers/smart-ssd/page.md": {
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
        "at most three times that of asking alone": "the aim",
    },
    "docs/experiments/techniques.md": {
        "Its memory is a sixteenth of the index, but 16 MiB at least": "what is run, and a limit",
        "read at most 1.5 times the least": "the aim",
        "have 64 pages or fewer": "a constant of the code",
        "little memory (16 MiB)": "what is run",
        "(first 200 queries)": "what is run",
        "with 16 MiB and 8 threads": "what is run",
    },
    "research/papers/wiser/page.md": {
        "if twice these bytes": "the rule of the paper, with a number",
        "128 KiB or more": "the paper's threshold",
        "segment of 128 KiB": "the size of a segment",
        "has segments of 32 KiB": "the size of a segment",
        "128 KiB are for the paper's six million": "the paper's threshold and corpus",
        "Read-ahead of 128 KiB is what": "the default of Linux",
        "or 16 KiB of them together": "Elasticsearch's groups",
        "a sixteenth of the published index": "what is run",
        "Passages, of 110 words": "the corpus",
        "Articles, of 2,200 words": "the corpus",
        "Wikipedia of May 2018, 6 million documents": "the paper's corpus",
        "with 8 threads on two cores": "what is run",
        "Memory is a sixteenth of the index unless said otherwise": "what is run",
        "medians with a sixteenth of the index. The five sets of figure 19 ran twice": "what is run",
        "figure 19 at 128 MB against 8 GB": "the paper's figure",
        "smaller than 8 GB": "the corpus",
        "512 MB for 18 GB": "the paper's setting",
        "memory is a sixteenth of the index": "what is run",
    },
    "research/papers/two-tier-cache/page.md": {
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
        "from half of the paper's gain on": "the rule of a verdict",
        "CBSLRU with 5 MB": "what is run",
        "(14.5 and 1.9 dollars a GB)": "prices, with their sources in a file",
        "a third class": "a class",
        "test every policy on a small log, twice": "what a test does",
    },
    "research/drives/page.md": {
        "times of 75 and 85 us": "the profile",
        "1,000 blocks of 64 pages": "what is run",
        "65,536 pages": "what was run elsewhere",
        "within 1 %": "what a test holds, printed by the command beside",
        "random writes of 4 KiB are what": "what was fitted",
        "128,000 random writes of 4 KiB a second": "printed by the command beside; the model gives the same anywhere",
    },
    "research/peers/page.md": {
        "A sixty-fourth of the index is more than that only with eight times the passages": "what is run",
        "the sources of Linux, and eight times the passages": "the corpora",
        "SeekStorm was not asked about eight times the passages": "what is run",
        "Of 200 queries of each set": "what is compared",
        "keeps the first 65,536 words": "a limit of SeekStorm",
        "Eight times the passages, with 64 MiB too": "what is run",
        "eight times as many, each with the same 64 MiB for a cache": "what is run",
        "the first 200 queries of each set": "what is compared",
        "no score differs by more than 2 %": "the rule by which answers agree",
        "plus 4 MiB": "what is run",
        "at least 16 MiB, the least that Gannet works with": "a limit",
        "a sample of the 24 sets above, twice as long as one": "what is asked",
        "a third peer": "who is asked",
        "few words in 10,000 documents": "the reason why a set is short",
        "a fault brings 4 KiB": "the page of the system",
        "of which 80 % are frames": "the division of the budget",
        "read-ahead is set to 128 KiB": "what is run",
        "within the 2 % that the lab allows": "the rule by which answers agree",
        "the best 1,000 documents of each of its 38 frequent words": "what SeekStorm does",
        "with 256 MiB and two threads": "what is run",
        "or 256 MiB if that is more": "what is run",
        "Passages of some 110 words": "the corpus",
        "8 threads on 2 cores, passages and articles in two runs": "what is run",
        "Lucene warms up four times as long": "what is run",
        "With 8 threads on two cores": "what is run",
    },
    "docs/experiments/writing.md": {
        "are replaced and are deleted, with 64 MiB": "what is run",
        "durable commits of 10 documents": "what is run",
        "fills an index with half of a corpus. It adds a quarter": "what is run",
        "batches of 100 documents": "what is run",
        "Of each query three times are kept": "what is kept",
        "at most three times that without writing": "the aim",
        "back off for 100 us after every 100 us of work": "constants of the code",
        "deletes a random half of them": "what is run",
        "asks one snapshot every 20 ms": "what is run",
        "are added up every 20 ms": "what is run",
        "allowed is 1.5 times what lives and 256 MiB": "the aim",
        "as long as three tenths of the index are dead": "a threshold of the code",
    },
    "research/papers/as-btree/page.md": {
        "less than 5 % valid nodes": "the paper's setting",
        "each 128 times larger": "the paper's setting",
        "runs 8 times larger": "what is run",
        "(pages of 4 KiB, keys": "the engine's pages",
        "on the nodes of 8 KiB of the others": "the paper's nodes",
        "met within 5 %": "what a test holds",
        "896 KiB at most": "the paper's memory",
        "One of 8 bytes takes less than 30": "what a test holds",
        "256 in most tables: 400 would fit": "8 KiB by 20 bytes an entry",
        "first page, and pages of 4 KiB": "the trace",
        "a leaf has twice as many changes": "follows from the rule",
        "on 500,000 records with 896 KiB each": "the paper's setting",
        "72 % searches, 24 % insertions, 3 % ranges (100 keys), 1 % deletions": "the paper's mix",
        "takes 48 bytes a change": "the size of the engine's lists",
        "for which twice the mean waits": "follows from the rule",
        "have three quarters": "what is run",
        "keys and values of 8 bytes": "what is run",
        "subfiles of 64 MB, numbers 25 to 34; cleaned below 5 %": "the paper's setting",
        "nine of ten keys in a tenth": "what is run",
        "nodes of 8 KB, 100,000 operations": "the paper's setting",
        "nodes of 8 KB, F 256, 896 KB": "the paper's setting",
        "896 KiB each, divided": "the paper's memory",
        "The paper's 642 MB": "the paper's figure",
        "into nodes of 8 KB. Of these 0.6 % are written together, as it says, so they take 795 MB": "the paper's figures, and a product of them",
    },
    "research/papers/mfis/page.md": {
        "a list's last block of 8 KB": "the paper's block",
        "8 KB (ceil((c + b) / 1022)": "a formula",
        "T half of all documents": "the paper's setting",
        "T half of a flush's documents": "the paper's setting",
        "Half a flush is the threshold there too": "the paper's setting",
        "met within 5 % on lists that all grow alike": "what a test holds",
        "lists of words in more than a tenth of the documents, 8 bytes a posting": "the paper's setting",
        "(32 MiB of frames)": "what is run",
        "given up every 16 queries": "what is run",
        "12.37 ms a read, 13.37 ms a write (none where the head stands) and 189 MB/s": "the profile of the disk",
        "Lists of words in more than a tenth of the passages": "the paper's setting",
        "has 20,000 documents of Wikipedia": "the paper's setting",
        "70 % ask for words in more than a quarter": "what is asked",
        "with 1,000 documents a flush": "the paper's setting",
        "With [1,000 documents a flush]": "the paper's setting",
        "a chunk of the paper has 120 KB": "a figure of the paper",
        "A cell takes 0.2 s": "what is run",
        "in more than one of 200 passages": "what is run",
        "70 % are of words in more than one of 50 documents, 30 % are others": "what is asked",
        "a block of 8 KB in place": "the paper's block",
        "log2(pages / piece) / 2 times on average": "a formula",
    },
    "ARCHITECTURE.md": {
        "more than a hundredth of the budget": "a limit",
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

# Tables with numbers that are no results, by page and the first cells of their heads, with the
# reason. Each table of docs/format.md says what a format is.
NO_RESULTS = {
    "docs/glossary.md": {"| word |": "definitions"},
    "docs/guide.md": {"| code |": "exit codes"},
    "research/papers/smart-ssd/page.md": {"| call |": "versions of specifications"},
    "docs/results/README.md": {"| file |": "what the files are"},
    "docs/experiments.md": {"| page |": "each figure is a claim", "| what | why |": "years, versions and figures that are not made"},
    "docs/experiments/method.md": {"| corpus |": "the corpora"},
    "research/papers/mfis/page.md": {"| | what a flush does |": "formulas of what a strategy does"},
    "research/peers/page.md": {"| sets |": "what is asked", "| column |": "what a column is"},
    "research/papers/two-tier-cache/page.md": {"| policy |": "what a policy is"},
    "docs/experiments/mechanisms.md": {"| mechanism |": "lines of code, and what was decided; each figure is a claim"},
    "research/papers/as-btree/page.md": {"| name |": "what a structure is", "| | the text says |": "settings that the paper leaves open"},
    "research/papers/wiser/page.md": {"| of the paper |": "what is not made, and why"},
}


class TablesByHand(unittest.TestCase):
    def test_each_table_with_numbers_is_made_from_a_result(self):
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted(RESEARCH.rglob("page.md"))]:
            page = str(path.relative_to(ROOT))
            found = pages.tables_by_hand(path.read_text())
            allowed = tuple(found) if page == "docs/format.md" else tuple(NO_RESULTS.get(page, {}))
            left = {head: cells for head, cells in found.items() if not head.startswith(allowed)}
            self.assertEqual(left, {}, f"{page}: make a result file and a marker of scripts/tables for these, or leave them out")

    def test_each_table_that_is_allowed_is_still_there(self):
        for page, heads in NO_RESULTS.items():
            found = pages.tables_by_hand((ROOT / page).read_text())
            gone = [head for head in heads if not any(other.startswith(head) for other in found)]
            self.assertEqual(gone, [], page)

    def test_a_table_by_hand_is_found(self):
        text = ("| set | queries/s |\n|---|---|\n| mix | 14,267 |\n\n| what | why |\n|---|---|\n| S3 | `8` [a](b.md#c-1) |\n"
                "```\n| in code | 7 |\n```\n<!-- table: rate from rate.json -->\n| made | 3 |\n<!-- end -->\n| last | -2 |")
        self.assertEqual(pages.tables_by_hand(text), {"| set | queries/s |": ["14,267"], "| last | -2 |": ["-2"]})


class Claims(unittest.TestCase):
    def test_the_words_of_each_claim_are_in_its_page(self):
        for page, claims in pages.CLAIMS.items():
            text = " ".join((ROOT / page).read_text().split())
            for claim in claims:
                self.assertIn(claim.words, text, f"{page} does not say this any more: change it in research/report/*_claims.py")

    def test_each_claim_holds_for_what_its_result_file_gives(self):
        for page, claims in pages.CLAIMS.items():
            for claim in claims:
                shown_by, there, holds = claim.cells()
                self.assertEqual(holds, "yes", f"{page} says {claim.words!r}, and {shown_by} gives {there}")

    def test_each_proof_is_a_test_that_exists(self):
        for claims in pages.CLAIMS.values():
            for proof in filter(lambda claim: isinstance(claim, Proof), claims):
                self.assertIn(proof.test, (ROOT / proof.file).read_text(), proof)

    def test_each_figure_outside_tables_is_a_claim_or_a_setting(self):
        for page, settings in SETTINGS.items():
            claimed = [claim.words for claim in pages.CLAIMS.get(page, [])]
            left = pages.figures_left((ROOT / page).read_text(), [*claimed, *settings])
            self.assertEqual(left, [], f"{page}: add a claim to research/report/user_claims.py, or a setting to research/tests/test_pages.py, or leave the figure out")

    def test_the_chart_of_the_front_page_is_that_of_its_result(self):
        self.assertEqual((ROOT / "docs" / "mix.svg").read_text(), front_chart.picture(), "run research/report/front_chart.py")

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
        rows = [len(Shown(file, "").rows) for file in ("growth-passages", "offload", "growth-passages offload")]
        self.assertEqual(rows[2], rows[0] + rows[1])
        self.assertEqual({row["corpus"] for row in Shown("growth-passages offload", "").rows}, {"passages"})

    def test_a_claim_that_the_file_does_not_show_is_told(self):
        claim = Claim("twice the rate", "rate", "", lambda shown: len(shown.rows), exactly(-1))
        self.assertEqual(claim.cells()[2], "**no**")


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
        texts = "\n".join(path.read_text() for path in project_files(".md"))
        markers = re.findall(r"<!-- table: .* from (.*) -->", texts)
        shown = {file.removesuffix(".json") for files in markers for file in files.split()}
        self.assertEqual(set(there) - shown, set(), "no page has a table of these: show one, or remove the file")

    def test_results_have_distinct_names(self):
        paths = [path for place in COMMITTED for path in ROOT.glob(f"{place}/*.json")]
        self.assertEqual(len(paths), len({path.name for path in paths}))


if __name__ == "__main__":
    unittest.main()
