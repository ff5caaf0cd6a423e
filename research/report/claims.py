"""What papers claim, and what the results of the lab say of it: claim, paper, here, verdict, the bounds of the verdict, why.

A verdict is about the direction first: a claim reverses from one bound on and holds from the other on. In between it holds partly.
Where the paper gives a factor, `factor` sets the bounds: a half to twice of the gain. Other bounds are chosen for the claim.
"""
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from columns import Column, at


@dataclass(frozen=True)
class Claim:
    """`figure` gives the number of a list of rows that is compared with the bounds, None where rows are missing. A figure beyond
    `most`, on the side where the claim holds, is so far from the paper's that the claim holds partly.
    """
    text: str
    paper: str
    figure: Callable
    holds: float
    reverses: float
    why: str
    unit: str = "times"
    most: float | None = None


def factor(text, said, figure, why, of=""):
    """A claim of a factor, or of those of several drives. At least half of the least gain must be there, and at most twice the most;
    it reverses where there is none. The gain of a factor below 1 is that of its reciprocal.
    """
    least, most = (said, said) if isinstance(said, (int, float)) else (min(said, key=gain), max(said, key=gain))
    paper = f"{least:g}" if least == most else f"{min(least, most):g} to {max(least, most):g}"
    return Claim(text, f"{paper} {of}".strip(), figure, with_gain(least, 0.5), 1.0, why, most=with_gain(most, 2))


def gain(said):
    return max(said, 1 / said) - 1


def with_gain(said, share):
    """The factor that has a share of the gain of another one."""
    found = 1 + share * gain(said)
    return found if said > 1 else 1 / found


# What `figure` gives where what the claim is about was never at work, so that equal figures say
# nothing.
NOT_TESTED = "not tested"
ORDER = {"**reverses**": 0, NOT_TESTED: 1, "partly": 2, "holds": 3}


def claim_lines(claims):
    """A line for each claim that the rows of a result say something of, what reverses first."""
    def lines(result):
        found = {}
        for claim in claims:
            figure = claim.figure(result["rows"])
            if figure is NOT_TESTED:
                found[claim.text] = [defaultdict(lambda: "-", paper=claim.paper, verdict=NOT_TESTED, why=claim.why)]
                continue
            if figure is not None:
                runs = [claim.figure(rows) for rows in runs_of(result["rows"])]
                spread = f" ({min(runs):,.2f} to {max(runs):,.2f})" if runs else ""
                found[claim.text] = [{"paper": claim.paper, "here": f"{figure:,.2f} {claim.unit}{spread}", "verdict": verdict(claim, figure),
                                      "why": claim.why} | bounds(claim)]
        return dict(sorted(found.items(), key=lambda line: ORDER[line[1][0]["verdict"]]))
    return lines


def runs_of(rows):
    """The rows of each run by itself, where a row is the median of several and has these as `runs`."""
    repeated = [row for row in rows if "runs" in row]
    return [[row | row["runs"][number] for row in repeated] for number in range(min((len(row["runs"]) for row in repeated), default=0))]


def verdict(claim, figure):
    sign = 1 if claim.holds > claim.reverses else -1
    if sign * figure <= sign * claim.reverses:
        return "**reverses**"
    is_beyond = claim.most is not None and sign * figure > sign * claim.most
    return "holds" if sign * figure >= sign * claim.holds and not is_beyond else "partly"


def bounds(claim):
    """From where on a claim holds, and from where on it reverses, as a table shows it."""
    signs = ("\u2265", "\u2264") if claim.holds > claim.reverses else ("\u2264", "\u2265")
    holds, reverses = (f"{sign} {bound:,.2f}" for sign, bound in zip(signs, (claim.holds, claim.reverses)))
    if claim.most is not None:
        holds = " to ".join(f"{bound:,.2f}" for bound in sorted((claim.holds, claim.most)))
    return {"holds if": holds, "reverses if": reverses}


CLAIM_COLUMNS = [Column(head, lambda rows, name=name: rows[0][name]) for head, name in
                 [("the paper", "paper"), ("here", "here"), ("verdict", "verdict"), ("holds if", "holds if"), ("reverses if", "reverses if"), ("why", "why")]]

# The AS B-tree's paper: modelled seconds, of `research/papers/as-btree/trees.py`.
INSERT, SEARCH, UPDATE, DELETE = ([100 if at == kind else 0 for at in range(5)] for kind in range(4))
FEW, SOME, MANY = [10, 90, 0, 0, 0], [30, 70, 0, 0, 0], [90, 10, 0, 0, 0]
OLTP = [24, 72, 0, 1, 3]
SINGLE = {"fan_out": 256, "write_buffer": 32, "cache": 0}
# Nodes of the largest cache of figures 13 and 14.
CACHED = 512


def variant_of(row):
    """The name of a structure with its settings. Rows without one are from before structures held what they are charged for: of
    these only single operations of structures without changes that wait count.
    """
    is_single = row["mix"].count(0) == 4 and row["structure"] in ("b-tree", "as-b-tree", "bftl")
    return row.get("variant") or (row["structure"] if is_single else None)


