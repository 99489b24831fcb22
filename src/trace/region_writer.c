/* Blocks, images and threads get numbers of their own in each trace, in the order in which they
 * come, so that a trace holds the code that it enters and no more. */
#include "trace/region_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event.h"
#include "util/array.h"
#include "util/file_name.h"

enum { NOTED_THREADS = 64 };

/* ---- kept definitions ---- */

struct kept_process *kept_process_new(const struct item_process *process) {
    struct kept_process *kept = calloc(1, sizeof *kept);
    if (!kept)
        return NULL;
    kept->process = *process;
    kept->process.command = strdup(process->command);
    kept->process.executable = strdup(process->executable);
    kept->process.untraced_reason = NULL;
    if (kept->process.command && kept->process.executable)
        return kept;
    kept_process_free(kept);
    return NULL;
}

bool kept_process_code(struct kept_process *process, const struct item_code *code) {
    const struct kept_block block = {.address = code->address,
                                     .offset = code->offset,
                                     .image = code->image,
                                     .insn_count = code->insn_count,
                                     .size = code->size,
                                     .described = code->described};
    return code->block == process->code.count && kept_code_add(&process->code, block, code->bytes);
}

bool kept_process_image(struct kept_process *process, const struct item_image *image) {
    char *path = strdup(image->path);
    if (!path ||
        !array_room(process->mappings, process->mapping_capacity, process->mapping_count + 1)) {
        free(path);
        return false;
    }
    process->mappings[process->mapping_count] = *image;
    process->mappings[process->mapping_count++].path = path;
    return true;
}

bool kept_process_python(struct kept_process *process, const struct item_python *python) {
    char *name = strdup(python->name), *path = strdup(python->path);
    if (!name || !path ||
        !array_room(process->python, process->python_capacity, process->python_count + 1)) {
        free(name);
        free(path);
        return false;
    }
    struct item_python *kept = &process->python[process->python_count++];
    *kept = *python;
    kept->name = name;
    kept->path = path;
    return true;
}

void kept_process_free(struct kept_process *process) {
    if (!process)
        return;
    for (size_t i = 0; i < process->mapping_count; i++)
        free((char *)process->mappings[i].path);
    for (size_t i = 0; i < process->python_count; i++) {
        free((char *)process->python[i].name);
        free((char *)process->python[i].path);
    }
    free(process->python);
    free((char *)process->process.command);
    free((char *)process->process.executable);
    free(process->mappings);
    kept_code_free(&process->code);
    free(process);
}

/* ---- definitions in a trace ---- */

static bool out_of_memory(const struct region_writer *writer, struct error *error) {
    return error_set(error, "out of memory writing trace %s", writer->path);
}

static bool put(struct region_writer *writer, const struct item *item, struct error *error) {
    return writer->stream ? region_stream_put(writer->stream, item, error)
                          : file_writer_put(writer->file, item, error);
}

/* The number here of a captured image; tells of the mapping that an address lies in, once. */
static bool define_image(struct region_writer *writer, uint32_t captured, uint64_t address,
                         uint32_t *number, struct error *error) {
    const struct kept_process *process = writer->process;
    size_t mapping = process->mapping_count;
    while (mapping-- > 0)
        if (process->mappings[mapping].image == captured &&
            process->mappings[mapping].start <= address && address < process->mappings[mapping].end)
            break;
    if (mapping == SIZE_MAX)
        return error_set(error, "trace %s: code at 0x%" PRIx64 " lies in no image", writer->path,
                         address);
    *number = 0;
    while (*number < writer->image_count && writer->images[*number] != captured)
        ++*number;
    if (writer->mapped[mapping])
        return true;
    if (*number == writer->image_count) {
        if (!array_push(writer->images, writer->image_capacity, writer->image_count, captured))
            return out_of_memory(writer, error);
    }
    writer->mapped[mapping] = true;
    struct item item = {.kind = ITEM_IMAGE, .image = process->mappings[mapping]};
    item.image.process = 0;
    item.image.image = *number;
    return put(writer, &item, error);
}

