/* What the plugin reports of a process: that it begins, which blocks it translates, which mapping
 * an address is in. Requests are answered at once. Every field is checked: the guest can write to
 * this memory. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/event.h"
#include "trace/qemu/capture.h"
#include "trace/qemu/futex.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/text.h"

enum { MAX_RECORD = 32 << 10, MAX_COMMAND = 64 << 10 };

/* ---- processes ---- */

/* The words that follow each other in memory up to `end`, but the second, each quoted for a shell.
 */
static char *quoted_words(const char *words, const char *end) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return NULL;
    text_put_word(file, words);
    words += strlen(words) + 1;
    while (words < end && (words += strlen(words) + 1) < end) {
        fputc(' ', file);
        text_put_word(file, words);
    }
    return text_printer_end(&printer);
}

/* "argv0 arguments...", from the emulator's own command line: behind its -0. */
static char *read_command(pid_t pid) {
    char name[64], *words = malloc(MAX_COMMAND + 1);
    snprintf(name, sizeof name, "/proc/%d/cmdline", (int)pid);
    int file = open(name, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t got = 0;
    while (words && file >= 0 && used < MAX_COMMAND &&
           (got = read(file, words + used, MAX_COMMAND - used)) > 0)
        used += (size_t)got;
    if (file >= 0)
        close(file);
    if (!words)
        return NULL;
    words[used] = 0;
    size_t at = 0;
    while (at < used && strcmp(words + at, "-0") != 0)
        at += strlen(words + at) + 1;
    at += strlen("-0") + 1;
    if (at >= used) {
        free(words);
        return NULL;
    }
    /* argv0, then the program's path, then the arguments: leave the path out. */
    char *command = quoted_words(words + at, words + used);
    free(words);
    return command;
}

static char *read_executable(pid_t pid) {
    char name[64], *words = NULL, *found = NULL;
    size_t size = 0;
    snprintf(name, sizeof name, "/proc/%d/cmdline", (int)pid);
    FILE *file = fopen(name, "re");
    int after = 0; /* words since "-0" */
    while (file && !found && getdelim(&words, &size, 0, file) > 0) {
        if (after == 2)
            found = realpath(words, NULL);
        if (after == 2 && !found)
            found = strdup(words);
        after += after || strcmp(words, "-0") == 0;
    }
    if (file)
        fclose(file);
    free(words);
    return found;
}

/* The index of the image in the list that the markers refer to. */
static uint32_t describe(struct capture *capture, const struct traced *process, uint32_t parent) {
    struct queued *item = capture_queue(capture, ITEM_PROCESS);
    item->process = process->number;
    item->described =
        (struct item_process){.process = process->number,
                              .pid = (uint32_t)process->pid,
                              .parent = parent,
                              .generation = process->generation,
                              .forker = process->forker,
                              .fork = process->fork,
                              .command = strdup(process->command ? process->command : "?"),
                              .executable = strdup(process->executable ? process->executable : "?"),
                              .traced = true};
    if (!item->described.command || !item->described.executable) {
        capture->out_of_memory = true;
        return PROCESS_UNKNOWN;
    }
    return item->described.known = process_match_add(&capture->markers.processes, &item->described);
}

static int find_process(const struct capture *capture, uint32_t number) {
    const size_t i = index_where(k, RING_PROCESSES,
                                 capture->slots[k].live && capture->slots[k].number == number);
    return i < RING_PROCESSES ? (int)i : -1;
}

static void end_by_exec(struct capture *capture, struct traced *process, uint32_t *parent) {
    for (uint32_t i = 0; i < RING_PROCESSES; i++) {
        struct traced *old = &capture->slots[i];
        if (!old->live || old->ending || old->pid != process->pid)
            continue;
        *parent = old->number;
        process->generation = old->generation + 1;
        process->forker = old->forker;
        process->fork = old->fork;
        chunks_harvest(capture, i);
        old->ending = true;
        old->ended_at = clock_monotonic();
    }
}

static void on_hello(struct capture *capture, uint32_t slot, const struct ring_hello *hello,
                     struct ring_reply *reply) {
    struct traced *process = &capture->slots[slot];
    uint32_t parent = UINT32_MAX;
    if (process->live)
        return;
    *process = (struct traced){
        .pid = (pid_t)hello->pid, .pidfd = -1, .forker = UINT32_MAX, .began = time(NULL)};
    struct block_table *inherited = NULL;
    if (hello->origin == RING_FORKED) {
        int from = find_process(capture, hello->parent);
        if (from >= 0) {
            struct traced *forker = &capture->slots[from];
            records_read_slot(capture, (uint32_t)from);
            parent = process->forker = forker->number;
            process->fork = hello->fork;
            inherited = forker->blocks;
            process->command = forker->command ? strdup(forker->command) : NULL;
            process->executable = forker->executable ? strdup(forker->executable) : NULL;
        }
    } else {
        end_by_exec(capture, process, &parent);
        process->command = read_command(process->pid);
        process->executable = read_executable(process->pid);
    }
    uint32_t inherited_blocks = hello->inherited_blocks;
    if (inherited && inherited_blocks > blocks_count(inherited))
        inherited_blocks = blocks_count(inherited);
    process->blocks = blocks_new(inherited, inherited_blocks);
    if (!process->blocks) {
        capture->out_of_memory = true;
        return;
    }
    process->live = true;
    process->pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    process->number = capture->process_count++;
    reply->process = process->number;
    reply->known = describe(capture, process, parent);
}

void records_leave(struct capture *capture, uint32_t slot) {
    struct traced *process = &capture->slots[slot];
    reached_queue(capture, slot, UINT64_MAX);
    for (uint32_t i = 0; i < capture->thread_count; i++) {
        struct traced_thread *thread = &capture->threads[i];
        if (!thread->known || thread->slot != slot || thread->ended)
            continue;
        thread->ended = true;
        capture_queue(capture, ITEM_THREAD_END)->number = i;
    }
    if (process->pidfd >= 0)
        close(process->pidfd);
    free(process->command);
    free(process->executable);
    free(process->dump);
    blocks_release(process->blocks);
    *process = (struct traced){.pidfd = -1};
    struct ring_process *shared = &capture->control->processes[slot];
    atomic_store(&shared->tail, 0);
    atomic_store(&shared->head, 0);
    atomic_store(&shared->forks_begun, 0);
    atomic_store(&shared->forks_arrived, 0);
    atomic_store(&shared->claimed, 0);
}

static const char *const UNTRACED_REASONS[] = {
    [RING_NOT_FOLLOWED] = "not followed (--follow)",
    [RING_SET_USER_ID] = "set-user-id program",
    [RING_OTHER_MACHINE] = "for another machine",
    [RING_UNREACHABLE] = "cut off from culprit (another container or user)",
};

/* `path`: of the program that it executes; empty: its parent's. */
static void describe_left_out(struct capture *capture, struct left_out *child, const char *path) {
    struct queued *item = capture_queue(capture, ITEM_PROCESS);
    item->process = child->number = capture->process_count++;
    child->told = true;
    item->described = (struct item_process){.process = child->number,
                                            .pid = (uint32_t)child->pid,
                                            .parent = child->parent,
                                            .forker = UINT32_MAX,
                                            .known = PROCESS_UNKNOWN,
                                            .generation = *path ? 1 : 0,
                                            .command = strdup(*path ? path : child->command),
                                            .executable = strdup(*path ? path : child->executable),
                                            .untraced_reason = UNTRACED_REASONS[RING_NOT_FOLLOWED]};
}

/* A daemon is a process that its command leaves behind. */
static bool runs_on(const struct left_out *child) {
    char path[64], state = 'X';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)child->pid);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 'X';
    if (file)
        fclose(file);
    return state != 'X' && state != 'Z';
}

