/* Difference of two lists, A - B. */
#include "large.h"

static void subtract(list *a, list *b) {
    int linear = is_linear(a->size, b->size);
    for (u32 i = 0; i < a->size; i++) {
        u64 head = a->at[i].head, other;
        if (successor(b, document(head), linear, &other) && document(other) == document(head))
            continue;
        take_as_it_is(&a->at[i], head);
    }
}

EXPORT(run) u32 run(void) {
    if (!task_is_read(2, 2))
        return BAD_PARAMETERS;
    if ((u64)&__heap_base > sram())
        return NEEDS_SRAM;
    if (!has_dram(bytes_of_lists() + bytes_kept(task.sizes[0]))) {
        static const u32 order[2] = {0, 1};
        return large_lists(order, 0);
    }
    begin_results(load_lists());
    subtract(&lists[0], &lists[1]);
    end_results();
    return DONE;
}
