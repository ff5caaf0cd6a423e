"""The claims of pages, as claims.toml beside them has them: see README.md here.

A claim holds if its page has its words and the figures that its query gives are within its bounds
and equal to the numbers of its words. A verdict compares what a paper says with such figures.
"""
import re
import tomllib
from dataclasses import dataclass, field, fields
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from folders import ROOT
from page_text import NUMBER, left, prose
from result_rows import Wrong, ask


@dataclass
class Entry:
    """What all entries have. `file` names result files, with spaces between."""
    page: str = "page.md"
    file: str = ""
    query: str = ""
    views: dict = field(default_factory=dict, repr=False)

    def answer(self):
        return ask(self.query, self.file.split(), self.views)

    def figures(self):
        """All figures that the query gives, line by line."""
        return [figure for line in self.answer()[1] for figure in line]


@dataclass
class Claim(Entry):
    """`shown` are the numbers of the words that the figures must equal, in this order. Without it
    and without bounds these are all numbers of the words. A claim with `test` says what a test of
    `file` shows.
    """
    words: str = ""
    least: float | None = None
    most: float | None = None
    shown: list[str] | None = None
    test: str = ""

    def __post_init__(self):
        if self.shown is None:
            self.shown = [] if self.test or self.is_bounded else NUMBER.findall(self.words)

    @property
    def is_bounded(self):
        return not (self.least is None and self.most is None)

    def bound(self):
        """The numbers of the words that its result decides."""
        limits = [limit for limit in (self.least, self.most) if limit is not None]
        return {number for number in NUMBER.findall(self.words) if self.test or number in self.shown or value_of(number) in limits}

    def problem(self):
        """Why the claim does not hold, or None."""
        if self.test:
            return None if self.test in (ROOT / self.file).read_text() else f"{self.file} has no test {self.test}"
        if missing := [number for number in self.shown if number not in NUMBER.findall(self.words)]:
            return f"its words do not have the number {missing[0]}"
        found = self.figures()
        if not found or None in found:
            return f"its query gives no figure: {found}"
        if self.shown and (len(found) != len(self.shown) or not all(map(shows, self.shown, found))):
            return f"{self.file} gives {spoken(found)}, expected {', '.join(self.shown)}"
        if not (self.shown or self.is_bounded):
            return "it binds no number: give least, most or shown"
        outside = [figure for figure in found if not (low(self.least) <= figure <= high(self.most))]
        return f"{self.file} gives {spoken(outside)}, expected {low(self.least):g} to {high(self.most):g}" if outside else None


@dataclass
class Verdict(Entry):
    """What a paper says. `paper` is the factor that it gives, or the least and the most; then half
    to twice of the gain holds, and none reverses. With words in place of it `holds` and `reverses`
    are the bounds, and figures beyond `most` hold in part.
    """
    says: str = ""
    paper: float | list | str = "-"
    holds: float | None = None
    reverses: float = 1.0
    most: float | None = None
    unit: str = "times"
    why: str = ""
    table: str = "verdicts"

    def __post_init__(self):
        if isinstance(self.paper, str):
            return
        said = self.paper if isinstance(self.paper, list) else [self.paper]
        self.holds, self.most = with_gain(min(said, key=gain), 0.5), with_gain(max(said, key=gain), 2)
        self.paper = " to ".join(f"{factor:g}" for factor in sorted(set(said)))

    def verdict(self, figures):
        """Of one figure, or of several that are claimed together."""
        if not figures or None in figures:
            return "not tested"
        found = {self.verdict_of(figure) for figure in figures}
        return found.pop() if len(found) == 1 else "in part"

    def verdict_of(self, figure):
        sign = 1 if self.holds > self.reverses else -1
        if sign * figure <= sign * self.reverses:
            return "**reversed**"
        is_beyond = self.most is not None and sign * figure > sign * self.most
        return "holds" if sign * figure >= sign * self.holds and not is_beyond else "in part"


@dataclass
class Table(Entry):
    """`format` has formats of Python by the head of a column, `rows` the most lines."""
    name: str = ""
    format: dict = field(default_factory=dict)
    rows: int = 12


KINDS = {"claim": Claim, "verdict": Verdict, "table": Table}


@dataclass
class ClaimFile:
    """One claims.toml: its entries, and by page the words with numbers that are no results."""
    path: Path
    settings: dict
    claims: list
    verdicts: list
    tables: list

    def pages(self):
        return sorted({*self.settings, *(entry.page for entry in (*self.claims, *self.verdicts))})

    def problems(self, page, text):
        """What is wrong with a page of this text, a line for each."""
        said, settings, claims = prose(text), self.settings.get(page, []), [claim for claim in self.claims if claim.page == page]
        found = [f"the page does not say: {words!r}" for words in settings if words not in said]
        found += [f"the page says this {said.count(claim.words)} times, expected once: {claim.words!r}" for claim in claims if said.count(claim.words) != 1]
        for claim in claims:
            try:
                problem = claim.problem()
            except Wrong as error:
                problem = str(error)
            if problem:
                found.append(f"{claim.words!r}: {problem}")
        return found + [f"a figure without claim or setting: {words!r}" for words in left(text, [(claim.words, claim.bound()) for claim in claims], settings)]


def read(path):
    """A claims.toml. What stands at its top is the default of each entry."""
    try:
        found = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise Wrong(f"{path.relative_to(ROOT)}: {error}") from error
    settings, views = found.pop("settings", {}), found.pop("views", {})
    lists = {kind: found.pop(kind, []) for kind in KINDS}
    entries = {kind: [entry_of(KINDS[kind], path, found | entry | {"views": views}) for entry in lists[kind]] for kind in KINDS}
    return ClaimFile(path, settings, entries["claim"], entries["verdict"], entries["table"])


def entry_of(kind, path, entry):
    unknown = set(entry) - {known.name for known in fields(kind)}
    if unknown:
        raise Wrong(f"{path.relative_to(ROOT)}: {entry} has unknown keys: {', '.join(sorted(unknown))}")
    return kind(**entry)


def value_of(number):
    """What a number of a text is."""
    return 1 / int(number[2:]) if number.startswith("1/") else float(number.replace(",", ""))


def shows(number, figure):
    """Whether a figure is this number of a text when it is rounded as that is. Zeros at the end of
    a whole number may come from rounding, but for two digits.
    """
    if number.startswith("1/"):
        return shows(number[2:], 1 / figure)
    plain = number.replace(",", "")
    whole, _, places = plain.partition(".")
    zeros = 0 if places else max(0, min(len(whole) - len(whole.rstrip("0")), len(whole.lstrip("-")) - 2))
    step = Decimal(10) ** (zeros or -len(places))
    return (Decimal(str(figure)) / step).quantize(Decimal(1), ROUND_HALF_UP) * step == Decimal(plain)


def low(bound):
    return float("-inf") if bound is None else bound


def high(bound):
    return float("inf") if bound is None else bound


def gain(factor):
    return max(factor, 1 / factor) - 1


def with_gain(factor, share):
    """The factor that has a share of the gain of another one."""
    found = 1 + share * gain(factor)
    return found if factor > 1 else 1 / found


def significant(value):
    """Three digits, thousands parted by commas."""
    if isinstance(value, int) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def spoken(figures):
    return ", ".join(significant(figure) if isinstance(figure, (int, float)) else str(figure) for figure in figures)
