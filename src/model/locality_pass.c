/* Instructions are counted as they come; their loads and stores are queued, and a second thread,
 * where there is a second processor, takes them through the caches meanwhile. */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/input.h"
#include "model/locality_data.h"
#include "model/locality_events.h"
#include "model/series.h"
#include "util/executor.h"
#include "util/jobs.h"

enum { QUEUES = 2, QUEUED = 1 << 15 };

/* Loads and stores that are being collected, or taken by the second thread. */
struct access_queue {
    uint32_t count;
    double elsewhere; /* as locality_data_add() */
    uint64_t ticket;  /* of the job that took them last; 0: none, or no second thread */
    bool failed;      /* that job, for want of memory */
    struct memory_access accesses[QUEUED];
};

struct locality_pass {
    struct machine machine;
    bool frames;
    struct event_counter events;
    uint64_t turns; /* of instructions without access */
    uint32_t filling;
    struct access_queue queues[QUEUES];
    struct executor *executor; /* NULL: one processor */
    struct locality_data data; /* the second thread's, while a job runs */
};

struct locality_pass *locality_new(const struct locality_options *options, struct error *error) {
    struct locality_pass *pass = calloc(1, sizeof *pass);
    if (!pass)
        return error_null(error, "out of memory for a profile");
    pass->machine = *options->machine;
    pass->frames = options->frames;
    struct locality_options own = *options;
    own.machine = &pass->machine;
    if (locality_data_new(&pass->data, &own, error) &&
        event_counter_new(&pass->events, &pass->machine, options, error) &&
        (jobs_processors() < 2 || (pass->executor = executor_new("locality", error))))
        return pass;
    locality_pass_free(pass);
    return NULL;
}

void locality_pass_free(struct locality_pass *pass) {
    if (!pass)
        return;
    executor_free(pass->executor);
    locality_data_free(&pass->data);
    event_counter_free(&pass->events);
    free(pass);
}

/* ---- the queue ---- */

static void take_queue(void *context, uint64_t number) {
    struct locality_pass *pass = context;
    struct access_queue *queue = &pass->queues[number];
    queue->failed |=
        !locality_data_add(&pass->data, queue->accesses, queue->count, queue->elsewhere);
}

/* Until what was in it is taken. */
static bool wait_for(struct locality_pass *pass, struct access_queue *queue, struct error *error) {
    if (queue->ticket)
        executor_wait(pass->executor, queue->ticket);
    queue->count = 0;
    return !queue->failed ||
           error_set(error, "out of memory for the blocks that the program touches");
}

/* Hands over what is collected, and waits until there is room for more. */
static bool hand_over(struct locality_pass *pass, struct error *error) {
    struct locality_events elsewhere = pass->events.counts;
    elsewhere.turns = pass->turns;
    pass->queues[pass->filling].elsewhere = series_cycles(&pass->machine, &elsewhere, 0, 0);
    if (pass->executor)
        pass->queues[pass->filling].ticket =
            executor_submit(pass->executor, take_queue, pass, pass->filling);
    else
        take_queue(pass, pass->filling);
    pass->filling = (pass->filling + 1) % QUEUES;
    return wait_for(pass, &pass->queues[pass->filling], error);
}

static bool collect(struct locality_pass *pass, const struct memory_access *accesses,
                    uint32_t count, struct error *error) {
    while (count) {
        struct access_queue *queue = &pass->queues[pass->filling];
        const uint32_t room = QUEUED - queue->count, some = count < room ? count : room;
        memcpy(&queue->accesses[queue->count], accesses, some * sizeof *accesses);
        queue->count += some;
        accesses += some;
        count -= some;
        if (queue->count == QUEUED && !hand_over(pass, error))
            return false;
    }
    return true;
}

/* Accesses of instructions that follow each other do so too: they are collected together. */
bool locality_add(struct locality_pass *pass, const struct core_input *input, struct error *error) {
    uint32_t begin = 0, end = 0;
    const struct core_input is = *input;
    if (pass->events.recipe_count < is.code->insn_count &&
        !event_counter_learn(&pass->events, is.code, error))
        return false;
    for (uint32_t i = 0; i < is.insn_count; i++) {
        const struct dynamic_insn *insn = &is.insns[i];
        if (!core_input_is_there(is.code, insn, is.access_count, is.first_access))
            return core_input_error(error);
        if (insn->flags & DYN_FAULT)
            continue;
        event_counter_add(&pass->events, is.code, insn);
        if (insn->memory_count == 0) {
            pass->turns++;
            continue;
        }
        const uint32_t first = insn->memory - is.first_access;
        if (first != end) {
            if (!collect(pass, is.accesses + begin, end - begin, error))
                return false;
            begin = first;
        }
        end = first + insn->memory_count;
    }
    if (pass->events.failed)
        return error_set(error, "out of memory for lines of code");
    return collect(pass, is.accesses + begin, end - begin, error);
}

/* ---- the result ---- */

static bool fill_core(struct locality_pass *pass, struct locality_level *core) {
    struct event_counter *code = &pass->events;
    return circular_finish(&code->l1i_circular, code->lookups, &core[LOCALITY_L1I]) &&
           circular_finish(&code->itlb_circular, code->lookups, &core[LOCALITY_ITLB]) &&
           circular_finish(&pass->data.dtlb_circular, pass->data.time, &core[LOCALITY_DTLB]);
}

static bool fill(struct locality_pass *pass, struct locality *locality, struct error *error) {
    const struct locality_data *data = &pass->data;
    locality->events = pass->events.counts;
    locality->events.accesses = data->time;
    locality->events.turns = pass->turns + data->turns;
    locality->events.l1d_misses = data->l1d_misses;
    locality->events.dtlb_misses = data->dtlb_misses;
    if (data->time == 0)
        return error_set(error, "none of the %llu instructions loads or stores anything",
                         (unsigned long long)locality->events.instructions);
    if (!(locality->machine = locality_machine(&pass->machine, error)))
        return false;
    locality->level_count = 1 + data->shared.shape_count;
    locality->levels = calloc(locality->level_count, sizeof *locality->levels);
    return (locality->levels && locality_data_levels(&pass->data, locality->levels) &&
            fill_core(pass, locality->core)) ||
           error_set(error, "out of memory for a profile");
}

bool locality_finish(struct locality_pass *pass, struct locality *locality, struct error *error) {
    *locality = (struct locality){.frames = pass->frames};
    bool good = hand_over(pass, error);
    for (uint32_t i = 0; i < QUEUES; i++)
        good = wait_for(pass, &pass->queues[i], error) && good;
    good = good && fill(pass, locality, error);
    locality_pass_free(pass);
    if (!good)
        locality_free(locality);
    return good;
}
