/* Symbols seldom overlap (aliases, members that assembly names), so that a search goes back a few
 * places from the last that begins before the address. */
#include "program/data_symbols.h"

#include <stdlib.h>

#include "program/demangle.h"
#include "util/array.h"

enum { LOOK_BACK = 16 };

static bool read_table(struct data_symbols *data, const struct elf_image *file, uint32_t type,
                       struct arena *arena) {
    GElf_Shdr header;
    Elf_Scn *section = elf_image_section_of_type(file, type, &header);
    Elf_Data *bytes = section ? elf_getdata(section, NULL) : NULL;
    if (!bytes || !bytes->d_buf)
        return true;
    const size_t count = bytes->d_size / gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);
    for (size_t i = 1; i < count && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(bytes, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
            GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || !symbol.st_size ||
            symbol.st_size > UINT64_MAX - symbol.st_value)
            continue;
        const char *name = elf_strptr(file->elf, header.sh_link, symbol.st_name);
        if (!name || !name[0])
            continue;
        const char *copy = arena_copy(arena, name, strlen(name)); /* the file is released */
        const char *readable = copy ? demangle(arena, copy) : NULL;
        if (!readable ||
            !array_push(data->symbols, data->symbol_capacity, data->symbol_count,
                        (struct data_symbol){
                            .start = symbol.st_value, .size = symbol.st_size, .name = readable}))
            return false;
    }
    return true;
}

bool data_symbols_read(struct data_symbols *data, struct elf_image *file, struct arena *arena) {
    struct error error;
    const bool released = !file->elf;
    if (!file->path || (released && !elf_image_reopen(file, &error)))
        return true;
    const bool good =
        read_table(data, file, SHT_SYMTAB, arena) && read_table(data, file, SHT_DYNSYM, arena);
    if (released)
        elf_image_release(file);
    return good;
}

static bool read_sections(struct data_symbols *data, const struct elf_image *image,
                          struct arena *arena) {
    GElf_Shdr header;
    size_t names;
    if (elf_getshdrstrndx(image->elf, &names))
        return true;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(image->elf, section));) {
        const char *name;
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) ||
            header.sh_flags & SHF_TLS || !header.sh_size ||
            header.sh_size > UINT64_MAX - header.sh_addr ||
            !(name = elf_strptr(image->elf, names, header.sh_name)))
            continue;
        const char *copy = arena_copy(arena, name, strlen(name));
        if (!copy || !array_push(data->sections, data->section_capacity, data->section_count,
                                 (struct data_symbol){header.sh_addr, header.sh_size,
                                                      header.sh_addralign, copy}))
            return false;
    }
    return true;
}

bool data_sections_read(struct data_symbols *data, struct elf_image *image, struct arena *arena) {
    struct error error;
    const bool released = !image->elf;
    if (!image->path || (released && !elf_image_reopen(image, &error)))
        return true;
    const bool good = read_sections(data, image, arena);
    if (released)
        elf_image_release(image);
    return good;
}

static int by_start(const void *left, const void *right) {
    const struct data_symbol *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return strcmp(a->name, b->name);
}

void data_symbols_sort(struct data_symbols *data) {
    if (data->symbol_count)
        qsort(data->symbols, data->symbol_count, sizeof *data->symbols, by_start);
    if (data->section_count)
        qsort(data->sections, data->section_count, sizeof *data->sections, by_start);
}

void data_symbols_free(struct data_symbols *data) {
    free(data->symbols);
    free(data->sections);
    *data = (struct data_symbols){.read = false};
}

static const struct data_symbol *find(const struct data_symbol *items, size_t count,
                                      uint64_t address) {
    size_t low = 0, high = count; /* of those that begin at the address or before */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct data_symbol *found = NULL;
    for (size_t back = 0; back < LOOK_BACK && back < low; back++) {
        const struct data_symbol *item = &items[low - 1 - back];
        if (address - item->start < item->size && (!found || item->size < found->size))
            found = item;
    }
    return found;
}

const struct data_symbol *data_symbol_at(const struct data_symbols *data, uint64_t address) {
    return find(data->symbols, data->symbol_count, address);
}

const struct data_symbol *data_section_at(const struct data_symbols *data, uint64_t address) {
    return find(data->sections, data->section_count, address);
}
