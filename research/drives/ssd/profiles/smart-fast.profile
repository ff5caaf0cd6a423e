# A drive that nobody makes: many fast cores with caches on a PCIe 4.0 link. All numbers are assumed, none is measured; what a
# WebAssembly operator and a byte on the host take is that of smart-ssd-2016, which is calibrated.

device_cores = 16
device_mhz = 2000
device_cycles_per_operator = 1.021
device_dram_ns = 15           # a large cache
device_sram_ns = 0.5          # one cycle
device_dram_mib = 1024
device_sram_kib = 32
device_request_us = 0.5       # pages are asked for ahead
device_watts = 8

host_mhz = 3400
host_cycles_per_operator = 1
host_access_ns = 5
host_byte_ns = 2.908
host_request_us = 4           # batches through a queue pair
host_query_us = 1084
host_rank_ns = 166.7
host_watts = 6.5

channels = 32
channel_mb_s = 1200
page_us = 45
link_mb_s = 6500
get_mb_s = 3000
poll_us = 20                  # an interrupt rather than a poll
request_pages = 1
page_uj = 10                      # a: energy by counts only
link_nj = 0.1                     # a: energy by counts only
