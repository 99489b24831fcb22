/* Function extents from .eh_frame, which stripped programs keep because C++ exceptions and
 * profilers need it. Each frame description entry (FDE) covers one function, or one part of it
 * that the compiler moved away; its first two fields, encoded as its common entry (CIE) says in
 * the 'R' augmentation, are the first address and the size. Layout: Linux Standard Base, section
 * "Exception Frames". */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#include "program/function.h"
#include "util/array.h"

struct cursor {
    const uint8_t *next, *end;
};

static bool read_leb128(struct cursor *cursor, bool is_signed, uint64_t *value) {
    *value = 0;
    for (unsigned shift = 0; cursor->next < cursor->end && shift < 64; shift += 7) {
        uint8_t byte = *cursor->next++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            if (is_signed && (byte & 0x40) && shift + 7 < 64)
                *value |= UINT64_MAX << (shift + 7);
            return true;
        }
    }
    return false;
}

/* Reads a little-endian pointer in one of the DW_EH_PE_ formats, without its base. */
static bool read_pointer(struct cursor *cursor, uint8_t encoding, unsigned address_size,
                         uint64_t *value) {
    unsigned size;
    bool is_signed = encoding & 8;
    switch (encoding & 7) {
    case DW_EH_PE_absptr:
        size = address_size;
        break;
    case DW_EH_PE_uleb128:
        return read_leb128(cursor, is_signed, value);
    case DW_EH_PE_udata2:
        size = 2;
        break;
    case DW_EH_PE_udata4:
        size = 4;
        break;
    case DW_EH_PE_udata8:
        size = 8;
        break;
    default:
        return false;
    }
    if ((size_t)(cursor->end - cursor->next) < size)
        return false;
    *value = 0;
    memcpy(value, cursor->next, size);
    cursor->next += size;
    if (is_signed && size < 8)
        *value = (uint64_t)((int64_t)(*value << (64 - 8 * size)) >> (64 - 8 * size));
    return true;
}

/* The encoding of the addresses in a CIE's entries; false when it cannot be known. */
static bool address_encoding(const Dwarf_CIE *entry, unsigned address_size, uint8_t *encoding) {
    *encoding = DW_EH_PE_absptr;
    if (entry->augmentation[0] != 'z')
        return entry->augmentation[0] == '\0';
    struct cursor data = {entry->augmentation_data,
                          entry->augmentation_data + entry->augmentation_data_size};
    for (const char *letter = entry->augmentation + 1; *letter; letter++) {
        uint64_t personality;
        if (*letter == 'S' || *letter == 'B')
            continue;
        if (data.next >= data.end)
            return false;
        uint8_t byte = *data.next++;
        if (*letter == 'R') {
            *encoding = byte;
            return true;
        }
        if (*letter != 'L' &&
            (*letter != 'P' || !read_pointer(&data, byte, address_size, &personality)))
            return false;
    }
    return true;
}

/* One FDE's addresses; false when they are not code of the image. */
static bool read_range(const Dwarf_FDE *entry, uint8_t encoding, const struct elf_image *image,
                       uint64_t section_address, const uint8_t *section_bytes,
                       struct function *function) {
    unsigned address_size = image->header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
    struct cursor cursor = {entry->start, entry->end};
    uint64_t start, size;
    if ((encoding & 0x80) || !read_pointer(&cursor, encoding, address_size, &start) ||
        !read_pointer(&cursor, encoding & 7, address_size, &size))
        return false;
    if ((encoding & 0x70) == DW_EH_PE_pcrel)
        start += section_address + (uint64_t)(entry->start - section_bytes);
    else if (encoding & 0x70)
        return false;
    if (address_size == 4)
        start = (uint32_t)start;
    uint64_t limit = elf_image_code_end(image, start);
    if (!limit || !size || size > limit - start)
        return false;
    *function = (struct function){.start = start, .end = start + size};
    return true;
}

/* The frame entries of a file that has no section headers: its segment PT_GNU_EH_FRAME
 * (.eh_frame_hdr) tells where they begin; a length of zero ends them. */
static Elf_Data *frames_by_header(const struct elf_image *image, uint64_t *address) {
    size_t count;
    GElf_Phdr segment;
    uint64_t offset, limit = 0;
    if (elf_getphdrnum(image->elf, &count))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        Elf_Data *data = NULL;
        if (gelf_getphdr(image->elf, (int)i, &segment) && segment.p_type == PT_GNU_EH_FRAME &&
            segment.p_offset <= INT64_MAX)
            data = elf_getdata_rawchunk(image->elf, (int64_t)segment.p_offset, segment.p_filesz,
                                        ELF_T_BYTE);
        const uint8_t *bytes = data ? data->d_buf : NULL;
        if (!bytes || data->d_size < 8 || bytes[0] != 1 ||
            bytes[1] != (DW_EH_PE_pcrel | DW_EH_PE_sdata4))
            continue;
        int32_t distance;
        memcpy(&distance, bytes + 4, sizeof distance);
        *address = segment.p_vaddr + 4 + (uint64_t)(int64_t)distance;
        if (!elf_image_address_to_offset(image, *address, &offset))
            return NULL;
        for (size_t k = 0; k < image->segment_count; k++)
            if (offset - image->segments[k].file_offset < image->segments[k].file_size)
                limit = image->segments[k].file_size - (offset - image->segments[k].file_offset);
        return limit ? elf_getdata_rawchunk(image->elf, (int64_t)offset, limit, ELF_T_BYTE) : NULL;
    }
    return NULL;
}

bool function_read_unwind(struct function_list *list, const struct elf_image *image) {
    GElf_Shdr header;
    uint64_t address = 0;
    Elf_Scn *section = elf_image_section(image, ".eh_frame", &header);
    Elf_Data *data = section ? elf_rawdata(section, NULL) : frames_by_header(image, &address);
    if (!data || !data->d_buf || image->header.e_ident[EI_DATA] != ELFDATA2LSB)
        return true;
    if (section)
        address = header.sh_addr;
    unsigned address_size = image->header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
    Dwarf_Off known_cie = (Dwarf_Off)-1, next;
    bool readable = false;
    uint8_t encoding = 0;
    for (Dwarf_Off offset = 0; offset < data->d_size; offset = next) {
        Dwarf_CFI_Entry entry, cie;
        next = offset; /* left so when not even the entry's length can be read */
        int status = dwarf_next_cfi(image->header.e_ident, data, true, offset, &next, &entry);
        if (next <= offset || next == (Dwarf_Off)-1 || status > 0)
            return true;
        if (status < 0 || dwarf_cfi_cie_p(&entry))
            continue;
        if (entry.fde.CIE_pointer != known_cie) {
            Dwarf_Off after;
            known_cie = entry.fde.CIE_pointer;
            readable =
                known_cie < data->d_size &&
                !dwarf_next_cfi(image->header.e_ident, data, true, known_cie, &after, &cie) &&
                dwarf_cfi_cie_p(&cie) && address_encoding(&cie.cie, address_size, &encoding);
        }
        struct function function;
        if (!readable || !read_range(&entry.fde, encoding, image, address, data->d_buf, &function))
            continue;
        if (!array_push(list->items, list->capacity, list->count, function))
            return false;
    }
    return true;
}
