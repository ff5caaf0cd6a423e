/* What a drive gives to a program. Memory below sram() is SRAM: the stack and all static data are
 * there. What lies above is DRAM, which grows. */
#ifndef DRIVE_H
#define DRIVE_H

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#define IMPORT(name) __attribute__((import_module("gannet"), import_name(#name)))
#define EXPORT(name) __attribute__((export_name(#name)))

/* Bytes of SRAM, and of DRAM that a session may have. */
IMPORT(sram) u32 sram(void);
IMPORT(dram) u32 dram(void);
/* Copies at most `bytes` of the parameters; gives how many there are. */
IMPORT(parameters) u32 parameters(void *to, u32 bytes);
/* Reads pages of a span into DRAM. */
IMPORT(read) void read_pages(u32 span, u32 page, u32 pages, void *to);
/* Appends to the results. */
IMPORT(emit) void emit(const void *from, u32 bytes);

enum { DRIVE_PAGE = 4096, WASM_PAGE = 65536 };

/* Why a program gives up; the host then does the work. */
enum { DONE, BAD_PARAMETERS, NEEDS_DRAM, NEEDS_SRAM };

/* The end of static data, which the linker knows. */
extern u8 __heap_base;

/* Makes DRAM `bytes` long; gives whether it could. */
static int has_dram(u64 bytes) {
    if (bytes > dram())
        return 0;
    u32 pages = (u32)((sram() + bytes + WASM_PAGE - 1) / WASM_PAGE);
    u32 present = __builtin_wasm_memory_size(0);
    return pages <= present || __builtin_wasm_memory_grow(0, pages - present) != (u32)-1;
}
#endif
