/* One thread: it looks at the folder every second or less, and asks the scheduler every ten. */
#include "cluster/cluster.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cluster/submission.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/order.h"
#include "util/text.h"

/* Seconds between two looks at the folder, and between two questions: short at first, as short runs
 * end soon, and then more. */
static const double FIRST_LOOK = 0.1, FIRST_QUESTION = 0.5, LAST_QUESTION = 10;
static const double LONGER = 1.25;
static const double TRY_AGAIN = 20; /* to submit what was refused while other jobs are there */
enum { MOST_JOBS = 1000, SLICE_NANOSECONDS = 50000000 };

struct cluster_state {
    const struct cluster_request *request;
    struct jobs_folder jobs;
    struct task_record *records; /* of each task */
    uint32_t *by_name;           /* tasks, sorted by the names of their results */
    uint64_t *arrays;            /* of each submission */
    size_t array_count, array_capacity;
    uint32_t largest; /* elements of an array */
    size_t done, failed;
    struct slurm_list list;
    double look_every, ask_every, ask_next, submit_next;
    bool away, refused; /* the user was told */
};

static bool stops(const struct cluster_state *state) {
    return watcher_stops(&state->request->watcher);
}

static void tell(const struct cluster_state *state, const char *text) {
    if (state->request->tell)
        state->request->tell(state->request->context, text);
}

static size_t count_of(const struct cluster_state *state, enum task_state wanted) {
    return sum_over(size_t, i, state->request->count, state->records[i].state == wanted);
}

/* ---- what is there ---- */

static int by_result(const void *left, const void *right, void *context) {
    const struct cluster_task *tasks = context;
    return strcmp(tasks[*(const uint32_t *)left].result, tasks[*(const uint32_t *)right].result);
}

static void forget_file(const struct cluster_state *state, const char *name) {
    char *path;
    if (asprintf(&path, "%s/%s", state->request->folder, name) >= 0) {
        remove(path);
        free(path);
    }
}

static void take_result(struct cluster_state *state, uint32_t task) {
    const struct cluster_request *request = state->request;
    struct task_record *record = &state->records[task];
    if (record->state == TASK_DONE || record->state == TASK_FAILED)
        return;
    if (!request->take(request->context, task)) {
        forget_file(state, request->tasks[task].result);
        return;
    }
    record->state = TASK_DONE;
    state->done++;
}

/* Several tasks may have one result. */
static void take_results(struct cluster_state *state, const char *name) {
    const struct cluster_task *tasks = state->request->tasks;
    const size_t count = state->request->count;
    size_t at = first_where(i, count, strcmp(tasks[state->by_name[i]].result, name) >= 0);
    for (; at < count && !strcmp(tasks[state->by_name[at]].result, name); at++)
        take_result(state, state->by_name[at]);
}

/* The names in the folder are read: this is what makes NFS ask its server for new ones. */
static void look(struct cluster_state *state) {
    DIR *folder = opendir(state->request->folder);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        take_results(state, entry->d_name);
    if (folder)
        closedir(folder);
    watcher_tell(&state->request->watcher, state->done);
}

/* ---- what is out ---- */

static void give_up(struct cluster_state *state, size_t task, const struct error *why) {
    state->records[task].state = TASK_FAILED;
    state->failed++;
    state->request->fail(state->request->context, task, why);
}

static void tell_away(struct cluster_state *state, const struct error *error) {
    char text[sizeof error->message + 128];
    if (state->away)
        return;
    state->away = true;
    snprintf(text, sizeof text, "Slurm's controller does not answer (%s); waiting for it",
             error->message);
    tell(state, text);
}

static void tell_back(struct cluster_state *state) {
    if (state->away)
        tell(state, "Slurm's controller answers again");
    state->away = false;
}

static void judge(struct cluster_state *state, size_t task, double now, size_t *again,
                  char *example, size_t size) {
    struct task_record *record = &state->records[task];
    const uint64_t array = state->arrays[record->submission];
    const struct slurm_element *element = slurm_find(&state->list, array, record->element);
    switch (ledger_judge(record, element, now, state->request->options->grace)) {
    case TASK_FAILED: {
        struct error why;
        submission_why(&state->jobs, state->request->folder, record, element, array, &why);
        give_up(state, task, &why);
        return;
    }
    case TASK_OPEN:
        if (!(*again)++)
            ledger_why(element, array, record->element, example, size);
        return;
    case TASK_OUT:
    case TASK_DONE:
        return;
    }
}

