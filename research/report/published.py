"""Figures that papers publish, to be set beside ours."""

# The AS B-tree's paper (Kim et al., 2014). Table 1: MB/s of its drive by bytes of a request, 32 at
# a time, of sequential reads and writes and of random reads and writes.
AS_B_TREE_RATES = {4096: [193, 158, 149, 21], 8192: [206, 188, 192, 22], 16384: [206, 186, 227, 32], 32768: [206, 175, 256, 40]}
# Table 2: seconds of the reads, of the writes, and of both, of 100,000 insertions.
AS_B_TREE_INSERTS = {"b-tree": (68, 10, 78), "as-b-tree": (56, 5, 61)}
# Table 3: MB of the files.
AS_B_TREE_FILES = {"b-tree": 22.4, "bftl": 1615, "as-b-tree": 70, "as-b-tree-uncleaned": 642}
# Table 4: seconds of 1,000,000 operations by the share of insertions.
AS_B_TREE_MIXED = {
    "bftl": [1127, 981, 835, 689, 543], "fd-tree": [446, 432, 400, 353, 280], "la-tree": [259, 273, 250, 177, 71],
    "as-b-tree": [247, 276, 301, 308, 322],
}

# The Smart SSD paper (Wang and Park, 2016): milliseconds and millijoules in the drive and on the
# host, of tables 3 to 5.
SMART_TABLES = {"table 3": (97, 210, 204, 1365), "table 4": (78, 194, 148, 1261), "table 5": (505, 299, 960, 2033)}
# Milliseconds of one query, of figure 7: input and output in the drive and on the host, then all
# else.
SMART_TYPICAL = (14.5, 54.8, 16.6, 8.0)
# Figure 8: per cent of the time in the drive that flash, memory and processor take.
SMART_SHARES = (48, 28, 22)
# Mean factors of time and energy of figures that vary one thing.
SMART_FACTORS = {"9": (2.5, 7.8), "13": (2.6, 9.5), "15": (2.7, 9.7)}
# Milliseconds more in the drive at an intersection ratio of 100 % than at 10 %, lists of equal
# size.
SMART_STEPS = {"12": 163, "14": 65}
# Of figure 11 at 100 %: milliseconds to send the results and to rank them.
SMART_SENT, SMART_RANKED = 1.4, 0.5
# Ranked union of synthetic lists: how much slower the drive is, and the factor of energy that it
# saves.
SMART_UNION = (1.2, 2.8)
# Figure 16: the results of a difference as per cent of both lists, at a skew of 0.01.
SMART_DIFFERENCE_SHARE = 98.6

# The MFIS paper (Jung et al., 2014). Table 2: how many times as long as MFIS others take to
# maintain lists, on ioDrive, Vertex3 and P300.
MFIS_GAINS = {
    "no-merge": [0.80, 0.73, 0.57], "immediate-merge": [11.20, 14.93, 14.65], "geometric": [2.47, 3.07, 4.04],
    "in-place-c": [3.10, 3.65, 3.78], "in-place-nc": [1.63, 1.88, 2.27], "hlm-nc": [2.75, 3.38, 5.12], "ssd-hybrid": [1.86, 2.13, 2.33],
}
# Section 5.3: the same of queries, means over sizes; of In-place NC on each drive.
MFIS_QUERIES = {"in-place-nc": [1.47, 1.62, 1.54], "geometric": [1.05], "hlm-nc": [1.07], "ssd-hybrid": [1.09]}
# Section 3, 1,000 documents a flush: seconds as shares of Geometric's on a disk and on flash, and
# of its time per query.
MFIS_SMALL = {
    "no-merge": [26.74 / 172.04, 1 / (1.49 * 2.22), 11.37], "geometric": [1, 1, 1], "in-place-c": [27.47, 1 / 1.27, 2.80 / 3.88],
    "in-place-nc": [26.74, 1 / 1.49, 2.80],
}
