/* A header leads to six parts: names, numbers of files by compilation unit, names of files, tables
 * of values by program counter, and functions, sorted, with their descriptions. Every offset is
 * checked against the section before it is followed. */
#include "program/go_table.h"

#include <stdlib.h>
#include <string.h>

#include "program/unwind_parts.h"
#include "util/array.h"
#include "util/little_endian.h"
#include "util/order.h"

static const uint32_t MAGIC_118 = 0xfffffff0, MAGIC_120 = 0xfffffff1;
enum {
    HEADER_BYTES = 8 + 8 * 8,
    ENTRY_BYTES = 8,        /* of the table of functions: u32 entry offset, u32 description */
    DESCRIPTION_BYTES = 36, /* as far as it is read */
    TABLE_MAX_BYTES = 1 << 30,
    NAME_MAX_BYTES = 16 << 10, /* of a function or file; longer ones are none */
    NAMES_PER_BYTE = 8         /* names that overlap must not exceed the section so many times */
};

struct go_table {
    uint64_t text; /* address that functions are relative to */
    uint64_t function_count;
    uint64_t names, units, files, values, functions; /* offsets in bytes[] of the parts */
    uint32_t quantum;                                /* bytes, of the shortest instruction */
    uint32_t flags;                                  /* of a function: where in its description */
    size_t size;
    uint8_t bytes[]; /* the section */
};

/* ---- reading ---- */

static bool has(const struct go_table *table, uint64_t offset, uint64_t size) {
    return offset <= table->size && size <= table->size - offset;
}

static uint32_t u32_at(const struct go_table *table, uint64_t offset) {
    return has(table, offset, 4) ? get_u32(table->bytes + offset) : 0;
}

/* NULL when it is empty, or does not end within the section. */
static const char *string_at(const struct go_table *table, uint64_t offset) {
    uint64_t most = offset < table->size ? table->size - offset : 0;
    if (most > NAME_MAX_BYTES)
        most = NAME_MAX_BYTES;
    if (!most || !table->bytes[offset] || !memchr(table->bytes + offset, 0, most))
        return NULL;
    return (const char *)table->bytes + offset;
}

/* The entry of function `index`; one more entry marks the end of the last function. */
static uint64_t entry(const struct go_table *table, uint64_t index) {
    return table->text + u32_at(table, table->functions + index * ENTRY_BYTES);
}

/* Where function `index` is described. */
static uint64_t description(const struct go_table *table, uint64_t index) {
    return table->functions + u32_at(table, table->functions + index * ENTRY_BYTES + 4);
}

/* The address of the text: in the header, which a relocation fills in programs that can be loaded
 * anywhere, else where the section begins. */
static uint64_t text_address(const struct elf_image *image, uint64_t told) {
    GElf_Shdr header;
    if (told && elf_image_code_end(image, told))
        return told;
    return elf_image_section(image, ".text", &header) ? header.sh_addr : 0;
}

static bool read_header(struct go_table *table, const struct elf_image *image) {
    const uint8_t *bytes = table->bytes;
    uint32_t magic = get_u32(bytes);
    if ((magic != MAGIC_118 && magic != MAGIC_120) || bytes[4] || bytes[5] || bytes[7] != 8 ||
        !bytes[6])
        return false;
    table->quantum = bytes[6];
    table->flags = magic == MAGIC_118 ? 37 : 41; /* since 1.20 behind the first line */
    table->function_count = get_u64(bytes + 8);
    table->text = text_address(image, get_u64(bytes + 24));
    table->names = get_u64(bytes + 32);
    table->units = get_u64(bytes + 40);
    table->files = get_u64(bytes + 48);
    table->values = get_u64(bytes + 56);
    table->functions = get_u64(bytes + 64);
    return table->text && table->function_count < table->size / ENTRY_BYTES &&
           has(table, table->functions, table->function_count * ENTRY_BYTES + 4) &&
           has(table, table->names, 0) && has(table, table->units, 0) &&
           has(table, table->files, 0) && has(table, table->values, 0);
}

struct go_table *go_table_read(const struct elf_image *image) {
    GElf_Shdr header;
    Elf_Scn *section = elf_image_section(image, ".gopclntab", &header);
    if (!section)
        section = elf_image_section(image, ".data.rel.ro.gopclntab", &header);
    Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    if (!data || !data->d_buf || data->d_size < HEADER_BYTES || data->d_size > TABLE_MAX_BYTES ||
        image->header.e_ident[EI_CLASS] != ELFCLASS64 ||
        image->header.e_ident[EI_DATA] != ELFDATA2LSB)
        return NULL;
    struct go_table *table = malloc(sizeof *table + data->d_size);
    if (!table)
        return NULL;
    table->size = data->d_size;
    memcpy(table->bytes, data->d_buf, data->d_size);
    if (read_header(table, image))
        return table;
    free(table);
    return NULL;
}

void go_table_free(struct go_table *table) {
    free(table);
}

/* ---- functions ---- */

