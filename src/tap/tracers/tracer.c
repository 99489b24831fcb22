/* A tracer has a lane for each core. What its lanes share is touched on the tracer's thread alone,
 * so lanes begin and end there as well, by jobs that wait in its queue like any other. */
#include "tap/tracers/tracer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/array.h"
#include "util/count.h"
#include "util/executor.h"

struct tracer {
    const struct tracer_kind *kind;
    struct tracer_options options;
    struct trigger start, stop;
    char *path;
    struct executor *executor;
    void *own;             /* NULL: not open */
    bool started, stopped; /* a trigger came, on any core */
};

struct tracers {
    const struct tracer_kind *const *kinds;
    struct places *places;
    struct tracer list[TRACERS_MAX];
    uint32_t count;
    struct tracer_run run;
    struct error error; /* the first of a lane's end */
};

struct tracers *tracers_new(const struct tracer_kind *const *kinds) {
    struct tracers *tracers = calloc(1, sizeof *tracers);
    if (tracers && !(tracers->places = places_new())) {
        free(tracers);
        return NULL;
    }
    if (tracers)
        tracers->kinds = kinds;
    return tracers;
}

void tracers_free(struct tracers *tracers) {
    if (!tracers)
        return;
    struct error error;
    tracers_close(tracers, NULL, &error);
    for (uint32_t i = 0; i < tracers->count; i++)
        free(tracers->list[i].path);
    places_free(tracers->places);
    free(tracers);
}

/* ---- what was asked for ---- */

static const struct tracer_kind *find_kind(const struct tracers *tracers, const char *text,
                                           size_t length, struct error *error) {
    char names[128] = "";
    for (const struct tracer_kind *const *kind = tracers->kinds; *kind; kind++) {
        if (strlen((*kind)->name) == length && !strncmp((*kind)->name, text, length))
            return *kind;
        strcat(names, *names ? ", " : "");
        strcat(names, (*kind)->name);
    }
    return error_null(error, "'%.*s' is no tracer (KIND:FILE; one of %s)", (int)length, text,
                      names);
}

static bool parse_interval(struct tracer *tracer, const char *text, struct error *error) {
    const char *end;
    enum count_reading read = count_read(text, &tracer->options.interval, &end);
    if (!tracer->kind->interval)
        return error_set(error, "%s has no interval", tracer->kind->name);
    if (read == COUNT_READ && !*end && tracer->options.interval)
        return true;
    return error_set(error, "interval '%s' is not a number of %s, 1 or more", text,
                     tracer->kind->interval_unit);
}

static bool parse_sampling(struct tracer *tracer, const char *text, struct error *error) {
    tracer->options.random = !strcmp(text, "random");
    if (!tracer->kind->samples)
        return error_set(error, "%s takes no samples", tracer->kind->name);
    return tracer->options.random || !strcmp(text, "periodic") ||
           error_set(error, "sampling '%s' is neither random nor periodic", text);
}

static bool parse_seed(struct tracer *tracer, const char *text, struct error *error) {
    const char *end;
    if (!tracer->kind->samples)
        return error_set(error, "%s takes no samples", tracer->kind->name);
    return (count_read(text, &tracer->options.seed, &end) == COUNT_READ && !*end) ||
           error_set(error, "seed '%s' is not a number", text);
}

/* Parses one of the settings behind the file's name. */
static bool parse_setting(struct tracer *tracer, const char *text, struct error *error) {
    if (!strncmp(text, "start=", 6))
        return trigger_parse(text + 6, &tracer->start, error);
    if (!strncmp(text, "stop=", 5))
        return trigger_parse(text + 5, &tracer->stop, error);
    if (!strncmp(text, "interval=", 9))
        return parse_interval(tracer, text + 9, error);
    if (!strncmp(text, "sampling=", 9))
        return parse_sampling(tracer, text + 9, error);
    if (!strncmp(text, "seed=", 5))
        return parse_seed(tracer, text + 5, error);
    return error_set(error,
                     "'%s' is no setting (start=TRIGGER, stop=TRIGGER, interval=N; of tip and tea "
                     "also sampling=random, seed=N)",
                     text);
}

