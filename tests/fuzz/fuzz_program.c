/* Any bytes as an ELF file: a note or names that hold together, from every room entry. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/program.h"
#include "program/unwind_table.h"

struct reading {
    struct program *program;
    uint32_t image;
    unsigned visits;
};

static bool read_function(void *context, const struct program_function *function) {
    struct reading *reading = context;
    uint8_t bytes[64];
    assert(function->size > 0);
    program_read(reading->program, reading->image, function->address, bytes,
                 function->size < sizeof bytes ? function->size : sizeof bytes);
    return ++reading->visits < 100;
}

static void read_unwind_table(const char *path) {
    struct elf_image image = {0};
    struct unwind_table table = {0};
    struct error error;
    if (elf_image_open(&image, path, &error) && unwind_table_build(&table, &image))
        for (size_t i = 1; i < table.count; i++)
            assert(table.rows[i - 1].start < table.rows[i].start);
    unwind_table_free(&table);
    elf_image_close(&image);
}

static bool touch_all(void *context, uint64_t start, uint64_t end) {
    (void)context;
    return start < end;
}

static bool check_piece(void *context, const struct program_piece *piece) {
    (void)context;
    assert(piece->start < piece->end && piece->copies && piece->frame_count &&
           piece->frame_count <= PROGRAM_MAX_FRAMES);
    for (uint32_t i = 0; i < piece->frame_count; i++)
        assert(piece->frames[i].symbol[0] && piece->frames[i].line <= UINT16_MAX);
    return true;
}

static bool check_symbol(void *context, const struct program_symbol *symbol) {
    (void)context;
    assert(symbol->name[0]);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static int file = -1;
    static char path[64];
    if (file < 0) {
        file = memfd_create("elf", 0);
        assert(file >= 0 && !fchmod(file, 0755));
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    if (ftruncate(file, 0) || pwrite(file, bytes, size, 0) != (ssize_t)size)
        return 0;
    struct program *program = program_new();
    uint32_t image = program_add_image(program, path, NULL, 0);
    for (uint64_t at = 0; at < size && at < 4096; at += 64) {
        struct location location;
        bool found = program_locate(program, image, at, &location);
        assert(found == (location.function != NULL));
        assert(location.inline_count <= LOCATION_MAX_INLINE);
        struct program_data data;
        if (program_locate_data(program, image, at, &data))
            assert(data.section && data.offset < data.size);
    }
    uint64_t offset, function_size;
    program_find_function(program, image, "no such function", &offset, &function_size);
    struct reading reading = {program, image, 0};
    program_each_function(program, image, read_function, &reading);
    bool lines;
    program_each_piece(program, image, touch_all, check_piece, NULL, &lines);
    program_each_symbol(program, image, check_symbol, NULL);
    program_has_relocations(program, image);
    program_free(program);
    read_unwind_table(path);
    struct executable executable;
    struct error error = {0};
    if (!executable_identify(path, &executable, &error))
        assert(error.message[0] && !strchr(error.message, '\n'));
    return 0;
}
