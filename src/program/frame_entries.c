/* The first two fields of an entry, encoded as its common entry (CIE) says in the 'R' augmentation,
 * are the first address and the size. */
#include "program/frame_entries.h"

#include <dwarf.h>
#include <string.h>

bool frame_bytes_uleb(struct frame_bytes *bytes, uint64_t *value) {
    *value = 0;
    for (unsigned shift = 0; bytes->next < bytes->end && shift < 64; shift += 7) {
        uint8_t byte = *bytes->next++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

bool frame_bytes_sleb(struct frame_bytes *bytes, int64_t *value) {
    uint64_t result = 0;
    for (unsigned shift = 0; bytes->next < bytes->end && shift < 64; shift += 7) {
        uint8_t byte = *bytes->next++;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if ((byte & 0x40) && shift + 7 < 64)
            result |= UINT64_MAX << (shift + 7);
        *value = (int64_t)result;
        return true;
    }
    return false;
}

bool frame_bytes_fixed(struct frame_bytes *bytes, unsigned size, uint64_t *value) {
    if ((size_t)(bytes->end - bytes->next) < size)
        return false;
    *value = 0;
    memcpy(value, bytes->next, size);
    bytes->next += size;
    return true;
}

/* Reads a little-endian pointer in one of the DW_EH_PE_ formats, without its base. */
static bool read_pointer(struct frame_bytes *bytes, uint8_t encoding, unsigned address_size,
                         uint64_t *value) {
    unsigned size;
    bool is_signed = encoding & 8;
    switch (encoding & 7) {
    case DW_EH_PE_absptr:
        size = address_size;
        break;
    case DW_EH_PE_uleb128:
        return is_signed ? frame_bytes_sleb(bytes, (int64_t *)value)
                         : frame_bytes_uleb(bytes, value);
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
    if (!frame_bytes_fixed(bytes, size, value))
        return false;
    if (is_signed && size < 8)
        *value = (uint64_t)((int64_t)(*value << (64 - 8 * size)) >> (64 - 8 * size));
    return true;
}

/* What a CIE says of its entries. */
struct common {
    Dwarf_Off offset; /* where it stands; −1: none was read yet */
    Dwarf_CIE cie;
    uint8_t encoding; /* of addresses */
    bool readable, is_signal;
};

/* Reads the augmentation; false when the encoding of addresses cannot be known. */
static bool read_augmentation(struct common *common, unsigned address_size) {
    const Dwarf_CIE *cie = &common->cie;
    common->encoding = DW_EH_PE_absptr;
    common->is_signal = false;
    if (cie->augmentation[0] != 'z')
        return cie->augmentation[0] == '\0';
    struct frame_bytes data = {cie->augmentation_data,
                               cie->augmentation_data + cie->augmentation_data_size};
    bool known = true;
    for (const char *letter = cie->augmentation + 1; *letter && known; letter++) {
        uint64_t personality;
        common->is_signal |= *letter == 'S';
        if (*letter == 'S' || *letter == 'B')
            continue;
        known = data.next < data.end;
        uint8_t byte = known ? *data.next++ : 0;
        if (*letter == 'R')
            common->encoding = byte;
        else
            known &= *letter == 'L' ||
                     (*letter == 'P' && read_pointer(&data, byte, address_size, &personality));
    }
    return known;
}

struct walk {
    const struct elf_image *image;
    const Elf_Data *data;
    uint64_t address; /* of the section's first byte */
    bool eh_frame;
    unsigned address_size;
    struct common common;
};

static const struct common *common_of(struct walk *walk, Dwarf_Off offset) {
    struct common *common = &walk->common;
    Dwarf_CFI_Entry entry;
    Dwarf_Off after;
    if (common->offset == offset)
        return common;
    common->offset = offset;
    common->readable = offset < walk->data->d_size &&
                       !dwarf_next_cfi(walk->image->header.e_ident, (Elf_Data *)walk->data,
                                       walk->eh_frame, offset, &after, &entry) &&
                       dwarf_cfi_cie_p(&entry);
    if (common->readable) {
        common->cie = entry.cie;
        common->readable = read_augmentation(common, walk->address_size);
    }
    return common;
}

/* The addresses; false when they are not code of the image. */
static bool read_range(const struct walk *walk, struct frame_bytes *bytes, uint8_t encoding,
                       struct frame_entry *found) {
    const uint8_t *begin = bytes->next;
    uint64_t start, size;
    if ((encoding & 0x80) || !read_pointer(bytes, encoding, walk->address_size, &start) ||
        !read_pointer(bytes, encoding & 7, walk->address_size, &size))
        return false;
    if ((encoding & 0x70) == DW_EH_PE_pcrel)
        start += walk->address + (uint64_t)(begin - (const uint8_t *)walk->data->d_buf);
    else if (encoding & 0x70)
        return false;
    if (walk->address_size == 4)
        start = (uint32_t)start;
    uint64_t limit = elf_image_code_end(walk->image, start);
    if (!limit || !size || size > limit - start)
        return false;
    found->start = start;
    found->end = start + size;
    return true;
}

static bool read_entry(struct walk *walk, const Dwarf_FDE *entry, struct frame_entry *found) {
    const struct common *common = common_of(walk, entry->CIE_pointer);
    struct frame_bytes bytes = {entry->start, entry->end};
    uint64_t augmented = 0;
    if (!common->readable || !read_range(walk, &bytes, common->encoding, found))
        return false;
    if (common->cie.augmentation[0] == 'z' &&
        (!frame_bytes_uleb(&bytes, &augmented) || augmented > (size_t)(bytes.end - bytes.next)))
        return false;
    found->common = &common->cie;
    found->first = (struct frame_bytes){common->cie.initial_instructions,
                                        common->cie.initial_instructions_end};
    found->rest = (struct frame_bytes){bytes.next + augmented, bytes.end};
    found->is_signal = common->is_signal;
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

/* A section that its linker compressed is decompressed by libelf, in memory. */
static Elf_Data *debug_frames(const struct elf_image *image, uint64_t *address) {
    GElf_Shdr header;
    Elf_Scn *section = elf_image_section(image, ".debug_frame", &header);
    if (!section || ((header.sh_flags & SHF_COMPRESSED) && elf_compress(section, 0, 0) < 0))
        return NULL;
    *address = 0;
    return elf_getdata(section, NULL);
}

static bool find_frames(struct walk *walk) {
    GElf_Shdr header;
    Elf_Scn *section = elf_image_section(walk->image, ".eh_frame", &header);
    walk->eh_frame = true;
    if (section) {
        walk->data = elf_rawdata(section, NULL);
        walk->address = header.sh_addr;
    } else {
        walk->data = frames_by_header(walk->image, &walk->address);
    }
    /* A length of zero alone, four bytes, says nothing of any code. */
    if (!walk->data || !walk->data->d_buf || walk->data->d_size <= 4) {
        walk->eh_frame = false;
        walk->data = debug_frames(walk->image, &walk->address);
    }
    return walk->data && walk->data->d_buf;
}

void frame_entries_visit(const struct elf_image *image, frame_entry_visitor *visit, void *context) {
    struct walk walk = {.image = image,
                        .address_size = image->header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4,
                        .common.offset = (Dwarf_Off)-1};
    if (image->header.e_ident[EI_DATA] != ELFDATA2LSB || !find_frames(&walk))
        return;
    Dwarf_Off next;
    for (Dwarf_Off offset = 0; offset < walk.data->d_size; offset = next) {
        Dwarf_CFI_Entry entry;
        struct frame_entry found;
        next = offset; /* left so when not even the entry's length can be read */
        int status = dwarf_next_cfi(image->header.e_ident, (Elf_Data *)walk.data, walk.eh_frame,
                                    offset, &next, &entry);
        if (next <= offset || next == (Dwarf_Off)-1 || status > 0)
            return;
        if (status == 0 && !dwarf_cfi_cie_p(&entry) && read_entry(&walk, &entry.fde, &found) &&
            !visit(context, &found))
            return;
    }
}
