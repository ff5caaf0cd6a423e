/* Docs pages and their blocks, as docs/format.md has them. */
#ifndef BLOCKS_H
#define BLOCKS_H
#include "task.h"

enum { PAYLOAD = DRIVE_PAGE - 8, BLOCK = 128, WIDTHS = 33, MOST_BLOCKS = PAYLOAD / 5 };

/* The directory's word on a block. */
typedef struct {
    u32 last;
    const u8 *pairs;
    const u8 *data;
    u8 doc_shape, frequency_shape;
    u8 count;
} block_entry;

typedef struct __attribute__((packed)) {
    u32 value;
} unaligned;

static u32 shape_bits(u32 shape) { return shape % WIDTHS; }
static u32 shape_exceptions(u32 shape) { return shape / WIDTHS; }
static u32 shape_length(u32 shape) { return shape_bits(shape) * 16 + 2 * shape_exceptions(shape); }

/* Passes over competitive pairs. */
static const u8 *behind_pairs(const u8 *at) {
    for (u32 left = *at++; left > 0; left--) {
        varint(&at);
        at++;
    }
    return at;
}

/* Reads header and directory of a docs page; gives how many blocks it has. */
static u32 parse_page(const u8 *at, int filtered, block_entry *entries, u32 *before) {
    *before = varint(&at) - 1;
    varint(&at); /* the number of the first position */
    u32 count = varint(&at), last_count = varint(&at);
    varint(&at); /* the first position page, */
    varint(&at); /* the stride of the table of position pages, and the table */
    for (u32 left = varint(&at); left > 0; left--)
        varint(&at);
    if (filtered) {
        u32 length = varint(&at);
        at += length;
    }
    need(count > 0 && count <= MOST_BLOCKS && last_count > 0 && last_count <= BLOCK);
    u32 last = *before, length = 0;
    for (u32 i = 0; i < count; i++) {
        block_entry *entry = &entries[i];
        last += 1 + varint(&at);
        entry->last = last;
        entry->doc_shape = at[0];
        entry->frequency_shape = at[1];
        entry->pairs = at + 2;
        at = behind_pairs(at + 2);
        varint(&at); /* frequencies beyond one each */
        entry->data = (const u8 *)length;
        entry->count = (u8)(i + 1 == count ? last_count : BLOCK);
        length += shape_length(entry->doc_shape) + shape_length(entry->frequency_shape);
    }
    for (u32 i = 0; i < count; i++)
        entries[i].data = at + (u32)entries[i].data;
    return count;
}

/* Unpacks 128 numbers: four lanes of words that take turns, then what is too large for its bits. */
static void unpack(const u8 *from, u32 shape, u32 *values) {
    u32 bits = shape_bits(shape);
    const unaligned *words = (const unaligned *)from;
    u64 mask = ((u64)1 << bits) - 1;
    for (u32 lane = 0; lane < 4; lane++) {
        const unaligned *next = words + lane;
        u64 held = 0;
        u32 count = 0;
        for (u32 i = lane; i < BLOCK; i += 4) {
            if (count < bits) {
                held |= (u64)next->value << count;
                next += 4;
                count += 32;
            }
            values[i] = (u32)(held & mask);
            held >>= bits;
            count -= bits;
        }
    }
    const u8 *exception = from + bits * 16;
    for (u32 left = shape_exceptions(shape); left > 0; left--, exception += 2)
        values[exception[0] % BLOCK] += (u32)((u64)exception[1] << bits);
}

/* The postings of a fragment or of a short block, one after the other. */
static u32 read_posting(const u8 **at, u32 from, u32 *frequency) {
    u32 distance = varint(at);
    *frequency = distance & 1 ? 1 : varint(at);
    return from + (distance >> 1);
}

static void read_short(const block_entry *entry, u32 before, u32 *docs, u32 *frequencies) {
    const u8 *at = entry->data;
    u32 next = before + 1;
    for (u32 i = 0; i < entry->count; i++) {
        docs[i] = read_posting(&at, next, &frequencies[i]);
        next = docs[i] + 1;
    }
}

/* Decodes the docs of a block. The frequencies of a short one come with them; tells whether. */
static int read_docs(const block_entry *entry, u32 before, u32 *docs, u32 *frequencies) {
    int is_short = entry->count < BLOCK;
    if (is_short) {
        read_short(entry, before, docs, frequencies);
    } else {
        unpack(entry->data, entry->doc_shape, docs);
        for (u32 i = 0, last = before; i < BLOCK; i++)
            docs[i] = last += docs[i] + 1;
    }
    need(docs[entry->count - 1] == entry->last);
    return is_short;
}

static void read_frequencies(const block_entry *entry, u32 *frequencies) {
    unpack(entry->data + shape_length(entry->doc_shape), entry->frequency_shape, frequencies);
    for (u32 i = 0; i < BLOCK; i++)
        frequencies[i]++;
}
#endif
