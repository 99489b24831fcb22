#include "program/code_identity.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { SEGMENTS_MAX = 256, PIECE_BYTES = 1 << 16, CODE_BYTES_MAX = 1 << 30 };

static bool read_at(int file, void *bytes, size_t size, uint64_t offset) {
    return offset <= INT64_MAX && pread(file, bytes, size, (off_t)offset) == (ssize_t)size;
}

static bool add_code(XXH3_state_t *hash, int file, const Elf64_Phdr *segment, uint8_t *piece) {
    const uint64_t place[2] = {segment->p_vaddr, segment->p_filesz};
    XXH3_128bits_update(hash, place, sizeof place);
    for (uint64_t at = 0; at < segment->p_filesz;) {
        size_t size = segment->p_filesz - at < PIECE_BYTES ? segment->p_filesz - at : PIECE_BYTES;
        if (!read_at(file, piece, size, segment->p_offset + at))
            return false;
        XXH3_128bits_update(hash, piece, size);
        at += size;
    }
    return true;
}

bool code_identity(int file, uint8_t id[CODE_IDENTITY_BYTES]) {
    Elf64_Ehdr header;
    uint64_t code = 0;
    if (!read_at(file, &header, sizeof header, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > SEGMENTS_MAX)
        return false;
    XXH3_state_t *hash = XXH3_createState();
    uint8_t *piece = malloc(PIECE_BYTES);
    bool good = hash && piece && XXH3_128bits_reset(hash) == XXH_OK;
    for (unsigned i = 0; good && i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        good = read_at(file, &segment, sizeof segment, header.e_phoff + i * sizeof segment);
        if (!good || segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
            continue;
        good = segment.p_filesz <= CODE_BYTES_MAX - code && add_code(hash, file, &segment, piece);
        code += segment.p_filesz;
    }
    if (good && code) {
        XXH128_canonical_t bytes;
        XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(hash));
        id[0] = CODE_IDENTITY_MARK;
        memcpy(id + 1, bytes.digest, sizeof bytes.digest);
    }
    XXH3_freeState(hash);
    free(piece);
    return good && code;
}
