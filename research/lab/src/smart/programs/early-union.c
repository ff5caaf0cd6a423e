/* The best documents of any list, as those of union.c with ranking, but with early termination.
 *
 * Beside each list stands a table, in a span behind those of all lists: for each page of postings
 * its last document and its largest score. From stretch to stretch the longest lists are optional
 * whose bounds together do not reach the least of the best. They are looked up only for documents
 * of the others, and pages that no such document needs are not read. */
#include "results.h"

enum { NONE = 0xFFFFFFFF };

/* Pages that are read at once at most, fewer where DRAM is small. */
static u32 most_ahead = 16;

typedef struct {
    const u64 *table;
    u32 size, pages;
    /* The page that would hold the next document, and the one in which the list stands. */
    u32 page, at_hand;
    u32 place;
    u64 head;
    /* The pages that were read last, and how many that were. */
    posting *loaded;
    u32 first, count;
} bounded;

static bounded all[MOST_LISTS];
static u32 longest_first[MOST_LISTS];

/* Of the stretch that is looked at. */
static u32 bounds[MOST_LISTS];
static u32 optional;
static u64 optional_bound;

static int is_optional(u32 number) { return (int)(optional >> number & 1); }

/* Whether a sum of scores can enter: documents come in order, so one that is equal cannot. */
static int may_enter(u64 most) { return heap_size < task.ranked || most > score(heap[0]); }

/* Finds the pages that would hold `target`, and up to where their bounds hold. Tells whether there
 * is any. */
static int look(u32 target, u32 *last) {
    *last = NONE;
    for (u32 i = 0; i < task.lists; i++) {
        bounded *l = &all[i];
        bounds[i] = 0;
        for (; l->page < l->pages; l->page++) {
            u64 entry = l->table[l->page];
            if (document(entry) < target)
                continue;
            bounds[i] = score(entry);
            *last = document(entry) < *last ? document(entry) : *last;
            break;
        }
    }
    return *last != NONE;
}

static void choose(void) {
    optional = 0;
    optional_bound = 0;
    for (u32 i = 0; i < task.lists; i++) {
        u32 number = longest_first[i];
        if (may_enter(optional_bound + bounds[number]))
            continue;
        optional |= 1u << number;
        optional_bound += bounds[number];
    }
}

/* The postings of the page that was found, which is read if it is not there. In order, each read
 * takes twice as many pages as the one before. */
static const posting *load(u32 number) {
    bounded *l = &all[number];
    if (l->page - l->first >= l->count) {
        u32 ahead = l->page == l->first + l->count ? 2 * l->count : 1, left = l->pages - l->page;
        ahead = ahead < 1 ? 1 : ahead > most_ahead ? most_ahead : ahead;
        l->first = l->page;
        l->count = ahead < left ? ahead : left;
        read_pages(number, l->first, l->count, l->loaded);
    }
    return l->loaded + (l->page - l->first) * POSTINGS_OF_PAGE;
}

/* Moves to the first document from `target` on, which is in the stretch, and gives it; NONE where
 * the list has ended. */
static u32 advance(u32 number, u32 target) {
    bounded *l = &all[number];
    if (l->page == l->pages)
        return NONE;
    u32 low = 0;
    if (l->at_hand == l->page) {
        if (document(l->head) >= target)
            return document(l->head);
        low = l->place + 1;
    }
    const posting *at = load(number);
    u32 left = l->size - l->page * POSTINGS_OF_PAGE;
    u32 high = (left < POSTINGS_OF_PAGE ? left : POSTINGS_OF_PAGE) - 1;
    l->at_hand = l->page;
    u64 head = at[low].head;
    if (document(head) < target) {
        for (low++; low < high;) {
            u32 middle = (low + high) / 2;
            if (document(at[middle].head) < target)
                low = middle + 1;
            else
                high = middle;
        }
        head = at[low].head;
    }
    l->place = low;
    l->head = head;
    return document(head);
}

/* Adds the scores of optional lists, as long as the document can enter. */
static u32 complete(u32 doc, u32 total) {
    u64 rest = optional_bound;
    for (u32 i = task.lists; i-- > 0;) {
        u32 number = longest_first[i];
        if (!is_optional(number))
            continue;
        if (!may_enter(total + rest))
            break;
        rest -= bounds[number];
        if (advance(number, doc) == doc)
            total = sum(total, score(all[number].head));
    }
    return total;
}

/* Ranks documents from `target` to `last` that may enter. */
static void unite_until(u32 target, u32 last) {
    while (target <= last) {
        u32 doc = NONE, total = 0;
        for (u32 i = 0; i < task.lists; i++) {
            u32 found = is_optional(i) ? NONE : advance(i, target);
            if (found < doc) {
                doc = found;
                total = 0;
            }
            if (found == doc && found != NONE)
                total = sum(total, score(all[i].head));
        }
        if (doc > last)
            return;
        target = doc + 1;
        total = complete(doc, total);
        if (may_enter(total)) {
            rank_head(with_score(doc, total));
            choose();
        }
    }
}

static void unite(void) {
    u32 last;
    for (u32 target = 0; look(target, &last); target = last + 1) {
        choose();
        unite_until(target, last);
    }
}

static u32 pages_of(u32 size) { return (u32)(bytes_of(size) / DRIVE_PAGE); }
static u32 table_pages(u32 pages) {
    return (pages * (u32)sizeof(u64) + DRIVE_PAGE - 1) / DRIVE_PAGE;
}
static u32 most_loaded(u32 pages) { return pages < most_ahead ? pages : most_ahead; }

/* DRAM for the tables and for what is read ahead of each list. */
static u64 dram_needed(void) {
    u64 bytes = 0;
    for (u32 i = 0; i < task.lists; i++) {
        u32 pages = pages_of(task.sizes[i]);
        bytes += (table_pages(pages) + most_loaded(pages)) * DRIVE_PAGE;
    }
    return bytes;
}

/* Reads the tables. */
static void open_lists(void) {
    u8 *free = dram_start();
    for (u32 i = 0; i < task.lists; i++) {
        u32 pages = pages_of(task.sizes[i]), at = i;
        all[i] = (bounded){
            .table = (u64 *)free, .size = task.sizes[i], .pages = pages, .at_hand = NONE};
        if (pages > 0)
            read_pages(task.lists + i, 0, table_pages(pages), free);
        free += table_pages(pages) * DRIVE_PAGE;
        all[i].loaded = (posting *)free;
        free += most_loaded(pages) * DRIVE_PAGE;
        for (; at > 0 && task.sizes[longest_first[at - 1]] < task.sizes[i]; at--)
            longest_first[at] = longest_first[at - 1];
        longest_first[at] = i;
    }
}

EXPORT(run) u32 run(void) {
    if (!task_is_read(2, MOST_LISTS) || task.ranked == 0)
        return BAD_PARAMETERS;
    if ((u64)&__heap_base > sram())
        return NEEDS_SRAM;
    while (most_ahead > 1 && dram_needed() > dram())
        most_ahead /= 2;
    if (!has_dram(dram_needed()))
        return NEEDS_DRAM;
    open_lists();
    unite();
    send_ranked();
    return DONE;
}
