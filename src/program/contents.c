/* The file is opened for each piece and compared with the one that was opened first, so that
 * neither a mapping nor a descriptor is kept, and a file that shrinks does no harm. Relocations are
 * those of 64-bit images with addends (.rela.dyn); packed ones (.relr.dyn) have their addend where
 * they apply, which reads as linked. */
#include "program/contents.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/little_endian.h"
#include "util/order.h"

enum { PIECE_BYTES = 1 << 16, POINTER_BYTES = 8, RISCV_RELATIVE = 3 };

ORDER(compare, struct relocation, ascending(a->address, b->address))

static bool is_relative(const struct elf_image *image, uint64_t type) {
    switch (image->header.e_machine) {
    case EM_X86_64:
        return type == R_X86_64_RELATIVE;
    case EM_RISCV:
        return type == RISCV_RELATIVE;
    default:
        return false;
    }
}

static bool read_section(struct contents *contents, size_t *capacity, const struct elf_image *image,
                         Elf_Scn *section) {
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count =
        data && data->d_buf ? data->d_size / gelf_fsize(image->elf, ELF_T_RELA, 1, EV_CURRENT) : 0;
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Rela rela;
        if (!gelf_getrela(data, (int)i, &rela))
            continue;
        if (!array_reserve((void **)&contents->relocations, capacity,
                           contents->relocation_count + 1, sizeof *contents->relocations))
            return false;
        contents->relocations[contents->relocation_count++] = (struct relocation){
            rela.r_offset, (uint64_t)rela.r_addend, is_relative(image, GELF_R_TYPE(rela.r_info))};
    }
    return true;
}

static bool prepare(struct contents *contents, struct elf_image *image) {
    struct error error;
    GElf_Shdr header;
    size_t capacity = 0;
    bool released = !image->elf;
    if (contents->prepared)
        return true;
    if (!image->path || !elf_image_reopen(image, &error))
        return false;
    bool done = image->header.e_ident[EI_CLASS] == ELFCLASS64 &&
                image->header.e_ident[EI_DATA] == ELFDATA2LSB;
    for (Elf_Scn *section = NULL; done && (section = elf_nextscn(image->elf, section));)
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
            (header.sh_flags & SHF_ALLOC))
            done = read_section(contents, &capacity, image, section);
    if (released)
        elf_image_release(image);
    if (contents->relocation_count)
        qsort(contents->relocations, contents->relocation_count, sizeof *contents->relocations,
              compare);
    if (!done)
        contents->relocation_count = 0;
    return contents->prepared = done;
}

/* Writes what the loader would write, if that is known. */
static bool relocate(const struct contents *contents, uint64_t address, uint8_t *bytes,
                     size_t size) {
    uint64_t from = address < POINTER_BYTES ? 0 : address - (POINTER_BYTES - 1);
    size_t low =
        first_where(i, contents->relocation_count, contents->relocations[i].address >= from);
    for (; low < contents->relocation_count; low++) {
        const struct relocation *relocation = &contents->relocations[low];
        uint8_t pointer[POINTER_BYTES];
        if (relocation->address >= address && relocation->address - address >= size)
            break;
        if (!relocation->known)
            return false;
        put_u64(pointer, relocation->value);
        for (unsigned i = 0; i < POINTER_BYTES; i++)
            if (relocation->address + i - address < size)
                bytes[relocation->address + i - address] = pointer[i];
    }
    return true;
}

/* The offset in the file of `size` bytes (not 0) at an address, if the file has all of them in one
 * piece. */
static bool find_in_file(const struct elf_image *image, uint64_t address, size_t size,
                         uint64_t *offset) {
    uint64_t last;
    return size - 1 <= UINT64_MAX - address &&
           elf_image_address_to_offset(image, address, offset) &&
           elf_image_address_to_offset(image, address + (size - 1), &last) && last >= *offset &&
           last - *offset == size - 1;
}

/* Reads the piece of the file that begins at an address, as far as its segment goes. */
static bool read_piece(struct contents *contents, const struct elf_image *image, uint64_t address) {
    uint64_t offset;
    size_t size = PIECE_BYTES;
    if (!contents->piece && !(contents->piece = malloc(PIECE_BYTES)))
        return false;
    while (size > 0 && !find_in_file(image, address, size, &offset))
        size /= 2;
    contents->piece_size = 0;
    if (size == 0 || !elf_image_read(image, offset, contents->piece, size))
        return false;
    contents->address = address;
    contents->piece_size = size;
    return true;
}

static bool is_in_piece(const struct contents *contents, uint64_t address, size_t size) {
    uint64_t offset = address - contents->address;
    return offset <= contents->piece_size && size <= contents->piece_size - offset;
}

bool contents_read(struct contents *contents, struct elf_image *image, uint64_t address,
                   void *bytes, size_t size) {
    uint64_t offset;
    if (size == 0 || !prepare(contents, image) || !find_in_file(image, address, size, &offset))
        return false;
    if (is_in_piece(contents, address, size) ||
        (size < PIECE_BYTES / 2 && read_piece(contents, image, address) &&
         is_in_piece(contents, address, size)))
        memcpy(bytes, contents->piece + (address - contents->address), size);
    else if (!elf_image_read(image, offset, bytes, size))
        return false;
    return relocate(contents, address, bytes, size);
}

void contents_free(struct contents *contents) {
    free(contents->relocations);
    free(contents->piece);
    *contents = (struct contents){0};
}
