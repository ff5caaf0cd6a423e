/* What becomes of a result, a posting with the sum of the scores. Without ranking it is sent. With
 * ranking its head is kept in DRAM until the operation is done, and then the best are found with a
 * heap in SRAM, as in the paper. */
#ifndef RESULTS_H
#define RESULTS_H
#include "postings.h"

#ifdef RANKED
static u64 *kept;
static u32 kept_count;

/* The best so far, the least of them first: score above, and below what is larger for a lower
 * document. */
static u64 heap[MOST_RANKED];
static u32 heap_size;

static u64 rank_of(u64 head) { return with_score(~head, score(head)); }

static void sift_down(u32 size) {
    u32 place = 0;
    u64 moved = heap[0];
    for (;;) {
        u32 child = 2 * place + 1;
        if (child >= size)
            break;
        if (child + 1 < size && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= moved)
            break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = moved;
}

static void sift_up(u64 rank) {
    u32 place = heap_size++;
    while (place > 0 && heap[(place - 1) / 2] > rank) {
        heap[place] = heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    heap[place] = rank;
}

static void rank_head(u64 head) {
    u64 rank = rank_of(head);
    if (heap_size < task.ranked) {
        sift_up(rank);
    } else if (heap_size > 0 && rank > heap[0]) {
        heap[0] = rank;
        sift_down(heap_size);
    }
}

/* Sends the heads of the best, best first. */
static void send_ranked(void) {
    u32 size = heap_size;
    while (size > 1) {
        u64 least = heap[0];
        heap[0] = heap[--size];
        heap[size] = least;
        sift_down(size);
    }
    for (u32 i = 0; i < heap_size; i++)
        heap[i] = with_score(~heap[i], score(heap[i]));
    emit(heap, heap_size * sizeof heap[0]);
}

static void take(posting *result, u64 head) {
    (void)result;
    kept[kept_count++] = head;
}

static void take_as_it_is(posting *result, u64 head) { take(result, head); }

static void begin_results(u8 *free) { kept = (u64 *)free; }

static void end_results(void) {
    for (u32 i = 0; i < kept_count; i++)
        rank_head(kept[i]);
    send_ranked();
}

/* A result whose posting holds its sum, of the ways for large lists. */
static void take_posting(posting *result) { rank_head(result->head); }
static void end_postings(void) { send_ranked(); }
static u64 bytes_kept(u64 most) { return most * sizeof(u64); }
#else
static void take(posting *result, u64 head) {
    result->head = head;
    emit(result, sizeof *result);
}

/* The same where the posting has its head already. */
static void take_as_it_is(posting *result, u64 head) {
    (void)head;
    emit(result, sizeof *result);
}

static void begin_results(u8 *free) { (void)free; }
static void end_results(void) {}
static void take_posting(posting *result) { emit(result, sizeof *result); }
static void end_postings(void) {}
static u64 bytes_kept(u64 most) {
    (void)most;
    return 0;
}
#endif
#endif