void records_name_left_out(struct capture *capture) {
    for (size_t i = 0; i < capture->left_out_count; i++) {
        struct left_out *child = &capture->left_out[i];
        if (!child->told)
            describe_left_out(capture, child, "");
        if (!child->looked_at && runs_on(child))
            capture_note(capture,
                         "process %d was left running in the background, uncaptured: with --follow "
                         "it is captured, and ended with --for",
                         (int)child->pid);
        child->looked_at = true;
    }
}

static void free_left_out(struct left_out *child) {
    free(child->command);
    free(child->executable);
}

void records_free(struct capture *capture) {
    for (size_t i = 0; i < capture->left_out_count; i++)
        free_left_out(&capture->left_out[i]);
    free(capture->left_out);
}

static struct left_out *find_left_out(struct capture *capture, uint32_t pid) {
    for (size_t i = capture->left_out_count; i-- > 0;)
        if (capture->left_out[i].pid == (pid_t)pid)
            return &capture->left_out[i];
    return NULL;
}

static void leave_out(struct capture *capture, const struct ring_untraced_process *untraced) {
    int parent = find_process(capture, untraced->parent);
    const struct traced *from = parent >= 0 ? &capture->slots[parent] : NULL;
    if (!array_room(capture->left_out, capture->left_out_capacity, capture->left_out_count + 1)) {
        capture->out_of_memory = true;
        return;
    }
    capture->left_out[capture->left_out_count++] =
        (struct left_out){.pid = (pid_t)untraced->pid,
                          .forked = untraced->forked,
                          .parent = from ? from->number : UINT32_MAX,
                          .command = strdup(from && from->command ? from->command : "?"),
                          .executable = strdup(from && from->executable ? from->executable : "?")};
}