static void ask(struct cluster_state *state, double now) {
    const struct cluster_request *request = state->request;
    struct error error;
    size_t again = 0, run = 0;
    char example[LEDGER_WHY], text[LEDGER_WHY + 128];
    slurm_list_free(&state->list);
    if (slurm_look(state->jobs.name, &state->list, &error) != SLURM_GOOD) {
        tell_away(state, &error);
        return;
    }
    tell_back(state);
    look(state); /* a result that came before its job was seen to have ended */
    for (size_t i = 0; i < request->count; i++) {
        if (state->records[i].state == TASK_OUT)
            judge(state, i, now, &again, example, sizeof example);
        run += state->records[i].state == TASK_OUT && state->records[i].runs;
    }
    if (request->note)
        request->note(request->context, run, request->count - state->done - state->failed - run);
    if (!again)
        return;
    if (again == 1)
        snprintf(text, sizeof text, "%s; it is submitted again", example);
    else
        snprintf(text, sizeof text, "%zu tasks are submitted again; of one, %s", again, example);
    tell(state, text);
}

/* ---- what is open ---- */

static void put_out(struct cluster_state *state, const struct task_array *tasks) {
    for (uint32_t i = 0; i < tasks->count; i++)
        ledger_submitted(&state->records[tasks->chosen[i]], tasks->number, i / tasks->each, i);
}

/* Some of the open tasks as one array. */
static enum slurm_answer submit_some(struct cluster_state *state, const size_t *chosen,
                                     uint32_t count, uint32_t each, struct error *error) {
    uint64_t array = 0;
    if (!array_room(state->arrays, state->array_capacity, state->array_count + 1)) {
        error_set(error, "out of memory for jobs");
        return SLURM_REFUSED;
    }
    const struct task_array tasks = {(uint32_t)state->array_count, chosen, count, each};
    const enum slurm_answer answer =
        submission_make(state->request, &state->jobs, &tasks, state->arrays, &array, error);
    if (answer != SLURM_GOOD)
        return answer;
    state->arrays[state->array_count++] = array;
    put_out(state, &tasks);
    state->look_every = FIRST_LOOK;
    state->ask_every = FIRST_QUESTION;
    state->ask_next = clock_monotonic() + FIRST_QUESTION;
    return SLURM_GOOD;
}

/* While others are there, some day there is room for more. */
static bool refused(struct cluster_state *state, const size_t *open, size_t count,
                    const struct error *error) {
    char text[sizeof error->message + 128];
    if (count_of(state, TASK_OUT)) {
        snprintf(text, sizeof text, "%s; trying again as jobs end", error->message);
        if (!state->refused)
            tell(state, text);
        state->refused = true;
        state->submit_next = clock_monotonic() + TRY_AGAIN;
        return true;
    }
    if (!state->done && !state->array_count)
        return false;
    for (size_t i = 0; i < count; i++)
        give_up(state, open[i], error);
    return true;
}

static bool submit_open(struct cluster_state *state, const size_t *open, size_t count,
                        struct error *error) {
    const struct cluster_request *request = state->request;
    const uint32_t each = ledger_each(count, request->options->each, request->seconds, MOST_JOBS);
    const size_t elements = (count + each - 1) / each;
    for (size_t begun = 0; begun < elements && !stops(state);) {
        const uint32_t jobs = ledger_array(elements, begun, state->largest);
        const size_t first = begun * each, left = count - first;
        const size_t tasks = (size_t)jobs * each < left ? (size_t)jobs * each : left;
        const enum slurm_answer answer =
            submit_some(state, open + first, (uint32_t)tasks, each, error);
        if (answer == SLURM_AWAY) {
            tell_away(state, error);
            return true; /* it is asked before the next try */
        }
        if (answer == SLURM_REFUSED)
            return refused(state, open + first, left, error);
        begun += jobs;
    }
    return true;
}

