"""What papers claim, and what the results of the lab say of it: claim, paper, here, verdict, why.

A claim gives a figure of a result. It holds from one bound on and reverses from the other on; in between it holds partly.
"""
from collections.abc import Callable
from dataclasses import dataclass

from columns import Column, at


@dataclass(frozen=True)
class Claim:
    """`figure` gives the number of a list of rows that is compared with the bounds, None where rows are missing."""
    text: str
    paper: str
    figure: Callable
    holds: float
    reverses: float
    why: str
    unit: str = "times"


def claim_lines(claims):
    """A line for each claim that the rows of a result say something of."""
    def lines(result):
        found = {}
        for claim in claims:
            figure = claim.figure(result["rows"])
            if figure is not None:
                found[claim.text] = [{"paper": claim.paper, "here": f"{figure:,.2f} {claim.unit}", "verdict": verdict(claim, figure), "why": claim.why}]
        return found
    return lines


def verdict(claim, figure):
    upwards = claim.holds > claim.reverses
    if figure >= claim.holds if upwards else figure <= claim.holds:
        return "holds"
    if figure <= claim.reverses if upwards else figure >= claim.reverses:
        return "**reverses**"
    return "partly"


CLAIM_COLUMNS = [Column(head, lambda rows, name=name: rows[0][name]) for head, name in
                 [("the paper", "paper"), ("here", "here"), ("verdict", "verdict"), ("why", "why")]]

# The AS B-tree's paper: modelled seconds, of `lab/trees.py`.
INSERT, SEARCH = [100, 0, 0, 0, 0], [0, 100, 0, 0, 0]
FEW, MANY = [10, 90, 0, 0, 0], [90, 10, 0, 0, 0]
OLTP = [24, 72, 0, 1, 3]
SINGLE = {"fan_out": 256, "cache": 0}


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
                   and all(row.get(name) == value for name, value in only.items()))
        found = next(fitting, None)
        return found and sum(at(found, f"work/modelled_{what}_seconds") for what in ("read", "write")) / found["operations"]
    return of


def ratio(one, other):
    """How many times as long as `other` one takes."""
    def of(rows):
        parts = one(rows), other(rows)
        return None if None in parts else parts[0] / parts[1]
    return of


def mixed(variant, mix):
    return ratio(seconds(variant, mix), seconds("as-b-tree", mix))


