"""Claims of pages: what their words allow, and that a changed figure or word is found. Run it in
the environment of scripts/venv, as `make test` does.
"""
import dataclasses
import random
import re
import tempfile
import unittest
from pathlib import Path

import folders  # The modules of all folders are known behind it.
import claim_files
import claims_command
import page_tables
from claim_files import Claim, ClaimFile, Table, Verdict, shows
from page_text import NUMBER, left
from result_rows import Wrong

SEED, CHANGES = 7, 30


def claim_of(words, sql, **more):
    return Claim(words=words, file="psync", query=f"SELECT {sql}", **more)


class Words(unittest.TestCase):
    def test_a_figure_is_rounded_as_the_words_have_it(self):
        for number, figure, expected in [("1.26", 1.264, True), ("1.26", 1.265, False), ("17", 17.4, True), ("17", 17.6, False), ("0.10", 0.1, True),
                                         ("540,000", 539_877, True), ("100", 104, True), ("100", 106, False), ("8", 8.6, False), ("-4.5", -4.47, True),
                                         ("1/25", 1 / 25.4, True), ("1/25", 1 / 26, False), ("30", 34, False)]:
            self.assertEqual(shows(number, figure), expected, (number, figure))

    def test_numbers_of_names_are_no_figures(self):
        self.assertEqual(NUMBER.findall("p99 of `or-1000` in figure 7, table 2: 1,024 to 2.5 of 10/90 and 1/25, S3 -4 %"), ["1,024", "2.5", "1/25", "-4"])

    def test_a_claim_binds_its_numbers(self):
        for claim, holds in [
                (claim_of("takes 2.5 to 4 s", "2.51, 3.9"), True), (claim_of("takes 2.5 to 4 s", "2.51"), False), (claim_of("takes 2.5 s", "2.6"), False),
                (claim_of("takes less", "0.9", most=0.95), True), (claim_of("takes less", "0.97", most=0.95), False), (claim_of("takes less", "0.9"), False),
                (claim_of("of 8 threads 3", "3", shown=["3"]), True), (claim_of("of 8 threads 3", "4", shown=["4"]), False),
                (claim_of("takes 2 s", "NULL"), False), (Claim(words="stays", file="README.md", test="Gannet"), True), (Claim(words="stays", file="README.md", test="no such"), False)]:
            self.assertEqual(claim.problem() is None, holds, claim)

    def test_what_is_wrong_with_a_query_is_told(self):
        with self.assertRaisesRegex(Wrong, "nothing.*not found.* in the query SELECT nothing FROM rows"):
            claim_of("takes 2 s", "nothing FROM rows").problem()


class Figures(unittest.TestCase):
    def test_figures_are_found_in_prose(self):
        text = ("It is 1.5 times as fast,\nand takes a third.\n\n```\n4 MB\n```\n# 5 MB\n"
                "<!-- table: rate -->\n| 6 MB |\n<!-- end -->\nFormat 7, figure 1, lists of 2015, `--top 10`.\n")
        self.assertEqual(len(left(text, [], [])), 2)
        self.assertEqual(len(left(text, [("1.5 times as fast, and", {"1.5"})], [])), 1, "words across lines")
        self.assertEqual(len(left(text, [("1.5 times as fast, and", set())], ["takes a third"])), 1, "a number that the claim does not bind")

    def test_numbers_of_tables_by_hand_are_found(self):
        text = "| set | queries/s |\n|---|---|\n| mix | 14,267 |\n| S3 | `8` [a](b.md#c-1) |\n"
        self.assertEqual(len(left(text, [], [])), 1)
        self.assertEqual(left(text, [], ["| set |"]), [])
        self.assertEqual(left(text, [("| mix | 14,267 |", {"14,267"})], []), [])


class Verdicts(unittest.TestCase):
    def test_a_factor_holds_with_half_of_the_gain_to_twice_of_it(self):
        more, less = Verdict(paper=[3, 2]), Verdict(paper=0.5)
        for claim, figures, expected in [(more, [1.5], "holds"), (more, [5], "holds"), (more, [1.4], "in part"), (more, [5.1], "in part"), (more, [1], "**reversed**"),
                                         (less, [0.6], "holds"), (less, [0.34], "holds"), (less, [0.7], "in part"), (less, [0.3], "in part"), (less, [1], "**reversed**"),
                                         (more, [2, 3], "holds"), (more, [0.9, 3], "in part"), (more, [None], "not tested")]:
            self.assertEqual(claim.verdict(figures), expected, (claim, figures))
        self.assertEqual(more.paper, "2 to 3")

    def test_what_reverses_stands_first(self):
        of = ClaimFile(Path("claims.toml"), {}, [], [Verdict(file="psync", says=says, paper=2.0, query=f"SELECT {figure}") for says, figure in (("a", 2), ("b", 0.5))], [])
        self.assertEqual([line.split(" | ")[0] for line in page_tables.table("verdicts", of, Path())[2:4]], ["| b", "| a"])


