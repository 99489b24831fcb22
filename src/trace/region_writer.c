/* Blocks, images and the thread get numbers of their own in each trace, in the order in which they
 * come, so that a trace holds the code that it enters and no more. */
#include "trace/region_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/event.h"
#include "util/array.h"

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
    if (code->block != process->block_count ||
        !array_reserve((void **)&process->blocks, &process->block_capacity,
                       process->block_count + 1, sizeof *process->blocks) ||
        !array_reserve((void **)&process->bytes, &process->byte_capacity,
                       process->byte_count + code->size, 1))
        return false;
    memcpy(process->bytes + process->byte_count, code->bytes, code->size);
    process->blocks[process->block_count++] = (struct kept_block){.address = code->address,
                                                                  .offset = code->offset,
                                                                  .bytes = process->byte_count,
                                                                  .image = code->image,
                                                                  .insn_count = code->insn_count,
                                                                  .size = code->size};
    process->byte_count += code->size;
    return true;
}

bool kept_process_image(struct kept_process *process, const struct item_image *image) {
    char *path = strdup(image->path);
    if (!path || !array_reserve((void **)&process->mappings, &process->mapping_capacity,
                                process->mapping_count + 1, sizeof *process->mappings)) {
        free(path);
        return false;
    }
    process->mappings[process->mapping_count] = *image;
    process->mappings[process->mapping_count++].path = path;
    return true;
}

void kept_process_free(struct kept_process *process) {
    if (!process)
        return;
    for (size_t i = 0; i < process->mapping_count; i++)
        free((char *)process->mappings[i].path);
    free((char *)process->process.command);
    free((char *)process->process.executable);
    free(process->mappings);
    free(process->blocks);
    free(process->bytes);
    free(process);
}

/* ---- definitions in a trace ---- */

static bool out_of_memory(const struct region_writer *writer, struct error *error) {
    return error_set(error, "out of memory writing trace %s", writer->path);
}

/* Zeroed room for as many items as the process has by now. */
static bool grow(void **items, size_t *capacity, size_t *known, size_t count, size_t size) {
    if (!array_reserve(items, capacity, count, size))
        return false;
    memset((uint8_t *)*items + *known * size, 0, (count - *known) * size);
    *known = count;
    return true;
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
        if (!array_reserve((void **)&writer->images, &writer->image_capacity,
                           writer->image_count + 1, sizeof *writer->images))
            return out_of_memory(writer, error);
        writer->images[writer->image_count++] = captured;
    }
    writer->mapped[mapping] = true;
    struct item item = {.kind = ITEM_IMAGE, .image = process->mappings[mapping]};
    item.image.process = 0;
    item.image.image = *number;
    return file_writer_put(writer->file, &item, error);
}

static bool define_block(struct region_writer *writer, uint32_t captured, struct error *error) {
    const struct kept_process *process = writer->process;
    if (captured >= process->block_count)
        return error_set(error, "trace %s: block %" PRIu32 " entered of %zu", writer->path,
                         captured, process->block_count);
    if (!grow((void **)&writer->blocks, &writer->block_capacity, &writer->known_blocks,
              process->block_count, sizeof *writer->blocks) ||
        !grow((void **)&writer->mapped, &writer->mapped_capacity, &writer->known_mappings,
              process->mapping_count, sizeof *writer->mapped))
        return out_of_memory(writer, error);
    const struct kept_block *block = &process->blocks[captured];
    struct item item = {.kind = ITEM_CODE,
                        .code = {.block = writer->block_count,
                                 .image = UINT32_MAX,
                                 .address = block->address,
                                 .offset = block->offset,
                                 .insn_count = block->insn_count,
                                 .size = block->size,
                                 .bytes = process->bytes + block->bytes}};
    if (block->image != UINT32_MAX &&
        !define_image(writer, block->image, block->address, &item.code.image, error))
        return false;
    writer->blocks[captured] = ++writer->block_count;
    return file_writer_put(writer->file, &item, error);
}

/* ---- the trace ---- */

bool region_writer_open(struct region_writer *writer, const char *path, bool compress,
                        const struct item_header *header, const struct kept_process *process,
                        struct error *error) {
    *writer = (struct region_writer){.path = path, .process = process};
    writer->file = file_writer_open(path, compress, error);
    struct item first = {.kind = ITEM_HEADER, .header = *header};
    struct item second = {.kind = ITEM_PROCESS, .process = process->process};
    second.process.process = 0;
    second.process.parent = UINT32_MAX;
    return writer->file && file_writer_put(writer->file, &first, error) &&
           file_writer_put(writer->file, &second, error);
}

bool region_writer_data(struct region_writer *writer, const struct item_data *data,
                        struct error *error) {
    if (!array_reserve((void **)&writer->events, &writer->event_capacity,
                       (size_t)data->event_count + 1, sizeof *writer->events))
        return out_of_memory(writer, error);
    for (uint32_t i = 0; i < data->event_count; i++) {
        uint64_t event = data->events[i];
        if (event_kind(event) == EVENT_BLOCK) {
            uint32_t captured = event_block_number(event);
            if ((captured >= writer->known_blocks || !writer->blocks[captured]) &&
                !define_block(writer, captured, error))
                return false;
            event = event_block(writer->blocks[captured] - 1);
        }
        writer->events[i] = event;
    }
    struct item item = {.kind = ITEM_DATA, .data = *data};
    item.data.process = item.data.thread = 0;
    item.data.events = writer->events;
    return file_writer_put(writer->file, &item, error);
}

static void release(struct region_writer *writer) {
    free(writer->blocks);
    free(writer->mapped);
    free(writer->images);
    free(writer->events);
    *writer = (struct region_writer){.path = writer->path};
}

static void remove_file(const char *path) {
    struct stat status;
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
        unlink(path);
}

bool region_writer_close(struct region_writer *writer, const char *note, bool thread_ended,
                         uint64_t *bytes, struct error *error) {
    struct item item = {.kind = ITEM_NOTE, .note = note};
    struct item last = {.kind = ITEM_THREAD_END, .thread_ended = 0};
    struct item end = {.kind = ITEM_END, .end = {.known = false}};
    struct error ignored;
    bool good = file_writer_put(writer->file, &item, error) &&
                (!thread_ended || file_writer_put(writer->file, &last, error)) &&
                file_writer_put(writer->file, &end, error);
    good = file_writer_close(writer->file, bytes, good ? error : &ignored) && good;
    if (!good)
        remove_file(writer->path);
    release(writer);
    return good;
}

void region_writer_discard(struct region_writer *writer) {
    struct error ignored;
    if (writer->file) {
        file_writer_close(writer->file, NULL, &ignored);
        remove_file(writer->path);
    }
    release(writer);
}
