#include "cluster/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of a job that did not come to its end no result is on its way, but perhaps of its first tasks. */
static const double GRACE_OF_LOST = 3;
/* A job should take some times what it costs to start one; but with fewer jobs than this there are
 * processors that have none. */
static const double WORTH_A_JOB = 20; /* seconds */
enum { FEW_JOBS = 200, FEW_OUT = 32 };

void ledger_submitted(struct task_record *record, uint32_t submission, uint32_t element,
                      uint32_t number) {
    *record = (struct task_record){.state = TASK_OUT,
                                   .tries = record->tries + 1,
                                   .submission = submission,
                                   .element = element,
                                   .number = number};
}

enum task_state ledger_judge(struct task_record *record, const struct slurm_element *element,
                             double now, double grace) {
    const enum job_fate fate = element ? element->fate : JOB_UNKNOWN;
    record->runs = fate == JOB_RUNS;
    if (fate == JOB_WAITS || fate == JOB_RUNS) {
        record->ended = 0;
        return record->state;
    }
    if (!record->ended)
        record->ended = now;
    const bool lost = fate != JOB_COMPLETED && fate != JOB_UNKNOWN;
    if (now - record->ended < (lost && grace > GRACE_OF_LOST ? GRACE_OF_LOST : grace))
        return record->state;
    if (fate == JOB_PREEMPTED)
        record->tries--;
    record->state =
        fate == JOB_CANCELLED || record->tries >= LEDGER_TRIES ? TASK_FAILED : TASK_OPEN;
    return record->state;
}

static const char *meaning(const char *state) {
    static const char *const MEANINGS[][2] = {
        {"TIMEOUT", "over its time limit (TIMEOUT)"},
        {"OUT_OF_MEMORY", "out of its memory (OUT_OF_MEMORY)"},
        {"NODE_FAIL", "as its node failed (NODE_FAIL)"},
        {"CANCELLED", "cancelled by somebody (CANCELLED)"},
        {"COMPLETED", "in order, but without a result"},
        {"BOOT_FAIL", "as its node did not start (BOOT_FAIL)"},
        {"DEADLINE", "at its deadline (DEADLINE)"}};
    for (size_t i = 0; i < sizeof MEANINGS / sizeof *MEANINGS; i++)
        if (!strcmp(MEANINGS[i][0], state))
            return MEANINGS[i][1];
    return NULL;
}

void ledger_why(const struct slurm_element *element, uint64_t array, uint32_t index, char *why,
                size_t size) {
    char other[SLURM_STATE + SLURM_TEXT + 8];
    if (!element) {
        snprintf(why, size, "job %" PRIu64 "_%u is not known to Slurm any more", array, index);
        return;
    }
    const char *how = meaning(element->state);
    if (!how) {
        const char *reason = strcmp(element->reason, "None") != 0 ? element->reason : "";
        snprintf(other, sizeof other, "as %s%s%s", element->state, *reason ? ": " : "", reason);
        how = other;
    }
    snprintf(why, size, "job %" PRIu64 "_%u%s%s ended %s", array, index,
             element->node[0] ? " on " : "", element->node, how);
}

double ledger_look(size_t out) {
    return out > FEW_OUT ? 1 : 0.25;
}

uint32_t ledger_each(size_t tasks, uint32_t each, double seconds, uint32_t most) {
    size_t wanted = each;
    if (!wanted) {
        const double worth = seconds > 0 ? WORTH_A_JOB / seconds : 1;
        const size_t few = tasks > FEW_JOBS ? tasks / FEW_JOBS : 1;
        wanted = worth < (double)few ? (size_t)worth : few;
    }
    const size_t least = (tasks + most - 1) / most;
    wanted = wanted < least ? least : wanted;
    return wanted ? (uint32_t)wanted : 1;
}

uint32_t ledger_array(size_t elements, size_t begun, uint32_t largest) {
    const size_t left = elements - begun;
    return left < largest ? (uint32_t)left : largest;
}
