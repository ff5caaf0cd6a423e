/* Gannet's lists: documents of all of them, or of any, and the best of these.
 *
 * Lists come in the order of their documents' numbers, the shortest first. Stretches of documents
 * whose bounds are not above the least of the best are passed over: pages by the heads, which
 * spares reading them, blocks by the directories, which spares decoding them. */
#include "top.h"

static int prunes;
/* Up to which document the bounds were looked at, in an intersection. */
static u32 looked_until;

/* What each list can score at most in the stretch that was looked at last, if the heap was full. */
static float bounds[MOST_LISTS];
static int has_bounds;

/* Lists of which no document can enter unless another list has it too, as bits. */
static u32 optional;

enum { NO_LISTS = 0, SHORTEST = 1, ALL_LISTS = -1 };

static int is_in(u32 set, u32 number) { return (int)(set >> number & 1); }

/* The bits of what these lists can score together. */
static u32 bound_of(u32 set) {
    double sum = 0;
    for (u32 i = 0; i < list_count; i++) {
        if (is_in(set, list_at[i]))
            sum += (double)bounds[list_at[i]];
    }
    return rounded(sum);
}

/* Whether lists score so little up to `last` that none of their documents can enter. `by_blocks` are
 * the lists whose bounds are those of blocks; those of the others are of pages. */
static int is_hopeless(u32 target, u32 by_blocks, u32 *last) {
    *last = NONE - 1;
    has_bounds = is_full();
    for (u32 number = 0; number < list_count; number++) {
        list *l = &lists[number];
        bounds[number] = 0;
        if (!find_page(l, target))
            continue;
        int by_block = is_in(by_blocks, number);
        if (by_block)
            find_block(l, target);
        u32 end = by_block ? block_last(l) : l->page_last;
        *last = end < *last ? end : *last;
        if (has_bounds)
            bounds[number] = by_block ? block_bound(l) : page_bound(l);
    }
    return has_bounds && bound_of((u32)ALL_LISTS) <= threshold();
}

/* Chooses the lists that are optional: the least bounds first. */
static void choose(void) {
    optional = 0;
    while (has_bounds) {
        u32 least = NONE;
        for (u32 number = 0; number < list_count; number++) {
            if (!is_in(optional, number) && (least == NONE || bounds[number] < bounds[least]))
                least = number;
        }
        if (least == NONE || bound_of(optional | 1u << least) > threshold())
            return;
        optional |= 1u << least;
    }
}

/* Where the next document from `target` on can be that enters; only the bounds of the shortest list
 * are looked at by blocks. */
static u32 pass_over(u32 target) {
    while (prunes && is_full() && (looked_until == NONE || target > looked_until)) {
        u32 last;
        if (!find_page(&lists[0], target))
            return NONE;
        if (!is_hopeless(target, NO_LISTS, &last) && !is_hopeless(target, SHORTEST, &last)) {
            looked_until = last;
            break;
        }
        target = last + 1;
    }
    return target;
}

/* Documents of all lists: the shortest leads. */
static void intersect(void) {
    looked_until = NONE;
    u32 target = 0;
    for (;;) {
        target = pass_over(target);
        u32 doc = target == NONE ? NONE : advance(0, target);
        if (doc == NONE)
            return;
        if (doc > target) {
            target = doc;
            if (prunes && is_full() && target > looked_until)
                continue;
        }
        u32 number = 1;
        for (; number < list_count; number++) {
            u32 found = advance(number, doc);
            if (found == NONE)
                return;
            if (found > doc) {
                target = found;
                break;
            }
        }
        if (number == list_count) {
            take(doc);
            target = doc + 1;
        }
    }
}

/* Whether a document on which lists stand that are not optional can enter. */
static int may_enter(u32 doc) {
    if (!has_bounds)
        return 1;
    u32 has = optional;
    for (u32 number = 0; number < list_count; number++)
        has |= (u32)(lists[number].doc == doc) << number;
    return bound_of(has) > threshold();
}

