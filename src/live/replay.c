/* One entry for each process, by its number; when that is given to another, or the process calls
 * exec, the entry goes on under a new serial number, which is the `exec` of its key: so that the
 * key is unique, though when the process started is not known. The map of a process is given up
 * when its last thread ends, and the entries of processes that have ended now and then, all
 * together. */
#include "live/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/address_map.h"
#include "live/proc_files.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/hash_index.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct replayed {
    struct live_process process;
    struct address_map map;
    uint32_t threads;
    bool attached; /* it ran before: how many threads it has is not known */
};

struct replay {
    struct live_sink sink;
    struct unwinder *unwinder;    /* NULL: no callers are looked for */
    struct python_frames *python; /* NULL: none of functions in Python */
    struct waits *waits;          /* NULL: they are not timed */
    bool places_waits;            /* threads about to leave are sampled */
    uint32_t leaving;             /* the event of samples of threads about to leave */
    struct live_stack stack;      /* of the sample at hand */
    struct replayed *items;
    size_t count, capacity;
    struct hash_index index;
    size_t ended; /* entries without a thread */
    uint32_t serial;
    int64_t since_1970;  /* what to add to the time of records, ns */
    uint64_t next_clock; /* the time of a record from which on that is asked for again */
    struct replay_statistics statistics;
};

static bool no_memory(struct error *error) {
    return error_set(error, "out of memory for the processes recorded");
}

struct replay *replay_new(const struct live_sink *sink, struct unwinder *unwinder,
                          struct python_frames *python) {
    struct replay *replay = calloc(1, sizeof *replay);
    if (!replay)
        return NULL;
    replay->sink = *sink;
    replay->unwinder = unwinder;
    replay->python = python;
    return replay;
}

void replay_free(struct replay *replay) {
    if (!replay)
        return;
    for (size_t i = 0; i < replay->count; i++)
        address_map_free(&replay->items[i].map);
    free(replay->items);
    hash_index_free(&replay->index);
    waits_free(replay->waits);
    free(replay);
}

bool replay_time_waits(struct replay *replay, const struct waits_options *options) {
    replay->leaving = options->blocked;
    replay->places_waits = options->placed;
    return (replay->waits = waits_new(options, &replay->sink));
}

static struct replayed *find(struct replay *replay, uint32_t pid) {
    size_t at;
    for (uint32_t i = hash_index_first(&replay->index, hash_number(pid), &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&replay->index, hash_number(pid), &at))
        if (replay->items[i].process.key.pid == pid)
            return &replay->items[i];
    return NULL;
}

enum { ENDED_MAX = 1000 };

/* Once there are many entries of processes that have ended, and more of them than of others. What
 * is still told of one begins a new entry. False: out of memory. */
static bool forget_ended(struct replay *replay) {
    if (replay->ended < ENDED_MAX || replay->ended < replay->count / 2)
        return true;
    struct hash_index index = {0};
    if (!hash_index_reserve(&index, replay->count))
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < replay->count; i++)
        if (replay->items[i].threads) {
            hash_index_add(&index, hash_number(replay->items[i].process.key.pid), (uint32_t)kept);
            replay->items[kept++] = replay->items[i];
        } else
            address_map_free(&replay->items[i].map);
    hash_index_free(&replay->index);
    replay->index = index;
    replay->count = kept;
    replay->ended = 0;
    return true;
}

static struct replayed *find_or_add(struct replay *replay, uint32_t pid, struct error *error) {
    struct replayed *process = find(replay, pid);
    if (process)
        return process;
    if (!forget_ended(replay) || !array_room(replay->items, replay->capacity, replay->count + 1) ||
        !hash_index_add(&replay->index, hash_number(pid), (uint32_t)replay->count)) {
        no_memory(error);
        return NULL;
    }
    process = &replay->items[replay->count++];
    *process =
        (struct replayed){.process.key = {.pid = pid, .exec = ++replay->serial}, .threads = 1};
    return process;
}

static void set_command(struct replayed *process, const char *command) {
    snprintf(process->process.command, LIVE_COMMAND_BYTES, "%.*s", LIVE_COMMAND_BYTES - 1, command);
}

