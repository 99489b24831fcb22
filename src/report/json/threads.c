#include "report/json/threads.h"

static json_t *number(uint64_t value) {
    return json_integer((json_int_t)value);
}

static void add_states(json_t *object, const struct together_thread *thread) {
    static const char *const KEYS[THREAD_STATES] = {"running_cycles", "ready_cycles", "lock_cycles",
                                                    "waiting_cycles", "sleeping_cycles"};
    json_object_set_new(object, "begin_cycle", number(thread->begin));
    json_object_set_new(object, "end_cycle", number(thread->end));
    for (unsigned state = 0; state < THREAD_STATES; state++)
        json_object_set_new(object, KEYS[state], number(thread->cycles[state]));
    json_object_set_new(object, "waits", number(thread->waits));
}

json_t *threads_json(const struct simulation *simulation) {
    const struct together_result *together = &simulation->together;
    json_t *array = json_array();
    for (uint32_t i = 0; i < simulation->thread_count; i++) {
        const struct simulation_thread *thread = &simulation->threads[i];
        if (!thread->instructions)
            continue;
        json_t *object = json_pack(
            "{s:I, s:I, s:I, s:I}", "thread", (json_int_t)i, "process", (json_int_t)thread->process,
            "instructions", (json_int_t)thread->instructions, "cycles", (json_int_t)thread->cycles);
        if (together->done && i < together->thread_count)
            add_states(object, &together->threads[i]);
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *coherence(const struct together_result *together) {
    const struct coherence_statistics *sum = &together->coherence;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "clean_transfers",
                     (json_int_t)sum->clean_transfers, "modified_transfers",
                     (json_int_t)sum->modified_transfers, "upgrades", (json_int_t)sum->upgrades,
                     "invalidations", (json_int_t)sum->invalidations, "directory_evictions",
                     (json_int_t)sum->evictions, "wait_cycles", (json_int_t)sum->wait_cycles);
}

json_t *together_json(const struct report *report) {
    const struct together_result *together = &report->simulation->together;
    if (!together->done)
        return json_null();
    return json_pack("{s:I, s:I, s:o, s:I, s:I, s:I, s:f}", "cores", (json_int_t)together->cores,
                     "elapsed_cycles", (json_int_t)together->cycles, "coherence",
                     coherence(together), "diverged_waits", (json_int_t)together->diverged,
                     "unexplained_waits", (json_int_t)together->unexplained, "blocked_calls",
                     (json_int_t)together->blocked, "blocked_seconds", together->blocked_seconds);
}
