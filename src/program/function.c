/* Symbols and unwind ranges go into one list. Several symbols may name one address; the one that a
 * person would choose owns it, and the others are kept at the end as aliases, for finding by name.
 * A symbol without a size (assembly) reaches to the end of the unwind range that begins with it,
 * else to the next function or the end of its segment. Unwind ranges own only what no symbol
 * covers. */
#include "program/function.h"

#include <stdlib.h>
#include <string.h>

#include "program/demangle.h"
#include "program/function_name.h"
#include "program/go_table.h"
#include "util/array.h"

bool function_read_symbols(struct function_list *list, const struct elf_image *image,
                           const struct elf_image *file, uint32_t type) {
    GElf_Shdr header;
    Elf_Scn *section = elf_image_section_of_type(file, type, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    if (!data || !data->d_buf)
        return true;
    size_t count = data->d_size / gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);
    for (size_t i = 1; i < count && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF)
            continue;
        int kind = GELF_ST_TYPE(symbol.st_info);
        if (kind != STT_FUNC && kind != STT_GNU_IFUNC && kind != STT_NOTYPE)
            continue;
        uint64_t limit = elf_image_code_end(image, symbol.st_value);
        const char *name = limit ? elf_strptr(file->elf, header.sh_link, symbol.st_name) : NULL;
        if (!name || !name[0])
            continue;
        /* Local labels and the mapping symbols ($x, $d) of assemblers are not functions. */
        if (kind == STT_NOTYPE && (name[0] == '$' || !strncmp(name, ".L", 2)))
            continue;
        if (!array_room(list->items, list->capacity, list->count + 1))
            return false;
        bool fits = symbol.st_size && symbol.st_size <= limit - symbol.st_value;
        list->items[list->count++] =
            (struct function){.start = symbol.st_value,
                              .end = fits ? symbol.st_value + symbol.st_size : 0,
                              .symbol = name,
                              .type = (uint8_t)kind,
                              .binding = GELF_ST_BIND(symbol.st_info),
                              .sized = fits};
    }
    return true;
}

static size_t leading_underscores(const char *name) {
    if (!strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2))
        return 0; /* a mangled name */
    return strspn(name, "_");
}

static int binding_rank(uint8_t binding) {
    return binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
}

/* Order of functions: by start; for one address the best name first: a symbol before a mere unwind
 * range, a function with a size before a label, malloc before __libc_malloc, global before
 * local. */
static int function_compare(const void *left, const void *right) {
    const struct function *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (!a->symbol || !b->symbol)
        return (a->symbol ? 0 : 1) - (b->symbol ? 0 : 1);
    if (a->sized != b->sized)
        return a->sized ? -1 : 1;
    if ((a->type == STT_NOTYPE) != (b->type == STT_NOTYPE))
        return a->type == STT_NOTYPE ? 1 : -1;
    if (a->linkage != b->linkage)
        return a->linkage ? 1 : -1;
    size_t underscores_a = leading_underscores(a->symbol);
    size_t underscores_b = leading_underscores(b->symbol);
    if (!underscores_a != !underscores_b)
        return underscores_a ? 1 : -1;
    int rank = binding_rank(a->binding) - binding_rank(b->binding);
    if (rank)
        return rank;
    if (underscores_a != underscores_b)
        return underscores_a < underscores_b ? -1 : 1;
    size_t length_a = strlen(a->symbol), length_b = strlen(b->symbol);
    if (length_a != length_b)
        return length_a < length_b ? -1 : 1;
    return strcmp(a->symbol, b->symbol);
}

static void sort(struct function_list *list) {
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, function_compare);
}

/* Moves the first function of each address to the front, in order, the others behind. Returns how
 * many are in front, or SIZE_MAX when memory is out. */
static size_t set_aliases_aside(struct function_list *list) {
    struct function *aliases = malloc((list->count + 1) * sizeof *aliases);
    if (!aliases)
        return SIZE_MAX;
    size_t kept = 0, alias_count = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (kept && list->items[kept - 1].start == list->items[i].start) {
            /* An assembly symbol that begins an unwind range ends with it. */
            if (!list->items[kept - 1].end)
                list->items[kept - 1].end = list->items[i].end;
            if (list->items[i].symbol)
                aliases[alias_count++] = list->items[i];
        } else {
            list->items[kept++] = list->items[i];
        }
    }
    if (alias_count)
        memcpy(list->items + kept, aliases, alias_count * sizeof *aliases);
    list->count = kept + alias_count;
    free(aliases);
    return kept;
}