/* Whether the text behind a comma is a setting, "word=...", even a mistyped one, and not the end of
 * a file's name, which has a dot or a slash in it. */
static bool is_setting(const char *text) {
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    return (length && text[length] == '=') || !strpbrk(text, "./");
}

/* Where the last setting of the text begins, at its comma; NULL: there is none. */
static char *last_setting(char *text) {
    char *comma = strrchr(text, ',');
    return comma && is_setting(comma + 1) ? comma : NULL;
}

/* Two tracers that write the same file would garble it; a device may be given to any number. */
static bool check_file(const struct tracers *tracers, struct error *error) {
    const char *path = tracers->list[tracers->count - 1].path;
    struct stat file;
    if (!*path || (stat(path, &file) == 0 && !S_ISREG(file.st_mode)))
        return true;
    for (uint32_t i = 0; i + 1 < tracers->count; i++)
        if (!strcmp(tracers->list[i].path, path))
            return error_set(error, "%s is the file of another tracer", path);
    return true;
}

bool tracers_add(struct tracers *tracers, const char *text, struct error *error) {
    if (tracers->count == TRACERS_MAX)
        return error_set(error, "more than %d tracers", TRACERS_MAX);
    size_t length = strcspn(text, ":");
    const struct tracer_kind *kind = find_kind(tracers, text, length, error);
    if (!kind)
        return false;
    struct tracer *tracer = &tracers->list[tracers->count];
    *tracer = (struct tracer){
        .kind = kind,
        .options = {.interval = kind->interval, .places = tracers->places, .run = &tracers->run}};
    tracer->path = strdup(text[length] ? text + length + 1 : "");
    if (!tracer->path)
        return error_set(error, "out of memory");
    tracers->count++;
    for (char *setting; (setting = last_setting(tracer->path)); *setting = 0)
        if (!parse_setting(tracer, setting + 1, error))
            return false;
    tracer->options.path = tracer->path;
    if (!*tracer->path)
        return error_set(error, "%s needs a file (%s:FILE)", kind->name, kind->name);
    if (!strcmp(tracer->path, "-"))
        return error_set(error,
                         "standard output has the report or what the command writes (%s:FILE)",
                         kind->name);
    return check_file(tracers, error);
}

const char *tracers_missed(const struct tracers *tracers, uint32_t *next, const char **kind,
                           const char **path) {
    while (*next < tracers->count) {
        const struct tracer *tracer = &tracers->list[(*next)++];
        *kind = tracer->kind->name;
        *path = tracer->path;
        if (tracer->start.kind != TRIGGER_NONE && !tracer->started)
            return tracer->stopped ? "its stop came before its start: nothing is in the file"
                                   : "its start never came: nothing is in the file";
        if (tracer->stop.kind != TRIGGER_NONE && !tracer->stopped)
            return "its stop never came: the file goes on to the end of the run";
    }
    return NULL;
}

void tracers_tell(struct tracers *tracers, const struct tracer_run *run) {
    tracers->run = *run;
}

bool tracers_open(struct tracers *tracers, bool threads, struct error *error) {
    for (uint32_t i = 0; i < tracers->count; i++) {
        struct tracer *tracer = &tracers->list[i];
        if (!(tracer->own = tracer->kind->open(&tracer->options, error)) ||
            (threads && !(tracer->executor = executor_new(tracer->kind->name, error))))
            return false;
    }
    return true;
}

bool tracers_close(struct tracers *tracers, const struct code *code, struct error *error) {
    bool good = !tracers->error.message[0];
    if (!good)
        *error = tracers->error;
    for (uint32_t i = 0; i < tracers->count; i++) {
        struct tracer *tracer = &tracers->list[i];
        struct error late;
        executor_free(tracer->executor);
        tracer->executor = NULL;
        if (tracer->own && !tracer->kind->close(tracer->own, code, &late) && good) {
            good = false;
            *error = late;
            error_prefix(error, "%s", tracer->kind->name);
        }
        tracer->own = NULL;
    }
    return good;
}

/* ---- what they have in common ---- */

