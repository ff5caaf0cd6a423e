/* Union: the paper's algorithm 2 as printed. For each result all lists are looked at twice. */
#include "results.h"

static void unite(void) {
    for (;;) {
        u64 least = ~0ull;
        for (u32 i = 0; i < task.lists; i++) {
            list *l = &lists[i];
            if (l->place < l->size) {
                u32 found = document(l->at[l->place].head);
                least = found < least ? found : least;
            }
        }
        if (least == ~0ull)
            return;
        posting *first = 0;
        u64 head = (u32)least;
        for (u32 i = 0; i < task.lists; i++) {
            list *l = &lists[i];
            if (l->place == l->size)
                continue;
            posting *own = &l->at[l->place];
            u64 other = own->head;
            if (document(other) != (u32)least)
                continue;
            head = with_score(head, sum(score(head), score(other)));
            first = first ? first : own;
            l->place++;
        }
        take(first, head);
    }
}

EXPORT(run) u32 run(void) {
    if (!task_is_read(2, MOST_LISTS))
        return BAD_PARAMETERS;
    if ((u64)&__heap_base > sram())
        return NEEDS_SRAM;
    u64 most = 0;
    for (u32 i = 0; i < task.lists; i++)
        most += task.sizes[i];
    if (!has_dram(bytes_of_lists() + bytes_kept(most)))
        return NEEDS_DRAM;
    begin_results(load_lists());
    unite();
    end_results();
    return DONE;
}
