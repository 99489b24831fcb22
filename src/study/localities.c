/* Traces are profiled one after the other, each by itself; a saved profile's levels are put in the
 * order wanted. */
#include "study/localities.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/trace.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/file_name.h"
#include "util/text.h"

struct cache_shape cache_shape_of(const struct machine_cache *cache) {
    return (struct cache_shape){(uint32_t)(cache->size / cache->ways / cache->line), cache->ways,
                                cache->line};
}

const struct machine_cache *machine_shared_cache(const struct machine *machine) {
    return machine->llc.present ? &machine->llc : machine->l2.present ? &machine->l2 : NULL;
}

/* ---- words ---- */

/* "NAME*4": 4, and the length of NAME. 0: a number of copies that is none. */
static uint32_t copies_of(const char *word, size_t *length) {
    const char *star = strrchr(word, '*');
    *length = star ? (size_t)(star - word) : strlen(word);
    if (!star)
        return 1;
    char *end;
    const unsigned long copies = strtoul(star + 1, &end, 10);
    const bool good = star[1] >= '0' && star[1] <= '9' && !*end && copies <= CONTENTION_MAX_THREADS;
    return good ? (uint32_t)copies : 0;
}

/* The index of a file's program, made if it is new; UINT32_MAX: out of memory. */
static uint32_t program_of(struct locality_inputs *inputs, const char *path) {
    char name[NAME_MAX + 1];
    for (uint32_t i = 0; i < inputs->program_count; i++)
        if (!strcmp(inputs->programs[i].path, path))
            return i;
    const size_t count = inputs->program_count;
    struct locality_program *programs =
        realloc(inputs->programs, (count + 1) * sizeof *inputs->programs);
    if (!programs)
        return UINT32_MAX;
    inputs->programs = programs;
    programs[count] = (struct locality_program){
        .path = strdup(path),
        .label = strdup(file_name_from(path, ".ctrace", "", name) ? name : path),
        .saved = locality_is_file(path)};
    inputs->program_count++;
    return programs[count].path && programs[count].label ? (uint32_t)count : UINT32_MAX;
}

static bool add_word(struct locality_inputs *inputs, const char *word, size_t *capacity,
                     struct error *error) {
    size_t length;
    const uint32_t copies = copies_of(word, &length);
    if (copies == 0 || length == 0)
        return error_set(error, "%.500s: after the star stands a number of copies, 1 to %d", word,
                         CONTENTION_MAX_THREADS);
    if (inputs->thread_count + copies > CONTENTION_MAX_THREADS)
        return error_set(error, "%.500s: more than %d threads, which is what the model takes", word,
                         CONTENTION_MAX_THREADS);
    char *path = strndup(word, length);
    const uint32_t program = path ? program_of(inputs, path) : UINT32_MAX;
    free(path);
    if (program == UINT32_MAX ||
        !array_reserve((void **)&inputs->threads, capacity, inputs->thread_count + copies,
                       sizeof *inputs->threads))
        return error_set(error, "out of memory for %u programs", inputs->thread_count);
    for (uint32_t i = 0; i < copies; i++)
        inputs->threads[inputs->thread_count++] = program;
    return true;
}

bool locality_inputs_list(struct locality_inputs *inputs, const char *const *words, uint32_t count,
                          struct error *error) {
    size_t capacity = 0;
    *inputs = (struct locality_inputs){0};
    return all_where(i, count, add_word(inputs, words[i], &capacity, error));
}

void locality_inputs_free(struct locality_inputs *inputs) {
    for (uint32_t i = 0; i < inputs->program_count; i++) {
        free(inputs->programs[i].path);
        free(inputs->programs[i].label);
        locality_free(&inputs->programs[i].locality);
    }
    free(inputs->programs);
    free(inputs->threads);
    free(inputs->localities);
    free(inputs->paths);
    free(inputs->labels);
    free(inputs->title);
    *inputs = (struct locality_inputs){0};
}

/* ---- profiles ---- */