/* The sections that hold code. */
static bool read_code_sections(struct span_table *table, const struct elf_image *image) {
    GElf_Shdr header;
    size_t count = 0, limit = 0;
    if (elf_getshdrnum(image->elf, &limit) || !limit)
        return span_table_build(table, NULL, 0);
    struct span *ranges = calloc(limit, sizeof *ranges);
    if (!ranges)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(image->elf, section)) && count < limit;)
        if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR) &&
            header.sh_size <= UINT64_MAX - header.sh_addr)
            ranges[count++] = (struct span){header.sh_addr, header.sh_addr + header.sh_size, 0};
    bool done = span_table_build(table, ranges, count);
    free(ranges);
    return done;
}

/* Gives the functions without an end theirs, and the aliases that of their function. */
static bool close_open_ends(struct function_list *list, size_t kept,
                            const struct elf_image *image) {
    struct span_table sections;
    if (!read_code_sections(&sections, image))
        return false;
    for (size_t i = 0; i < kept; i++) {
        struct function *function = &list->items[i];
        if (function->end)
            continue;
        const struct span *section = span_table_find(&sections, function->start);
        function->end = elf_image_code_end(image, function->start);
        if (section && section->end < function->end)
            function->end = section->end;
        if (i + 1 < kept && list->items[i + 1].start < function->end)
            function->end = list->items[i + 1].start;
    }
    span_table_free(&sections);
    size_t owner = 0;
    for (size_t i = kept; i < list->count; i++) {
        while (list->items[owner].start < list->items[i].start)
            owner++;
        if (!list->items[i].end)
            list->items[i].end = list->items[owner].end;
    }
    return true;
}

/* Two layers: the unwind ranges first, then over them the symbols. */
static bool build_spans(struct function_table *table, size_t kept) {
    const struct function *functions = table->list.items;
    struct span *ranges = malloc((kept + 1) * sizeof *ranges);
    struct span_table symbols = {0};
    if (!ranges)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < kept; i++)
        if (functions[i].symbol)
            ranges[count++] = (struct span){functions[i].start, functions[i].end, (uint32_t)i};
    bool done = span_table_build(&symbols, ranges, count);
    free(ranges);
    size_t limit = 2 * (symbols.count + kept) + 1;
    ranges = done ? malloc(limit * sizeof *ranges) : NULL;
    if (!ranges) {
        span_table_free(&symbols);
        return false;
    }
    /* The parts of each unwind range that no symbol covers, one piece per gap. */
    count = 0;
    size_t next = 0;
    uint64_t covered = 0;
    for (size_t i = 0; i < kept; i++) {
        uint64_t cursor = functions[i].start > covered ? functions[i].start : covered;
        if (functions[i].symbol || functions[i].end <= cursor)
            continue;
        covered = functions[i].end;
        while (next < symbols.count && symbols.spans[next].end <= cursor)
            next++;
        for (; next < symbols.count && symbols.spans[next].start < covered; next++) {
            if (symbols.spans[next].start > cursor)
                ranges[count++] = (struct span){cursor, symbols.spans[next].start, (uint32_t)i};
            cursor = symbols.spans[next].end;
            if (cursor >= covered)
                break;
        }
        if (cursor < covered)
            ranges[count++] = (struct span){cursor, covered, (uint32_t)i};
    }
    if (symbols.count)
        memcpy(ranges + count, symbols.spans, symbols.count * sizeof *ranges);
    count += symbols.count;
    span_table_free(&symbols);
    done = span_table_build(&table->spans, ranges, count);
    free(ranges);
    return done;
}

/* Copies the symbols' names out of the files. */
static bool keep_names(struct function_table *table) {
    for (size_t i = 0; i < table->list.count; i++) {
        const char **symbol = &table->list.items[i].symbol;
        if (*symbol && !(*symbol = arena_copy(&table->names, *symbol, strlen(*symbol))))
            return false;
    }
    return true;
}

