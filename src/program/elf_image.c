/* The file is mapped and handed to libelf as memory: no descriptor stays open however many images a
 * process has, and libelf finds no directory to look for other files in. The mapping is private
 * and writable because libelf rewrites the headers of sections that it decompresses. */
#include "program/elf_image.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEGMENTS_MAX = 256 }; /* programs have under 10; every address lookup scans them */

static bool read_segments(struct elf_image *image) {
    size_t count;
    if (elf_getphdrnum(image->elf, &count))
        return true;
    if (count > SEGMENTS_MAX)
        count = SEGMENTS_MAX;
    image->segments = calloc(count ? count : 1, sizeof *image->segments);
    if (!image->segments)
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        uint64_t end;
        if (!gelf_getphdr(image->elf, (int)i, &header) || header.p_type != PT_LOAD ||
            __builtin_add_overflow(header.p_vaddr, header.p_filesz, &end) ||
            __builtin_add_overflow(header.p_offset, header.p_filesz, &end))
            continue;
        image->segments[image->segment_count++] =
            (struct elf_segment){.address = header.p_vaddr,
                                 .file_offset = header.p_offset,
                                 .file_size = header.p_filesz,
                                 .executable = header.p_flags & PF_X};
    }
    return true;
}

static void read_build_id(struct elf_image *image) {
    const void *bytes;
    ssize_t size = dwelf_elf_gnu_build_id(image->elf, &bytes);
    if (size <= 0 || size > BUILD_ID_MAX)
        return;
    memcpy(image->build_id, bytes, (size_t)size);
    image->build_id_size = (size_t)size;
}

/* Finishes an image whose bytes are set. */
static bool begin(struct elf_image *image, const char *path, struct error *error) {
    elf_version(EV_CURRENT);
    image->path = strdup(path);
    bool magic = image->size >= EI_NIDENT && !memcmp(image->bytes, ELFMAG, SELFMAG);
    if (!magic) {
        error_set(error, "%s: not an ELF file", path);
    } else if (!(image->elf = elf_memory(image->bytes, image->size)) ||
               elf_kind(image->elf) != ELF_K_ELF || !gelf_getehdr(image->elf, &image->header)) {
        error_set(error, "%s: the ELF header is damaged", path);
    } else if (!image->path || !read_segments(image)) {
        error_set(error, "%s: out of memory", path);
    } else {
        read_build_id(image);
        return true;
    }
    elf_image_close(image);
    return false;
}

bool elf_image_open(struct elf_image *image, const char *path, struct error *error) {
    *image = (struct elf_image){0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return error_errno(error, "%s", path);
    if (fstat(file, &image->status)) {
        error_errno(error, "%s", path);
    } else if (!S_ISREG(image->status.st_mode)) {
        error_set(error, "%s: not a regular file", path);
    } else if (image->status.st_size == 0) {
        error_set(error, "%s: the file is empty", path);
    } else {
        image->size = (size_t)image->status.st_size;
        image->bytes =
            mmap(NULL, image->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
        image->mapped = image->bytes != MAP_FAILED;
        if (!image->mapped) {
            image->bytes = NULL;
            error_errno(error, "%s: cannot map the file", path);
        }
    }
    close(file);
    return image->mapped && begin(image, path, error);
}

bool elf_image_open_memory(struct elf_image *image, void *bytes, size_t size, const char *path,
                           struct error *error) {
    *image = (struct elf_image){.bytes = bytes, .size = size};
    return begin(image, path, error);
}

void elf_image_release(struct elf_image *image) {
    if (image->elf)
        elf_end(image->elf);
    if (image->mapped)
        munmap(image->bytes, image->size);
    else
        free(image->bytes);
    image->elf = NULL;
    image->bytes = NULL;
    image->mapped = false;
}

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool elf_image_read(const struct elf_image *image, uint64_t file_offset, void *bytes, size_t size) {
    struct stat status;
    int file = open(image->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return false;
    bool done = !fstat(file, &status) && same_file(&status, &image->status) &&
                file_offset <= INT64_MAX &&
                pread(file, bytes, size, (off_t)file_offset) == (ssize_t)size;
    close(file);
    return done;
}

bool elf_image_reopen(struct elf_image *image, struct error *error) {
    struct elf_image again;
    if (image->elf)
        return true;
    if (!elf_image_open(&again, image->path, error))
        return false;
    if (!same_file(&image->status, &again.status)) {
        error_set(error, "%s: the file changed while it was in use", image->path);
        elf_image_close(&again);
        return false;
    }
    elf_image_close(image);
    *image = again;
    return true;
}

void elf_image_close(struct elf_image *image) {
    elf_image_release(image);
    free(image->segments);
    free(image->path);
    *image = (struct elf_image){0};
}

Elf_Scn *elf_image_section(const struct elf_image *image, const char *name, GElf_Shdr *header) {
    size_t names;
    if (elf_getshdrstrndx(image->elf, &names))
        return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(image->elf, section));) {
        const char *found =
            gelf_getshdr(section, header) ? elf_strptr(image->elf, names, header->sh_name) : NULL;
        if (found && !strcmp(found, name))
            return section;
    }
    return NULL;
}

Elf_Scn *elf_image_section_of_type(const struct elf_image *image, uint32_t type,
                                   GElf_Shdr *header) {
    for (Elf_Scn *section = NULL; (section = elf_nextscn(image->elf, section));)
        if (gelf_getshdr(section, header) && header->sh_type == type)
            return section;
    return NULL;
}

bool elf_image_offset_to_address(const struct elf_image *image, uint64_t file_offset,
                                 uint64_t *address) {
    const struct elf_segment *found = NULL;
    for (size_t i = 0; i < image->segment_count; i++) {
        const struct elf_segment *segment = &image->segments[i];
        if (file_offset - segment->file_offset < segment->file_size &&
            (!found || (segment->executable && !found->executable)))
            found = segment;
    }
    if (found)
        *address = found->address + (file_offset - found->file_offset);
    return found;
}

static const struct elf_segment *segment_at(const struct elf_image *image, uint64_t address) {
    const struct elf_segment *found = NULL;
    for (size_t i = 0; i < image->segment_count; i++) {
        const struct elf_segment *segment = &image->segments[i];
        if (address - segment->address < segment->file_size &&
            (!found || (segment->executable && !found->executable)))
            found = segment;
    }
    return found;
}

bool elf_image_address_to_offset(const struct elf_image *image, uint64_t address,
                                 uint64_t *file_offset) {
    const struct elf_segment *found = segment_at(image, address);
    if (found)
        *file_offset = found->file_offset + (address - found->address);
    return found;
}

uint64_t elf_image_code_end(const struct elf_image *image, uint64_t address) {
    const struct elf_segment *found = segment_at(image, address);
    return found && found->executable ? found->address + found->file_size : 0;
}
