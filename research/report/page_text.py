"""What a page says outside of tables that are made: its prose, its figures, its tables by hand."""
import re

MARKER = re.compile(r"^<!-- table: (?P<name>[\w-]+) -->$")
BEGIN, END = "<!-- table:", "<!-- end -->"

UNITS = ("%|times|[KMG]i?B(?:/s)?|bytes?|[mun]s|s|seconds?|minutes?|[nu]J|rounds|reads|requests|queries|documents|passages|pages|lists|operators|polls|"
         "cores|threads|words|points|dollars|million")
PARTS = "third|quarter|fifth|sixth|eighth|tenth|sixteenth|twentieth|thirtieth|hundredth"
# A number with a unit, a part, or so many times.
FIGURE = re.compile(rf"(?<![\w.])\d+(?:[.,]\d+)*(?: to \d+(?:[.,]\d+)*)? ?(?:{UNITS})(?!\w)|\b(?:half|twice)\b"
                    rf"|\b(?:an?|two|three|nine) (?:{PARTS})s?\b|\bfactor of \w+|\b(?:two|three|four|five|six|eight|ten|many|several) times\b")
# A number by itself: not a part of a name such as S3 or or-1000, nor of "figure 7" or 10/90. A
# fraction such as 1/25 is one number.
NUMBER = re.compile(r"(?<![\w.,/-])(?<!igure )(?<!able )(?<!ection )(?:1/\d+|-?\d+(?:,\d{3})*(?:\.\d+)?)(?![\w/]|[.,]\d)")
# A table, by hand where those that are made are left out.
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
# Names in code and the targets of links.
CODE = re.compile(r"`[^`]*`|\]\([^)]*\)")


def without_made(text):
    """A page without code and without the tables that are made from results."""
    return re.sub(r"```.*?```|<!-- (?:table|claims).*?<!-- end -->", "", text, flags=re.DOTALL)


def prose(text):
    """A page without headings too, as one line."""
    return joined(line for line in without_made(text).splitlines() if not line.startswith("#"))


def joined(lines):
    return " ".join(" ".join(lines).split())


def left(text, claims, settings):
    """The figures of a page, with the words around them, that no claim and no setting covers: those
    of prose with a unit, and all numbers of tables by hand.

    `claims` has the words of each claim with the numbers in them that it binds to its result: other
    numbers in these words are not covered. A setting covers all of its words; one that begins with
    `|` covers the table by hand whose head begins so.
    """
    heads = tuple(words for words in settings if words.startswith("|"))
    found = uncovered(FIGURE, prose(TABLE.sub("", without_made(text) + "\n")), claims, settings)
    for block in TABLE.findall(without_made(text) + "\n"):
        if not (heads and block.startswith(heads)):
            code = [piece.group() for piece in CODE.finditer(block)]
            found += uncovered(NUMBER, joined([block]), claims, settings + code)
            found += uncovered(FIGURE, joined([block]), claims, settings + code)
    return list(dict.fromkeys(found))


def uncovered(pattern, text, claims, settings):
    covered = bytearray(len(text))
    for words, bound in claims:
        for start in places(words, text):
            cover(covered, start, words)
            for number in NUMBER.finditer(words):
                if number.group() not in bound:
                    covered[start + number.start():start + number.end()] = bytes(len(number.group()))
    for words in settings:
        for start in places(words, text):
            cover(covered, start, words)
    return [text[max(0, found.start() - 40):found.end() + 40] for found in pattern.finditer(text) if not all(covered[found.start():found.end()])]


def cover(covered, start, words):
    covered[start:start + len(words)] = b"\1" * len(words)


def places(words, text):
    """Where words stand in a text."""
    return [found.start() for found in re.finditer(re.escape(words), text)]