static bool define_block(struct region_writer *writer, uint32_t captured, struct error *error) {
    const struct kept_process *process = writer->process;
    if (captured >= process->code.count)
        return error_set(error, "trace %s: block %" PRIu32 " entered of %zu", writer->path,
                         captured, process->code.count);
    if (!array_zeroed_room(writer->blocks, writer->block_capacity, process->code.count) ||
        !array_zeroed_room(writer->mapped, writer->mapped_capacity, process->mapping_count))
        return out_of_memory(writer, error);
    struct item item = {.kind = ITEM_CODE,
                        .code = kept_code_item(&process->code, captured, 0, writer->block_count)};
    const uint32_t image = item.code.image;
    if (image != UINT32_MAX &&
        !define_image(writer, image, item.code.address, &item.code.image, error))
        return false;
    writer->blocks[captured] = ++writer->block_count;
    return put(writer, &item, error);
}

/* ---- the trace ---- */

bool region_writer_open(struct region_writer *writer, const char *path, bool compress,
                        struct region_stream *stream, const struct item_header *header,
                        const struct kept_process *process, uint64_t most_others,
                        struct error *error) {
    *writer = (struct region_writer){
        .stream = stream, .path = path, .process = process, .most_others = most_others};
    writer->file = stream ? NULL : file_writer_open(path, compress, error);
    struct item first = {.kind = ITEM_HEADER, .header = *header};
    struct item second = {.kind = ITEM_PROCESS, .process = process->process};
    second.process.process = 0;
    second.process.parent = UINT32_MAX;
    if (!array_room(writer->threads, writer->thread_capacity, 1))
        return out_of_memory(writer, error);
    writer->threads[writer->thread_count++] = (struct region_writer_thread){0};
    return region_writer_is_open(writer) && put(writer, &first, error) &&
           put(writer, &second, error);
}

/* The thread's number here, or that which it will get; false: out of memory. */
static bool find_thread(struct region_writer *writer, uint32_t captured, uint32_t *number) {
    if (!array_zeroed_room(writer->thread_numbers, writer->number_capacity, (size_t)captured + 1))
        return false;
    uint32_t known = writer->thread_numbers[captured];
    *number = known ? known - 1 : (uint32_t)writer->thread_count;
    return true;
}

/* The first number is kept for the region's own thread, whichever comes first. */
static bool number_thread(struct region_writer *writer, const struct item_data *data,
                          uint32_t number) {
    if (number < writer->thread_count && writer->threads[number].met)
        return true;
    if (!array_room(writer->threads, writer->thread_capacity, (size_t)number + 1))
        return false;
    writer->threads[number] = (struct region_writer_thread){
        .ordinal = data->ordinal, .first = data->first_insn, .met = true};
    writer->thread_numbers[data->thread] = number + 1;
    if (number == writer->thread_count)
        writer->thread_count++;
    return true;
}

/* False: nothing more of other threads is written. */
static bool has_room(struct region_writer *writer, uint64_t insns) {
    bool room = insns <= writer->most_others && writer->others <= writer->most_others - insns;
    writer->others = room ? writer->others + insns : writer->most_others;
    writer->others_cut |= !room && writer->started;
    return room;
}

static uint32_t first_block(const struct item_data *data) {
    return (uint32_t)index_where(i, data->event_count, event_kind(data->events[i]) == EVENT_BLOCK);
}

/* The thread that another makes has its number before it executes anything. One whose instructions
 * are not wanted is not captured. */
static bool number_created(struct region_writer *writer, uint32_t captured, uint32_t *number) {
    *number = THREAD_EVENT_NO_THREAD;
    if (captured == THREAD_EVENT_NO_THREAD || !writer->most_others)
        return true;
    if (!find_thread(writer, captured, number) ||
        !array_room(writer->threads, writer->thread_capacity, (size_t)*number + 1))
        return false;
    if (*number == writer->thread_count)
        writer->threads[writer->thread_count++] = (struct region_writer_thread){0};
    writer->thread_numbers[captured] = *number + 1;
    return true;
}

/* `moved`: added to what the capture counted before an instruction, this is what the trace does. */
static bool put_events(struct region_writer *writer, struct chunk_events events, uint32_t number,
                       uint64_t moved, struct error *error) {
    for (size_t i = 0; i < events.count; i++) {
        struct item item = {.kind = ITEM_THREAD_EVENT, .event = events.items[i]};
        item.event.process = 0;
        item.event.thread = number;
        item.event.position += moved;
        if (item.event.kind == THREAD_EVENT_BLOCK) /* who wrote is left out, as of memory */
            item.event.address2 = item.event.value = 0;
        if (!number_created(writer, item.event.other, &item.event.other))
            return out_of_memory(writer, error);
        if (!put(writer, &item, error))
            return false;
    }
    return true;
}

