"""The claims of research/papers/as-btree/page.md: see `page_claims.py`. Seconds are modelled."""
from page_claims import Claim, about, like, spans

MIXES = ("10/90", "30/70", "50/50", "70/30", "90/10")
COUNTS = "trees-mixed-counts"


def loaded(*variants):
    """Bytes a record of the files as searches find them, which change nothing."""
    def of(shown):
        rows = [row for row in shown.rows if row["mix"] == [0, 100, 0, 0, 0] and row.get("shape") == "F 256 WB 32" and row["cache"] == 0]
        return tuple(next(row["file_bytes"] / row["records"] for row in rows if row["variant"] == variant) for variant in variants)
    return of


def written(variant, *mixes):
    """KB written an insertion."""
    return lambda shown: [shown.at(f"`{variant}`", f"KB written an insertion, {mix}") for mix in mixes]


def parts_to_all(shown):
    return [parts / whole for parts, whole in zip(written("gannet-rolling", *MIXES)(shown), written("gannet", *MIXES)(shown))]


def waiting(shown):
    return tuple(shown.at(f"`{variant}`", "changes that wait") for variant in ("gannet", "gannet-rolling"))


def at_90(shown):
    seconds = tuple(shown.other("trees-mixed", "trees-mixed").at(f"`{variant}`", "90/10") for variant in ("rolling", "fd-tree"))
    return seconds + (*written("rolling", "90/10")(shown), *written("fd-tree", "90/10")(shown))


def inserting(figure, *variants, shape="F 256 WB 32"):
    """A figure of 100,000 insertions without a cache."""
    def of(shown):
        rows = [row for row in shown.rows if row["mix"] == [100, 0, 0, 0, 0] and row["shape"] == shape and row.get("cache") == 0]
        return tuple(next(row[figure] for row in rows if row["variant"] == variant) / 1e3 for variant in variants)
    return of


def single(head, *variants):
    return lambda shown: tuple(shown.at(f"`{variant}`", head) for variant in variants)


def share_of_tables(shown):
    return [100 * row["written_for_tables"] / row["work"]["written_bytes"] for row in shown.rows if row.get("strategy") == "gannet"]


TREES = [
    Claim("After loading, the file of the B+-tree has 44 bytes a record, that of `gannet` 22", "trees-figures", "", loaded("b-tree", "gannet"), like(44, 22, share=0.01), "bytes"),
    Claim("the FD-tree takes least: 2.5 s for the insertions, where `gannet` takes 4.7", "trees-figures", "trees-single",
          single("insert, F 256 WB 32", "fd-tree", "gannet"), like(2.5, 4.7, share=0.02), "s"),
    Claim("a third of its time for searches", "trees-figures", "trees-single",
          lambda shown: [shown.at("`fd-tree`", "search") / shown.at("`gannet`", "search")], about(1 / 3, 0.1), "of the time"),
    Claim("The FD-tree holds 393 KB, the LA-tree 426 and `gannet` 287", "trees-figures", "", inserting("memory_bytes", "fd-tree", "la-tree", "gannet"),
          like(393, 426, 287, share=0.01), "KB"),
    Claim("256 KB, where `gannet` has 53", "trees-figures", "", inserting("memory_bytes", "fd-tree", "gannet", shape="F 256 WB 1"), like(256, 53, share=0.01), "KB"),
    Claim("it loses to the FD-tree: 52.6 s to 32.3, with 2.19 KB written an insertion to 1.20", "trees-mixed", COUNTS, at_90, like(52.6, 32.3, 2.19, 1.20, share=0.01), "s, then KB"),
    Claim("tables are 0.8 to 8.7 % of what Gannet writes", "mfis-whole", "", share_of_tables, spans(0.8, 8.7, 0.02), "%"),
    Claim("Merging in parts writes a fifth to a quarter of what merging at once does", "trees-mixed", COUNTS, parts_to_all, spans(0.2, 0.25), "times"),
    Claim("so 5,900 changes wait in place of 15,000", "trees-mixed", COUNTS, waiting, like(5_900, 15_000, share=0.01), "changes"),
    Claim("With two levels it reads 1.75, and writes 0.2 KB an insertion in place of 0.5 to 1.2", "trees-mixed", COUNTS,
          lambda shown: (shown.at("`fd-tree-levels`", "reads a search, 10/90"), *written("fd-tree-levels", "10/90")(shown),
                         *written("fd-tree", "10/90", "90/10")(shown)), like(1.75, 0.22, 0.54, 1.2, share=0.03), "reads, then KB"),
]
