/* Names for procedure linkage table entries: each jumps through a slot of the global offset table
 * and a dynamic relocation says which symbol fills that slot. The entry's code is read for the
 * slot, which is right for every layout a linker chooses (.plt, .plt.sec, .plt.got, .iplt). */
#include <stdlib.h>
#include <string.h>

#include "program/function.h"
#include "util/array.h"
#include "util/order.h"

struct slot { /* of the global offset table */
    uint64_t address;
    const char *symbol;
};

struct slot_list {
    struct slot *items;
    size_t count, capacity;
};

ORDER(slot_compare, struct slot, ascending(a->address, b->address))

/* The name of the function that starts at an address; `list` is sorted, best name first. */
static const char *symbol_at(const struct function_list *list, size_t count, uint64_t address) {
    size_t low = first_where(i, count, list->items[i].start >= address);
    return low < count && list->items[low].start == address ? list->items[low].symbol : NULL;
}

/* The symbols a section of relocations puts into slots. */
static bool read_relocations(struct slot_list *slots, const struct elf_image *image,
                             Elf_Scn *section, const GElf_Shdr *header,
                             const struct function_list *list) {
    bool x86 = image->header.e_machine == EM_X86_64;
    uint32_t irelative = x86 ? R_X86_64_IRELATIVE : 58 /* R_RISCV_IRELATIVE */;
    Elf_Scn *symbol_section = elf_getscn(image->elf, header->sh_link);
    GElf_Shdr symbol_header;
    Elf_Data *symbols = NULL, *data = elf_getdata(section, NULL);
    if (symbol_section && gelf_getshdr(symbol_section, &symbol_header) &&
        symbol_header.sh_type == SHT_DYNSYM)
        symbols = elf_getdata(symbol_section, NULL);
    size_t count =
        data && data->d_buf ? data->d_size / gelf_fsize(image->elf, ELF_T_RELA, 1, EV_CURRENT) : 0;
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Rela relocation;
        GElf_Sym symbol;
        const char *name = NULL;
        if (!gelf_getrela(data, (int)i, &relocation))
            continue;
        uint64_t type = GELF_R_TYPE(relocation.r_info), index = GELF_R_SYM(relocation.r_info);
        if (type == irelative)
            name = symbol_at(list, list->count, (uint64_t)relocation.r_addend);
        else if (index && index < INT32_MAX && symbols && gelf_getsym(symbols, (int)index, &symbol))
            name = elf_strptr(image->elf, symbol_header.sh_link, symbol.st_name);
        if (!name || !name[0])
            continue;
        if (!array_push(slots->items, slots->capacity, slots->count,
                        (struct slot){relocation.r_offset, name}))
            return false;
    }
    return true;
}

static uint32_t word_at(const uint8_t *code) {
    return code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
}

/* The slot an entry jumps through: [endbr64] [bnd] jmp *disp(%rip). */
static bool x86_slot(const uint8_t *code, size_t size, uint64_t address, uint64_t *slot) {
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    size_t at = size >= 4 && !memcmp(code, endbr64, 4) ? 4 : 0;
    at += at < size && code[at] == 0xf2;
    if (size < at + 6 || code[at] != 0xff || code[at + 1] != 0x25)
        return false;
    *slot = address + at + 6 + (uint64_t)(int32_t)word_at(code + at + 2);
    return true;
}

/* The slot an entry jumps through: auipc t3, high; ld t3, low(t3). */
static bool riscv_slot(const uint8_t *code, size_t size, uint64_t address, uint64_t *slot) {
    if (size < 8)
        return false;
    uint32_t auipc = word_at(code), load = word_at(code + 4);
    if ((auipc & 0xfff) != 0xe17 || (load & 0xfffff) != 0xe3e03)
        return false;
    *slot = address + (uint64_t)(int32_t)(auipc & 0xfffff000) + (uint64_t)((int32_t)load >> 20);
    return true;
}

static bool read_entries(struct function_list *list, const struct elf_image *image,
                         Elf_Scn *section, const GElf_Shdr *header, const struct slot_list *slots) {
    Elf_Data *data = elf_rawdata(section, NULL);
    size_t size = data && data->d_buf ? data->d_size : 0;
    bool x86 = image->header.e_machine == EM_X86_64;
    for (size_t at = 0, step; at < size; at += step) {
        uint64_t address = header->sh_addr + at, slot_address;
        step = header->sh_entsize == 8 && x86 ? 8 : 16;
        const uint8_t *code = (const uint8_t *)data->d_buf + at;
        uint64_t limit = elf_image_code_end(image, address);
        size_t code_size = size - at < step ? size - at : step;
        if (!limit || limit - address < step)
            continue;
        bool jumps = x86 ? x86_slot(code, code_size, address, &slot_address)
                         : riscv_slot(code, code_size, address, &slot_address);
        if (!jumps)
            continue;
        const struct slot *slot =
            slots->count ? bsearch(&(struct slot){.address = slot_address}, slots->items,
                                   slots->count, sizeof *slots->items, slot_compare)
                         : NULL;
        if (!slot)
            continue;
        if (!array_push(list->items, list->capacity, list->count,
                        (struct function){.start = address,
                                          .end = address + step,
                                          .symbol = slot->symbol,
                                          .type = STT_FUNC,
                                          .sized = true,
                                          .linkage = true}))
            return false;
    }
    return true;
}

bool function_read_linkage(struct function_list *list, const struct elf_image *image) {
    static const char *const names[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
    if (image->header.e_ident[EI_CLASS] != ELFCLASS64 ||
        image->header.e_ident[EI_DATA] != ELFDATA2LSB ||
        (image->header.e_machine != EM_X86_64 && image->header.e_machine != EM_RISCV))
        return true;
    struct slot_list slots = {0};
    GElf_Shdr header;
    bool done = true;
    for (Elf_Scn *section = NULL; done && (section = elf_nextscn(image->elf, section));)
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
            (header.sh_flags & SHF_ALLOC))
            done = read_relocations(&slots, image, section, &header, list);
    if (slots.count)
        qsort(slots.items, slots.count, sizeof *slots.items, slot_compare);
    for (size_t i = 0; i < sizeof names / sizeof *names && done; i++) {
        Elf_Scn *section = elf_image_section(image, names[i], &header);
        if (section && header.sh_type == SHT_PROGBITS)
            done = read_entries(list, image, section, &header, &slots);
    }
    free(slots.items);
    return done;
}