static bool announce(struct replay *replay, const struct replayed *process, struct error *error) {
    return replay->sink.process(replay->sink.context, &process->process, error);
}

/* ---- mappings ---- */

static bool begins(const char *text, const char *beginning) {
    return !strncmp(text, beginning, strlen(beginning));
}

/* Memory that has a name but no file that could be read. */
static bool is_anonymous(const char *name) {
    return name[0] != '/' || begins(name, "//anon") || begins(name, "/dev/zero") ||
           begins(name, "/anon_hugepage") || begins(name, "/memfd:") || begins(name, "/SYSV");
}

struct mapping {
    struct address_range range; /* kind and key of file are found here */
    const char *name;
    const uint8_t *build_id;
    size_t build_id_size;
};

static bool map(struct replay *replay, struct replayed *process, struct mapping *mapping,
                struct error *error) {
    char path[PATH_MAX];
    struct address_range *range = &mapping->range;
    if (!strcmp(mapping->name, "[vdso]")) {
        range->kind = PLACE_VDSO;
        range->offset = 0;
    } else if (is_anonymous(mapping->name)) {
        range->kind = PLACE_ANONYMOUS;
    } else {
        static const char DELETED[] = " (deleted)";
        size_t length = strnlen(mapping->name, sizeof path - 1), ending = sizeof DELETED - 1;
        memcpy(path, mapping->name, length);
        path[length] = 0;
        if (length > ending && !strcmp(path + length - ending, DELETED))
            path[length - ending] = 0;
        range->kind = PLACE_FILE;
        if (mapping->build_id_size)
            range->file = (struct live_file_key){
                .device = LIVE_DEVICE_NONE,
                .inode = XXH3_64bits_withSeed(mapping->build_id, mapping->build_id_size,
                                              XXH3_64bits(path, strlen(path)))};
        struct live_file file = {.key = range->file,
                                 .path = path,
                                 .build_id_size = mapping->build_id_size,
                                 .seen_in = process->process.key.pid};
        if (mapping->build_id_size)
            memcpy(file.build_id, mapping->build_id, mapping->build_id_size);
        if (!replay->sink.file(replay->sink.context, &file, error))
            return false;
        if (replay->unwinder && !unwinder_announce(replay->unwinder, &file))
            return no_memory(error);
        if (replay->python && !python_frames_mapped(replay->python, process->process.key.pid, &file,
                                                    range->start, range->offset))
            return no_memory(error);
    }
    return address_map_add(&process->map, range) || no_memory(error);
}

static bool replay_mmap(struct replay *replay, const struct perf_record *record,
                        struct error *error) {
    struct replayed *process = find_or_add(replay, record->pid, error);
    struct mapping mapping = {.range = {.start = record->start,
                                        .offset = record->offset,
                                        .file = {.device = record->device,
                                                 .inode = record->inode,
                                                 .generation = record->generation}},
                              .name = record->name,
                              .build_id = record->build_id,
                              .build_id_size = record->build_id_size};
    if (!process)
        return false;
    if (__builtin_add_overflow(record->start, record->length, &mapping.range.end))
        return true;
    return map(replay, process, &mapping, error);
}

struct attachment {
    struct replay *replay;
    struct replayed *process;
    struct error *error;
    bool good;
};

static bool attach_mapping(void *context, const struct proc_mapping *found) {
    struct attachment *attachment = context;
    struct mapping mapping = {.range = {.start = found->start,
                                        .end = found->end,
                                        .offset = found->offset,
                                        .file = {.device = found->device, .inode = found->inode}},
                              .name = found->path};
    if (found->executable)
        attachment->good =
            map(attachment->replay, attachment->process, &mapping, attachment->error);
    return attachment->good;
}

