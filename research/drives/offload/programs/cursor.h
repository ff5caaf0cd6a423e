/* A list of chunks and fragments, read in the order of its documents: pages by the heads, blocks by
 * the directories, and only the block decoded in which it stands. */
#ifndef CURSOR_H
#define CURSOR_H
#include "blocks.h"

/* Pages of a grouped chunk, which is at most four payloads long, and docs pages in it. */
enum { GROUPED_PAGES = 5, GROUPED_DOCS = 16 };

/* Docs pages that are read at once where a list is read in order. */
enum { MOST_AHEAD = 16 };

/* DRAM of a list: the front of a chunk, an index page, docs pages, the directory of one of them. */
enum {
    FRONT_BYTES = GROUPED_PAGES * DRIVE_PAGE,
    LIST_BYTES = FRONT_BYTES + (1 + MOST_AHEAD) * DRIVE_PAGE + MOST_BLOCKS * sizeof(block_entry)
};

typedef struct {
    float weight;
    const chunk_record *chunks;
    const fragment_record *fragments;
    u32 chunk_count, parts;
    u32 part;

    /* The part whose head is at hand. */
    u32 opened;
    u8 *front, *index_page, *ahead;
    const u8 *chunk;
    u32 docs_pages, index_pages, front_pages, short_docs;
    u32 starts[GROUPED_DOCS + 1];
    /* The entry of the head's index, or of that of index pages. */
    const u8 *top_at;
    u32 top, top_last, top_first, top_end, index_at_hand;
    /* The docs page that the index found, and what bounds it. */
    const u8 *index_at;
    u32 page, page_last;
    const u8 *page_pairs;
    float page_bound;

    /* The docs pages that were read last, and how many the next read takes. */
    u32 ahead_part, ahead_first, ahead_pages, ahead_next;

    /* The docs page at hand. */
    u32 page_part, page_at_hand;
    block_entry *entries;
    u32 blocks, before, block;
    u32 bound_block;
    float block_bound;

    /* The decoded block. */
    u32 doc, at, length, decoded_block;
    int has_frequencies;
    /* Of a fragment: what is not decoded yet. */
    const u8 *fragment_at;
    u32 fragment_left, fragment_last;
} list;

static list lists[MOST_LISTS];
static u32 docs_of[MOST_LISTS][BLOCK];
static u32 frequencies_of[MOST_LISTS][BLOCK];

/* What a score takes a frequency times, for each norm. */
static const float *inverses;
static const u8 *fragment_bytes;

static float score_of(float weight, float product) { return weight - weight / (1.0f + product); }

/* The best score of competitive pairs. */
static float best_of(float weight, const u8 *at) {
    float best = 0;
    u32 frequency = 0, norm = 0;
    for (u32 left = *at++; left > 0; left--) {
        frequency += varint(&at);
        norm += *at++;
        float product = (float)frequency * inverses[norm & 255];
        best = product > best ? product : best;
    }
    return score_of(weight, best);
}

static int is_chunk(const list *l) { return l->part < l->chunk_count; }
static const fragment_record *fragment(const list *l) {
    return &l->fragments[l->part - l->chunk_count];
}
static u32 part_last(const list *l) {
    return is_chunk(l) ? l->chunks[l->part].last : fragment(l)->last;
}

/* Reads pages and moves their payloads together, over the proofs between them. */
static void read_payload(u32 span, u32 pages, u8 *to) {
    read_pages(span, 0, pages, to);
    for (u32 page = 1; page < pages; page++) {
        u64 *into = (u64 *)(to + page * PAYLOAD);
        const u64 *from = (const u64 *)(to + page * DRIVE_PAGE);
        for (u32 i = 0; i < PAYLOAD / sizeof(u64); i++)
            into[i] = from[i];
    }
}

static u32 pages_of(u32 bytes) { return (bytes + PAYLOAD - 1) / PAYLOAD; }

static void open_grouped(list *l, const chunk_record *c) {
    u32 pages = pages_of(c->offset + c->docs_length);
    need(pages <= GROUPED_PAGES);
    read_payload(c->span, pages, l->front);
    l->chunk = l->front + c->offset;
    const u8 *at = l->chunk;
    u32 docs = varint(&at), positions = varint(&at), start = c->head_length;
    need(docs > 0 && docs <= GROUPED_DOCS && positions > 0);
    for (u32 i = 0; i + 1 < docs + positions; i++) {
        u32 length = varint(&at);
        if (i < docs) {
            l->starts[i] = start;
            start += length;
        }
    }
    l->docs_pages = docs;
    l->index_pages = 0;
    l->page_pairs = at;
    l->top_at = behind_pairs(at);
}