bool function_table_build(struct function_table *table, const struct elf_image *image,
                          const struct elf_image *const *symbols, size_t symbols_count,
                          const struct go_table *go) {
    *table = (struct function_table){0};
    struct function_list *list = &table->list;
    bool done = function_read_symbols(list, image, image, SHT_DYNSYM);
    for (size_t i = 0; i < symbols_count && done; i++)
        if (symbols[i]->elf)
            done = function_read_symbols(list, image, symbols[i], SHT_SYMTAB);
    done = done && (!go || go_table_functions(go, image, list));
    sort(list);
    done = done && function_read_linkage(list, image) && function_read_unwind(list, image);
    sort(list);
    size_t kept = done && list->count < UINT32_MAX ? set_aliases_aside(list) : SIZE_MAX;
    if (kept == SIZE_MAX || !close_open_ends(list, kept, image))
        return false;
    table->alias_count = list->count - kept;
    return build_spans(table, kept) && keep_names(table);
}

bool function_table_of_symbols(struct function_table *table, const struct code_symbol *symbols,
                               size_t count, uint64_t address) {
    *table = (struct function_table){0};
    struct function_list *list = &table->list;
    for (size_t i = 0; i < count && i < UINT32_MAX; i++) {
        struct function function = {
            .symbol = symbols[i].name, .type = STT_FUNC, .binding = STB_GLOBAL, .sized = true};
        if (__builtin_add_overflow(address, symbols[i].start, &function.start) ||
            __builtin_add_overflow(function.start, symbols[i].size, &function.end))
            continue;
        if (!array_push(list->items, list->capacity, list->count, function))
            return false;
    }
    return build_spans(table, list->count) && keep_names(table);
}

/* How a function may be called, the surest way first. */
static bool is_symbol(struct function *function, const char *name, struct arena *arena) {
    (void)arena;
    return function->symbol && !function->linkage && !strcmp(function->symbol, name);
}

static bool is_named(struct function *function, const char *name, struct arena *arena) {
    return function_is_named(function_name(function, arena), name, strlen(name));
}

static bool is_scoped(struct function *function, const char *name, struct arena *arena) {
    return function_is_scoped(function_name(function, arena), name, strlen(name));
}

static bool (*const WAYS[])(struct function *, const char *, struct arena *) = {is_symbol, is_named,
                                                                                is_scoped};
enum { WAY_COUNT = sizeof WAYS / sizeof *WAYS };

const struct function *function_table_find_name(const struct function_table *table,
                                                const char *name, struct arena *arena) {
    for (size_t way = 0; way < WAY_COUNT; way++) {
        const struct function *found = NULL;
        for (size_t i = 0; i < table->list.count; i++) {
            struct function *function = &table->list.items[i];
            if (!WAYS[way](function, name, arena))
                continue;
            int rank = found ? binding_rank(function->binding) - binding_rank(found->binding) : -1;
            if (rank < 0 || (rank == 0 && function->start < found->start))
                found = function;
        }
        if (found)
            return found;
    }
    return NULL;
}

bool function_is_called(struct function *function, const char *name, struct arena *arena) {
    return any_where(way, WAY_COUNT, WAYS[way](function, name, arena));
}

void function_table_free(struct function_table *table) {
    free(table->list.items);
    span_table_free(&table->spans);
    arena_free(&table->names);
    *table = (struct function_table){0};
}

struct function *function_table_find(const struct function_table *table, uint64_t address,
                                     uint64_t *until) {
    const struct span *span = span_table_find(&table->spans, address);
    if (!span)
        return NULL;
    *until = span->end;
    return &table->list.items[span->value];
}

const char *function_name(struct function *function, struct arena *arena) {
    if (function->name || !function->symbol)
        return function->name;
    const char *name = demangle(arena, function->symbol);
    if (function->linkage) {
        size_t length = strlen(name);
        char *text = arena_alloc(arena, length + sizeof "@plt");
        if (text) {
            memcpy(text, name, length);
            memcpy(text + length, "@plt", sizeof "@plt");
            name = text;
        }
    }
    return function->name = name;
}
