/* libdw parses; its results are copied into flat sorted tables per compilation unit (CU):
 *   rows    the line table, one row per address where the source position changes
 *   scopes  the inlined functions, each with its parent, so that the innermost gives the chain
 *   spans   address -> innermost scope, and the real function's first line
 * Units whose data libdw rejects simply have no rows or scopes. Counts are bounded, because
 * damaged DWARF can describe absurd amounts with few bytes. */
#include "program/source.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "program/demangle.h"
#include "program/scopes.h"
#include "program/span.h"
#include "util/array.h"
#include "util/order.h"

enum {
    RANGES_MAX = 4 << 20 /* per unit, and for the index of units */
};

static const uint32_t NO_FILE = UINT32_MAX, NO_SCOPE = UINT32_MAX;

struct row {
    uint64_t address;
    uint32_t file; /* NO_FILE: no code from here on */
    uint32_t line;
};

struct scope { /* an inlined function, at one call */
    const char *symbol;
    const char *name; /* readable; NULL until asked for */
    uint32_t parent;  /* the inlined function it was inlined into; NO_SCOPE: a real function */
    uint32_t file;    /* position of the call */
    uint32_t line;
    uint32_t declared; /* the line where the function begins; 0: unknown */
};

struct unit {
    Dwarf_Off offset; /* of its DIE */
    enum program_language language;
    bool loaded;
    Dwarf_Files *files;       /* that rows refer to */
    Dwarf_Files *scope_files; /* that scopes refer to: others when the scopes are in a .dwo file */
    const char *directory;    /* compilation directory; NULL: unknown */
    struct row *rows;
    size_t row_count, row_capacity;
    struct scope *scopes;
    size_t scope_count, scope_capacity;
    struct span_table spans;
    struct span_table functions; /* address -> the line where its real function begins */
};

struct source {
    Dwarf *dwarf;
    struct unit *units;
    size_t unit_count, unit_capacity;
    bool indexed;
    struct span_table spans; /* address -> unit */
};

struct range_list {
    struct span *items;
    size_t count, capacity;
};

bool source_available(const struct elf_image *file) {
    GElf_Shdr header;
    return elf_image_section(file, ".debug_info", &header) ||
           elf_image_section(file, ".zdebug_info", &header);
}

struct source *source_new(const struct elf_image *file) {
    if (!source_available(file))
        return NULL;
    struct source *source = calloc(1, sizeof *source);
    if (source && !(source->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL))) {
        free(source);
        return NULL;
    }
    return source;
}

void source_free(struct source *source) {
    if (!source)
        return;
    for (size_t i = 0; i < source->unit_count; i++) {
        free(source->units[i].rows);
        free(source->units[i].scopes);
        span_table_free(&source->units[i].spans);
        span_table_free(&source->units[i].functions);
    }
    free(source->units);
    span_table_free(&source->spans);
    dwarf_end(source->dwarf);
    free(source);
}

/* Adds the code ranges of a DIE; false when memory is out or the list is absurdly long. */
static bool add_ranges(struct range_list *ranges, Dwarf_Die *die, uint32_t value) {
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
        if (start >= end)
            continue;
        if (ranges->count >= RANGES_MAX ||
            !array_room(ranges->items, ranges->capacity, ranges->count + 1))
            return false;
        ranges->items[ranges->count++] = (struct span){start, end, value};
    }
    return true;
}

static enum program_language language_of(Dwarf_Die *die) {
    switch (dwarf_srclang(die)) {
    case DW_LANG_Rust:
        return LANGUAGE_RUST;
    case DW_LANG_Go:
        return LANGUAGE_GO;
    default:
        return LANGUAGE_OTHER;
    }
}

