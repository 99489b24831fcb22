/* A line of /proc/PID/maps names device and inode; the build id is taken from the file at that path
 * if it is still that inode (a file may be replaced while the program runs), else from what is
 * mapped, where that is allowed. */
#include "trace/qemu/images.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "program/elf_image.h"
#include "program/jitdump.h"
#include "program/kept_files.h"
#include "util/array.h"
#include "util/file_name.h"

struct line {
    uint64_t start, end, offset, inode;
    unsigned major, minor;
    char *path; /* into the line; "" if anonymous */
};

static bool parse_line(char *text, struct line *line) {
    int path_at = 0;
    text[strcspn(text, "\n")] = 0;
    if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %*4s %" SCNx64 " %x:%x %" SCNu64 " %n", &line->start,
               &line->end, &line->offset, &line->major, &line->minor, &line->inode, &path_at) < 6)
        return false;
    line->path = path_at ? text + path_at : text + strlen(text);
    file_name_from_maps(line->path);
    return true;
}

/* The very file that is mapped; −1: it is not to be had. */
static int open_line(const struct line *line, pid_t pid) {
    struct stat status;
    int file = open(line->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file >= 0 && !fstat(file, &status) && status.st_ino == line->inode &&
        status.st_dev == makedev(line->major, line->minor))
        return file;
    if (file >= 0)
        close(file);
    char mapped[96]; /* not everybody may */
    snprintf(mapped, sizeof mapped, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
             line->start, line->end);
    return open(mapped, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static void read_build_id(int descriptor, struct image *image) {
    char path[32];
    struct elf_image file = {0};
    struct error ignored;
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if (!elf_image_open(&file, path, &ignored))
        return;
    if (file.build_id_size <= sizeof image->build_id) {
        memcpy(image->build_id, file.build_id, file.build_id_size);
        image->build_id_size = (uint8_t)file.build_id_size;
    }
    elf_image_close(&file);
}

/* Number of the line's file; UINT32_MAX when out of memory. */
static uint32_t number_image(struct images *images, const struct line *line, pid_t pid) {
    struct image image = {.kind = strcmp(line->path, "[vdso]") == 0 ? CODE_IMAGE_VDSO
                                                                    : CODE_IMAGE_FILE};
    const int file = image.kind == CODE_IMAGE_FILE ? open_line(line, pid) : -1;
    if (file >= 0) {
        read_build_id(file, &image);
        kept_files_keep(images->kept, line->path, image.build_id, image.build_id_size, file);
    }
    for (uint32_t i = 0; i < images->count; i++) {
        const struct image *known = &images->items[i];
        if (strcmp(known->path, line->path) == 0 && known->build_id_size == image.build_id_size &&
            memcmp(known->build_id, image.build_id, image.build_id_size) == 0)
            return i;
    }
    image.path = strdup(line->path);
    if (!image.path || !array_room(images->items, images->capacity, images->count + 1)) {
        free(image.path);
        return UINT32_MAX;
    }
    images->items[images->count] = image;
    return (uint32_t)images->count++;
}

bool images_find(struct images *images, pid_t pid, uint64_t address, uint64_t guest_base,
                 struct image_mapping *mapping) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(name, "re");
    if (!maps)
        return false;
    char *text = NULL;
    size_t size = 0;
    bool found = false;
    struct line line;
    while (!found && getline(&text, &size, maps) > 0)
        if (parse_line(text, &line))
            found = address + guest_base >= line.start && address + guest_base < line.end;
    fclose(maps);
    if (found) {
        bool file = line.path[0] == '/' || strcmp(line.path, "[vdso]") == 0;
        mapping->image = file ? number_image(images, &line, pid) : UINT32_MAX;
        mapping->start = line.start - guest_base;
        mapping->end = line.end - guest_base;
        mapping->file_offset = line.offset;
    }
    free(text);
    return found;
}

/* Its program maps a page of it, so that it can be found. */
char *images_find_dump(pid_t pid) {
    char name[64], *text = NULL, *found = NULL;
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(name, "re");
    size_t size = 0;
    struct line line;
    while (maps && !found && getline(&text, &size, maps) > 0)
        if (parse_line(text, &line) && line.path[0] == '/' && jitdump_is_named(line.path))
            found = strdup(line.path);
    if (maps)
        fclose(maps);
    free(text);
    return found;
}

void images_free(struct images *images) {
    for (size_t i = 0; i < images->count; i++)
        free(images->items[i].path);
    free(images->items);
}
