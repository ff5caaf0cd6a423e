/* What becomes of a document that was found: it is sent, with its frequency in each list; or it is
 * scored, and kept in a heap in SRAM if it is among the best. */
#ifndef TOP_H
#define TOP_H
#include "cursor.h"

enum { HEAP_WORDS = 1536, SENT_WORDS = 256 };

/* Pages of a table of bytes by document, in DRAM once they are read. */
typedef struct {
    const table_run *runs;
    u32 run_count, pages;
    u8 *bytes;
    u8 *is_here; /* a byte a page: not looked for, or here, or absent */
} table;

enum { UNKNOWN, HERE, ABSENT };

static table norms, deletions;
static u32 list_count, top_count;
static u32 list_at[MOST_LISTS]; /* the list of each place */

static u32 sent[SENT_WORDS];
static u32 sent_count;

/* Entries of score, document and frequencies; the least of them first. */
static u32 heap[HEAP_WORDS];
static u32 heap_size, entry_words;

/* Reads a page of a table, and those behind it in its run. */
static int load_page(table *t, u32 page) {
    t->is_here[page] = ABSENT;
    for (u32 i = 0; i < t->run_count; i++) {
        const table_run *run = &t->runs[i];
        u32 place = page - run->first;
        if (place >= run->pages)
            continue;
        u32 left = run->pages - place, pages = 0;
        for (; pages < MOST_AHEAD && pages < left && t->is_here[page + pages] != HERE; pages++)
            t->is_here[page + pages] = HERE;
        read_pages(run->span, place, pages, t->bytes + page * DRIVE_PAGE);
    }
    return t->is_here[page];
}

/* The byte of a table; 0 where it has no page. */
static u32 byte_of(table *t, u32 index) {
    u32 page = index / PAYLOAD;
    if (page >= t->pages)
        return 0;
    u32 state = t->is_here[page];
    if (state == UNKNOWN)
        state = (u32)load_page(t, page);
    return state == HERE ? t->bytes[page * DRIVE_PAGE + index % PAYLOAD] : 0;
}

static int is_deleted(u32 doc) { return (int)(byte_of(&deletions, doc / 8) >> (doc % 8) & 1); }

static void send_all(void) {
    emit(sent, sent_count * sizeof sent[0]);
    sent_count = 0;
}

static u32 *room_to_send(u32 words) {
    if (sent_count + words > SENT_WORDS)
        send_all();
    sent_count += words;
    return sent + sent_count - words;
}

static int is_below(const u32 *one, const u32 *other) {
    return one[0] < other[0] || (one[0] == other[0] && one[1] > other[1]);
}

static void swap(u32 *one, u32 *other) {
    for (u32 i = 0; i < entry_words; i++) {
        u32 held = one[i];
        one[i] = other[i];
        other[i] = held;
    }
}

static u32 *entry_at(u32 place) { return heap + place * entry_words; }

static void sift_up(u32 place) {
    for (; place > 0 && is_below(entry_at(place), entry_at((place - 1) / 2)); place = (place - 1) / 2)
        swap(entry_at(place), entry_at((place - 1) / 2));
}

static void sift_down(void) {
    for (u32 place = 0;;) {
        u32 child = 2 * place + 1;
        if (child >= heap_size)
            return;
        if (child + 1 < heap_size && is_below(entry_at(child + 1), entry_at(child)))
            child++;
        if (!is_below(entry_at(child), entry_at(place)))
            return;
        swap(entry_at(place), entry_at(child));
        place = child;
    }
}

/* Scores are not negative, so their bits are in their order. */
static u32 bits_of(float score) {
    union { float score; u32 bits; } both = {score};
    return both.bits;
}

/* The bits that a score has to exceed, once the heap is full. */
static int is_full(void) { return heap_size == top_count; }
static u32 threshold(void) { return heap[0]; }

/* A score as the engine adds it up: in the order of places, rounded once. */
static u32 rounded(double sum) { return bits_of((float)sum); }

static void rank(u32 doc) {
    float inverse = inverses[byte_of(&norms, doc)];
    double sum = 0;
    for (u32 i = 0; i < list_count; i++) {
        list *l = &lists[list_at[i]];
        if (l->doc == doc)
            sum += (double)score_of(l->weight, (float)frequency(list_at[i]) * inverse);
    }
    u32 score = rounded(sum);
    if ((is_full() && score <= threshold()) || is_deleted(doc))
        return;
    u32 *entry = is_full() ? heap : entry_at(heap_size++);
    entry[0] = score;
    entry[1] = doc;
    for (u32 i = 0; i < list_count; i++)
        entry[2 + i] = lists[i].doc == doc ? frequency(i) : 0;
    if (entry == heap && heap_size == top_count)
        sift_down();
    else
        sift_up(heap_size - 1);
}

/* A document on which lists stand. */
static void take(u32 doc) {
    if (top_count > 0) {
        rank(doc);
        return;
    }
    u32 *result = room_to_send(1 + list_count);
    result[0] = doc;
    for (u32 i = 0; i < list_count; i++)
        result[1 + i] = frequency(i);
}

/* The best, in no order: their documents and frequencies. */
static void end(void) {
    for (u32 i = 0; i < heap_size; i++) {
        u32 *result = room_to_send(1 + list_count);
        for (u32 word = 0; word <= list_count; word++)
            result[word] = entry_at(i)[1 + word];
    }
    send_all();
}
#endif