bool replay_attach(struct replay *replay, uint32_t pid, struct error *error) {
    static const struct live_roots ROOTS = {.proc = "/proc", .sys = "/sys", .files = ""};
    struct proc_process found;
    if (!proc_process_read(&ROOTS, pid, &found))
        return error_set(error, "process %" PRIu32 ": there is none", pid);
    struct replayed *process = find_or_add(replay, pid, error);
    if (!process)
        return false;
    process->process.parent = found.parent;
    process->attached = true;
    set_command(process, found.command);
    struct attachment attachment = {
        .replay = replay, .process = process, .error = error, .good = true};
    if (!announce(replay, process, error))
        return false;
    if (!proc_each_mapping(&ROOTS, pid, attach_mapping, &attachment))
        return error_errno(error, "process %" PRIu32 ": cannot read what it has mapped", pid);
    return attachment.good;
}

/* ---- processes ---- */

/* By a fork, or by an exec, which ends all other threads. */
static void begin_life(struct replay *replay, struct replayed *process) {
    process->process.key.exec = ++replay->serial;
    replay->ended -= !process->threads;
    process->threads = 1;
    process->attached = false;
}

static bool replay_comm(struct replay *replay, const struct perf_record *record,
                        struct error *error) {
    struct replayed *process = find_or_add(replay, record->pid, error);
    if (!process)
        return false;
    if (record->exec) {
        begin_life(replay, process);
        address_map_clear(&process->map);
        if (replay->python)
            python_frames_ended(replay->python, record->pid);
    } else if (record->tid != record->pid) {
        return true; /* the name of another thread */
    }
    set_command(process, record->name);
    return announce(replay, process, error);
}

static bool replay_fork(struct replay *replay, const struct perf_record *record,
                        struct error *error) {
    if (record->pid == record->parent) {
        struct replayed *process = find_or_add(replay, record->pid, error);
        if (!process)
            return false;
        replay->ended -= !process->threads;
        process->threads++;
        return true;
    }
    if (!find_or_add(replay, record->parent, error))
        return false;
    struct replayed *child = find_or_add(replay, record->pid, error);
    if (!child)
        return false;
    begin_life(replay, child);
    child->process.parent = record->parent;
    /* NULL: it had ended, and was forgotten for the child's sake. */
    const struct replayed *parent = find(replay, record->parent);
    if (parent)
        memcpy(child->process.command, parent->process.command, LIVE_COMMAND_BYTES);
    if (parent && !address_map_copy(&child->map, &parent->map))
        return no_memory(error);
    if (replay->python && !python_frames_forked(replay->python, record->parent, record->pid))
        return no_memory(error);
    return announce(replay, child, error);
}

static void replay_exit(struct replay *replay, const struct perf_record *record) {
    struct replayed *process = find(replay, record->pid);
    /* Threads of one that ran before end that nobody has told of. */
    if (!process || process->attached || !process->threads || --process->threads)
        return;
    address_map_free(&process->map);
    if (replay->python)
        python_frames_ended(replay->python, record->pid);
    replay->ended++;
}

/* The kernel's part of the chain begins with the sampled place; the others are return addresses. */
static void add_kernel_callers(const struct perf_record *record, struct live_stack *stack) {
    bool in_kernel = record->walked, first = true;
    for (size_t i = 0; i < record->chain_count && stack->count < LIVE_FRAMES_MAX; i++) {
        uint64_t address;
        memcpy(&address, record->chain + 8 * i, sizeof address);
        if (address >= (uint64_t)PERF_CONTEXT_MAX) {
            in_kernel = address == (uint64_t)PERF_CONTEXT_KERNEL;
        } else if (in_kernel) {
            if (!first) {
                stack->frames[stack->count++] =
                    (struct live_frame){.place = PLACE_KERNEL, .offset = address - 1};
                stack->tops[stack->count] = 0;
            }
            first = false;
        }
    }
}

static uint64_t word_at(const uint8_t *words, size_t index) {
    uint64_t word;
    memcpy(&word, words + 8 * index, sizeof word);
    return word;
}

