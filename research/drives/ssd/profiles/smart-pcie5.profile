# A drive on PCIe 5.0 as it might be. All numbers are assumed, none is measured; what a
# WebAssembly operator and a byte on the host take is that of smart-ssd-2016, which is calibrated.

device_cores = 4
device_mhz = 1500
device_cycles_per_operator = 1.021
device_dram_ns = 60           # a small cache
device_sram_ns = 0.7          # one cycle
device_dram_mib = 1024
device_sram_kib = 32
device_request_us = 2         # pages are asked for ahead
device_watts = 4

host_mhz = 3400
host_cycles_per_operator = 1
host_access_ns = 5
host_byte_ns = 2.908
host_request_us = 3           # batches through a queue pair
host_query_us = 1084
host_rank_ns = 166.7
host_watts = 6.5

channels = 16
channel_mb_s = 1600
page_us = 45
link_mb_s = 13000
get_mb_s = 6000
poll_us = 20                  # an interrupt rather than a poll
request_pages = 1
page_uj = 10                      # a: energy by counts only
link_nj = 0.1                     # a: energy by counts only
