# The drive and the host of the Smart SSD paper (J. Wang, D. Park).
# Marked: (p) is from the paper, (c) is calibrated on figures 7 and 8, on 30,000 results and on table
# 3's watts by `gannet-lab smart-ssd --calibrate`, (a) is assumed.

device_cores = 4                  # p: quad-core ARM Cortex-R4
device_mhz = 400                  # p
device_cycles_per_operator = 1.021 # c: figure 8, 22 %
device_dram_ns = 109.3            # c: figure 8, 28 %
device_sram_ns = 2.5              # a: one cycle
device_dram_mib = 256             # a: "several hundred MBs"
device_sram_kib = 32              # p
device_request_us = 25.16         # c: figure 7, 14.5 ms
device_watts = 2.103              # c: table 3

host_mhz = 3400                   # p
host_cycles_per_operator = 1      # a
host_access_ns = 5                # a
host_byte_ns = 2.908              # c: figure 7, 8 ms
host_request_us = 95.27           # c: figure 7, 54.8 ms
host_query_us = 1084              # c: figure 7, 16.6 ms less what figure 8 has of it
host_rank_ns = 166.7              # c: 30,000 results in 5 ms
host_watts = 6.5                  # c: table 3

channels = 8                      # a, with channel_mb_s: 2.2 GB/s inside (p)
channel_mb_s = 275
page_us = 50                      # a: flash of the time
link_mb_s = 550                   # p
get_mb_s = 80                     # c: 30,000 results of 32 bytes in 12 ms
poll_us = 1000                    # p
request_pages = 1                 # a
page_uj = 10                      # a: energy by counts only
link_nj = 1                       # a: energy by counts only