static bool is_left_out(uint64_t mark) {
    return event_mark_kind(mark) == MARK_WRITER || event_mark_kind(mark) == MARK_WRITTEN;
}

static bool is_mapping_of_file(uint64_t event) {
    return event_kind(event) == EVENT_MARK && event_mark_kind(event) == MARK_MEMORY &&
           event_payload(event) >> 48 == MEMORY_MAPPED;
}

/* The extent of a mapping, whose image has a number of its own here. One that is not known is as
 * anonymous memory. */
static bool define_mapping(struct region_writer *writer, uint64_t *event, struct error *error) {
    const struct kept_process *process = writer->process;
    const uint64_t extent = event_payload(*event), mask = (1u << EXTENT_IMAGE_BITS) - 1;
    const uint32_t captured = (uint32_t)(extent & mask) - 1;
    const size_t mapping =
        index_where(i, process->mapping_count, process->mappings[i].image == captured);
    uint32_t number = 0;
    if (!(extent & mask))
        return true;
    *event = event_mark(MARK_EXTENT, extent & ~mask);
    if (mapping == process->mapping_count)
        return true;
    if (!array_zeroed_room(writer->mapped, writer->mapped_capacity, process->mapping_count))
        return out_of_memory(writer, error);
    if (!define_image(writer, captured, process->mappings[mapping].start, &number, error))
        return false;
    if (number + UINT64_C(1) <= mask)
        *event |= number + 1;
    return true;
}

/* Functions have the numbers that they have in the process. */
static bool put_python(struct region_writer *writer, struct error *error) {
    const struct kept_process *process = writer->process;
    for (; writer->python < process->python_count; writer->python++) {
        struct item item = {.kind = ITEM_PYTHON, .python = process->python[writer->python]};
        item.python.process = 0;
        if (!put(writer, &item, error))
            return false;
    }
    return true;
}

/* The events from one on as this trace has them. */
static bool renumber(struct region_writer *writer, const struct item_data *data, uint32_t from,
                     uint64_t *events, uint32_t *count, struct error *error) {
    const uint32_t *blocks = writer->blocks;
    size_t known = writer->block_capacity;
    for (uint32_t i = from; i < data->event_count; i++) {
        uint64_t event = data->events[i];
        if (event_kind(event) == EVENT_BLOCK) {
            const uint32_t captured = event_block_number(event);
            if (__builtin_expect(captured >= known || !blocks[captured], 0)) {
                if (!define_block(writer, captured, error))
                    return false;
                blocks = writer->blocks;
                known = writer->block_capacity;
            }
            event = event_block(blocks[captured] - 1);
        } else if (event_kind(event) == EVENT_MARK) {
            if (is_left_out(event))
                continue; /* threads have other numbers here, and begin elsewhere */
            if (i > from && is_mapping_of_file(data->events[i - 1]) &&
                !define_mapping(writer, &event, error))
                return false;
        }
        events[(*count)++] = event;
    }
    return true;
}

/* Where a chunk's events go: a stream takes them over. */
static uint64_t *room_for(struct region_writer *writer, size_t count) {
    if (writer->stream) {
        free(writer->events);
        return writer->events = malloc(count * sizeof *writer->events);
    }
    return array_room(writer->events, writer->event_capacity, count) ? writer->events : NULL;
}

static bool put_data(struct region_writer *writer, const struct item_data *data,
                     struct error *error) {
    const struct item item = {.kind = ITEM_DATA, .data = *data};
    if (writer->stream)
        writer->events = NULL;
    return put(writer, &item, error);
}

bool region_writer_data(struct region_writer *writer, const struct item_data *data,
                        struct chunk_events events, bool own, struct error *error) {
    uint32_t number, count = 0;
    if (!find_thread(writer, data->thread, &number))
        return out_of_memory(writer, error);
    number = own ? 0 : number;
    if (!own && !has_room(writer, data->insn_count)) {
        if (number < writer->thread_count)
            writer->threads[number].gap = true;
        return true;
    }
    if (!number_thread(writer, data, number) || !room_for(writer, (size_t)data->event_count + 1))
        return out_of_memory(writer, error);
    struct region_writer_thread *thread = &writer->threads[number];
    const uint64_t first = thread->first + thread->insns;
    if (thread->gap)
        writer->events[count++] = event_mark(MARK_GAP, 0);
    /* What is left of a block whose beginning is missing belongs to it. */
    const uint32_t from = thread->gap || !thread->insns ? first_block(data) : 0;
    thread->gap = false;
    if (!renumber(writer, data, from, writer->events, &count, error))
        return false;
    if (!count)
        return true;
    thread->insns += data->insn_count;
    if (!put_events(writer, events, number, first - data->first_insn, error) ||
        !put_python(writer, error))
        return false;
    struct item_data here = *data;
    here.process = 0;
    here.thread = number;
    here.first_insn = first;
    here.event_count = count;
    here.events = writer->events;
    return put_data(writer, &here, error);
}