AS_B_TREE = [
    Claim("insertions: the AS B-tree is faster than the B+-tree", "1.28", ratio(
        seconds("b-tree", INSERT, write_buffer=32, **SINGLE), seconds("as-b-tree", INSERT, write_buffer=32, **SINGLE)), 1.1, 1.0,
        "an empty drive with a buffer takes single writes to a small file without collecting garbage; the paper's read 12 s longer, which it gives to the program"),
    Claim("searches: the AS B-tree is as fast as the B+-tree", "1.0", ratio(
        seconds("as-b-tree", SEARCH, write_buffer=32, **SINGLE), seconds("b-tree", SEARCH, write_buffer=32, **SINGLE)), 1.05, 1.2,
        "the same nodes are read"),
    Claim("insertions: BFTL is slower than the AS B-tree", "2.3", ratio(
        seconds("bftl", INSERT, write_buffer=32, **SINGLE), seconds("as-b-tree", INSERT, write_buffer=32, **SINGLE)), 1.5, 1.0,
        "a node is put together from up to three sectors before it changes"),
    Claim("10/90: the AS B-tree beats BFTL", "4.56", mixed("bftl", FEW), 1.5, 1.0, "as above, less with a cache of sectors"),
    Claim("10/90: the AS B-tree beats the FD-tree", "1.81", mixed("fd-tree", FEW), 1.05, 0.95,
          "the head and its fences are in memory, and the one level below takes all records: a search reads one page"),
    Claim("10/90: the AS B-tree beats the FD-tree of two levels", "1.81", mixed("fd-tree-levels", FEW), 1.05, 0.95,
          "a search reads a page of each level, where the AS B-tree's cache has the inner nodes"),
    Claim("10/90: the AS B-tree is about as fast as the LA-tree", "1.05", mixed("la-tree", FEW), 1.0, 0.9,
          "buffers cost searches reads, and save leaves"),
    Claim("OLTP: the AS B-tree is nearly the best: the LA-tree takes longer", "0.99 (30/70)", mixed("la-tree", OLTP), 0.97, 0.9,
          "with its memory divided to suit it, the LA-tree's searches read 1.2 nodes, and its insertions cost a sixth"),
    Claim("90/10: the AS B-tree loses to the LA-tree", "0.22", mixed("la-tree", MANY), 0.5, 1.0,
          "operations that wait share the change of a leaf"),
    Claim("90/10: the AS B-tree loses to the FD-tree", "0.87", mixed("fd-tree", MANY), 0.9, 1.0, "as above"),
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

# The paper of MFIS, in its setting: bytes and transfers, of `lab/mfis.py`.


def of_strategy(strategy, path, setting="paper"):
    def of(rows):
        fitting = (row for row in rows if row.get("strategy") == strategy and row["setting"] == setting
                   and row["threshold"] == 1024 and row["kept_share"] == 10)
        found = next(fitting, None)
        return found and at(found, path)
    return of


def transferred(strategy, setting="paper"):
    """Bytes read and written by maintenance."""
    def of(rows):
        parts = [of_strategy(strategy, f"work/{what}_bytes", setting)(rows) for what in ("read", "written")]
        return None if None in parts else sum(parts)
    return of


def reads_a_list(strategy, setting="paper"):
    def of(rows):
        parts = [of_strategy(strategy, f"last/lists/{what}", setting)(rows) for what in ("work/reads", "count")]
        return None if None in parts or not parts[1] else parts[0] / parts[1]
    return of


def to_mfis(strategy, setting="paper"):
    return ratio(transferred(strategy, setting), transferred("mfis", setting))


MFIS = [
    *(Claim(f"maintenance: {label} transfers more bytes than MFIS", f"{paper} (time, ioDrive)", to_mfis(strategy), 1.1, 1.0, why)
      for strategy, label, paper, why in [
          ("immediate-merge", "Immediate Merge", "11.20", "each flush reads and writes the whole index"),
          ("geometric", "Geometric", "2.47", "postings are merged again and again, each block of MFIS once or twice"),
          ("in-place-c", "In-place C", "3.10", "lists are moved as they grow; pages of left regions are used again"),
          ("hlm-nc", "HLM_NC", "2.75", "its short lists are merged"),
          ("ssd-hybrid", "SSD_Hybrid", "1.86", "its long lists are merged at each flush")]),
    Claim("maintenance: In-place NC transfers as many bytes as MFIS", "1.00", to_mfis("in-place-nc"), 1.02, 1.1,
          "the same blocks, one at a time"),
    Claim("maintenance: In-place NC makes more transfers than MFIS", "1.63 (time, ioDrive)", ratio(
        of_strategy("in-place-nc", "work/writes"), of_strategy("mfis", "work/writes")), 1.1, 1.0,
        "blocks of a batch that lie one behind the other are one write"),
    *(Claim(f"queries: MFIS reads in no more pieces than {label}", f"{paper} (time)", ratio(reads_a_list("mfis"), reads_a_list(strategy)), 1.0, 1.05,
            "a list of MFIS is a chunk for each flush that outgrew its last block")
      for strategy, label, paper in [("geometric", "Geometric", "1.05"), ("hlm-nc", "HLM_NC", "1.07"), ("in-place-c", "In-place C", "1.0")]),
    Claim("queries: MFIS reads a list in far fewer pieces than No-Merge", "- (time only)", ratio(reads_a_list("no-merge"), reads_a_list("mfis")), 1.5, 1.0,
          "of a long list each flush fills blocks of its own"),
    Claim("Gannet transfers fewer bytes than MFIS, long lists with equal codes", "-", to_mfis("gannet", "long"), 1 / 1.05, 1.0,
          "MFIS writes a last block again until it is full; Gannet writes small chunks together again, and its dictionary, which is in memory for MFIS"),
]