static void open_split(list *l, const chunk_record *c) {
    read_pages(c->span, 0, 1, l->front);
    l->chunk = l->front;
    const u8 *at = l->chunk;
    l->docs_pages = varint(&at);
    varint(&at); /* position pages */
    l->short_docs = varint(&at);
    u32 short_positions = varint(&at);
    l->index_pages = varint(&at);
    l->front_pages = pages_of(c->head_length + l->short_docs + short_positions);
    l->top_at = behind_pairs(at);
}

/* Goes to the next entry of an index. */
static const u8 *next_page(list *l, const u8 *at) {
    l->page_last += varint(&at);
    l->page++;
    l->page_pairs = at;
    l->page_bound = -1;
    return behind_pairs(at);
}

/* Opens the part in which the list stands. */
static void open_part(list *l) {
    l->opened = l->part;
    l->page_bound = -1;
    l->index_at_hand = NONE;
    if (!is_chunk(l)) {
        const fragment_record *f = fragment(l);
        l->page_last = f->last;
        l->fragment_at = fragment_bytes + f->start;
        l->fragment_left = f->count;
        l->fragment_last = f->base;
        return;
    }
    const chunk_record *c = &l->chunks[l->part];
    int is_grouped = (c->layout & 255) == GROUPED;
    if (is_grouped)
        open_grouped(l, c);
    else
        open_split(l, c);
    l->page = NONE;
    l->page_last = 0;
    l->top = NONE;
    l->top_last = l->top_end = 0;
    if (is_grouped && l->docs_pages == 1) {
        l->page = 0;
        l->page_last = c->last;
    } else if (l->index_pages == 0) {
        l->index_at = next_page(l, l->top_at);
    }
}

/* Goes to the index page that knows a document's docs page, and reads it. */
static void turn_index(list *l, u32 target) {
    u32 before = 0;
    while (l->top == NONE || l->top_last < target) {
        need(l->top + 1 < l->index_pages);
        l->top++;
        before = l->top_last;
        l->top_last += varint(&l->top_at);
        l->top_first = l->top_end;
        l->top_end += varint(&l->top_at);
        l->top_at = behind_pairs(l->top_at);
    }
    if (l->index_at_hand == l->top)
        return;
    read_pages(l->chunks[l->part].span, l->front_pages + l->top, 1, l->index_page);
    l->index_at_hand = l->top;
    l->page = l->top_first - 1;
    l->page_last = before;
    l->index_at = next_page(l, l->index_page);
}

/* Finds the docs page, or the fragment, that would hold a document, by heads alone. Tells whether
 * there is any. */
static int find_page(list *l, u32 target) {
    while (l->part < l->parts && part_last(l) < target)
        l->part++;
    if (l->part == l->parts)
        return 0;
    if (l->opened != l->part)
        open_part(l);
    if (!is_chunk(l))
        return 1;
    if (l->index_pages > 0)
        turn_index(l, target);
    while (l->page_last < target) {
        need(l->page + 1 < l->docs_pages);
        l->index_at = next_page(l, l->index_at);
    }
    return 1;
}

/* What no posting of the page scores above. */
static float page_bound(list *l) {
    if (l->page_bound < 0) {
        l->page_bound = is_chunk(l)
            ? best_of(l->weight, l->page_pairs)
            : score_of(l->weight, (float)fragment(l)->max_frequency * inverses[0]);
    }
    return l->page_bound;
}

/* A docs page that stands on a page of its own. The more of them were read one after the other, the
 * more are read at once. */
static const u8 *separate_page(list *l, const chunk_record *c) {
    u32 place = l->page - l->ahead_first;
    if (l->ahead_part != l->part || place >= l->ahead_pages) {
        int is_next = l->ahead_part == l->part && place == l->ahead_pages;
        u32 left = l->docs_pages - (l->short_docs > 0) - l->page;
        u32 more = is_next ? l->ahead_next : 1;
        l->ahead_pages = more < left ? more : left;
        l->ahead_next = more < MOST_AHEAD ? 2 * more : MOST_AHEAD;
        l->ahead_part = l->part;
        l->ahead_first = l->page;
        u32 first = l->front_pages + l->index_pages + l->page;
        read_pages(c->span, first, l->ahead_pages, l->ahead);
        place = 0;
    }
    return l->ahead + place * DRIVE_PAGE;
}

