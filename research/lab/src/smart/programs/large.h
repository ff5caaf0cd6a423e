/* Lists that do not fit DRAM: the two solutions of the paper.
 *
 * Solution 1 loads one list, in two buffers, and checks each page of each other list against what
 * is left of it. Solution 2 does so for one chunk of the list after the other. Which list is kept
 * is the program's choice: the shortest for an intersection, the minuend for a difference. */
#ifndef LARGE_H
#define LARGE_H
#include "results.h"

/* Pages that are read at a time. */
enum { BATCH = 16 };

static struct {
    posting *now;  /* what is left */
    posting *next; /* what will be left after the current list */
    posting *page; /* BATCH pages of the current list */
    u32 left;
} large;

/* Postings that a chunk can have. */
static u32 chunk_postings(void) {
    u64 room = dram();
    u64 batch = (u64)BATCH * DRIVE_PAGE;
    if (room < batch + 2 * DRIVE_PAGE)
        return 0;
    u64 pages = (room - batch) / DRIVE_PAGE / 2;
    return (u32)(pages * POSTINGS_OF_PAGE);
}

static void swap_buffers(u32 left) {
    posting *now = large.now;
    large.now = large.next;
    large.next = now;
    large.left = left;
}

/* Checks the postings of a batch against what is left. `keeps` says whether those that are found
 * stay (intersection) or go (difference). `cursor` and `out` go on from batch to batch. */
static void check_batch(u32 count, int keeps, u32 *cursor, u32 *out) {
    for (u32 i = 0; i < count; i++) {
        u64 head = large.page[i].head;
        for (; *cursor < large.left; ++*cursor) {
            posting *mine = &large.now[*cursor];
            u64 own = mine->head;
            if (document(own) > document(head))
                break;
            int same = document(own) == document(head);
            if (same == keeps) {
                posting *kept = &large.next[(*out)++];
                *kept = *mine;
                if (same)
                    kept->head = with_score(own, sum(score(own), score(head)));
            }
        }
        if (*cursor == large.left)
            return;
    }
}

/* Checks a whole list against what is left. */
static void check_list(u32 number, int keeps) {
    u32 size = task.sizes[number], pages = (u32)(bytes_of(size) / DRIVE_PAGE);
    u32 cursor = 0, out = 0;
    for (u32 page = 0; page < pages && cursor < large.left; page += BATCH) {
        u32 count = pages - page < BATCH ? pages - page : BATCH;
        read_pages(number, page, count, large.page);
        u32 rest = size - page * POSTINGS_OF_PAGE, most = count * POSTINGS_OF_PAGE;
        check_batch(rest < most ? rest : most, keeps, &cursor, &out);
    }
    for (; !keeps && cursor < large.left; cursor++)
        large.next[out++] = large.now[cursor];
    swap_buffers(out);
}

/* Solutions 1 and 2, which is solution 1 for each chunk. `order` has the kept list first. */
static int large_lists(const u32 *order, int keeps) {
    u32 kept = order[0], size = task.sizes[kept], chunk = chunk_postings();
    if (chunk == 0 || !has_dram((u64)chunk * sizeof(posting) * 2 + BATCH * DRIVE_PAGE))
        return NEEDS_DRAM;
    large.page = (posting *)dram_start();
    large.now = large.page + BATCH * POSTINGS_OF_PAGE;
    large.next = large.now + chunk;
    for (u32 first = 0; first < size; first += chunk) {
        u32 count = size - first < chunk ? size - first : chunk;
        read_pages(kept, first / POSTINGS_OF_PAGE, (u32)(bytes_of(count) / DRIVE_PAGE), large.now);
        large.left = count;
        for (u32 i = 1; i < task.lists && large.left > 0; i++)
            check_list(order[i], keeps);
        for (u32 i = 0; i < large.left; i++)
            take_posting(&large.now[i]);
    }
    end_postings();
    return DONE;
}
#endif
