/* Reads items (trace/item.h), from which region/profiled_slices.c makes slices. Counted items tell
 * where slices begin and end. In events every block is looked at, and a slice ends by the same rule
 * (trace/counts.h). */
#include "region/profiled_slices.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "region/run_items.h"
#include "trace/event.h"
#include "util/array.h"
#include "util/file_name.h"
#include "util/text.h"

enum { MAX_THREADS = 1 << 20, TOLD_UNFOLLOWED = 5 };

char *bbv_slices_path(const char *path) {
    char *table;
    return asprintf(&table, "%s.slices", path) < 0 ? NULL : table;
}

static void note(struct bbv_profile_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void note(struct bbv_profile_result *result, const char *format, ...) {
    char *text;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    if (text && array_room(result->notes, result->note_capacity, result->note_count + 1))
        result->notes[result->note_count++] = text;
    else
        free(text);
}

void bbv_profile_result_free(struct bbv_profile_result *result) {
    array_free_each(result->notes, result->note_count);
    free(result->effect.what);
    result->effect.what = NULL;
    result->notes = NULL;
    result->note_count = result->note_capacity = 0;
}

/* ---- what items hold ---- */

static uint32_t id_of(struct profile *profile, const struct item_data *data, uint64_t event) {
    uint32_t id = profile_code_id(&profile->code, data->process, event_block_number(event));
    if (!id)
        error_set(profile->error, "a block was executed that is not defined: the program may have "
                                  "overwritten the memory that it is told through");
    return id;
}

static bool is_mark(const struct item_data *data, uint32_t at, unsigned mark) {
    return at < data->event_count && event_kind(data->events[at]) == EVENT_MARK &&
           event_mark_kind(data->events[at]) == mark;
}

static bool take_counts(struct profile *profile, struct profiled *thread,
                        const struct item_data *data) {
    for (uint32_t i = 0; i < data->event_count; i++) {
        uint64_t event = data->events[i];
        if (is_mark(data, i, MARK_SLICE)) {
            if (!slice_end(profile, thread))
                return false;
        } else if (event_kind(event) == EVENT_BLOCK) {
            uint32_t id = id_of(profile, data, event);
            bool counts = is_mark(data, i + 1, MARK_TIMES);
            if (!id ||
                !(counts ? slice_add(profile, thread, id, event_payload(data->events[++i]))
                         : slice_begin(profile, thread, data->thread, id)) ||
                (is_mark(data, i + 1, MARK_MISSED) &&
                 !slice_miss(profile, thread, id, event_payload(data->events[++i]))))
                return false;
        }
    }
    return true;
}

/* Before a watched block. As the plugin does it: with one thread by looks, else exactly. */
static bool slice_is_due(const struct profile *profile, struct profiled *thread,
                         const struct profile_block *block) {
    uint64_t done = thread->position - thread->place.first, size = profile->options->size;
    bool one_thread = profile->code.processes[thread->process].threads == 1;
    if (one_thread && thread->pace.left > 0)
        return false;
    counts_learn(&thread->pace, done);
    if (counts_due(size, done, block->place.image == MARKER_NO_IMAGE))
        return true;
    if (one_thread)
        counts_plan(&thread->pace, size, done);
    return false;
}

static bool enter_block(struct profile *profile, struct profiled *thread, uint32_t number,
                        uint32_t id) {
    const struct profile_block *block = profile_code_at(&profile->code, id);
    if (thread->open && block->watched && slice_is_due(profile, thread, block) &&
        !slice_end(profile, thread))
        return false;
    if (!thread->open && !slice_begin(profile, thread, number, id))
        return false;
    if (block->watched)
        thread->pace.left -= block->place.insn_count;
    thread->last = id;
    if (profile->options->counts_path &&
        !execution_enter(&profile->counts, &profile->code, &thread->execution, id))
        return profile_out_of_memory(profile);
    return slice_add(profile, thread, id, 1);
}

/* Marks that say something of the block before them. */
static bool take_mark(struct profile *profile, struct profiled *thread, uint64_t event) {
    uint64_t payload = event_payload(event);
    switch (event_mark_kind(event)) {
    case MARK_EXECUTED: {
        uint32_t insn_count =
            thread->last ? profile_code_at(&profile->code, thread->last)->place.insn_count : 0;
        if (payload >= insn_count)
            break;
        thread->execution.cut = (uint32_t)payload + 1;
        return slice_miss(profile, thread, thread->last, insn_count - payload);
    }
    case MARK_SIGNAL:
        thread->execution.signal = true;
        break;
    default:
        break;
    }
    return true;
}

/* What was executed next is not known. */
static bool take_gap(struct profile *profile, struct profiled *thread) {
    thread->execution = (struct execution_place){0};
    return slice_end(profile, thread);
}

static bool take_events(struct profile *profile, struct profiled *thread,
                        const struct item_data *data) {
    for (uint32_t i = 0; i < data->event_count; i++) {
        uint64_t event = data->events[i];
        if (is_mark(data, i, MARK_GAP)) {
            if (!take_gap(profile, thread))
                return false;
        } else if (event_kind(event) == EVENT_MARK) {
            if (!take_mark(profile, thread, event))
                return false;
        } else if (event_kind(event) == EVENT_BLOCK) {
            uint32_t id = id_of(profile, data, event);
            if (!id || !enter_block(profile, thread, data->thread, id))
                return false;
        }
    }
    return true;
}

static bool take_data(struct profile *profile, const struct item_data *data) {
    if (data->process >= profile->code.process_count)
        return error_set(profile->error, "process %" PRIu32 " is not defined", data->process);
    if (data->thread >= MAX_THREADS)
        return error_set(profile->error, "more than %d threads", MAX_THREADS);
    if (!array_zeroed_room(profile->threads, profile->thread_capacity, (size_t)data->thread + 1))
        return profile_out_of_memory(profile);
    if (profile->thread_count <= data->thread)
        profile->thread_count = (size_t)data->thread + 1;
    struct profiled *thread = profile->threads + data->thread;
    if (thread->ended || (thread->known && thread->process != data->process))
        return error_set(profile->error, "thread %" PRIu32 " goes on after its end", data->thread);
    if (!thread->known) {
        profile->result->threads++;
        profile->code.processes[data->process].threads++;
        *thread = (struct profiled){.known = true,
                                    .process = data->process,
                                    .ordinal = data->ordinal,
                                    .pace.reach = COUNTS_REACH_FIRST};
        if (data->first_insn && !profile->code.counted)
            note(profile->result,
                 "thread %" PRIu32 " begins at instruction %" PRIu64 ": markers of its slices "
                 "count executions from there, and are not found in a run from its beginning",
                 data->thread, data->first_insn);
    }
    if (data->first_insn != thread->position) { /* something is missing */
        if (!slice_end(profile, thread))
            return false;
        thread->position = data->first_insn;
    }
    return profile->code.counted ? take_counts(profile, thread, data)
                                 : take_events(profile, thread, data);
}

static bool take_process(struct profile *profile, const struct item_process *item) {
    const struct slice_process process = {.pid = item->pid,
                                          .executable = (char *)item->executable,
                                          .command = item->traced ? (char *)item->command : NULL,
                                          .forker = item->forker,
                                          .fork = item->fork,
                                          .generation = item->generation};
    profile->result->processes += item->traced;
    if (!item->traced && profile->result->unfollowed++ < TOLD_UNFOLLOWED)
        note(profile->result, "process %" PRIu32 " (%s) is not included: %s", item->pid,
             item->command, item->untraced_reason ? item->untraced_reason : "not traced");
    return profile_code_process(&profile->code, item->process, profile->error) &&
           slice_writer_process(&profile->files.table, item->process, &process, profile->error);
}

static bool take_header(struct profile *profile, const struct item_header *header) {
    profile->code.isa = header->isa;
    profile->command = strdup(header->command);
    if (!profile->command)
        return profile_out_of_memory(profile);
    profile->begun = true;
    return slice_files_open(&profile->files, profile->options->path, profile->table_path,
                            header->isa, header->command, profile->options->size, profile->error);
}

/* The emulator tells the plugin of faults and aborts, but not of an end by other signals. */
static void note_death(struct profile *profile) {
    const struct trace_exit *end = &profile->result->exit;
    int signal = end->status;
    if (profile->code.counted && end->signaled && signal != SIGABRT && signal != SIGSEGV &&
        signal != SIGBUS && signal != SIGFPE && signal != SIGILL && signal != SIGTRAP &&
        signal != SIGSYS && signal != SIGQUIT)
        note(profile->result, "the program was killed: what it executed since its last whole slice "
                              "may be missing");
}

static bool take_item(void *context, const struct item *item) {
    struct profile *profile = context;
    bool good;
    switch (item->kind) {
    case ITEM_HEADER:
        return take_header(profile, &item->header);
    case ITEM_PROCESS:
        return take_process(profile, &item->process);
    case ITEM_IMAGE:
        return profile_code_image(&profile->code, &item->image, profile->error);
    case ITEM_CODE:
        good = profile_code_block(&profile->code, &item->code, profile->error);
        profile->result->blocks = profile->code.block_count;
        return good;
    case ITEM_DATA:
        return take_data(profile, &item->data);
    case ITEM_THREAD_END:
        return item->thread_ended >= profile->thread_count ||
               profiled_end(profile, profile->threads + item->thread_ended);
    case ITEM_NOTE:
        note(profile->result, "%s", item->note);
        return true;
    case ITEM_CUT:
        note(profile->result, "%s", item->note);
        return true;
    case ITEM_EFFECT:
        if (!profile->result->effect.what)
            profile->result->effect = (struct trace_effect){
                item->effect.thread, item->effect.position, strdup(item->effect.what)};
        return profile->result->effect.what || profile_out_of_memory(profile);
    case ITEM_END:
        profile->result->exit = item->end;
        note_death(profile);
        profile->result->complete = item->end.known || item->end.stopped;
        return true;
    default:
        return true;
    }
}

/* ---- the run ---- */

/* A command must not run for a file that then cannot be made. */
static bool check_writable(const char *path, struct error *error) {
    struct stat status;
    bool exists = stat(path, &status) == 0;
    if (exists && !S_ISREG(status.st_mode))
        return true; /* a device, or a pipe, which may wait for its reader */
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return error_errno(error, "%s: cannot write", path);
    close(file);
    if (!exists)
        unlink(path);
    return true;
}

/* Of a trace, which does not say so, a thread's place in its process is by number. */
static bool write_threads(struct profile *profile) {
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        const struct profiled *thread = &profile->threads[i];
        struct slice_thread place = {i, thread->process, thread->ordinal};
        if (!thread->known)
            continue;
        if (!profile->options->capture)
            place.ordinal = profile->code.processes[thread->process].told++;
        if (!slice_writer_thread(&profile->files.table, &place, profile->error))
            return false;
    }
    return true;
}

