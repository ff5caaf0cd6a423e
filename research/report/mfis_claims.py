"""What the paper of MFIS claims (Jung et al., 2014), by the results of `research/papers/mfis/mfis.py`."""
import statistics

from claims import Claim, factor, ratio
from columns import at
from published import MFIS_GAINS, MFIS_QUERIES

# Lists of the paper's setting, a whole vocabulary, and few documents a flush: tables of the result.
LONG, WHOLE, SMALL = "paper", "full", "small"
NAMES = {"immediate-merge": "Immediate Merge", "geometric": "Geometric", "hlm-nc": "HLM_NC", "ssd-hybrid": "SSD_Hybrid", "in-place-c": "In-place C"}


def row_of(rows, strategy, table):
    return next((row for row in rows if (row.get("strategy"), row.get("table")) == (strategy, table)), None)


def maintained(figure, strategy, other, table=LONG):
    """How many times as much of a figure a strategy has as another, after as many flushes as both did: some are stopped."""
    def of(rows):
        pair = [row_of(rows, name, table) for name in (strategy, other)]
        if None in pair:
            return None
        last = min(len(row["flushes"]) for row in pair) - 1
        one, two = (figure(row["flushes"][last]) for row in pair)
        return one / two
    return of


def asked(strategy, other, table=LONG):
    """How many times as long as with another strategy a list takes, over all flushes that were followed by queries."""
    def of(rows):
        pair = [row_of(rows, name, table) for name in (strategy, other)]
        if None in pair:
            return None
        one, two = (statistics.mean(after["lists"]["mean_us"] for after in row["asked"]) for row in pair)
        return one / two
    return of


def of_thresholds(rows):
    """The longest time from a threshold of 32 on to the shortest."""
    times = [row["seconds"] for row in rows if row.get("table") == "thresholds" and row["threshold"] >= 32]
    return max(times) / min(times) if times else None


def seconds(flush):
    return flush["seconds"]


def work(*names):
    return lambda flush: sum(flush["work"][name] for name in names)


BYTES, WRITTEN, DISK = work("read_bytes", "written_bytes"), work("written_bytes"), work("modelled_seconds")

# Why others take longer, or transfer more, in the paper's setting.
COSTS = {
    "immediate-merge": "each flush reads and writes the whole index", "geometric": "postings are merged again and again, each block of MFIS once or twice",
    "hlm-nc": "its short lists are merged", "ssd-hybrid": "its long lists are merged at each flush, and here these have most of the postings",
    "in-place-c": "lists are moved as they grow, one transfer at a time",
}
RARE = "MFIS reads and writes a block of 8 KB for each word of a flush, and most words are rare; the paper does not say that it leaves them out"
PIECES = "a list of MFIS has far more pieces, and here the few of others are read in one batch too"
STOPPED = "a transfer for each word, one at a time; after the flushes that it did before it was stopped"
SINGLE = "a flush adds less than a block to a list, and each transfer waits for the disk"