static void index_units(struct source *source) {
    struct range_list ranges = {0};
    source->indexed = true;
    uint8_t type;
    Dwarf_Die die, split = {0};
    for (Dwarf_CU *cu = NULL;
         dwarf_get_units(source->dwarf, cu, &cu, NULL, &type, &die, &split) == 0;) {
        if (type != DW_UT_compile && type != DW_UT_skeleton)
            continue;
        if (!array_room(source->units, source->unit_capacity, source->unit_count + 1))
            break;
        source->units[source->unit_count] = (struct unit){
            .offset = dwarf_dieoffset(&die), .language = language_of(split.addr ? &split : &die)};
        if (!add_ranges(&ranges, &die, (uint32_t)source->unit_count++))
            break;
    }
    span_table_build(&source->spans, ranges.items, ranges.count);
    free(ranges.items);
}

static bool add_row(struct unit *unit, uint64_t address, uint32_t file, uint32_t line) {
    struct row *last = unit->row_count ? &unit->rows[unit->row_count - 1] : NULL;
    if (last && last->address > address)
        return true; /* libdw sorts; a row out of order can only come from damage */
    if (last && last->address == address) {
        *last = (struct row){address, file, line}; /* the last position at an address holds */
        return true;
    }
    if (last && last->file == file && last->line == line)
        return true;
    return array_push(unit->rows, unit->row_capacity, unit->row_count,
                      (struct row){address, file, line});
}

static void load_rows(struct unit *unit, Dwarf_Die *die) {
    Dwarf_Lines *lines;
    size_t count;
    if (dwarf_getsrclines(die, &lines, &count))
        return;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        Dwarf_Addr address;
        Dwarf_Files *files;
        bool end;
        size_t file;
        int number;
        if (dwarf_lineaddr(line, &address) || dwarf_lineendsequence(line, &end) ||
            dwarf_lineno(line, &number) || dwarf_line_file(line, &files, &file))
            continue;
        bool known = !end && file < NO_FILE;
        if (!add_row(unit, address, known ? (uint32_t)file : NO_FILE,
                     known && number > 0 ? (uint32_t)number : 0))
            return;
    }
}

static uint32_t number_of(Dwarf_Attribute *attribute, uint32_t otherwise) {
    Dwarf_Word value;
    if (dwarf_formudata(attribute, &value) || value >= UINT32_MAX)
        return otherwise;
    return (uint32_t)value;
}

static uint32_t attribute_number(Dwarf_Die *die, unsigned name, uint32_t otherwise) {
    Dwarf_Attribute attribute;
    return number_of(dwarf_attr(die, name, &attribute), otherwise);
}

static uint32_t declared_line(Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    return number_of(dwarf_attr_integrate(die, DW_AT_decl_line, &attribute), 0);
}

struct unit_ranges {
    struct range_list scopes, functions;
};

/* Adds the functions below a DIE. False: give up (out of memory, absurd counts). */
static bool load_scopes(struct unit *unit, struct unit_ranges *ranges, Dwarf_Die *above,
                        uint32_t parent, unsigned depth) {
    Dwarf_Die die;
    if (depth > SCOPE_DEPTH_MAX || dwarf_child(above, &die))
        return true;
    for (;;) {
        int tag = dwarf_tag(&die);
        uint32_t scope = tag == DW_TAG_subprogram ? NO_SCOPE : parent;
        if (tag == DW_TAG_inlined_subroutine) {
            const char *symbol = scope_symbol(&die);
            if (unit->scope_count >= RANGES_MAX ||
                !array_room(unit->scopes, unit->scope_capacity, unit->scope_count + 1))
                return false;
            scope = (uint32_t)unit->scope_count++;
            unit->scopes[scope] =
                (struct scope){.symbol = symbol ? symbol : "(unnamed)",
                               .parent = parent,
                               .file = attribute_number(&die, DW_AT_call_file, NO_FILE),
                               .line = attribute_number(&die, DW_AT_call_line, 0),
                               .declared = declared_line(&die)};
            if (!add_ranges(&ranges->scopes, &die, scope))
                return false;
        }
        if (tag == DW_TAG_subprogram && !add_ranges(&ranges->functions, &die, declared_line(&die)))
            return false;
        if (scope_holds_code(tag) &&
            !(tag == DW_TAG_subprogram && dwarf_hasattr(&die, DW_AT_inline)) &&
            !load_scopes(unit, ranges, &die, scope, depth + 1))
            return false;
        Dwarf_Off offset = dwarf_dieoffset(&die);
        if (dwarf_siblingof(&die, &die) || dwarf_dieoffset(&die) <= offset)
            return true;
    }
}