/* Files that were begun, without a slice in them, or which could not be written. */
static void remove_begun(const struct profile *profile) {
    if (!profile->begun)
        return;
    file_remove_regular(profile->options->path);
    file_remove_regular(profile->table_path);
}

/* Always false. */
static bool nothing_profiled(const struct profile *profile, struct error *error) {
    const struct bbv_profile_options *options = profile->options;
    uint64_t skip = options->capture ? options->capture->skip : 0, executed = 0;
    if (profile->thread_count)
        executed = profile->threads[0].position;
    if (watcher_stops(&options->watcher))
        return error_set(error,
                         "interrupted before the first slice of %s instructions was complete",
                         text_count(options->size).s);
    if (skip && profile->result->complete)
        return error_set(error,
                         "no instruction was profiled: the first thread ended after %s "
                         "instructions, within --skip %" PRIu64,
                         text_grouped(executed).s, skip);
    if (profile->result->exit.signaled || profile->result->exit.stopped)
        return error_set(error,
                         "the command ended before its first slice of %s instructions was complete "
                         "(--size makes them shorter)",
                         text_count(options->size).s);
    return error_set(error, "%s: nothing was executed that could be profiled", options->path);
}

bool bbv_profile(const struct bbv_profile_options *options, struct bbv_profile_result *result,
                 int *exec_status, struct error *error) {
    struct error ignored;
    struct item_source source = {0};
    struct profile profile = {.options = options,
                              .result = result,
                              .code.counted = options->capture && !options->counts_path,
                              .error = error};
    *result = (struct bbv_profile_result){0};
    *exec_status = 125;
    profile.table_path = bbv_slices_path(options->path);
    if (!profile.table_path)
        return profile_out_of_memory(&profile);
    bool writable = check_writable(options->path, error) &&
                    check_writable(profile.table_path, error) &&
                    (!options->counts_path || check_writable(options->counts_path, error));
    *exec_status = writable ? 0 : 125;
    const struct run_items items = {
        .capture = options->capture,
        .trace = options->trace,
        .slice_size = options->counts_path ? 0 : options->size,
        .watcher = &options->watcher,
        .take = take_item,
        .context = &profile,
        .instructions = &result->instructions,
        .seconds = &result->seconds,
    };
    if (!writable || !run_items_open(&items, &source, exec_status, error)) {
        free(profile.table_path);
        return false;
    }
    bool good = run_items_take(&items, &source, error);
    source.close(source.context);
    for (size_t i = 0; i < profile.thread_count; i++) {
        profile.error = good ? error : &ignored;
        good &= profiled_end(&profile, profile.threads + i);
    }
    profile.error = good ? error : &ignored;
    if (profile.files.table.stream.buffer)
        good &= profile_write_code(&profile, (uint32_t)profile.code.block_count);
    if (profile.files.table.stream.buffer)
        good &= write_threads(&profile);
    bool closed =
        slice_files_close(&profile.files, result->complete && good, good ? error : &ignored);
    result->written = closed && result->slices;
    if (!result->written)
        remove_begun(&profile);
    if (good && closed && options->counts_path)
        good = (execution_counts_end(&profile.counts) || profile_out_of_memory(&profile)) &&
               execution_counts_write(&profile.counts, &profile.code, profile.command,
                                      options->counts_path, error);
    if (good && closed && !result->slices)
        good = nothing_profiled(&profile, error);
    profile_code_free(&profile.code);
    execution_counts_free(&profile.counts);
    free(profile.threads);
    free(profile.entries);
    free(profile.table_path);
    free(profile.command);
    return good && closed;
}