MFIS = [
    *(factor(f"table 2: {label} takes longer to maintain lists than MFIS", MFIS_GAINS[name], maintained(seconds, name, "mfis"), COSTS[name])
      for name, label in NAMES.items()),
    factor("table 2: In-place NC takes longer to maintain lists than MFIS", MFIS_GAINS["in-place-nc"], maintained(seconds, "in-place-nc", "mfis"),
           "the same blocks, one at a time"),
    factor("table 2: No-Merge takes less time to maintain lists than MFIS", MFIS_GAINS["no-merge"], maintained(seconds, "no-merge", "mfis"),
           "it reads nothing and writes each posting once"),
    *(Claim(f"{label} transfers more bytes than MFIS", "more", maintained(BYTES, name, "mfis"), 1.1, 1.0, COSTS[name]) for name, label in NAMES.items()),
    Claim("In-place NC transfers as many bytes as MFIS", "the same", maintained(BYTES, "in-place-nc", "mfis"), 1.02, 1.1, "the same blocks"),
    *(factor(f"whole vocabulary: {label} takes longer to maintain lists than MFIS", MFIS_GAINS[name], maintained(seconds, name, "mfis", WHOLE),
             STOPPED if name.startswith("in-place") else RARE) for name, label in (NAMES | {"in-place-nc": "In-place NC"}).items()),
    *(Claim(f"whole vocabulary: {label} transfers more bytes than MFIS", "more", maintained(BYTES, name, "mfis", WHOLE), 1.1, 1.0, RARE) for name, label in NAMES.items()),
    factor("queries: In-place NC takes longer than MFIS", MFIS_QUERIES["in-place-nc"], asked("in-place-nc", "mfis"), "it reads one piece at a time"),
    *(factor(f"queries: {NAMES[name]} takes longer than MFIS", MFIS_QUERIES[name][0], asked(name, "mfis"), why)
      for name, why in [("geometric", PIECES), ("hlm-nc", "a list of MFIS has far more pieces, and here the merged lists are read in one batch too"),
                        ("ssd-hybrid", "its short lists are in as many pieces as there are flushes")]),
    Claim("queries: In-place C takes as long as MFIS", "almost the same", asked("in-place-c", "mfis"), 0.95, 0.8, "a list is one piece, and one of MFIS a chunk for each flush that outgrew its last block"),
    Claim("queries: No-Merge takes longer than MFIS", "- (picture)", asked("no-merge", "mfis"), 1.5, 1.0, "of a long list each flush fills blocks of its own"),
    Claim("figure 7 (d): the time hardly changes from a threshold of 32 on", "hardly", of_thresholds, 1.1, 1.5, "longest to shortest; one run of each"),
    factor("figure 3: Geometric takes longer to maintain lists than In-place NC", 1.49, maintained(seconds, "geometric", "in-place-nc", SMALL), SINGLE),
    factor("figure 3: Geometric takes longer to maintain lists than In-place C", 1.27, maintained(seconds, "geometric", "in-place-c", SMALL), SINGLE),
    factor("figure 3: In-place C takes longer to maintain lists than In-place NC", 1.17, maintained(seconds, "in-place-c", "in-place-nc", SMALL),
           "In-place NC writes more often, and waits for each write; one run of each"),
    factor("figure 3: In-place NC takes longer to maintain lists than No-Merge", 2.22, maintained(seconds, "in-place-nc", "no-merge", SMALL), SINGLE),
    factor("figure 3: Geometric writes more bytes than In-place NC", 4, maintained(WRITTEN, "geometric", "in-place-nc", SMALL),
           "a flush adds a part of a block to a list, and the whole block is written again"),
    factor("figure 3: Geometric transfers more bytes than In-place NC", 3, maintained(BYTES, "geometric", "in-place-nc", SMALL), "as above"),
    Claim("figure 3: Geometric transfers more bytes than In-place C", "more", maintained(BYTES, "geometric", "in-place-c", SMALL), 1.1, 1.0,
          "lists are moved as they grow, and pages are read and written whole"),
    *(factor(f"figure 3: {label} takes longer than Geometric on a disk", paper, maintained(DISK, name, "geometric", SMALL), "modelled seconds of the paper's disk")
      for name, label, paper in [("in-place-nc", "In-place NC", 26.74), ("in-place-c", "In-place C", 27.47)]),
    *(factor(f"figure 3: queries: {label} takes longer than {beside}", paper, asked(name, other, SMALL), why) for name, label, other, beside, paper, why in [
        ("in-place-nc", "In-place NC", "geometric", "Geometric", 2.8, "it reads small pieces one at a time"),
        ("in-place-nc", "In-place NC", "in-place-c", "In-place C", 3.88, "it reads small pieces one at a time"),
        ("no-merge", "No-Merge", "geometric", "Geometric", 11.37, "all pieces of a list are read in one batch"),
        ("no-merge", "No-Merge", "in-place-nc", "In-place NC", 2.96, "all pieces of a list are read in one batch")]),
    Claim("Gannet transfers fewer bytes than MFIS, long lists with equal codes", "-", maintained(BYTES, "gannet", "mfis", "long"), 1 / 1.05, 1.0,
          "MFIS writes a last block again until it is full; Gannet writes small chunks together again, and its dictionary, which is in memory for MFIS"),
]


def rate_of(kib, outstanding):
    """MB/s of random reads of a size, so many at a time."""
    def of(rows):
        fitting = (row["read"] for row in rows if row.get("bytes") == kib << 10 and row.get("outstanding") == outstanding)
        return next(fitting, None)
    return of


def high_rate(rows):
    """The rate that a tenth of all cells reach. The highest of all would be that with the luckiest runs."""
    rates = [row["read"] for row in rows if "outstanding" in row]
    return statistics.quantiles(rates, n=10)[-1] if len(rates) > 1 else None


PSYNC = [
    Claim("figure 2: 8 reads of 128 KiB at a time are as fast as one of 1 MiB", "1.00 (337 MB/s, Vertex3)", ratio(rate_of(128, 8), rate_of(1024, 1)), 0.9, 0.7,
          "the host divides a long request, and a batch of short ones is in flight at once"),
    Claim("figure 2: 512 reads of 16 KiB come near the highest rate", "nearly 1 (ioDrive)", ratio(rate_of(16, 512), high_rate), 0.9, 0.7,
          "the rate that a tenth of the cells reach; so many short requests cost the processor more than they cost this drive"),
    Claim("figure 2: more at a time is faster: 64 reads of 4 KiB to one", "- (picture)", ratio(rate_of(4, 64), rate_of(4, 1)), 1.5, 1.0, "this disk serves requests side by side"),
    Claim("figure 2: longer is faster: one read of 1 MiB to one of 4 KiB", "- (picture)", ratio(rate_of(1024, 1), rate_of(4, 1)), 1.5, 1.0, "the wait is paid once"),
    Claim("figure 2: more than 64 at a time still help reads of 4 KiB: 512 to 64", "- (picture)", ratio(rate_of(4, 512), rate_of(4, 64)), 1.05, 0.95,
          "the system keeps 256 requests in flight for a disk at most, and two processors hand them over"),
]