/* What lies where nobody told of a mapping ends them. */
static void add_walked_callers(const struct replayed *process, const struct perf_record *record,
                               struct live_stack *stack) {
    const size_t step = record->tops ? 2 : 1;
    stack->end = record->end;
    if (record->tops)
        stack->tops[stack->count] = word_at(record->callers, 0);
    for (size_t i = 0; i < record->caller_count; i++) {
        const uint64_t address = word_at(record->callers, step * i + record->tops);
        const struct address_range *range = address_map_find(&process->map, address);
        if (!range || stack->count == LIVE_FRAMES_MAX) {
            stack->end = range ? LIVE_STACK_TRUNCATED : LIVE_STACK_FAILED;
            return;
        }
        stack->frames[stack->count++] = address_range_place(range, address);
        stack->tops[stack->count] = record->tops ? word_at(record->callers, step * i + 2) : 0;
    }
}

/* What entered the kernel is its caller: the instruction itself of an exception; of a system call
 * the one behind it, which hardly ever is another line's. */
static bool add_user_callers(struct replay *replay, const struct replayed *process,
                             const struct perf_record *record) {
    struct live_stack *stack = &replay->stack;
    if (!record->registers.known) {
        stack->end = LIVE_STACK_WHOLE; /* a thread of the kernel */
        return true;
    }
    const uint64_t address = record->registers.values[UNWIND_RIP];
    const struct address_range *range = address_map_find(&process->map, address);
    if (record->kernel && range && stack->count < LIVE_FRAMES_MAX) {
        stack->frames[stack->count++] = address_range_place(range, address);
        stack->tops[stack->count] = 0;
    }
    if (!record->walked)
        return unwinder_walk(replay->unwinder, &process->map, &record->registers, false,
                             &record->stack, stack);
    add_walked_callers(process, record, stack);
    return true;
}

/* Code that a process makes may be given another name by the next sample of it. */
static uint64_t alike(const struct replayed *process, const struct perf_record *record,
                      const struct live_sample *sample, const struct live_stack *stack) {
    const uint64_t key[] = {process->process.key.pid, process->process.key.exec,
                            process->map.changes, record->alike};
    return !record->walked || sample->at.place == PLACE_ANONYMOUS ||
                   any_where(i, stack->count, stack->frames[i].place == PLACE_ANONYMOUS)
               ? 0
               : XXH3_64bits(key, sizeof key);
}

static bool find_callers(struct replay *replay, const struct replayed *process,
                         const struct perf_record *record, struct live_sample *sample) {
    struct live_stack *stack = &replay->stack;
    stack->count = 0;
    stack->tops[0] = 0;
    stack->end = LIVE_STACK_NONE;
    if (!replay->unwinder || !record->has_stack)
        return true;
    if (record->kernel)
        add_kernel_callers(record, stack);
    bool good = add_user_callers(replay, process, record);
    sample->alike = alike(process, record, sample, stack);
    good = good && (!replay->python || python_frames_weave(replay->python, record->pid, record->tid,
                                                           stack, &sample->alike));
    sample->callers = stack->frames;
    sample->caller_count = stack->count;
    sample->end = stack->end;
    return good;
}

/* The clock may be set, and the records' clock stands still while the machine sleeps. */
static int64_t time_since_1970(struct replay *replay, uint64_t time) {
    enum { INTERVAL_NS = 1000000000 };
    if (!time)
        return 0;
    if (time >= replay->next_clock) {
        replay->since_1970 = clock_since_1970() - clock_nanoseconds(CLOCK_MONOTONIC);
        replay->next_clock = time + INTERVAL_NS;
    }
    return (int64_t)time + replay->since_1970;
}

static bool replay_sample(struct replay *replay, const struct perf_record *record, uint32_t event,
                          struct error *error) {
    const struct replayed *process = find_or_add(replay, record->pid, error);
    if (!process)
        return false;
    struct live_sample sample = {
        .process = process->process.key,
        .at = {.place = record->kernel ? PLACE_KERNEL : PLACE_UNKNOWN, .offset = record->address},
        .event = event,
        .count = 1,
        .thread = record->tid,
        .processor = record->processor,
        .time = time_since_1970(replay, record->time)};
    const struct address_range *range =
        record->kernel ? NULL : address_map_find(&process->map, record->address);
    if (range)
        sample.at = address_range_place(range, record->address);
    if (!find_callers(replay, process, record, &sample))
        return no_memory(error);
    if (replay->waits && event == replay->leaving)
        return waits_place(replay->waits, &sample) || no_memory(error);
    if (replay->waits)
        waits_runs(replay->waits, sample.thread);
    replay->statistics.samples++;
    return replay->sink.sample(replay->sink.context, &sample, error);
}