def shape_of(row):
    """Keys of a node, and nodes of memory to write."""
    return row.get("shape") or f"F {row['fan_out']} WB {row['write_buffer']}"


def seconds(variant, mix, **only):
    """The modelled seconds of an operation of a variant with a mix, if it ran."""
    def of(rows):
        fitting = (row for row in rows if row.get("structure") and variant_of(row) == variant and row["mix"] == mix and not row.get("churn")
                   and not is_of_figure_7(row) and all(row.get(name) == value for name, value in only.items()))
        found = next(fitting, None)
        return found and sum(at(found, f"work/modelled_{what}_seconds") for what in ("read", "write")) / found["operations"]
    return of


def is_of_figure_7(row):
    """Whether a run shows where nodes lie, by other numbers of insertions, keys or with subfiles that are never cleaned."""
    return row["mix"] == INSERT and row.get("variant") is not None and (row.get("shape") is None or row["valid_percent"] == 0)


def ratio(one, other):
    """How many times as long as `other` one takes."""
    def of(rows):
        parts = one(rows), other(rows)
        return None if None in parts else parts[0] / parts[1]
    return of


def mixed(variant, mix):
    return ratio(seconds(variant, mix), seconds("as-b-tree", mix))


def single(variant, kind):
    """How many times as long as the AS B-tree a structure takes for operations of a kind."""
    return ratio(seconds(variant, kind, **SINGLE), seconds("as-b-tree", kind, **SINGLE))


def by_cache(variant, kind):
    """What a cache leaves of the time."""
    return ratio(seconds(variant, kind, **SINGLE | {"cache": CACHED}), seconds(variant, kind, **SINGLE))


def difference(one, other):
    """By what factor the larger differs from the smaller."""
    def of(rows):
        found = ratio(one, other)(rows)
        return found and max(found, 1 / found)
    return of


def figure_of(variant, mix, path, **only):
    """A figure of a run with the paper's shape."""
    def of(rows):
        fitting = (row for row in rows if row.get("variant") == variant and row["mix"] == mix and row.get("shape") == "F 256 WB 32"
                   and row["cache"] == 0 and all(row.get(name) == value for name, value in only.items()))
        found = next(fitting, None)
        return found and at(found, path)
    return of


def file_of(variant, **only):
    return figure_of(variant, INSERT, "file_bytes", **{"valid_percent": 5} | only)


def at_the_end(keys, fan_out, newest=5):
    """The share of the nodes of an AS B-tree that is never cleaned that lies in the newest subfiles."""
    def of(rows):
        fitting = (row for row in rows if row.get("variant") == "as-b-tree" and row.get("shape") is None and row["mix"] == INSERT
                   and row["keys"] == keys and row["fan_out"] == fan_out and row["valid_percent"] == 0)
        found = next(fitting, None)
        if found is None:
            return None
        valid = [file[2] for file in found["subfiles"]]
        return sum(valid[-newest:]) / sum(valid)
    return of


