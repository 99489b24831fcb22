#include "live/jit_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "program/jitdump.h"
#include "store/source_place.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/file_name.h"
#include "util/hash_index.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    DUMPS_MAX = 256,
    FRAMES_MAX = 1 << 19, /* that wait */
    CODES_MAX = 1 << 16,  /* with their names, of one dump */
};
static const int64_t WAIT_NS = INT64_C(5000000000);

/* A function of a dump: its texts are the dump's. */
struct named {
    const char *name, *file;
    const struct live_code *code;
};

struct dumped {
    uint32_t pid;
    char command[LIVE_COMMAND_BYTES];
    struct jitdump *dump;
    struct named *codes;
    size_t count, capacity;
    struct hash_index index; /* by the addresses of both texts */
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

static void free_codes(struct dumped *dumped) {
    for (size_t i = 0; i < dumped->count; i++)
        live_code_release(dumped->codes[i].code);
    free(dumped->codes);
    hash_index_free(&dumped->index);
    dumped->codes = NULL;
    dumped->count = dumped->capacity = 0;
}

static void free_dumped(struct dumped *dumped) {
    free_codes(dumped);
    jitdump_free(dumped->dump);
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
        free_dumped(&names->dumps[i]);
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
    free_dumped(dumped);
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

/* As the process sees it while it runs. When it has ended, whose it was is not known: then only a
 * dump of its number that is our own, or root's. NULL: there is none. */
static struct jitdump *open_file(const struct jit_names *names, const struct live_file *file,
                                 char command[LIVE_COMMAND_BYTES]) {
    char path[PATH_MAX], own[32];
    struct proc_process process;
    const bool runs = proc_process_read(&names->roots, file->seen_in, &process);
    snprintf(own, sizeof own, "jit-%" PRIu32 ".dump", file->seen_in);
    if (!runs && strcmp(file_base_name(file->path), own) != 0)
        return NULL;
    if (runs)
        memcpy(command, process.command, LIVE_COMMAND_BYTES);
    const int length = runs ? snprintf(path, sizeof path, "%s/%" PRIu32 "/root%s",
                                       names->roots.proc, file->seen_in, file->path)
                            : snprintf(path, sizeof path, "%s%s", names->roots.files, file->path);
    return length < (int)sizeof path ? jitdump_open(path, runs ? process.user : geteuid()) : NULL;
}

static bool open_dump(struct jit_names *names, const struct live_file *file) {
    struct dumped *known = find_dumped(names, file->seen_in);
    if (known)
        forget(names, known);
    if (names->count == DUMPS_MAX)
        forget_ended(names);
    if (names->count == DUMPS_MAX)
        return true;
    struct dumped added = {.pid = file->seen_in, .command = "[unknown]"};
    if (!(added.dump = open_file(names, file, added.command)))
        return true;
    if (array_push(names->dumps, names->capacity, names->count, added))
        return true;
    free_dumped(&added);
    return false;
}

/* ---- names ---- */

static const struct live_code *new_code(const struct dumped *dumped,
                                        const struct jitdump_place *place) {
    char path[64];
    snprintf(path, sizeof path, "[jit] %s", dumped->command);
    const uint64_t hash = XXH3_64bits(place->name, strlen(place->name));
    const struct live_code code = {
        .path = place->file ? place->file : path,
        .name = place->name,
        .start = source_function((uint32_t)(hash >> 32) & ((1u << SOURCE_LINE_BITS) - 1), hash),
        .size = source_function_size()};
    return live_code_new(&code);
}

/* NULL: out of memory. */
static const struct live_code *code_of(struct dumped *dumped, const struct jitdump_place *place) {
    const uint64_t hash = hash_pair((uintptr_t)place->name, (uintptr_t)place->file);
    size_t at;
    for (uint32_t i = hash_index_first(&dumped->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&dumped->index, hash, &at))
        if (dumped->codes[i].name == place->name && dumped->codes[i].file == place->file)
            return dumped->codes[i].code;
    if (dumped->count == CODES_MAX)
        free_codes(dumped);
    struct named named = {place->name, place->file, new_code(dumped, place)};
    if (named.code && array_room(dumped->codes, dumped->capacity, dumped->count + 1) &&
        hash_index_add(&dumped->index, hash, (uint32_t)dumped->count)) {
        dumped->codes[dumped->count++] = named;
        return named.code;
    }
    live_code_release(named.code);
    return NULL;
}

/* The frame holds its function then, as it held what it was before. False: out of memory. */
static bool name_frame(struct dumped *dumped, uint64_t time, struct live_frame *frame) {
    struct jitdump_place place;
    if (frame->place != PLACE_ANONYMOUS || !jitdump_find(dumped->dump, frame->offset, time, &place))
        return true;
    const struct live_code *code = code_of(dumped, &place);
    if (!code)
        return false;
    live_code_hold(code);
    /* Of a source the line is told, else where in the code. */
    const uint64_t most = code->size - 1, in = place.offset < most ? place.offset : most;
    *frame = (struct live_frame){.place = PLACE_CODE,
                                 .code = code,
                                 .offset = place.file ? source_place(code->start, place.line)
                                                      : code->start + in};
    return true;
}

/* From the time of a sample to that of dumps. */
static uint64_t dump_time(int64_t since_1970) {
    return (uint64_t)(since_1970 - clock_since_1970() + clock_nanoseconds(CLOCK_MONOTONIC));
}

static bool pass(struct jit_names *names, struct waiting *waiting, struct error *error) {
    struct dumped *dumped = find_dumped(names, waiting->sample.process.pid);
    const uint64_t time = dump_time(waiting->sample.time);
    if (dumped && !(name_frame(dumped, time, &waiting->sample.at) &&
                    all_where(i, waiting->sample.caller_count,
                              name_frame(dumped, time, &waiting->frames[i]))))
        return error_set(error, "out of memory for the names of compiled code");
    waiting->sample.callers = waiting->frames;
    return names->sink.sample(names->sink.context, &waiting->sample, error);
}

static bool may_pass(const struct jit_names *names, const struct live_sample *sample) {
    const struct dumped *dumped = find_dumped(names, sample->process.pid);
    return !dumped || jitdump_time(dumped->dump) >= dump_time(sample->time) ||
           clock_since_1970() - sample->time > WAIT_NS;
}

bool jit_names_pass(struct jit_names *names, bool all, struct error *error) {
    if (names->waiting_count && !all_where(i, names->count, jitdump_read(names->dumps[i].dump)))
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
    if (jitdump_is_named(file->path))
        return open_dump(names, file) || error_set(error, "out of memory for a jitdump");
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
