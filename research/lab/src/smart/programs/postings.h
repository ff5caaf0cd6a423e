/* Postings of 32 bytes, lists of them, and how a list finds the next one from a document on.
 *
 * The document and its score stand in one word of 64 bits, so one access gets both. */
#ifndef POSTINGS_H
#define POSTINGS_H
#include "drive.h"

/* The document in the lower half of `head`, the score in the upper one, and what stands for
 * frequency and positions. */
typedef struct {
    u64 head;
    u64 rest[3];
} posting;

typedef struct {
    posting *at;
    u32 size;
    u32 place;
} list;

enum { MOST_LISTS = 16, MOST_RANKED = 1024, LINEAR_BELOW = 4 };
enum { POSTINGS_OF_PAGE = DRIVE_PAGE / sizeof(posting) };

/* What the host says: the lists, each at the beginning of the span of its number. */
static struct {
    u32 lists;
    u32 ranked;
    u32 sizes[MOST_LISTS];
} task;

static list lists[MOST_LISTS];

static u32 document(u64 head) { return (u32)head; }
static u32 score(u64 head) { return (u32)(head >> 32); }

/* The sum of two scores, which stays at the largest number that there is. */
static u32 sum(u32 one, u32 other) {
    u32 both = one + other;
    return both < one ? 0xFFFFFFFFu : both;
}

static u64 with_score(u64 head, u32 score) { return (u32)head | (u64)score << 32; }

/* Bytes of a list, in whole pages. */
static u64 bytes_of(u32 size) {
    return ((u64)size * sizeof(posting) + DRIVE_PAGE - 1) / DRIVE_PAGE * DRIVE_PAGE;
}

static int task_is_read(u32 least, u32 most) {
    u32 bytes = parameters(&task, sizeof task);
    if (task.lists < least || task.lists > most || task.ranked > MOST_RANKED)
        return 0;
    return bytes == 2 * sizeof(u32) + task.lists * sizeof(u32);
}

static u8 *dram_start(void) { return (u8 *)(u64)sram(); }

static u64 bytes_of_lists(void) {
    u64 bytes = 0;
    for (u32 i = 0; i < task.lists; i++)
        bytes += bytes_of(task.sizes[i]);
    return bytes;
}

/* Loads all lists; gives where DRAM is free behind them. */
static u8 *load_lists(void) {
    u8 *free = dram_start();
    for (u32 i = 0; i < task.lists; i++) {
        u32 size = task.sizes[i];
        lists[i] = (list){(posting *)free, size, 0};
        if (size > 0)
            read_pages(i, 0, (u32)(bytes_of(size) / DRIVE_PAGE), free);
        free += bytes_of(size);
    }
    return free;
}

/* Whether two lists are searched step by step rather than by halves. */
static int is_linear(u32 one, u32 other) {
    u32 shorter = one < other ? one : other, longer = one < other ? other : one;
    return (u64)longer < (u64)shorter * LINEAR_BELOW;
}

/* Moves a list to its first posting not below a document and gives its head, if there is one. */
static int successor(list *l, u32 wanted, int linear, u64 *head) {
    if (linear) {
        for (; l->place < l->size; l->place++) {
            *head = l->at[l->place].head;
            if (document(*head) >= wanted)
                return 1;
        }
        return 0;
    }
    u32 low = l->place, high = l->size;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (document(l->at[middle].head) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    l->place = low;
    if (low == l->size)
        return 0;
    *head = l->at[low].head;
    return 1;
}
#endif
