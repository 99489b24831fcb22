#include "model/throughput_search.h"
#include "util/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CORES = 64, MAX_THREADS = 16 };

/* ---- what is searched ---- */

static bool parse_number(const char **text, uint32_t *number) {
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    const unsigned long value = strtoul(*text, &end, 10);
    *number = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
    *text = end;
    return true;
}

/* "1..8" or "4" */
static bool parse_range(const char *text, struct throughput_range *range) {
    if (!parse_number(&text, &range->first))
        return false;
    range->last = range->first;
    if (!strncmp(text, "..", 2)) {
        text += 2;
        if (!parse_number(&text, &range->last))
            return false;
    }
    return *text == 0 && range->first >= 1 && range->last >= range->first;
}

static bool add_word(struct throughput_space *space, const char *word, struct error *error) {
    const bool cores = !strncmp(word, "cores=", 6), threads = !strncmp(word, "threads=", 8);
    struct throughput_range *range = cores ? &space->cores : &space->threads;
    if (!cores && !threads)
        return error_set(error, "%.100s: cores=FIRST..LAST or threads=FIRST..LAST", word);
    if (range->first)
        return error_set(error, "%.100s: given twice", word);
    if (!parse_range(strchr(word, '=') + 1, range))
        return error_set(error, "%.100s: FIRST..LAST or one number, at least 1", word);
    const uint32_t most = cores ? MAX_CORES : MAX_THREADS;
    return range->last <= most || error_set(error, "%.100s: at most %u", word, most);
}

bool throughput_space_add(struct throughput_space *space, const char *text, struct error *error) {
    char words[256], *rest = words;
    if ((size_t)snprintf(words, sizeof words, "%s", text) >= sizeof words)
        return error_set(error, "%.40s...: too long", text);
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        if (!add_word(space, word, error))
            return false;
        space->searched = true;
    }
    return space->searched || error_set(error, "nothing to search (cores=1..8 threads=1..4)");
}

void throughput_space_finish(struct throughput_space *space, const struct machine *machine) {
    if (!space->cores.first)
        space->cores.first = space->cores.last = machine->chip.cores;
    if (!space->threads.first)
        space->threads.first = space->threads.last = machine->chip.threads;
}

/* ---- predicted ---- */

void throughput_go_round(const struct locality *const *programs, uint32_t thread_count,
                         uint32_t hardware_threads, const struct locality **out) {
    for (uint32_t h = 0; h < hardware_threads; h++)
        out[h] = programs[h % thread_count];
}

static struct machine machine_of(const struct machine *machine,
                                 const struct throughput_point *point) {
    struct machine changed = *machine;
    changed.chip.cores = point->cores;
    changed.chip.threads = point->threads;
    return changed;
}

static bool predict_point(const struct locality *const *programs, uint32_t thread_count,
                          uint32_t level, const struct throughput_options *options,
                          struct throughput_point *point, struct error *error) {
    const struct locality *running[MAX_CORES * MAX_THREADS];
    const struct machine machine = machine_of(options->machine, point);
    struct throughput_options changed = *options;
    struct throughput_result result;
    changed.machine = &machine;
    throughput_go_round(programs, thread_count, point->cores * point->threads, running);
    const bool good = throughput_predict(running, level, &changed, &result, error);
    memcpy(point->ipc, result.ipc, sizeof point->ipc);
    throughput_free(&result);
    return good;
}

static void forget_point(struct throughput_point *point) {
    for (uint32_t model = 0; model < THROUGHPUT_MODELS; model++)
        point->ipc[model] = NAN;
}

bool throughput_search(const struct throughput_space *space, const struct locality *const *programs,
                       uint32_t thread_count, uint32_t level,
                       const struct throughput_options *options, const volatile sig_atomic_t *stop,
                       struct throughput_search *search, struct error *error) {
    const struct throughput_range *cores = &space->cores, *threads = &space->threads;
    const uint32_t count = (cores->last - cores->first + 1) * (threads->last - threads->first + 1);
    const double begun = clock_processor();
    *search = (struct throughput_search){.space = *space};
    search->points = calloc(count, sizeof *search->points);
    if (!search->points)
        return error_set(error, "out of memory for %u chips", count);
    for (uint32_t c = cores->first; c <= cores->last; c++)
        for (uint32_t t = threads->first; t <= threads->last; t++) {
            struct throughput_point *point = &search->points[search->count++];
            *point = (struct throughput_point){.cores = c, .threads = t, .simulated = NAN};
            search->interrupted |= search->count > 1 && stop && *stop;
            if (search->interrupted)
                forget_point(point);
            else if (!predict_point(programs, thread_count, level, options, point, error))
                return false;
        }
    search->model_seconds = clock_processor() - begun;
    return true;
}

void throughput_search_free(struct throughput_search *search) {
    free(search->points);
    *search = (struct throughput_search){0};
}

/* ---- simulated ---- */

bool throughput_search_check(struct throughput_search *search,
                             const struct throughput_check_options *options, bool *interrupted,
                             struct error *error) {
    *interrupted = false;
    for (uint32_t i = 0; i < search->count && !*interrupted; i++) {
        struct throughput_point *point = &search->points[i];
        const struct machine machine = machine_of(options->machine, point);
        struct throughput_check_options changed = *options;
        struct throughput_simulated simulated;
        changed.machine = &machine;
        const bool good = throughput_simulate(&changed, &simulated, error);
        *interrupted = simulated.interrupted;
        if (good && !*interrupted)
            point->simulated = simulated.ipc;
        search->simulation_seconds += simulated.seconds;
        throughput_simulated_free(&simulated);
        if (!good)
            return false;
    }
    return true;
}

/* ---- the best ---- */

static double ipc_of(const struct throughput_point *point, bool simulated) {
    return simulated ? point->simulated : point->ipc[THROUGHPUT_BEST];
}

const struct throughput_point *throughput_best(const struct throughput_search *search,
                                               bool simulated) {
    const struct throughput_point *best = NULL;
    for (uint32_t i = 0; i < search->count; i++) {
        const struct throughput_point *point = &search->points[i];
        const double ipc = ipc_of(point, simulated);
        if (isnan(ipc))
            continue;
        if (!best || ipc > ipc_of(best, simulated) ||
            (ipc == ipc_of(best, simulated) &&
             point->cores * point->threads < best->cores * best->threads))
            best = point;
    }
    return best;
}