uint32_t region_writer_thread_count(const struct region_writer *writer) {
    return sum_over(uint32_t, i, writer->thread_count, writer->threads[i].met);
}

void region_writer_start(struct region_writer *writer) {
    for (size_t i = 1; i < writer->thread_count; i++)
        writer->threads[i].before = writer->threads[i].insns;
    writer->started = true;
    writer->others = 0;
}

static bool put_thread_end(struct region_writer *writer, uint32_t number, struct error *error) {
    struct item item = {.kind = ITEM_THREAD_END, .thread_ended = number};
    writer->threads[number].ended = true;
    return put(writer, &item, error);
}

bool region_writer_thread_ended(struct region_writer *writer, uint32_t thread,
                                struct error *error) {
    uint32_t number = thread < writer->number_capacity ? writer->thread_numbers[thread] : 0;
    return !number || writer->threads[number - 1].ended ||
           put_thread_end(writer, number - 1, error);
}

/* Where the region lies in the other threads; false: there are none. */
static bool describe_others(const struct region_writer *writer, char **note) {
    size_t size, told = 0, others = 0;
    for (size_t i = 1; i < writer->thread_count; i++)
        others += writer->threads[i].met;
    FILE *text = open_memstream(note, &size);
    if (!text || (!others && !writer->others_cut)) {
        if (text)
            fclose(text);
        free(*note);
        *note = NULL;
        return text != NULL;
    }
    if (others)
        fputs("the region in other threads of this trace:", text);
    for (size_t i = 1; i < writer->thread_count && told < NOTED_THREADS; i++)
        if (writer->threads[i].met)
            fprintf(text, "%s %zu (thread %" PRIu32 " of the process) %" PRIu64 " to %" PRIu64,
                    told++ ? "," : "", i, writer->threads[i].ordinal, writer->threads[i].before,
                    writer->threads[i].insns);
    if (others > told)
        fprintf(text, " and %zu more", others - told);
    if (writer->others_cut)
        fprintf(text,
                "%sleft out is what other threads executed in it beyond %" PRIu64 " instructions",
                others ? "; " : "", writer->most_others);
    return fclose(text) == 0;
}

static bool put_notes(struct region_writer *writer, const char *note, struct error *error) {
    char *others = NULL;
    struct item first = {.kind = ITEM_NOTE, .note = note};
    bool good = describe_others(writer, &others) || out_of_memory(writer, error);
    struct item second = {.kind = ITEM_NOTE, .note = others};
    good = good && put(writer, &first, error) && (!others || put(writer, &second, error));
    free(others);
    return good;
}

static void release(struct region_writer *writer) {
    region_stream_end(writer->stream);
    free(writer->blocks);
    free(writer->mapped);
    free(writer->images);
    free(writer->threads);
    free(writer->thread_numbers);
    free(writer->events);
    *writer = (struct region_writer){.path = writer->path};
}

bool region_writer_close(struct region_writer *writer, const char *note, bool thread_ended,
                         uint64_t *bytes, struct error *error) {
    struct item end = {.kind = ITEM_END, .end = {.known = false}};
    struct error ignored;
    bool good = put_notes(writer, note, error) &&
                (!thread_ended || put_thread_end(writer, 0, error)) && put(writer, &end, error);
    if (writer->file) {
        good = file_writer_close(writer->file, bytes, good ? error : &ignored) && good;
        if (!good)
            file_remove_regular(writer->path);
    }
    release(writer);
    return good;
}

void region_writer_discard(struct region_writer *writer) {
    struct error ignored;
    if (writer->file) {
        file_writer_close(writer->file, NULL, &ignored);
        file_remove_regular(writer->path);
    }
    release(writer);
}