/* Reads the docs page that was found, unless it is at hand. */
static void turn_page(list *l) {
    if (l->page_part == l->part && l->page_at_hand == l->page)
        return;
    const chunk_record *c = &l->chunks[l->part];
    const u8 *bytes;
    if ((c->layout & 255) == GROUPED)
        bytes = l->chunk + l->starts[l->page];
    else if (l->short_docs > 0 && l->page + 1 == l->docs_pages)
        bytes = l->chunk + c->head_length;
    else
        bytes = separate_page(l, c);
    l->blocks = parse_page(bytes, (c->layout >> 8) != 0, l->entries, &l->before);
    need(l->entries[l->blocks - 1].last == l->page_last);
    l->page_part = l->part;
    l->page_at_hand = l->page;
    l->block = 0;
    l->bound_block = NONE;
    l->length = 0;
}

/* Finds the block that would hold a document whose page was found. */
static void find_block(list *l, u32 target) {
    if (!is_chunk(l))
        return;
    turn_page(l);
    while (l->entries[l->block].last < target)
        l->block++;
}

static u32 block_last(const list *l) {
    return is_chunk(l) ? l->entries[l->block].last : l->page_last;
}

static float block_bound(list *l) {
    if (!is_chunk(l))
        return page_bound(l);
    if (l->bound_block != l->block) {
        l->bound_block = l->block;
        l->block_bound = best_of(l->weight, l->entries[l->block].pairs);
    }
    return l->block_bound;
}

static void decode_block(list *l, u32 *docs, u32 *frequencies) {
    if (l->length > 0 && l->decoded_block == l->block && l->page_part == l->part)
        return;
    u32 before = l->block == 0 ? l->before : l->entries[l->block - 1].last;
    const block_entry *entry = &l->entries[l->block];
    l->has_frequencies = read_docs(entry, before, docs, frequencies);
    l->decoded_block = l->block;
    l->length = entry->count;
    l->at = 0;
}

/* Decodes blocks of a fragment up to the one with a document. */
static void decode_fragment(list *l, u32 target, u32 *docs, u32 *frequencies) {
    if (l->page_part != l->part) {
        l->page_part = l->part;
        l->length = 0;
    }
    while (l->length == 0 || docs[l->length - 1] < target) {
        need(l->fragment_left > 0);
        u32 count = l->fragment_left < BLOCK ? l->fragment_left : BLOCK, last = l->fragment_last;
        for (u32 i = 0; i < count; i++)
            docs[i] = last = read_posting(&l->fragment_at, last, &frequencies[i]);
        l->fragment_last = last;
        l->fragment_left -= count;
        l->length = count;
        l->at = 0;
    }
    l->has_frequencies = 1;
}

/* The first place of a decoded block with a document from `target` on, which there is. */
static u32 place_of(const u32 *docs, u32 low, u32 high, u32 target) {
    for (u32 near = low + 4 < high ? low + 4 : high; low < near; low++) {
        if (docs[low] >= target)
            return low;
    }
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (docs[middle] < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Moves to the first document from `target` on and gives it; NONE behind the last. */
static u32 advance(u32 number, u32 target) {
    list *l = &lists[number];
    u32 *docs = docs_of[number];
    if (l->doc != NONE && l->doc >= target && l->length > 0)
        return l->doc;
    if (l->length == 0 || l->page_part != l->part || docs[l->length - 1] < target) {
        if (!find_page(l, target)) {
            l->length = 0;
            return l->doc = NONE;
        }
        if (is_chunk(l)) {
            find_block(l, target);
            decode_block(l, docs, frequencies_of[number]);
        } else {
            decode_fragment(l, target, docs, frequencies_of[number]);
        }
    }
    l->at = place_of(docs, l->at, l->length, target);
    need(l->at < l->length);
    return l->doc = docs[l->at];
}

/* The frequency of the document on which a list stands. */
static u32 frequency(u32 number) {
    list *l = &lists[number];
    if (!l->has_frequencies) {
        read_frequencies(&l->entries[l->decoded_block], frequencies_of[number]);
        l->has_frequencies = 1;
    }
    return frequencies_of[number][l->at];
}
#endif
