#include "report/json/threads.h"

#include "report/json_values.h"
#include "report/thread_what_if.h"
#include "report/threads_report.h"

static json_t *number(uint64_t value) {
    return json_integer((json_int_t)value);
}

static void add_states(json_t *object, const struct together_thread *thread) {
    static const char *const KEYS[THREAD_STATES] = {"running_cycles",  "ready_cycles",
                                                    "lock_cycles",     "waiting_cycles",
                                                    "sleeping_cycles", "spinning_cycles"};
    json_object_set_new(object, "begin_cycle", number(thread->begin));
    json_object_set_new(object, "end_cycle", number(thread->end));
    for (unsigned state = 0; state < THREAD_STATES; state++)
        json_object_set_new(object, KEYS[state], number(thread->cycles[state]));
    json_object_set_new(object, "waits", number(thread->waits));
}

static void add_course(json_t *object, const struct course_thread *course) {
    json_object_set_new(object, "height_cycles", json_real(course->height));
    json_object_set_new(
        object, "parallelism",
        json_real(course->height > 0 ? (double)course->active / course->height : 0));
    json_object_set_new(object, "critical_cycles", number(course->critical[COURSE_RUNNING]));
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
        if (together->done && i < together->thread_count) {
            add_states(object, &together->threads[i]);
            add_course(object, &together->courses[i]);
        }
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

json_t *thread_place_json(const struct thread_place *place) {
    if (!place->known)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:s, s:I}", "function", json_text(place->function), "file",
                     json_text(place->file), "line",
                     place->line ? number(place->line) : json_null(), "image", place->image,
                     "offset", (json_int_t)place->offset);
}

static json_t *waits(const struct threads_report *threads) {
    json_t *array = json_array();
    for (size_t i = 0; i < threads->wait_count && (!threads->top || i < threads->top); i++) {
        const struct wait_row *row = &threads->waits[i];
        const struct together_wait *sum = &row->sum;
        json_array_append_new(
            array,
            json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:o, s:I, s:I}", "for",
                      wait_reason_name(sum->reason), "address", (json_int_t)sum->address, "objects",
                      (json_int_t)row->objects, "count", (json_int_t)sum->count, "cycles",
                      (json_int_t)sum->cycles, "waking_cycles", (json_int_t)sum->waking, "share",
                      threads->lives ? (double)sum->cycles / (double)threads->lives : 0.0, "waiter",
                      thread_place_json(&row->waiter), "other", thread_place_json(&row->other),
                      "critical_count", (json_int_t)sum->passes, "critical_cycles",
                      (json_int_t)sum->path_cycles));
    }
    return array;
}

static json_t *speedup_stack(const struct speedup *speedup) {
    json_t *object = json_pack("{s:I}", "cores", (json_int_t)speedup->cores);
    for (unsigned part = 0; part < SPEEDUP_PARTS; part++)
        json_object_set_new(object, speedup_part_key(part), json_real(speedup->parts[part]));
    json_object_set_new(object, "beyond", json_real(speedup->beyond));
    return object;
}

/* Cycles of it by what threads did, and of how many nothing is known. */
static json_t *critical_path(const struct together_result *together) {
    static const char *const KEYS[COURSE_ABSENT] = {"running", "ready",    "lock", "barrier",
                                                    "event",   "sleeping", "join"};
    json_t *object = json_object();
    for (unsigned activity = 0; activity < COURSE_ABSENT; activity++) {
        uint64_t cycles = 0;
        for (uint32_t i = 0; i < together->thread_count; i++)
            cycles += together->courses[i].critical[activity];
        json_object_set_new(object, KEYS[activity], number(cycles));
    }
    json_object_set_new(object, "unknown", number(together->course.unknown));
    return object;
}

static json_t *first_cause(const struct threads_report *threads) {
    return json_pack("{s:s, s:f}", "cause", thread_cause_key(threads->first), "share",
                     threads->cost);
}

static json_t *scaling(const struct threads_report *threads) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < threads->scale_count; i++) {
        const struct scale_row *row = &threads->scales[i];
        json_array_append_new(
            array,
            json_pack("{s:I, s:I, s:f, s:o, s:s?}", "cores", (json_int_t)row->cores,
                      "elapsed_cycles", (json_int_t)row->cycles, "speedup",
                      row->cycles ? (double)threads->scales[0].cycles / (double)row->cycles : 0.0,
                      "speedup_stack", speedup_stack(&row->speedup), "lost_to",
                      row->speedup.parts[row->loss] > 0 ? speedup_part_key(row->loss) : NULL));
    }
    return array;
}

/* Half of it, in cycles. */
static json_t *interval(const struct together_result *together) {
    return together->regions && together->interval < 0 ? json_null()
                                                       : json_real(together->interval);
}

json_t *together_json(const struct report *report) {
    const struct together_result *together = &report->simulation->together;
    const struct threads_report *threads = &report->threads;
    if (!threads->together)
        return json_null();
    return json_pack(
        "{s:I, s:b, s:I, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:f, s:o, s:I, s:I, s:I, s:f, "
        "s:o, s:I, s:I, s:I, s:I, s:I}",
        "cores", (json_int_t)together->cores, "placed", together->placed, "elapsed_cycles",
        (json_int_t)together->cycles, "elapsed_interval", interval(together), "active_cycles",
        (json_int_t)together->course.active, "first_cause", first_cause(threads), "speedup_stack",
        speedup_stack(&threads->speedup), "scaling", scaling(threads), "critical_path",
        critical_path(together), "waits", waits(threads), "wait_rows",
        (json_int_t)threads->wait_count, "memory_bus_share", threads->bus, "coherence",
        coherence(together), "diverged_waits", (json_int_t)together->diverged, "unexplained_waits",
        (json_int_t)together->unexplained, "blocked_calls", (json_int_t)together->blocked,
        "blocked_seconds", together->blocked_seconds, "what_if", thread_what_ifs_json(threads),
        "ordered_reads", (json_int_t)together->orders, "handed_over", (json_int_t)together->handed,
        "spun_instructions", (json_int_t)together->spun, "polling_sleeps",
        (json_int_t)together->polls, "cut_instructions", (json_int_t)together->cut);
}
