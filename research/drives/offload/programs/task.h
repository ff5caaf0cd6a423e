/* What the host says of its lists, as words of 32 bits, and where each part of it stands. The
 * host's side of it is src/task.rs. */
#ifndef TASK_H
#define TASK_H
#include "drive.h"

enum { MOST_LISTS = 12, NONE = 0xFFFFFFFF };

/* Flags of the header. */
enum { ALL_REQUIRED = 1, PRUNES = 2 };

typedef struct {
    u32 lists;
    u32 flags;
    u32 top;            /* how many of the best are wanted; all, and without scores, where it is 0 */
    u32 norm_runs;      /* of the table of norms, ... */
    u32 norm_pages;
    u32 deletion_runs;  /* ... and of that of deletions */
    u32 deletion_pages;
    u32 bytes;          /* of fragments */
} task_header;

/* A list, the one with the fewest documents first. Its records of parts follow. */
typedef struct {
    float weight;
    u32 place;     /* in the order in which scores are added up */
    u32 chunks;
    u32 fragments;
} list_record;

enum { GROUPED = 1, SPLIT = 2 };

typedef struct {
    u32 span;
    u32 offset;      /* of its first byte in the first page */
    u32 layout;      /* above it: whether it has a phrase filter */
    u32 head_length;
    u32 docs_length;
    u32 first;
    u32 last;
} chunk_record;

typedef struct {
    u32 base;
    u32 count;
    u32 max_frequency;
    u32 last;
    u32 start; /* among the bytes of fragments */
} fragment_record;

/* Consecutive pages of a table that stand in one span. Pages that no run has are all zeros. */
typedef struct {
    u32 first;
    u32 pages;
    u32 span;
} table_run;

/* Ends the session: what was read is not what the format says. The host does the work then. */
static void need(int holds) {
    if (!holds)
        __builtin_trap();
}

static u32 varint(const u8 **at) {
    u32 value = 0;
    for (u32 shift = 0; shift < 35; shift += 7) {
        u32 byte = *(*at)++;
        value |= (byte & 127) << shift;
        if (byte < 128)
            return value;
    }
    need(0);
    return 0;
}
#endif