/* A child that is not traced was forked, or executes a program. It reports each in a slot of its
 * own, so that the second may be read before the first. */
static void on_left_out(struct capture *capture, const struct ring_untraced_process *untraced,
                        const char *path) {
    struct left_out *child = find_left_out(capture, untraced->pid);
    if (untraced->forked && child && !child->forked) {
        child->forked = true;
        return;
    }
    if (untraced->forked || !child) {
        leave_out(capture, untraced);
        child = find_left_out(capture, untraced->pid);
    }
    if (!untraced->forked && child && !child->told)
        describe_left_out(capture, child, path);
}

static void hear_left_out(struct capture *capture);

static bool on_waited(struct capture *capture, const struct ring_waited *waited) {
    hear_left_out(capture);
    struct left_out *child = find_left_out(capture, waited->pid);
    if (!child)
        return true; /* forked before anything was captured */
    if (!child->told)
        describe_left_out(capture, child, "");
    struct queued *item = capture_queue(capture, ITEM_CHILD);
    item->process = child->number;
    item->seconds = (double)waited->user_microseconds / 1e6;
    free_left_out(child); /* its pid may be another's next */
    *child = capture->left_out[--capture->left_out_count];
    return true;
}

static bool on_untraced(struct capture *capture, uint32_t slot,
                        const struct ring_untraced_process *untraced, const char *path,
                        size_t path_size) {
    struct traced *process = &capture->slots[slot];
    if (untraced->reason > RING_UNREACHABLE || !memchr(path, 0, path_size))
        return false;
    if (!process->live) { /* a fork child, or its exec, in a slot of its own */
        on_left_out(capture, untraced, path);
        records_leave(capture, slot);
        return true;
    }
    struct queued *item = capture_queue(capture, ITEM_PROCESS);
    item->process = capture->process_count++;
    item->described = (struct item_process){.process = item->process,
                                            .pid = untraced->pid,
                                            .parent = process->number,
                                            .forker = UINT32_MAX,
                                            .known = PROCESS_UNKNOWN,
                                            .generation = process->generation + 1,
                                            .command = strdup(path),
                                            .executable = strdup(path),
                                            .untraced_reason = UNTRACED_REASONS[untraced->reason]};
    return true;
}

/* ---- code ---- */

/* Address of from_symbol, if the mapping holds it; 0: not. */
static uint64_t find_symbol(struct capture *capture, const struct image_mapping *mapping) {
    uint64_t offset, size;
    const struct image *image = &capture->images.items[mapping->image];
    if (!capture->from_symbol || image->kind != CODE_IMAGE_FILE)
        return 0;
    uint32_t number =
        program_add_image(capture->program, image->path, image->build_id, image->build_id_size);
    if (!program_find_function(capture->program, number, capture->from_symbol, &offset, &size) ||
        offset < mapping->file_offset ||
        offset - mapping->file_offset >= mapping->end - mapping->start)
        return 0;
    return mapping->start + (offset - mapping->file_offset);
}

static void on_map(struct capture *capture, uint32_t slot, const struct ring_map *map,
                   struct ring_reply *reply) {
    struct traced *process = &capture->slots[slot];
    struct image_mapping mapping;
    if (!process->live ||
        !images_find(&capture->images, process->pid, map->address, map->guest_base, &mapping))
        return;
    *reply = (struct ring_reply){.image = mapping.image,
                                 .start = mapping.start,
                                 .end = mapping.end,
                                 .file_offset = mapping.file_offset};
    const struct image *image =
        mapping.image == UINT32_MAX ? NULL : &capture->images.items[mapping.image];
    reply->marked = markers_image(&capture->markers, image);
    if (!image) {
        if (!process->dump)
            process->dump = images_find_dump(process->pid);
        return;
    }
    reply->symbol = find_symbol(capture, &mapping);
    reply->python = python_in_mapping(capture, &mapping);
    allocators_in_mapping(capture, process, &mapping, reply);
    reply->allocations =
        capture->launch.allocations[0] && strcmp(image->path, capture->launch.allocations) == 0;
    struct queued *item = capture_queue(capture, ITEM_IMAGE);
    item->process = process->number;
    item->mapping = mapping;
    if (!blocks_announce(process->blocks, &mapping))
        capture->out_of_memory = true;
}

