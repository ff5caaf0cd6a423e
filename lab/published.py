"""Figures that papers publish, to be set beside ours."""

# The AS B-tree's paper (Roh et al., 2014). Table 1: MB/s of its drive by bytes of a request, 32 at
# a time, of sequential reads and writes and of random reads and writes.
AS_B_TREE_RATES = {4096: [193, 158, 149, 21], 8192: [206, 188, 192, 22], 16384: [206, 186, 227, 32], 32768: [206, 175, 256, 40]}
# Table 2: seconds of the reads, of the writes, and of both, of 100,000 insertions.
AS_B_TREE_INSERTS = {"b-tree": (68, 10, 78), "as-b-tree": (56, 5, 61)}
# Table 3: MB of the files.
AS_B_TREE_FILES = {"b-tree": 22.4, "bftl": 1615, "as-b-tree": 70}
# Table 4: seconds of 1,000,000 operations by the share of insertions.
AS_B_TREE_MIXED = {
    "bftl": [1127, 981, 835, 689, 543], "fd-tree": [446, 432, 400, 353, 280], "la-tree": [259, 273, 250, 177, 71],
    "as-b-tree": [247, 276, 301, 308, 322],
}

# The hybrid cache paper (Li et al., 2012), against LRU: hit ratio, response time, throughput, erases,
# access time, in per cent.
HYBRID_CACHE = {"cblru": (9.05, -35.27, 55.29, -59.92, -13.20), "cbslru": (13.31, -41.05, 70.47, -71.52, -43.83)}
