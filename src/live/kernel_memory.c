/* Headers are read once; the kernel may move segments meanwhile (modules that come), which then
 * read as absent. */
#include "live/kernel_memory.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEGMENTS_MAX = 4096 }; /* there are some for each bank of memory */

struct segment {
    uint64_t address, size, file_offset;
};

struct kernel_memory {
    int file;
    enum isa isa;
    struct segment *segments;
    size_t segment_count;
};

static bool read_header(struct kernel_memory *memory, const char *path, Elf64_Ehdr *header,
                        struct error *error) {
    if (pread(memory->file, header, sizeof *header, 0) != sizeof *header ||
        memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_type != ET_CORE ||
        header->e_phentsize != sizeof(Elf64_Phdr))
        return error_set(error, "%s is no core file of 64 bits (containers may hide it)", path);
    if (header->e_machine != EM_X86_64 && header->e_machine != EM_RISCV)
        return error_set(error, "%s is of a processor whose code is not known", path);
    memory->isa = header->e_machine == EM_RISCV ? ISA_RISCV64 : ISA_X86_64;
    return true;
}

static bool read_segments(struct kernel_memory *memory, const Elf64_Ehdr *header,
                          struct error *error) {
    size_t count = header->e_phnum < SEGMENTS_MAX ? header->e_phnum : SEGMENTS_MAX;
    memory->segments = calloc(count + 1, sizeof *memory->segments);
    if (!memory->segments)
        return error_set(error, "out of memory for the kernel's segments");
    for (size_t i = 0; i < count; i++) {
        Elf64_Phdr segment;
        uint64_t at, end;
        if (__builtin_add_overflow(header->e_phoff, i * sizeof segment, &at) || at > INT64_MAX ||
            pread(memory->file, &segment, sizeof segment, (off_t)at) != sizeof segment)
            break;
        if (segment.p_type == PT_LOAD && segment.p_filesz &&
            !__builtin_add_overflow(segment.p_vaddr, segment.p_filesz - 1, &end) &&
            !__builtin_add_overflow(segment.p_offset, segment.p_filesz, &end) && end <= INT64_MAX)
            memory->segments[memory->segment_count++] =
                (struct segment){segment.p_vaddr, segment.p_filesz, segment.p_offset};
    }
    return true;
}

static bool open_core(struct kernel_memory *memory, const char *path, struct error *error) {
    Elf64_Ehdr header;
    memory->file = open(path, O_RDONLY | O_CLOEXEC);
    if (memory->file >= 0)
        return read_header(memory, path, &header, error) && read_segments(memory, &header, error);
    if (errno == ENOENT)
        return error_set(error, "this system has no %s to read it from", path);
    if (errno == EACCES || errno == EPERM)
        return error_set(error,
                         "reading it from %s needs root (CAP_SYS_RAWIO), and a kernel that is not "
                         "locked down",
                         path);
    return error_errno(error, "%s", path);
}

struct kernel_memory *kernel_memory_open(const struct live_roots *roots, struct error *error) {
    char path[PATH_MAX];
    struct kernel_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return error_null(error, "out of memory for the kernel's code");
    snprintf(path, sizeof path, "%s/kcore", roots->proc);
    if (open_core(memory, path, error))
        return memory;
    kernel_memory_free(memory);
    return NULL;
}

void kernel_memory_free(struct kernel_memory *memory) {
    if (!memory)
        return;
    if (memory->file >= 0)
        close(memory->file);
    free(memory->segments);
    free(memory);
}

enum isa kernel_memory_isa(const struct kernel_memory *memory) {
    return memory->isa;
}

/* Some bytes, at least one unless they are not there. */
static size_t read_some(const struct kernel_memory *memory, uint64_t address, uint8_t *bytes,
                        size_t size) {
    for (size_t i = 0; i < memory->segment_count; i++) {
        const struct segment *segment = &memory->segments[i];
        uint64_t into = address - segment->address;
        if (into >= segment->size)
            continue;
        if (size > segment->size - into)
            size = (size_t)(segment->size - into);
        ssize_t got = pread(memory->file, bytes, size, (off_t)(segment->file_offset + into));
        return got > 0 ? (size_t)got : 0;
    }
    return 0;
}

bool kernel_memory_read(const struct kernel_memory *memory, uint64_t address, void *bytes,
                        size_t size) {
    for (size_t done = 0, got; done < size; done += got)
        if (!(got = read_some(memory, address + done, (uint8_t *)bytes + done, size - done)))
            return false;
    return true;
}
