#include "live/jit_names.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "live/dumped_code.h"
#include "program/jitdump.h"
#include "util/array.h"
#include "util/clock.h"

enum {
    DUMPS_MAX = 256,
    FRAMES_MAX = 1 << 19, /* that wait */
};
static const int64_t WAIT_NS = INT64_C(5000000000);

struct dumped {
    uint32_t pid;
    struct dumped_code *code;
};

struct waiting {
    struct live_sample sample;
    struct live_frame *frames; /* its callers; hold their functions */
};

struct jit_names {
    struct live_roots roots;
    struct live_sink sink;
    struct dumped *dumps;
    size_t count, capacity;
    struct waiting *waiting; /* in the order of their arrival */
    size_t waiting_count, waiting_capacity, frames;
};

struct jit_names *jit_names_new(const struct live_roots *roots, const struct live_sink *sink) {
    struct jit_names *names = calloc(1, sizeof *names);
    if (!names)
        return NULL;
    names->roots = *roots;
    names->sink = *sink;
    return names;
}

static void free_waiting(struct waiting *waiting) {
    live_frames_release(waiting->frames, waiting->sample.caller_count);
    live_frames_release(&waiting->sample.at, 1);
    free(waiting->frames);
}

void jit_names_free(struct jit_names *names) {
    if (!names)
        return;
    for (size_t i = 0; i < names->count; i++)
        dumped_code_free(names->dumps[i].code);
    for (size_t i = 0; i < names->waiting_count; i++)
        free_waiting(&names->waiting[i]);
    free(names->dumps);
    free(names->waiting);
    free(names);
}

/* ---- dumps ---- */

static struct dumped *find_dumped(const struct jit_names *names, uint32_t pid) {
    const size_t at = index_where(i, names->count, names->dumps[i].pid == pid);
    return at < names->count ? &names->dumps[at] : NULL;
}

static void forget(struct jit_names *names, struct dumped *dumped) {
    dumped_code_free(dumped->code);
    *dumped = names->dumps[--names->count];
}

/* Of processes that have ended, none of whose samples waits. */
static void forget_ended(struct jit_names *names) {
    struct proc_process process;
    for (size_t i = names->count; i-- > 0;) {
        const uint32_t pid = names->dumps[i].pid;
        if (!any_where(k, names->waiting_count, names->waiting[k].sample.process.pid == pid) &&
            !proc_process_read(&names->roots, pid, &process))
            forget(names, &names->dumps[i]);
    }
}

/* When the process has ended, whose it was is not known: then only a dump that is our own, or
 * root's. */
static bool open_dump(struct jit_names *names, const struct live_file *file) {
    struct dumped *known = find_dumped(names, file->seen_in);
    if (known)
        forget(names, known);
    if (names->count == DUMPS_MAX)
        forget_ended(names);
    if (names->count == DUMPS_MAX)
        return true;
    struct dumped added = {
        .pid = file->seen_in,
        .code = dumped_code_open(&names->roots, file->seen_in, file->path, geteuid(), "[unknown]")};
    if (!added.code || array_push(names->dumps, names->capacity, names->count, added))
        return true;
    dumped_code_free(added.code);
    return false;
}

/* ---- samples that wait ---- */

/* From the time of a sample to that of dumps. */
static uint64_t dump_time(int64_t since_1970) {
    return (uint64_t)(since_1970 - clock_since_1970() + clock_nanoseconds(CLOCK_MONOTONIC));
}

static bool pass(struct jit_names *names, struct waiting *waiting, struct error *error) {
    struct dumped *dumped = find_dumped(names, waiting->sample.process.pid);
    const uint64_t time = dump_time(waiting->sample.time);
    if (dumped && !(dumped_code_name(dumped->code, time, &waiting->sample.at) &&
                    all_where(i, waiting->sample.caller_count,
                              dumped_code_name(dumped->code, time, &waiting->frames[i]))))
        return error_set(error, "out of memory for the names of compiled code");
    waiting->sample.callers = waiting->frames;
    return names->sink.sample(names->sink.context, &waiting->sample, error);
}

static bool may_pass(const struct jit_names *names, const struct live_sample *sample) {
    const struct dumped *dumped = find_dumped(names, sample->process.pid);
    return !dumped || dumped_code_time(dumped->code) >= dump_time(sample->time) ||
           clock_since_1970() - sample->time > WAIT_NS;
}

bool jit_names_pass(struct jit_names *names, bool all, struct error *error) {
    if (names->waiting_count && !all_where(i, names->count, dumped_code_read(names->dumps[i].code)))
        return error_set(error, "out of memory for the names of compiled code");
    size_t passed = 0;
    bool good = true;
    for (; good && passed < names->waiting_count &&
           (all || may_pass(names, &names->waiting[passed].sample));
         passed++) {
        good = pass(names, &names->waiting[passed], error);
        names->frames -= names->waiting[passed].sample.caller_count + 1;
        free_waiting(&names->waiting[passed]);
    }
    names->waiting_count -= passed;
    if (passed)
        memmove(names->waiting, names->waiting + passed,
                names->waiting_count * sizeof *names->waiting);
    return good;
}

/* ---- the stage ---- */

static bool take_process(void *context, const struct live_process *process, struct error *error) {
    const struct jit_names *names = context;
    return names->sink.process(names->sink.context, process, error);
}

static bool take_file(void *context, const struct live_file *file, struct error *error) {
    struct jit_names *names = context;
    if (jitdump_is_named(file->path) && !open_dump(names, file))
        return error_set(error, "out of memory for a jitdump");
    return names->sink.file(names->sink.context, file, error);
}

static bool keep(struct jit_names *names, const struct live_sample *sample) {
    struct waiting waiting = {
        .sample = *sample, .frames = malloc((sample->caller_count + 1) * sizeof *waiting.frames)};
    if (!waiting.frames ||
        !array_push(names->waiting, names->waiting_capacity, names->waiting_count, waiting)) {
        free(waiting.frames);
        return false;
    }
    if (sample->caller_count)
        memcpy(waiting.frames, sample->callers, sample->caller_count * sizeof *waiting.frames);
    live_frames_hold(waiting.frames, sample->caller_count);
    live_frames_hold(&waiting.sample.at, 1);
    names->frames += sample->caller_count + 1;
    return true;
}

static bool take_sample(void *context, const struct live_sample *sample, struct error *error) {
    struct jit_names *names = context;
    const bool compiled =
        names->count && sample->time &&
        (sample->at.place == PLACE_ANONYMOUS ||
         any_where(i, sample->caller_count, sample->callers[i].place == PLACE_ANONYMOUS));
    if (!compiled || !find_dumped(names, sample->process.pid))
        return names->sink.sample(names->sink.context, sample, error);
    if (!keep(names, sample))
        return error_set(error, "out of memory for the names of compiled code");
    return names->frames < FRAMES_MAX || jit_names_pass(names, true, error);
}

struct live_sink jit_names_sink(struct jit_names *names) {
    return (struct live_sink){
        .context = names, .process = take_process, .file = take_file, .sample = take_sample};
}