/* Of a thread whose place is not known. */
static bool sample_of(struct replay *replay, uint32_t pid, uint32_t thread, uint32_t processor,
                      struct live_sample *sample, struct error *error) {
    const struct replayed *process = find_or_add(replay, pid, error);
    if (!process)
        return false;
    *sample =
        (struct live_sample){.process = process->process.key,
                             .at.place = PLACE_UNKNOWN,
                             .end = replay->places_waits ? LIVE_STACK_FAILED : LIVE_STACK_NONE,
                             .thread = thread,
                             .processor = processor};
    return true;
}

static bool replay_switch(struct replay *replay, const struct perf_record *record,
                          struct error *error) {
    struct live_sample sample;
    if (!replay->waits)
        return true;
    if (!record->leaves)
        return waits_return(replay->waits, record->tid, record->time,
                            time_since_1970(replay, record->time) - (int64_t)record->time, error);
    return sample_of(replay, record->pid, record->tid, record->processor, &sample, error) &&
           (waits_leave(replay->waits, &sample, record->time, record->runnable) ||
            no_memory(error));
}

bool replay_assume_wait(struct replay *replay, uint32_t pid, uint32_t thread, uint64_t time,
                        struct error *error) {
    struct live_sample sample;
    return !replay->waits || (sample_of(replay, pid, thread, 0, &sample, error) &&
                              (waits_assume(replay->waits, &sample, time) || no_memory(error)));
}

static bool has_ended(uint32_t pid, uint32_t thread) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/task/%" PRIu32, pid, thread);
    return access(path, F_OK) != 0;
}

bool replay_finish(struct replay *replay, uint64_t time, struct error *error) {
    if (replay->waits && replay->statistics.lost_tasks)
        waits_forget_where(replay->waits, has_ended);
    return !replay->waits ||
           waits_finish(replay->waits, time, time_since_1970(replay, time) - (int64_t)time, error);
}

bool replay_record(struct replay *replay, const struct perf_record *record, uint32_t event,
                   struct error *error) {
    switch (record->type) {
    case PERF_RECORD_SAMPLE:
        return replay_sample(replay, record, event, error);
    case PERF_RECORD_MMAP2:
        return replay_mmap(replay, record, error);
    case PERF_RECORD_COMM:
        return replay_comm(replay, record, error);
    case PERF_RECORD_FORK:
        return replay_fork(replay, record, error);
    case PERF_RECORD_SWITCH:
        return replay_switch(replay, record, error);
    case PERF_RECORD_EXIT:
        if (replay->waits)
            waits_forget(replay->waits, record->tid);
        replay_exit(replay, record);
        return true;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        replay->statistics.lost += record->lost;
        replay->statistics.lost_tasks += record->samples_alone ? 0 : record->lost;
        return true;
    default:
        return true;
    }
}

bool replay_unknown(struct replay *replay, uint32_t pid, const struct walk_unknown *unknown,
                    struct error *error) {
    const struct replayed *process = find(replay, pid);
    const struct address_range *range =
        process ? address_map_find(&process->map, unknown->address) : NULL;
    return !range || unwinder_tell(replay->unwinder, range, &unknown->file) || no_memory(error);
}

size_t replay_running(const struct replay *replay, uint32_t *pids, size_t most) {
    size_t count = 0;
    for (size_t i = 0; i < replay->count; i++) {
        const struct replayed *process = &replay->items[i];
        const pid_t pid = (pid_t)process->process.key.pid;
        if (!process->threads || process->attached || pid <= 0 ||
            (kill(pid, 0) != 0 && errno == ESRCH))
            continue;
        if (count++ < most)
            pids[count - 1] = (uint32_t)pid;
    }
    return count;
}

void replay_statistics(const struct replay *replay, struct replay_statistics *statistics) {
    *statistics = replay->statistics;
    statistics->processes = replay->count;
}