/* All documents of any list from `target` to `last` that may enter. */
static void unite_until(u32 target, u32 last) {
    for (;;) {
        u32 doc = NONE;
        for (u32 i = 0; i < list_count; i++) {
            u32 found = is_in(optional, i) ? NONE : advance(i, target);
            doc = found < doc ? found : doc;
        }
        if (doc > last)
            return;
        target = doc + 1;
        if (!may_enter(doc))
            continue;
        for (u32 i = 0; i < list_count; i++) {
            if (is_in(optional, i))
                advance(i, doc);
        }
        u32 before = heap[0];
        take(doc);
        if (has_bounds && heap[0] != before)
            choose();
    }
}

/* Documents of any list, stretch by stretch: up to where the first block of a list ends. Pages are
 * not read of a list that is optional by its bounds of pages, until a document needs them. */
static void unite(void) {
    u32 last = NONE - 1;
    for (u32 target = 0; prunes && target != NONE; target = last + 1) {
        if (is_hopeless(target, NO_LISTS, &last))
            continue;
        choose();
        if (is_hopeless(target, ~optional, &last))
            continue;
        choose();
        unite_until(target, last);
    }
    if (!prunes)
        unite_until(0, last);
}

static u8 *free_dram;

static void *take_dram(u32 bytes) {
    u8 *taken = free_dram;
    free_dram += (bytes + 7) & ~7u;
    return taken;
}

static const u32 *open_table(table *t, const u32 *at, u32 runs, u32 pages) {
    t->runs = (const table_run *)at;
    t->run_count = runs;
    t->pages = pages;
    t->is_here = take_dram(pages);
    t->bytes = take_dram(pages * DRIVE_PAGE);
    for (u32 i = 0; i < pages; i++)
        t->is_here[i] = UNKNOWN;
    return at + runs * sizeof(table_run) / sizeof(u32);
}

static const u32 *open_list(u32 number, const u32 *at) {
    const list_record *record = (const list_record *)at;
    list *l = &lists[number];
    need(record->place < list_count);
    list_at[record->place] = number;
    l->weight = record->weight;
    l->chunks = (const chunk_record *)(record + 1);
    l->fragments = (const fragment_record *)(l->chunks + record->chunks);
    l->chunk_count = record->chunks;
    l->parts = record->chunks + record->fragments;
    l->opened = l->page_part = l->ahead_part = l->bound_block = NONE;
    l->front = take_dram(FRONT_BYTES);
    l->index_page = take_dram(DRIVE_PAGE);
    l->ahead = take_dram(MOST_AHEAD * DRIVE_PAGE);
    l->entries = take_dram(MOST_BLOCKS * sizeof(block_entry));
    return (const u32 *)(l->fragments + record->fragments);
}

static u64 dram_of(const task_header *header, u32 bytes) {
    u64 pages = (u64)header->norm_pages + header->deletion_pages;
    return bytes + 8 + header->lists * (u64)(LIST_BYTES + 32) + pages * (DRIVE_PAGE + 1) + 32;
}

EXPORT(run) u32 run(void) {
    task_header header;
    u32 bytes = parameters(&header, sizeof header);
    if (bytes < sizeof header || header.lists == 0 || header.lists > MOST_LISTS)
        return BAD_PARAMETERS;
    list_count = header.lists;
    top_count = header.top;
    entry_words = 2 + list_count;
    prunes = (header.flags & PRUNES) != 0 && top_count > 0;
    if ((u64)top_count * entry_words > HEAP_WORDS || (u32)&__heap_base > sram())
        return NEEDS_SRAM;
    if (!has_dram(dram_of(&header, bytes)))
        return NEEDS_DRAM;
    free_dram = (u8 *)sram();
    const u8 *task = take_dram(bytes);
    parameters((void *)task, bytes);
    const u32 *at = (const u32 *)(task + sizeof header);
    for (u32 i = 0; i < list_count; i++)
        at = open_list(i, at);
    at = open_table(&norms, at, header.norm_runs, header.norm_pages);
    at = open_table(&deletions, at, header.deletion_runs, header.deletion_pages);
    inverses = (const float *)at;
    fragment_bytes = (const u8 *)(at + (top_count > 0 ? 256 : 0));
    if (fragment_bytes + header.bytes != task + bytes)
        return BAD_PARAMETERS;
    if (header.flags & ALL_REQUIRED)
        intersect();
    else
        unite();
    end();
    return DONE;
}