void *tracer_file_open(size_t size, const struct tracer_options *options, const void *head,
                       size_t head_size, struct error *error) {
    struct tracer_file *tracer = calloc(1, size);
    if (!tracer)
        return error_null(error, "out of memory");
    tracer->places = options->places;
    if (stream_begin(&tracer->stream, options->path, head, head_size, error))
        return tracer;
    free(tracer);
    return NULL;
}

bool tracer_file_close(void *tracer, const struct code *code, struct error *error) {
    (void)code;
    bool good = stream_close(&((struct tracer_file *)tracer)->stream, error);
    free(tracer);
    return good;
}

bool tracer_end_lane(void *lane, struct error *error) {
    (void)error;
    free(lane);
    return true;
}

/* ---- lanes ---- */

struct lane {
    void *own;
    struct gate *gate; /* NULL: neither start nor stop */
};

struct attached {
    struct tap_source source;
    struct lane lanes[]; /* by tracer */
};

struct lane_job {
    struct tracers *tracers;
    struct attached *attached;
    struct error *error;
    bool good;
};

static void begin_lane(void *context, uint64_t number) {
    struct lane_job *job = context;
    struct tracer *tracer = &job->tracers->list[number];
    void *own = tracer->kind->begin(tracer->own, job->attached->source, job->error);
    job->attached->lanes[number].own = own;
    job->good = own;
}

static void end_lane(void *context, uint64_t number) {
    struct lane_job *job = context;
    job->good = job->tracers->list[number].kind->end(job->attached->lanes[number].own, job->error);
}

static bool run_job(struct lane_job *job, void (*function)(void *context, uint64_t number),
                    uint32_t number) {
    struct executor *executor = job->tracers->list[number].executor;
    if (executor)
        executor_wait(executor, executor_submit(executor, function, job, number));
    else
        function(job, number);
    return job->good || error_prefix(job->error, "%s", job->tracers->list[number].kind->name);
}

static bool add_worker(const struct tracers *tracers, const struct tracer *tracer,
                       struct lane *lane, struct tap *tap, struct error *error) {
    struct tap_worker worker = {.name = tracer->kind->name,
                                .kinds = tracer->kind->records,
                                .consume = tracer->kind->consume,
                                .context = lane->own,
                                .executor = tracer->executor};
    if (tracer->start.kind == TRIGGER_NONE && tracer->stop.kind == TRIGGER_NONE)
        return tap_add_worker(tap, &worker, error);
    lane->gate = gate_new(&worker, &tracer->start, &tracer->stop, tracers->places);
    if (!lane->gate)
        return error_set(error, "out of memory for a trigger");
    worker = gate_worker(lane->gate);
    return tap_add_worker(tap, &worker, error);
}

bool tracers_attach(void *context, struct tap_source source, struct tap *tap, void **state,
                    struct error *error) {
    struct tracers *tracers = context;
    struct attached *attached =
        calloc(1, sizeof *attached + tracers->count * sizeof *attached->lanes);
    if (!attached)
        return error_set(error, "out of memory for the tracers of a thread");
    *state = attached;
    attached->source = source;
    struct lane_job job = {.tracers = tracers, .attached = attached, .error = error};
    return !any_where(i, tracers->count,
                      !run_job(&job, begin_lane, i) ||
                          !add_worker(tracers, &tracers->list[i], &attached->lanes[i], tap, error));
}

void tracers_detach(void *context, void *state) {
    struct tracers *tracers = context;
    struct attached *attached = state;
    struct error error;
    struct lane_job job = {.tracers = tracers, .attached = attached, .error = &error};
    for (uint32_t i = 0; i < tracers->count; i++) {
        struct tracer *tracer = &tracers->list[i];
        gate_tell(attached->lanes[i].gate, &tracer->started, &tracer->stopped);
        gate_free(attached->lanes[i].gate);
        if (attached->lanes[i].own && !run_job(&job, end_lane, i) && !tracers->error.message[0])
            tracers->error = error;
    }
    free(attached);
}

bool tracers_learn(void *context, const struct code *code, struct error *error) {
    struct tracers *tracers = context;
    return places_learn(tracers->places, code, error);
}
