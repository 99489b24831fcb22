/* Any bytes as what the kernel tells of itself, as the map of code made at run time, as an ELF
 * file's notes, as a line of /proc/PID/maps and as a record of perf. */
#include <fcntl.h>
#include <string.h>

#include "input.h"
#include "live/kernel_map.h"
#include "live/perf_record.h"
#include "program/perf_map.h"

/* A folder with the input as "kallsyms" and "modules", made once. */
static const char *folder_with(const uint8_t *bytes, size_t size) {
    static char folder[32], path[64];
    static const char *const NAMES[] = {"kallsyms", "modules"};
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "/tmp/fuzz-live-XXXXXX");
        require(mkdtemp(folder) != NULL);
    }
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, NAMES[i]);
        int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        require(file >= 0 && write(file, bytes, size) == (ssize_t)size);
        close(file);
    }
    return folder;
}

static void check_symbols(struct symbol_cover *cover) {
    symbol_cover_settle(cover);
    for (size_t i = 1; i < cover->count; i++)
        require(cover->symbols[i].start - cover->symbols[i - 1].start >=
                cover->symbols[i - 1].size);
    symbol_cover_free(cover);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint64_t offsets[] = {0, 16, 4096, 1 << 20, UINT64_MAX};
    struct symbol_cover cover = {.offsets = offsets, .offset_count = 5};
    struct memory_file file = memory_file(data, size);
    struct build_id id;
    build_id_of_file(file.fd, &id);
    require(id.size <= BUILD_ID_MAX);
    build_id_of_notes(data, size, &id);
    require(perf_map_read(open(file.path, O_RDONLY), &cover));
    check_symbols(&cover);

    struct live_roots roots = {.proc = folder_with(data, size), .sys = "/nonexistent", .files = ""};
    struct kernel_map map;
    require(kernel_map_read(&roots, &map));
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
        require(kernel_map_find(&map, offsets[i]) < (int)map.image_count);
    for (uint32_t i = 0; i < map.image_count; i++) {
        cover = (struct symbol_cover){.offsets = offsets, .offset_count = 5};
        require(kernel_map_cover(&map, i, &cover));
        check_symbols(&cover);
    }
    kernel_map_free(&map);
    kernel_map_is_hidden(&roots);

    struct perf_record record;
    if (perf_record_read(data, size, true, &record) && record.name)
        require(strlen(record.name) < size);

    char *line = strndup((const char *)data, size);
    struct proc_mapping mapping;
    if (line && proc_mapping_parse(line, &mapping))
        require(mapping.start < mapping.end && strlen(mapping.path) < sizeof mapping.path);
    free(line);
    close(file.fd);
    return 0;
}
