/* A line of /proc/PID/maps names device and inode; the build id is taken from the file at that path
 * only if it is still that inode (a file may be replaced while the program runs). */
#include "trace/qemu/images.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "util/array.h"

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
    return true;
}

/* Reads the build id from the notes of one program header or section. */
static bool take_build_id(Elf_Data *notes, struct image *image) {
    GElf_Nhdr header;
    size_t offset = 0, name, description;
    while (notes && (offset = gelf_getnote(notes, offset, &header, &name, &description)) > 0) {
        if (header.n_type != NT_GNU_BUILD_ID || header.n_namesz != sizeof "GNU" ||
            memcmp((char *)notes->d_buf + name, "GNU", sizeof "GNU") != 0 || !header.n_descsz)
            continue;
        image->build_id_size = header.n_descsz < sizeof image->build_id ? (uint8_t)header.n_descsz
                                                                        : sizeof image->build_id;
        memcpy(image->build_id, (char *)notes->d_buf + description, image->build_id_size);
        return true;
    }
    return false;
}

static void read_build_id(const struct line *line, struct image *image) {
    struct stat status;
    int file = open(line->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == line->inode &&
        status.st_dev == makedev(line->major, line->minor)) {
        elf_version(EV_CURRENT);
        Elf *elf = elf_begin(file, ELF_C_READ, NULL);
        size_t count = 0;
        if (elf && elf_getphdrnum(elf, &count) == 0)
            for (size_t i = 0; i < count; i++) {
                GElf_Phdr segment;
                if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_NOTE &&
                    take_build_id(
                        elf_getdata_rawchunk(elf, (int64_t)segment.p_offset, segment.p_filesz,
                                             segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
                        image))
                    break;
            }
        elf_end(elf);
    }
    close(file);
}

/* Number of the line's file; UINT32_MAX when out of memory. */
static uint32_t number_image(struct images *images, const struct line *line) {
    struct image image = {.kind = strcmp(line->path, "[vdso]") == 0 ? CODE_IMAGE_VDSO
                                                                    : CODE_IMAGE_FILE};
    if (image.kind == CODE_IMAGE_FILE)
        read_build_id(line, &image);
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
        mapping->image = file ? number_image(images, &line) : UINT32_MAX;
        mapping->start = line.start - guest_base;
        mapping->end = line.end - guest_base;
        mapping->file_offset = line.offset;
    }
    free(text);
    return found;
}

void images_free(struct images *images) {
    for (size_t i = 0; i < images->count; i++)
        free(images->items[i].path);
    free(images->items);
}