static bool on_block(struct capture *capture, uint32_t slot, const struct ring_block *block,
                     const uint8_t *bytes) {
    struct traced *process = &capture->slots[slot];
    if (!process->live || block->insn_count < 1 || block->insn_count > EVENT_MAX_BLOCK_INSNS ||
        block->size < block->insn_count || block->size > 16 * EVENT_MAX_BLOCK_INSNS ||
        block->size > block->record.size - sizeof *block ||
        (block->image != UINT32_MAX && block->image >= capture->images.count) ||
        !blocks_add(process->blocks, block, bytes))
        return false;
    capture->ran = true;
    capture->evex |= (block->flags & RING_BLOCK_EVEX) != 0;
    if (process->blocks->parent)
        return true; /* numbered when entered */
    struct queued *item = capture_queue(capture, ITEM_CODE);
    item->process = process->number;
    item->number = block->block;
    item->blocks = process->blocks;
    item->blocks->references++;
    item->definition = process->blocks->code.count - 1;
    return true;
}

/* ---- Python ---- */

/* Two strings, each with its end. */
static bool on_python(struct capture *capture, uint32_t slot,
                      const struct ring_python_function *function, const char *text, size_t size) {
    struct traced *process = &capture->slots[slot];
    const char *end = memchr(text, 0, size);
    const size_t name = end ? (size_t)(end + 1 - text) : size;
    if (!process->live || !memchr(text + name, 0, size - name) ||
        function->function != process->python + 1 || function->function > PYTHON_FUNCTION_MAX)
        return false;
    process->python = function->function;
    struct queued *item = capture_queue(capture, ITEM_PYTHON);
    item->python = (struct item_python){.process = process->number,
                                        .function = function->function,
                                        .first_line = function->first_line,
                                        .name = strdup(text),
                                        .path = strdup(text + name)};
    return true;
}

/* ---- effects ---- */

static bool on_effect(struct capture *capture, const struct ring_effect *effect, const char *what,
                      size_t what_size) {
    if (!memchr(what, 0, what_size))
        return false;
    struct queued *item = capture_queue(capture, ITEM_EFFECT);
    item->text = strdup(what);
    item->number = effect->thread;
    item->position = effect->position;
    return true;
}

/* ---- events of threads ---- */

/* In the order in which the thread made the calls; a thread is made once. */
static bool on_thread_event(struct capture *capture, uint32_t slot,
                            const struct thread_event *event) {
    struct traced_thread *thread = chunks_thread(capture, event->thread);
    struct traced_thread *made =
        event->other == THREAD_EVENT_NO_THREAD ? NULL : chunks_thread(capture, event->other);
    thread = thread ? &capture->threads[event->thread] : NULL; /* which may have moved */
    if (!thread || (event->other != THREAD_EVENT_NO_THREAD && !made) ||
        !thread_event_is_sound(event) || event->position < thread->told || (made && made->made))
        return false;
    if (!capture->slots[slot].live || thread->ended || (thread->known && thread->slot != slot))
        return true;
    thread->told = event->position;
    if (made)
        made->made = true;
    struct queued *item = capture_queue(capture, ITEM_THREAD_EVENT);
    item->event = *event;
    item->event.process = capture->slots[slot].number;
    item->event.number = item->event.reserved = 0;
    return true;
}

/* ---- reading ---- */

static void copy_out(struct ring_control *control, uint32_t slot, uint64_t at, void *to,
                     size_t size) {
    const uint8_t *records = ring_records(control, slot);
    size_t offset = at % RING_RECORD_BYTES, first = RING_RECORD_BYTES - offset;
    if (first > size)
        first = size;
    memcpy(to, records + offset, first);
    memcpy((uint8_t *)to + first, records, size - first);
}

static void answer(struct ring_process *shared, const struct ring_reply *reply) {
    shared->reply = *reply;
    atomic_fetch_add(&shared->replies, 1);
    futex_wake(&shared->replies);
}