static bool same_shape(const struct cache_shape *a, const struct cache_shape *b) {
    return a->sets == b->sets && a->ways == b->ways && a->line == b->line;
}

/* Leaves the private level and the shapes wanted, in their order. */
static bool choose_levels(struct locality *locality, const struct locality_input_options *options,
                          struct error *error) {
    for (uint32_t i = 0; i < options->shared_count; i++) {
        const struct cache_shape *wanted = &options->shared[i];
        uint32_t from = 1 + i;
        while (from < locality->level_count && !same_shape(&locality->levels[from].shape, wanted))
            from++;
        if (from >= locality->level_count)
            return error_set(error,
                             "the profile has no cache of %u sets, %u ways and lines of %u bytes "
                             "(measure it again for machine %s)",
                             wanted->sets, wanted->ways, wanted->line, options->machine->name);
        const struct locality_level found = locality->levels[from];
        locality->levels[from] = locality->levels[1 + i];
        locality->levels[1 + i] = found;
    }
    while (locality->level_count > 1 + options->shared_count)
        locality_level_free(&locality->levels[--locality->level_count]);
    return true;
}

static bool read_saved(struct locality_program *program,
                       const struct locality_input_options *options, struct error *error) {
    if (!locality_read(&program->locality, program->path, error))
        return false;
    bool good = locality_fits(&program->locality, options->machine, error);
    if (good && program->locality.frames != options->frames)
        good = error_set(error, "the profile is %s page frames (measure it again)",
                         options->frames ? "without" : "with");
    good = good && choose_levels(&program->locality, options, error);
    return good || error_prefix(error, "%.500s", program->path);
}

static bool measure(struct locality_inputs *inputs, struct locality_program *program,
                    const struct locality_input_options *options, struct error *error) {
    const struct locality_options is = {.machine = options->machine,
                                        .shared = options->shared,
                                        .shared_count = options->shared_count,
                                        .frames = options->frames,
                                        .core = options->core,
                                        .foreign = locality_foreign_rates,
                                        .foreign_count = locality_rates_for(options->core_threads)};
    struct trace *trace = trace_open(program->path, error);
    if (!trace)
        return false;
    bool good = trace_has_addresses(trace) ||
                error_set(error, "no memory addresses are in it (capture it without "
                                 "--no-addresses)");
    const struct watcher watcher = watcher_of(options->watch);
    watch_begin_within(options->watch, program->label, "instructions", options->selection.limit);
    good = good &&
           locality_measure(trace, &options->selection, &is, &watcher, &program->locality, error);
    watch_end(options->watch);
    trace_close(trace);
    inputs->instructions += program->locality.events.instructions;
    return good || error_prefix(error, "%.500s", program->path);
}

static char *title_of(const struct locality_inputs *inputs) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return NULL;
    for (uint32_t p = 0; p < inputs->program_count; p++) {
        uint32_t copies = sum_over(uint32_t, t, inputs->thread_count, inputs->threads[t] == p);
        fprintf(file, "%s%s", p ? ", " : "", inputs->programs[p].label);
        if (copies > 1)
            fprintf(file, "*%u", copies);
    }
    return text_printer_end(&printer);
}

static bool list_programs(struct locality_inputs *inputs, struct error *error) {
    const uint32_t count = inputs->program_count, room = count ? count : 1;
    inputs->localities = calloc(room, sizeof *inputs->localities);
    inputs->paths = calloc(room, sizeof *inputs->paths);
    inputs->labels = calloc(room, sizeof *inputs->labels);
    inputs->title = title_of(inputs);
    if (!inputs->localities || !inputs->paths || !inputs->labels || !inputs->title)
        return error_set(error, "out of memory for %u programs", count);
    for (uint32_t p = 0; p < count; p++) {
        inputs->localities[p] = &inputs->programs[p].locality;
        inputs->paths[p] = inputs->programs[p].path;
        inputs->labels[p] = inputs->programs[p].label;
    }
    return true;
}

