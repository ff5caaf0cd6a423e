/* Intersection: the paper's algorithm 1. */
#include "large.h"

static u32 order[MOST_LISTS];
/* The shortest list, the first of several; results are postings of it. */
static u32 shortest;

/* Puts lists in order: of their first documents, or of their sizes. */
static void sort_lists(int by_size) {
    for (u32 i = 0; i < task.lists; i++) {
        u32 key = by_size ? task.sizes[i] : document(lists[i].at[0].head);
        u32 place = i;
        for (; place > 0; place--) {
            u32 before = order[place - 1];
            u32 other = by_size ? task.sizes[before] : document(lists[before].at[0].head);
            if (other <= key)
                break;
            order[place] = before;
        }
        order[place] = i;
    }
}

/* The pivot goes through the lists in cycle until one of them is exhausted. */
static void intersect(void) {
    sort_lists(0);
    u32 count = task.lists, turn = 0, found = 1;
    list *from = &lists[order[count - 1]];
    u64 pivot = from->at[0].head;
    for (;;) {
        list *current = &lists[order[turn]];
        u64 head;
        if (!successor(current, document(pivot), is_linear(current->size, from->size), &head))
            return;
        if (document(head) == document(pivot)) {
            pivot = with_score(pivot, sum(score(pivot), score(head)));
            if (++found == count) {
                take(&lists[shortest].at[lists[shortest].place], pivot);
                if (++current->place == current->size)
                    return;
                head = current->at[current->place].head;
            }
        }
        if (document(head) != document(pivot)) {
            pivot = head;
            found = 1;
            from = current;
        }
        turn = turn + 1 == count ? 0 : turn + 1;
    }
}

EXPORT(run) u32 run(void) {
    if (!task_is_read(2, MOST_LISTS))
        return BAD_PARAMETERS;
    if ((u64)&__heap_base > sram())
        return NEEDS_SRAM;
    for (u32 i = 1; i < task.lists; i++)
        shortest = task.sizes[i] < task.sizes[shortest] ? i : shortest;
    if (!has_dram(bytes_of_lists() + bytes_kept(task.sizes[shortest]))) {
        sort_lists(1);
        return large_lists(order, 1);
    }
    begin_results(load_lists());
    if (task.sizes[shortest] > 0)
        intersect();
    end_results();
    return DONE;
}