class Tables(unittest.TestCase):
    OF = ClaimFile(Path("claims.toml"), {}, [], [], [
        Table(name="rates", file="psync", query="SELECT 'mix' AS name, 1234.5 AS rate, 0.5 AS part, NULL AS none", format={"part": ".3f"}),
        Table(name="long", file="psync", query="FROM range(13)")])

    def test_a_table_is_written_between_its_lines(self):
        made = page_tables.renewed("a\n<!-- table: rates -->\nold\n<!-- end -->\nb\n", self.OF, Path())
        self.assertIn("\n| name | rate | part | none |\n|---|---|---|---|\n| mix | 1,234 | 0.500 | - |\n\nFrom [psync](", made)
        self.assertEqual(page_tables.renewed(made, self.OF, Path()), made)

    def test_what_is_wrong_with_a_table_is_told(self):
        for text, expected in [("<!-- table: rates -->\nold\n", "no end"), ("<!-- table: long -->\n<!-- end -->\n", "13 rows"), ("<!-- table: x -->\n<!-- end -->\n", "no such table")]:
            with self.assertRaisesRegex(Wrong, expected):
                page_tables.renewed(text, self.OF, Path())

    def test_an_unknown_key_is_told(self):
        with tempfile.TemporaryDirectory(dir=folders.ROOT / "target") as home:
            path = Path(home) / "claims.toml"
            path.write_text("[[claim]]\nwords = 'a'\nmots = 'b'\n")
            with self.assertRaisesRegex(Wrong, "unknown keys: mots"):
                claim_files.read(path)


def changed(token, chance):
    """A number with another digit, but for zeros that come from rounding, or another word."""
    digits = [place for place, sign in enumerate(token if "." in token else token.rstrip("0")) if sign.isdigit()]
    if not digits:
        return "hardly" if token != "hardly" else "often"
    place = chance.choice(digits)
    return token[:place] + chance.choice([digit for digit in "123456789" if digit != token[place]]) + token[place + 1:]


def change(words, text, chance):
    """The page with a word or number of these words changed, wherever its lines break."""
    found = re.search(r"\s+".join(map(re.escape, words.split())), text)
    tokens = list(re.finditer(r"\S+", found.group()))
    token = chance.choice([token for token in tokens if NUMBER.search(token.group())] or tokens)
    start = found.start() + token.start()
    return text[:start] + changed(token.group(), chance) + text[start + len(token.group()):]


class Mutations(unittest.TestCase):
    """Every change of a figure or a word that a result decides is found."""

    def setUp(self):
        self.chance = random.Random(SEED)
        files = [claim_files.read(path) for path in claims_command.claim_paths()]
        self.claims = [(of, claim) for of in files for claim in of.claims]

    def test_changes_of_pages_are_found(self):
        for of, claim in self.chance.choices(self.claims, k=CHANGES):
            text = (of.path.parent / claim.page).read_text()
            after = change(claim.words, text, self.chance)
            self.assertNotEqual(of.problems(claim.page, after), [], f"{claim.page}: {claim.words}")

    def test_changes_of_page_and_claim_together_are_found(self):
        shown = [(of, claim) for of, claim in self.claims if claim.shown]
        for _, claim in self.chance.choices(shown, k=CHANGES):
            place = self.chance.randrange(len(claim.shown))
            number = changed(claim.shown[place], self.chance)
            other = dataclasses.replace(claim, words=claim.words.replace(claim.shown[place], number), shown=[*claim.shown[:place], number, *claim.shown[place + 1:]])
            self.assertIsNotNone(other.problem(), other)

    def test_changes_of_tables_are_found(self):
        pages = [(of, page) for path in claims_command.claim_paths() for of in [claim_files.read(path)] for page in claims_command.pages_of(of)]
        cells = [(of, page, made.start() + cell.start(), cell.group()) for of, page in pages
                 for made in re.finditer(r"<!-- table: [\w-]+ -->\n.*?<!-- end -->", page.read_text(), re.DOTALL)
                 for cell in re.finditer(r"(?<=\| )[\d.,]+(?= \|)", made.group())]
        for of, page, start, cell in self.chance.choices(cells, k=CHANGES):
            text = page.read_text()
            after = text[:start] + changed(cell, self.chance) + text[start + len(cell):]
            self.assertNotEqual(page_tables.renewed(after, of, page.parent), after, page)


if __name__ == "__main__":
    unittest.main()