bool locality_inputs_profile(struct locality_inputs *inputs,
                             const struct locality_input_options *options, struct error *error) {
    const double began = clock_processor();
    for (uint32_t i = 0; i < inputs->program_count && !options->watch->signal; i++) {
        struct locality_program *program = &inputs->programs[i];
        if (!(program->saved ? read_saved(program, options, error)
                             : measure(inputs, program, options, error)))
            return false;
        const struct locality_program *first = &inputs->programs[0];
        if (strcmp(program->locality.isa, first->locality.isa) != 0)
            return error_set(error,
                             "%.300s is a program of %s, %.300s of %s: they do not run on "
                             "one machine",
                             first->path, first->locality.isa, program->path,
                             program->locality.isa);
    }
    inputs->seconds = clock_processor() - began;
    if (options->watch->signal)
        return error_set(error, "interrupted before every program was profiled");
    return list_programs(inputs, error);
}

/* ---- what can be done with them ---- */

bool locality_inputs_simulable(const struct locality_inputs *inputs, struct error *error) {
    for (uint32_t i = 0; i < inputs->program_count; i++) {
        const char *path = inputs->programs[i].path;
        struct stat is;
        if (inputs->programs[i].saved)
            return error_set(error, "--check: %.500s is a profile; what is simulated is a trace",
                             path);
        if (!strcmp(path, "-") || (stat(path, &is) == 0 && !S_ISREG(is.st_mode)))
            return error_set(
                error, "--check: %.500s is no file; what is simulated is read again and again",
                path);
    }
    return true;
}

/* ---- one program ---- */

static bool open_run(const struct locality_run_request *request, struct trace **trace,
                     int *exec_status, struct error *error) {
    const struct selection *selection = &request->selection;
    if (!request->command) {
        *trace = trace_open(request->path, error);
        return *trace && (trace_has_addresses(*trace) ||
                          error_set(error,
                                    "%.500s: no memory addresses are in it (capture it "
                                    "without --no-addresses)",
                                    request->path));
    }
    struct capture_options capture = {.command = request->command,
                                      .addresses = true,
                                      .skip = selection->skip,
                                      .limit = selection->limit,
                                      .from_symbol = selection->from_symbol,
                                      .thread = selection->thread < 0 ? 0 : selection->thread};
    watch_limit(request->watch, &capture, request->stop);
    int status = 0;
    *trace = trace_capture(&capture, &status, error);
    if (!*trace && status)
        *exec_status = status;
    return *trace != NULL;
}

static bool measure_run(const struct locality_run_request *request, struct trace *trace,
                        struct locality *locality, struct error *error) {
    const struct machine_cache *last = machine_shared_cache(request->machine);
    struct cache_shape shapes[LOCALITY_MAX_LEVELS] = {cache_shape_of(last)};
    for (uint32_t i = 0; i < request->shape_count; i++) {
        shapes[i + 1] = request->shapes[i];
        shapes[i + 1].line = last->line;
    }
    const struct locality_options options = {
        .machine = request->machine,
        .shared = shapes,
        .shared_count = 1 + request->shape_count,
        .frames = request->frames,
        .core = true,
        .foreign = locality_foreign_rates,
        .foreign_count = locality_rates_for(request->machine->chip.threads)};
    const struct selection all = {.thread = -1};
    const struct watcher watcher = watcher_of(request->watch);
    struct trace_batch batch;
    struct error late;
    watch_begin_within(request->watch, "profiling", "instructions", request->selection.limit);
    const bool good = locality_measure(trace, request->command ? &all : &request->selection,
                                       &options, &watcher, locality, error);
    watch_end(request->watch);
    while (request->command && trace_next(trace, &batch, &late) > 0)
        continue;
    return good || error_prefix(error, "%.500s", trace_command(trace));
}

bool locality_run(const struct locality_run_request *request, struct trace **trace,
                  struct locality *locality, int *exec_status, struct error *error) {
    if (!open_run(request, trace, exec_status, error))
        return false;
    watch_trace(request->watch, *trace);
    bool good = measure_run(request, *trace, locality, error);
    watch_trace(request->watch, NULL);
    return good;
}