AS_B_TREE = [
    factor("insertions: the AS B-tree is faster than the B+-tree", 1.28, single("b-tree", INSERT),
           "an empty drive with a buffer takes single writes to a small file without collecting garbage; the paper's read 12 s longer, which it gives to the program"),
    Claim("searches: the AS B-tree is as fast as the B+-tree", "1.0", ratio(seconds("as-b-tree", SEARCH, **SINGLE), seconds("b-tree", SEARCH, **SINGLE)), 1.05, 1.2,
          "the same nodes are read"),
    factor("updates: the AS B-tree is faster than the B+-tree", 1.27, single("b-tree", UPDATE), "as with insertions"),
    factor("deletions: the AS B-tree is faster than the B+-tree", 1.27, single("b-tree", DELETE), "as with insertions"),
    factor("insertions: BFTL is slower than the AS B-tree", 2.3, single("bftl", INSERT), "a node is put together from up to three sectors before it changes"),
    factor("updates: BFTL is slower than the AS B-tree", 1.47, single("bftl", UPDATE), "as above"),
    factor("deletions: BFTL is slower than the AS B-tree", 2.3, single("bftl", DELETE), "as above"),
    factor("searches: BFTL reads more than the AS B-tree", 1.37, ratio(figure_of("bftl", SEARCH, "work/reads"), figure_of("as-b-tree", SEARCH, "work/reads")),
           "the text gives 1.37 times the reads and 1.49 sectors a node, which do not agree"),
    *(Claim(f"{kind} by cache: {label} improves at the rate of the AS B-tree ({figure})", "- (picture)", difference(by_cache(variant, mix), by_cache("as-b-tree", mix)), 1.2, 1.5, why)
      for variant, label, why in [("b-tree", "the B+-tree", "the same nodes are kept; writes are no part of it"),
                                  ("bftl", "BFTL", "it gains more: its cache has sectors, and the newest of these have units of some 250 nodes each")]
      for kind, mix, figure in [("insertions", INSERT, "figure 13"), ("searches", SEARCH, "figure 14")]),
    factor("table 3: the file of BFTL is larger than that of the AS B-tree", 23, ratio(file_of("bftl"), file_of("as-b-tree")),
           "nodes that are gathered together share sectors; with sectors apart see the table of files"),
    factor("table 3: the file of the AS B-tree is larger than that of the B+-tree", 3.1, ratio(file_of("as-b-tree"), file_of("b-tree")),
           "it ends with a subfile of 64 MiB that is not full and one before it"),
    factor("table 3: without its manager the file of the AS B-tree is larger", 9.2, ratio(file_of("as-b-tree", valid_percent=0), file_of("as-b-tree")),
           "100,000 nodes of 8 KiB are 819 MB, more than the paper's 642"),
    Claim("figure 7: most nodes that count lie in the newest five subfiles, uniform keys, 256 keys a node", "- (picture)", at_the_end("uniform", 256), 0.9, 0.5,
          "a subfile is written for twice as many changes as the tree has nodes", "of all"),
    Claim("figure 7: the same, 64 keys a node", "- (picture)", at_the_end("uniform", 64), 0.9, 0.5, "four times as many nodes", "of all"),
    Claim("figure 7: with skewed keys nodes that count are scattered wider, 256 keys a node", "- (text)", at_the_end("skewed", 256), 0.9, 1.0,
          "share in the newest five subfiles; leaves that few insertions reach stay where they are", "of all"),
    *(factor(f"{mix}: the AS B-tree beats BFTL", paper, mixed("bftl", shares),
             "as above, less with a cache of sectors" + ("; 300,000 operations of BFTL, scaled" if shares == MANY else ""))
      for mix, shares, paper in [("10/90", FEW, 4.56), ("30/70", SOME, 3.55), ("90/10", MANY, 1.69)]),
    *(factor(f"{mix}: the AS B-tree beats the FD-tree", paper, mixed("fd-tree", shares),
             "the head and its fences are in memory, and the one level below takes all records: a search reads one page")
      for mix, shares, paper in [("10/90", FEW, 1.81), ("30/70", SOME, 1.57)]),
    *(factor(f"{mix}: the AS B-tree beats the FD-tree of two levels", paper, mixed("fd-tree-levels", shares),
             "a search reads a page of each level, where the AS B-tree's cache has the inner nodes")
      for mix, shares, paper in [("10/90", FEW, 1.81), ("30/70", SOME, 1.57)]),
    *(Claim(f"{mix}: the AS B-tree is about as fast as the LA-tree", paper, mixed("la-tree", shares), least, 0.9, "buffers cost searches reads, and save leaves")
      for mix, shares, paper, least in [("10/90", FEW, "1.05", 1.0), ("30/70", SOME, "0.99", 0.97)]),
    Claim("OLTP: the AS B-tree is nearly the best: the LA-tree takes longer", "0.99 (30/70)", mixed("la-tree", OLTP), 0.97, 0.9,
          "with its memory divided to suit it, the LA-tree's searches read 1.2 nodes, and its insertions cost a sixth"),
    factor("with more searches the AS B-tree takes less time: 10/90 to 90/10", 0.77, ratio(seconds("as-b-tree", FEW), seconds("as-b-tree", MANY)),
           "an insertion reads what a search reads, and writes"),
    *(factor(f"with more searches {label} takes more time: 10/90 to 90/10", paper, ratio(seconds(variant, FEW), seconds(variant, MANY)), why)
      for variant, label, paper, why in [("bftl", "BFTL", 2.08, "an insertion reads a leaf with all of its sectors before it changes it, as a search does; 90/10 is a run of 300,000 operations, scaled"),
                                         ("fd-tree", "the FD-tree", 1.59, "insertions are merged"), ("la-tree", "the LA-tree", 3.65, "insertions wait")]),
    factor("90/10: the AS B-tree loses to the LA-tree", 0.22, mixed("la-tree", MANY),
           "operations that wait share the change of a leaf"),
    factor("90/10: the AS B-tree loses to the FD-tree", 0.87, mixed("fd-tree", MANY),
           "as above, and with one level for all records an insertion costs a small part of a page"),
    Claim("10/90: Gannet's tree beats the AS B-tree", "-", mixed("gannet", FEW), 1 / 1.05, 1.0,
          "denser pages of 4 KiB, and changes that wait in memory (the `here` is its share of the AS B-tree's time)"),
    Claim("90/10: Gannet's tree beats the FD-tree", "-", ratio(seconds("gannet", MANY), seconds("fd-tree", MANY)), 1 / 1.05, 1.0,
          "the engine merges all that waits at once, and the lists that its tree is given for that take 48 bytes a change"),
    Claim("90/10: Gannet's tree merged in parts, which the engine does not do, beats the FD-tree", "-",
          ratio(seconds("gannet-rolling", MANY), seconds("fd-tree", MANY)), 1 / 1.05, 1.0, "a leaf is written for twice as many changes, and three times as many wait"),
    Claim("90/10: merging all changes at once costs more than merging parts", "-",
          ratio(seconds("gannet", MANY), seconds("gannet-rolling", MANY)), 1.05, 1.0,
          "2.6 times as many changes wait in the same memory, and a part meets leaves for which twice the mean waits"),
]