bool go_table_functions(const struct go_table *table, const struct elf_image *image,
                        struct function_list *list) {
    uint64_t room = NAMES_PER_BYTE * table->size;
    for (uint64_t i = 0; i < table->function_count && room; i++) {
        uint64_t start = entry(table, i), end = entry(table, i + 1);
        uint64_t described = description(table, i), limit = elf_image_code_end(image, start);
        const char *name = has(table, described, DESCRIPTION_BYTES)
                               ? string_at(table, table->names + u32_at(table, described + 4))
                               : NULL;
        uint64_t length = name ? strlen(name) : NAME_MAX_BYTES;
        room -= length < room ? length : room;
        if (!name || !limit || end <= start || end > limit)
            continue;
        if (!array_push(list->items, list->capacity, list->count,
                        (struct function){.start = start,
                                          .end = end,
                                          .symbol = name,
                                          .type = STT_FUNC,
                                          .binding = STB_GLOBAL,
                                          .sized = true}))
            return false;
    }
    return true;
}

/* ---- values by address ---- */

static bool read_varint(const struct go_table *table, uint64_t *at, uint32_t *value) {
    *value = 0;
    for (unsigned shift = 0; shift < 35 && has(table, *at, 1); shift += 7) {
        uint8_t byte = table->bytes[(*at)++];
        *value |= (uint32_t)(byte & 0x7f) << (shift < 32 ? shift : 31);
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* Values by address, from a table of a function: pairs of steps of the value (signed) and of the
 * address. */
struct values {
    const struct go_table *table;
    uint64_t at;    /* the next pair */
    uint32_t value; /* up to `end`, from where the one before ended */
    uint64_t end;   /* address, exclusive */
    bool begun;
};

static struct values values_begin(const struct go_table *table, uint32_t offset, uint64_t start) {
    return (struct values){.table = table,
                           .at = offset ? table->values + offset : table->size,
                           .value = UINT32_MAX,
                           .end = start};
}

static bool values_next(struct values *values) {
    uint32_t step, length;
    if (!read_varint(values->table, &values->at, &step) || (!step && values->begun) ||
        !read_varint(values->table, &values->at, &length))
        return false;
    values->begun = true;
    values->value += step & 1 ? ~(step >> 1) : step >> 1;
    values->end += (uint64_t)length * values->table->quantum;
    return true;
}

/* ---- stacks ---- */

enum { FLAG_OUTERMOST = 1, FLAG_WRITES_SP = 2 }; /* abi.FuncFlagTopFrame, abi.FuncFlagSPWrite */

static bool add_function(const struct go_table *table, uint64_t index,
                         const struct elf_image *image, struct unwind_table *unwind) {
    uint64_t start = entry(table, index), end = entry(table, index + 1);
    uint64_t described = description(table, index), flags = described + table->flags;
    uint64_t reached = start;
    if (end <= start || !has(table, described, DESCRIPTION_BYTES) || !has(table, flags, 1))
        return true;
    if (table->bytes[flags] & (FLAG_OUTERMOST | FLAG_WRITES_SP)) {
        if (!unwind_table_add(unwind, image, start, (struct unwind_row){.kind = UNWIND_OUTERMOST}))
            return false;
        reached = end;
    }
    for (struct values values = values_begin(table, u32_at(table, described + 16), start);
         reached < end && values_next(&values); reached = values.end)
        if (values.end > reached &&
            !unwind_table_add(unwind, image, reached,
                              (struct unwind_row){.kind = UNWIND_REGISTER,
                                                  .base = UNWIND_RSP,
                                                  .cfa_offset = (int32_t)values.value + 8}))
            return false;
    return unwind_table_add(unwind, image, end, (struct unwind_row){0});
}

bool go_table_unwind(const struct go_table *table, const struct elf_image *image,
                     struct unwind_table *unwind) {
    return all_where(i, table->function_count, add_function(table, i, image, unwind));
}

/* ---- lines ---- */

/* The value at an address. −1: none. */
static int32_t value_at(const struct go_table *table, uint32_t offset, uint64_t start,
                        uint64_t address) {
    struct values values = values_begin(table, offset, start);
    while (values_next(&values))
        if (address < values.end)
            return (int32_t)values.value;
    return -1;
}

void go_table_locate(const struct go_table *table, uint64_t address, struct location *location) {
    uint64_t low = first_where(i, table->function_count, entry(table, i) > address);
    if (!low || address >= entry(table, low))
        return;
    uint64_t start = entry(table, low - 1), described = description(table, low - 1);
    if (!has(table, described, DESCRIPTION_BYTES))
        return;
    int32_t file = value_at(table, u32_at(table, described + 20), start, address);
    int32_t line = value_at(table, u32_at(table, described + 24), start, address);
    uint64_t number = (uint64_t)u32_at(table, described + 32) + (uint32_t)file;
    if (file < 0 || line <= 0 || !has(table, table->units + 4 * number, 4))
        return;
    const char *name = string_at(table, table->files + u32_at(table, table->units + 4 * number));
    if (!name)
        return;
    location->file = name;
    location->line = (uint32_t)line;
}