static void unit_load(struct source *source, struct unit *unit) {
    Dwarf_Die die, split;
    Dwarf_Attribute attribute;
    struct unit_ranges ranges = {0};
    unit->loaded = true;
    if (!dwarf_offdie(source->dwarf, unit->offset, &die))
        return;
    unit->directory = dwarf_formstring(dwarf_attr(&die, DW_AT_comp_dir, &attribute));
    load_rows(unit, &die);
    size_t file_count;
    if (dwarf_getsrcfiles(&die, &unit->files, &file_count))
        unit->files = NULL;
    unit->scope_files = unit->files;
    if (!dwarf_cu_info(die.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) && split.addr) {
        die = split;
        if (dwarf_getsrcfiles(&die, &unit->scope_files, &file_count))
            unit->scope_files = NULL;
    }
    load_scopes(unit, &ranges, &die, NO_SCOPE, 0);
    span_table_build(&unit->spans, ranges.scopes.items, ranges.scopes.count);
    span_table_build(&unit->functions, ranges.functions.items, ranges.functions.count);
    free(ranges.scopes.items);
    free(ranges.functions.items);
}

/* The name of a unit's file, relative to the compilation directory when it is inside. */
static const char *file_name(const struct unit *unit, Dwarf_Files *files, uint32_t file) {
    const char *name = files && file != NO_FILE ? dwarf_filesrc(files, file, NULL, NULL) : NULL;
    size_t length = unit->directory ? strlen(unit->directory) : 0;
    if (!name || !name[0])
        return NULL;
    while (length && unit->directory[length - 1] == '/')
        length--;
    if (length && !strncmp(name, unit->directory, length) && name[length] == '/')
        name += length + strspn(name + length, "/");
    while (name[0] == '.' && name[1] == '/')
        name += 1 + strspn(name + 1, "/");
    return name;
}

static const struct row *find_row(const struct unit *unit, uint64_t address) {
    size_t low = first_where(i, unit->row_count,
                             unit->rows[i].address > address); /* the first row after the address */
    return low ? &unit->rows[low - 1] : NULL;
}

enum program_language source_language(struct source *source, uint64_t address,
                                      enum program_language otherwise) {
    if (!source->indexed)
        index_units(source);
    const struct span *span = span_table_find(&source->spans, address);
    return span ? source->units[span->value].language : otherwise;
}

void source_locate(struct source *source, uint64_t address, struct arena *arena,
                   struct location *location) {
    if (!source->indexed)
        index_units(source);
    const struct span *span = span_table_find(&source->spans, address);
    if (!span)
        return;
    struct unit *unit = &source->units[span->value];
    if (!unit->loaded)
        unit_load(source, unit);
    const struct row *row = find_row(unit, address);
    if (row) {
        location->file = file_name(unit, unit->files, row->file);
        location->line = location->file ? row->line : 0;
    }
    span = span_table_find(&unit->functions, address);
    location->function_line = span ? span->value : 0;
    span = span_table_find(&unit->spans, address);
    for (uint32_t at = span ? span->value : NO_SCOPE;
         at != NO_SCOPE && location->inline_count < LOCATION_MAX_INLINE;
         at = unit->scopes[at].parent) {
        struct scope *scope = &unit->scopes[at];
        if (!scope->name)
            scope->name = demangle(arena, scope->symbol);
        location->inlined[location->inline_count++] =
            (struct source_frame){.function = scope->name,
                                  .file = file_name(unit, unit->scope_files, scope->file),
                                  .line = scope->line,
                                  .function_line = scope->declared};
    }
}