static bool submit(struct cluster_state *state, struct error *error) {
    const size_t count = count_of(state, TASK_OPEN);
    size_t *open = malloc((count + 1) * sizeof *open), found = 0;
    if (!open)
        return error_set(error, "out of memory for jobs");
    for (size_t i = 0; i < state->request->count; i++)
        if (state->records[i].state == TASK_OPEN)
            open[found++] = i;
    const bool good = submit_open(state, open, count, error);
    free(open);
    return good;
}

/* ---- all of it ---- */

static double longer(double seconds, double most) {
    return seconds * LONGER < most ? seconds * LONGER : most;
}

static void rest(const struct cluster_state *state, double seconds) {
    const double until = clock_monotonic() + seconds;
    while (!stops(state) && clock_monotonic() < until)
        nanosleep(&(struct timespec){.tv_nsec = SLICE_NANOSECONDS}, NULL);
}

static bool ended(const struct cluster_state *state) {
    return state->done + state->failed == state->request->count || stops(state);
}

/* Before the first is submitted, and while the controller is away nothing is. */
static bool find_largest(struct cluster_state *state, struct error *error) {
    while (!state->largest && !stops(state)) {
        const enum slurm_answer answer = slurm_largest_array(&state->largest, error);
        if (answer == SLURM_REFUSED)
            return false;
        if (answer == SLURM_AWAY) {
            tell_away(state, error);
            rest(state, LAST_QUESTION);
        }
    }
    tell_back(state);
    return true;
}

static bool go(struct cluster_state *state, struct error *error) {
    if (!find_largest(state, error))
        return false;
    state->look_every = FIRST_LOOK;
    state->ask_every = FIRST_QUESTION;
    while (!ended(state)) {
        const double now = clock_monotonic();
        if (now >= state->ask_next && (state->array_count || state->away)) {
            state->ask_next = now + state->ask_every;
            state->ask_every = longer(state->ask_every, LAST_QUESTION);
            ask(state, now);
        }
        if (!state->away && now >= state->submit_next && count_of(state, TASK_OPEN) &&
            !submit(state, error))
            return false;
        look(state);
        if (!ended(state))
            rest(state, state->look_every);
        state->look_every = longer(state->look_every, ledger_look(count_of(state, TASK_OUT)));
    }
    return true;
}

static void cancel(struct cluster_state *state) {
    struct error error;
    char text[sizeof error.message + 256];
    if (!state->array_count || !count_of(state, TASK_OUT))
        return;
    if (slurm_cancel(state->jobs.name, &error) == SLURM_GOOD)
        snprintf(text, sizeof text, "its jobs are cancelled; the same command goes on from here");
    else
        snprintf(text, sizeof text, "its jobs may run on: %s (scancel --name=%s cancels them)",
                 error.message, state->jobs.name);
    tell(state, text);
}

static bool make_state(struct cluster_state *state, struct error *error) {
    const size_t count = state->request->count;
    state->records = calloc(count + 1, sizeof *state->records);
    state->by_name = calloc(count + 1, sizeof *state->by_name);
    if (!state->records || !state->by_name)
        return error_set(error, "out of memory for jobs");
    for (uint32_t i = 0; i < count; i++)
        state->by_name[i] = i;
    qsort_r(state->by_name, count, sizeof *state->by_name, by_result,
            (void *)state->request->tasks);
    return jobs_folder_make(&state->jobs, state->request->folder, error);
}

bool cluster_is_here(struct error *error) {
    return slurm_is_here(error);
}

bool cluster_run(const struct cluster_request *request, struct error *error) {
    struct cluster_state state = {.request = request};
    struct error failure; /* also what was waited for in the end */
    const bool good = make_state(&state, &failure) && go(&state, &failure);
    if (!good)
        *error = failure;
    if (good && stops(&state)) {
        cancel(&state);
        look(&state);
    }
    if (state.jobs.path && !state.failed)
        jobs_folder_remove(&state.jobs);
    slurm_list_free(&state.list);
    jobs_folder_free(&state.jobs);
    free(state.records);
    free(state.by_name);
    free(state.arrays);
    return good;
}
