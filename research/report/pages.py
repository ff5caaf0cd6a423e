"""The pages whose figures are checked, with their claims, and where a page has figures.

`scripts/tables` writes docs/claims.md from this. `test_pages.py` fails where the words of a claim
are not in their page or do not hold, and where a page has a figure that is neither a claim nor a
setting. Tables that are made from results need no claim.
"""
import re

from cache_claims import CACHE
from experiment_claims import EXPERIMENT_PAGES
from offload_claims import OFFLOAD
from tree_claims import TREES
from user_claims import USER_PAGES

CLAIMS = USER_PAGES | {"research/papers/smart-ssd/page.md": OFFLOAD} | EXPERIMENT_PAGES | {"research/papers/two-tier-cache/page.md": CACHE, "research/papers/as-btree/page.md": TREES}

UNITS = ("%|times|[KMG]i?B(?:/s)?|bytes?|[mun]s|s|seconds?|minutes?|[nu]J|rounds|reads|requests|queries|documents|passages|pages|lists|operators|polls|"
         "cores|threads|words|points|dollars|million")
PARTS = "third|quarter|fifth|sixth|eighth|tenth|sixteenth|twentieth|thirtieth|hundredth"
# A number with a unit, a part, or so many times.
FIGURE = re.compile(rf"(?<![\w.])\d+(?:[.,]\d+)*(?: to \d+(?:[.,]\d+)*)? ?(?:{UNITS})(?!\w)|\b(?:half|twice)\b"
                    rf"|\b(?:an?|two|three|nine) (?:{PARTS})s?\b|\bfactor of \w+|\b(?:two|three|four|five|six|eight|ten|many|several) times\b")

# A number by itself, not as part of a name such as S3.
NUMBER = re.compile(r"(?<![\w.-])[-+.]?\d")


def page_lines(page, root, folder):
    """The head and the lines of the table of a page's claims, for a page in a folder."""
    return [["the page says", "shown by", "there", "holds"], *([claim.words, *claim.cells(root, folder)] for claim in CLAIMS[page])]


def prose(text):
    """A page without code, headings and the tables that are made from results; its lines are joined."""
    text = re.sub(r"```.*?```|<!-- (?:table|claims).*?<!-- end -->", "", text, flags=re.DOTALL)
    return " ".join(" ".join(line for line in text.splitlines() if not line.startswith("#")).split())


def tables_by_hand(text):
    """The head, and the cells with numbers, of each table of a page that is not made from a result.
    Code and the targets of links have no numbers that count.
    """
    text = re.sub(r"```.*?```|<!-- (?:table|claims).*?<!-- end -->", "", text, flags=re.DOTALL)
    tables = {}
    for block in re.findall(r"(?:^\|.*\n)+", text + "\n", re.MULTILINE):
        head, *lines = block.splitlines()
        cells = [cell.strip() for line in (head, *lines) for cell in line.strip("|").split("|")]
        tables[head] = [cell for cell in cells if NUMBER.search(re.sub(r"`[^`]*`|\]\([^)]*\)", "", cell))]
    return {head: cells for head, cells in tables.items() if cells}


def figures_left(text, claimed):
    """The figures of a page, with the words around them, that stand in none of these words."""
    rest = prose(text)
    for words in sorted(claimed, key=len, reverse=True):
        rest = rest.replace(words, " ... ")
    return [rest[max(0, found.start() - 40):found.end() + 40] for found in FIGURE.finditer(rest)]