static bool handle(struct capture *capture, uint32_t slot, const uint64_t *record, size_t size) {
    struct ring_process *shared = &capture->control->processes[slot];
    struct ring_reply reply = {
        .image = UINT32_MAX, .marked = RING_UNMARKED, .known = PROCESS_UNKNOWN};
    const struct ring_record *head = (const struct ring_record *)record;
    switch (head->kind) {
    case RING_HELLO:
        if (size < sizeof(struct ring_hello))
            return false;
        on_hello(capture, slot, (const struct ring_hello *)record, &reply);
        answer(shared, &reply);
        return true;
    case RING_MAP:
        if (size < sizeof(struct ring_map))
            return false;
        on_map(capture, slot, (const struct ring_map *)record, &reply);
        answer(shared, &reply);
        return true;
    case RING_BLOCK:
        return size >= sizeof(struct ring_block) &&
               on_block(capture, slot, (const struct ring_block *)record,
                        (const uint8_t *)record + sizeof(struct ring_block));
    case RING_UNTRACED:
        return size > sizeof(struct ring_untraced_process) &&
               on_untraced(capture, slot, (const struct ring_untraced_process *)record,
                           (const char *)record + sizeof(struct ring_untraced_process),
                           size - sizeof(struct ring_untraced_process));
    case RING_REACHED:
        return size >= sizeof(struct ring_reached) &&
               reached_note(capture, slot, (const struct ring_reached *)record,
                            (const uint8_t *)record + sizeof(struct ring_reached),
                            size - sizeof(struct ring_reached));
    case RING_WAITED:
        return size >= sizeof(struct ring_waited) &&
               on_waited(capture, (const struct ring_waited *)record);
    case RING_PYTHON:
        return size > sizeof(struct ring_python_function) &&
               on_python(capture, slot, (const struct ring_python_function *)record,
                         (const char *)record + sizeof(struct ring_python_function),
                         size - sizeof(struct ring_python_function));
    case RING_THREAD_EVENT:
        return size == sizeof(struct ring_thread_event) &&
               on_thread_event(capture, slot, &((const struct ring_thread_event *)record)->event);
    case RING_EFFECT:
        return size > sizeof(struct ring_effect) &&
               on_effect(capture, (const struct ring_effect *)record,
                         (const char *)record + sizeof(struct ring_effect),
                         size - sizeof(struct ring_effect));
    }
    return false;
}

/* Reads the next record, if there is one. */
static bool read_record(struct capture *capture, uint32_t slot) {
    struct ring_control *control = capture->control;
    struct ring_process *shared = &control->processes[slot];
    uint64_t record[MAX_RECORD / 8];
    uint64_t tail = atomic_load(&shared->tail), head = atomic_load(&shared->head);
    if (capture->slots[slot].broken || head == tail)
        return false;
    struct ring_record *first = (struct ring_record *)record;
    if (head - tail >= sizeof *first && head - tail <= RING_RECORD_BYTES)
        copy_out(control, slot, tail, record, sizeof *first);
    else
        first->size = 0;
    size_t size = first->size;
    bool whole =
        size >= sizeof *first && size % 8 == 0 && size <= head - tail && size <= MAX_RECORD;
    if (whole) {
        copy_out(control, slot, tail, record, size);
        first->size = (uint32_t)size;
        atomic_store(&shared->tail, tail + size); /* before an answer lets the sender go on */
    }
    if (!whole || !handle(capture, slot, record, size)) {
        capture->slots[slot].broken = true;
        capture_detach(capture); /* otherwise it would wait for us forever */
        capture_note(capture, "process %d overwrote the capture's memory: its trace ends there",
                     (int)capture->slots[slot].pid);
    }
    return true;
}

/* A child that was waited for has reported before what it was. */
static void hear_left_out(struct capture *capture) {
    for (uint32_t i = 0; i < RING_PROCESSES; i++) {
        struct ring_process *shared = &capture->control->processes[i];
        struct ring_record next = {0};
        if (capture->slots[i].live || !atomic_load(&shared->claimed))
            continue;
        uint64_t tail = atomic_load(&shared->tail), head = atomic_load(&shared->head);
        if (head - tail >= sizeof next)
            copy_out(capture->control, i, tail, &next, sizeof next);
        if (next.kind == RING_UNTRACED)
            read_record(capture, i);
    }
}

bool records_read_slot(struct capture *capture, uint32_t slot) {
    struct ring_control *control = capture->control;
    bool any = false;
    while (read_record(capture, slot))
        any = true;
    if (any) {
        atomic_fetch_add(&control->released, 1);
        if (atomic_load(&control->waiting))
            futex_wake(&control->released);
    }
    return any;
}

bool records_read(struct capture *capture) {
    bool any = false;
    for (uint32_t i = 0; i < RING_PROCESSES; i++)
        if (capture->slots[i].live ||
            atomic_load_explicit(&capture->control->processes[i].claimed, memory_order_acquire))
            any |= records_read_slot(capture, i);
    return any;
}
