#include "program/linked.h"

#include <stdlib.h>

#include "util/array.h"
#include "util/order.h"

struct entry {
    struct program_symbol symbol;
    int number; /* in the table */
};

struct entries {
    struct entry *items;
    size_t count, capacity;
};

ORDER(by_address, struct entry,
      ascending(a->symbol.address, b->symbol.address) ?: ascending(a->number, b->number))

/* Before local symbols comes one of type file, which says where they are from. */
static bool read_table(const struct elf_image *image, struct entries *entries) {
    GElf_Shdr header;
    Elf_Scn *section = elf_image_section_of_type(image, SHT_SYMTAB, &header);
    Elf_Data *bytes = section ? elf_getdata(section, NULL) : NULL;
    const char *file = NULL;
    if (!bytes || !bytes->d_buf)
        return true;
    const size_t count = bytes->d_size / gelf_fsize(image->elf, ELF_T_SYM, 1, EV_CURRENT);
    for (size_t i = 1; i < count && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(bytes, (int)i, &symbol))
            continue;
        const char *name = elf_strptr(image->elf, header.sh_link, symbol.st_name);
        const unsigned type = GELF_ST_TYPE(symbol.st_info);
        const bool local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
        if (type == STT_FILE)
            file = name && name[0] ? name : NULL;
        if (type != STT_FUNC || symbol.st_shndx == SHN_UNDEF || !name || !name[0])
            continue;
        const struct program_symbol found = {.address = symbol.st_value,
                                             .size = symbol.st_size,
                                             .name = name,
                                             .file = local ? file : NULL,
                                             .local = local};
        if (!array_push(entries->items, entries->capacity, entries->count,
                        (struct entry){found, (int)i}))
            return false;
    }
    return true;
}

bool linked_each_symbol(struct elf_image *image,
                        bool (*visit)(void *context, const struct program_symbol *symbol),
                        void *context) {
    struct error error;
    struct entries entries = {0};
    const bool released = !image->elf;
    if (!image->path || (released && !elf_image_reopen(image, &error)))
        return true;
    bool good = read_table(image, &entries);
    if (good && entries.count)
        qsort(entries.items, entries.count, sizeof *entries.items, by_address);
    for (size_t i = 0; good && i < entries.count; i++)
        good = visit(context, &entries.items[i].symbol);
    free(entries.items);
    if (released)
        elf_image_release(image);
    return good;
}

bool linked_has_relocations(struct elf_image *image) {
    struct error error;
    GElf_Shdr header;
    const bool released = !image->elf;
    if (!image->path || (released && !elf_image_reopen(image, &error)))
        return false;
    const bool found = elf_image_section(image, ".rela.text", &header) != NULL;
    if (released)
        elf_image_release(image);
    return found;
}
