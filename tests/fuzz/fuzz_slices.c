/* Any bytes as a table of slices. What is read keeps its promises and comes back the same when it
 * is written. */
#include <string.h>

#include "input.h"
#include "region/slices.h"

static void check(const struct slice_table *table) {
    uint64_t sum = 0;
    require(table->size > 0 && table->command);
    for (size_t i = 0; i < table->block_count; i++) {
        const struct slice_block *block = table->blocks + i;
        require(block->insn_count > 0);
        require(block->image == MARKER_NO_IMAGE || block->image < table->image_count);
    }
    for (size_t i = 0; i < table->slice_count; i++) {
        const struct slice_place *slice = table->slices + i;
        require(slice->process < table->process_count && slice->instructions > 0);
        require(slice->start.image == MARKER_NO_IMAGE || slice->start.image < table->image_count);
        require(slice->start.count > 0 && slice->first + slice->instructions > slice->first);
        require(i == 0 || slice->thread > slice[-1].thread ||
                (slice->thread == slice[-1].thread &&
                 slice->first >= slice[-1].first + slice[-1].instructions));
        require(!__builtin_add_overflow(sum, slice->instructions, &sum));
    }
}

static void check_written(const struct slice_table *table) {
    struct error error;
    struct slice_writer writer;
    struct slice_table again;
    struct memory_file file = memory_file("", 0);
    require(slice_writer_open(&writer, file.path, table->isa, table->command, table->size, &error));
    for (uint32_t i = 0; i < table->image_count; i++)
        require(slice_writer_image(&writer, i, table->images + i, &error));
    for (uint32_t i = 0; i < table->process_count; i++)
        require(slice_writer_process(&writer, i, table->processes + i, &error));
    for (size_t i = 0; i < table->thread_count; i++)
        require(slice_writer_thread(&writer, table->threads + i, &error));
    for (uint32_t i = 0; i < table->block_count; i++)
        require(slice_writer_block(&writer, i + 1, table->blocks + i, &error));
    for (size_t i = 0; i < table->slice_count; i++)
        require(slice_writer_slice(&writer, table->slices + i, &error));
    require(slice_writer_close(&writer, table->complete, &error));
    require(slice_table_read(&again, file.path, &error));
    require(again.isa == table->isa && again.size == table->size &&
            again.complete == table->complete && strcmp(again.command, table->command) == 0);
    require(again.image_count == table->image_count && again.block_count == table->block_count &&
            again.process_count == table->process_count && again.slice_count == table->slice_count);
    for (size_t i = 0; i < table->image_count; i++)
        require(strcmp(again.images[i].path, table->images[i].path) == 0 &&
                again.images[i].build_id_size == table->images[i].build_id_size &&
                memcmp(again.images[i].build_id, table->images[i].build_id, 20) == 0);
    for (size_t i = 0; i < table->process_count; i++)
        require(strcmp(again.processes[i].executable, table->processes[i].executable) == 0 &&
                again.processes[i].pid == table->processes[i].pid &&
                again.processes[i].forker == table->processes[i].forker &&
                again.processes[i].fork == table->processes[i].fork &&
                !again.processes[i].command == !table->processes[i].command &&
                (!again.processes[i].command ||
                 strcmp(again.processes[i].command, table->processes[i].command) == 0));
    require(again.thread_count == table->thread_count &&
            (!table->thread_count || memcmp(again.threads, table->threads,
                                            table->thread_count * sizeof *table->threads) == 0));
    require(!table->block_count ||
            memcmp(again.blocks, table->blocks, table->block_count * sizeof *table->blocks) == 0);
    for (size_t i = 0; i < table->slice_count; i++)
        require(again.slices[i].first == table->slices[i].first &&
                again.slices[i].instructions == table->slices[i].instructions &&
                again.slices[i].start.count == table->slices[i].start.count &&
                again.slices[i].start.offset == table->slices[i].start.offset);
    slice_table_free(&again);
    close(file.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct memory_file file = memory_file(data, size);
    struct slice_table table;
    struct error error = {0};
    if (slice_table_read(&table, file.path, &error)) {
        check(&table);
        check_written(&table);
    } else {
        require(error.message[0] && !strchr(error.message, '\n'));
    }
    slice_table_free(&table);
    close(file.fd);
    return 0;
}
