/* culprit work: what jobs of --cluster run on their nodes. */
#include "study/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/verb.h"

struct job {
    struct verb_run verb;
    const char *path, *element;
    struct work work;
};

static bool take_word(struct argp_state *state, void *verb, char *value) {
    struct job *job = verb;
    if (!job->path)
        job->path = value;
    else
        options_take_one(state, &job->element, value);
    return true;
}

static void check(struct argp_state *state, void *verb) {
    struct job *job = verb;
    char *end;
    if (!job->path || !job->element)
        options_fail(state, "which file of tasks, and which element? (culprit work FILE NUMBER)");
    const unsigned long number = strtoul(job->element, &end, 10);
    if (*end || job->element[0] < '0' || job->element[0] > '9' || number > UINT32_MAX)
        options_fail(state, "%s: must be the number of an element, from 0 on", job->element);
    job->work.element = (uint32_t)number;
}

static const struct command_line LINE = {
    .own = {.argument = take_word, .end = check},
    .arguments = "FILE NUMBER",
    .help = "Does tasks of a file that --cluster wrote, those of one element of its job array, and "
            "writes their results beside it. Jobs run it on their nodes; by hand it shows why one "
            "failed.\vExample:\n  culprit work kept/jobs/culprit-0123456789abcdef/1.tasks 3\n\n"
            "The exit status is 1 when a task failed; a line for each says why."};

/* In a log, whoever waits finds the line by the number. */
static void tell_failure(void *context, uint32_t number, const struct error *error) {
    (void)context;
    printf("task %u: %s\n", number, error->message);
    fflush(stdout);
}

static bool run(void *verb, struct error *error) {
    struct job *job = verb;
    job->work.watch = &verb_watch;
    job->work.version = CULPRIT_VERSION;
    job->work.path = job->path;
    job->work.failed = tell_failure;
    return work_go(&job->work, error);
}

static bool write_report(void *verb, struct error *error) {
    struct job *job = verb;
    (void)error;
    if (!job->work.watch->signal)
        job->verb.exit = (struct trace_exit){.known = true, .status = job->work.failures ? 1 : 0};
    return true;
}

const struct verb verb_work = {
    .line = &LINE, .size = sizeof(struct job), .run = run, .report = write_report};
