/* The NT_GNU_BUILD_ID note of the first PT_NOTE segment that has one. */
#include "live/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { NOTES_MAX = 64 << 10, PROGRAM_HEADERS_MAX = 128 };

bool build_id_of_notes(const uint8_t *notes, size_t size, struct build_id *id) {
    Elf64_Nhdr head; /* alike in both classes */
    id->size = 0;
    for (size_t at = 0; size - at >= sizeof head;) {
        memcpy(&head, notes + at, sizeof head);
        at += sizeof head;
        size_t name = ((size_t)head.n_namesz + 3) & ~(size_t)3;
        size_t data = ((size_t)head.n_descsz + 3) & ~(size_t)3;
        if (name > size - at || head.n_descsz > size - at - name)
            return false;
        const uint8_t *bytes = notes + at + name;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && !memcmp(notes + at, "GNU", 4) &&
            head.n_descsz && head.n_descsz <= BUILD_ID_MAX) {
            memcpy(id->bytes, bytes, head.n_descsz);
            id->size = head.n_descsz;
            return true;
        }
        if (data > size - at - name)
            return false;
        at += name + data;
    }
    return false;
}

static bool read_notes(int file, uint64_t offset, uint64_t size, struct build_id *id) {
    uint8_t notes[4096];
    if (size > sizeof notes)
        size = sizeof notes;
    if (offset > INT64_MAX)
        return false;
    ssize_t got = pread(file, notes, size, (off_t)offset);
    return got > 0 && build_id_of_notes(notes, (size_t)got, id);
}

static bool find_64(int file, const Elf64_Ehdr *header, struct build_id *id) {
    for (unsigned i = 0; i < header->e_phnum && i < PROGRAM_HEADERS_MAX; i++) {
        Elf64_Phdr segment;
        uint64_t at;
        if (__builtin_add_overflow(header->e_phoff, i * sizeof segment, &at) || at > INT64_MAX ||
            pread(file, &segment, sizeof segment, (off_t)at) != sizeof segment)
            return false;
        if (segment.p_type == PT_NOTE && read_notes(file, segment.p_offset, segment.p_filesz, id))
            return true;
    }
    return false;
}

static bool find_32(int file, const Elf32_Ehdr *header, struct build_id *id) {
    for (unsigned i = 0; i < header->e_phnum && i < PROGRAM_HEADERS_MAX; i++) {
        Elf32_Phdr segment;
        off_t at = (off_t)header->e_phoff + (off_t)(i * sizeof segment);
        if (pread(file, &segment, sizeof segment, at) != sizeof segment)
            return false;
        if (segment.p_type == PT_NOTE && read_notes(file, segment.p_offset, segment.p_filesz, id))
            return true;
    }
    return false;
}

bool build_id_of_file(int file, struct build_id *id) {
    union {
        unsigned char ident[EI_NIDENT];
        Elf32_Ehdr narrow;
        Elf64_Ehdr wide;
    } header = {0};
    id->size = 0;
    ssize_t got = pread(file, &header, sizeof header, 0);
    if (got < (ssize_t)sizeof header.narrow || memcmp(header.ident, ELFMAG, SELFMAG) != 0 ||
        header.ident[EI_DATA] !=
            (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB))
        return false;
    if (header.ident[EI_CLASS] == ELFCLASS64)
        return got == (ssize_t)sizeof header && header.wide.e_phentsize == sizeof(Elf64_Phdr) &&
               find_64(file, &header.wide, id);
    return header.ident[EI_CLASS] == ELFCLASS32 &&
           header.narrow.e_phentsize == sizeof(Elf32_Phdr) && find_32(file, &header.narrow, id);
}

bool build_id_of_notes_file(const char *path, struct build_id *id) {
    uint8_t notes[NOTES_MAX];
    id->size = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t got = read(file, notes, sizeof notes);
    close(file);
    return got > 0 && build_id_of_notes(notes, (size_t)got, id);
}
