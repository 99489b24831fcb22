/* libdw parses. Of a compilation unit its functions and the calls inlined in them are gathered as
 * scopes; their ranges, flattened, cut the code where the innermost scope changes, the line table
 * cuts it where position or discriminator do. A unit is forgotten when its pieces were visited. */
#include "program/compiled.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "program/scopes.h"
#include "program/span.h"
#include "util/array.h"
#include "util/order.h"

enum {
    SCOPES_MAX = 4 << 20 /* per unit, and ranges */
};
static const uint32_t NO_SCOPE = UINT32_MAX;
static const unsigned AT_GNU_DISCRIMINATOR = 0x2136; /* not in every dwarf.h */

struct scope { /* a function, or a call of one that was inlined */
    const char *symbol;
    uint32_t parent; /* what the call was inlined into; NO_SCOPE: a function */
    uint32_t line;   /* of the function's declaration */
    uint32_t call_line, call_discriminator;
    uint64_t entry; /* of a function */
};

struct unit {
    struct scope *scopes;
    size_t scope_count, scope_capacity;
    struct span *ranges;
    size_t range_count, range_capacity;
    bool encodes; /* discriminators as LLVM does */
};

struct walk {
    struct unit unit;
    struct span_table spans;
    program_piece_visitor *visit;
    void *context;
};

/* ---- discriminators ----
 *
 * LLVM packs three numbers into one, the lowest first: which of the blocks of a line it is, how
 * often the code was copied (unrolled, vectorised), and which copy it is. Each begins with a bit
 * that says that it is 0; else it has 5 bits, or 12 if the bit behind those 5 is set. */

static uint32_t component(uint32_t packed) {
    if (packed & 1)
        return 0;
    packed >>= 1;
    return packed & 0x20 ? (packed >> 1 & 0xfe0) | (packed & 0x1f) : packed & 0x1f;
}

static uint32_t behind_component(uint32_t packed) {
    return packed & 1 ? packed >> 1 : packed >> (packed & 0x40 ? 14 : 7);
}

static uint32_t block_of_line(const struct unit *unit, uint32_t discriminator) {
    return unit->encodes ? component(discriminator) : discriminator;
}

static uint32_t copies_of(const struct unit *unit, uint32_t discriminator) {
    const uint32_t copies = unit->encodes ? component(behind_component(discriminator)) : 0;
    return copies ? copies : 1;
}

/* ---- scopes ---- */

static uint32_t number_of(Dwarf_Attribute *attribute) {
    Dwarf_Word value;
    return !attribute || dwarf_formudata(attribute, &value) || value >= UINT32_MAX
               ? 0
               : (uint32_t)value;
}

static bool add_scope(struct unit *unit, Dwarf_Die *die, uint32_t parent, bool inlined) {
    Dwarf_Attribute attribute;
    Dwarf_Addr entry = 0, base, start, end;
    const uint32_t number = (uint32_t)unit->scope_count;
    struct scope scope = {
        .symbol = scope_symbol(die),
        .parent = inlined ? parent : NO_SCOPE,
        .line = number_of(dwarf_attr_integrate(die, DW_AT_decl_line, &attribute)),
    };
    if (inlined) {
        scope.call_line = number_of(dwarf_attr(die, DW_AT_call_line, &attribute));
        scope.call_discriminator =
            block_of_line(unit, number_of(dwarf_attr(die, AT_GNU_DISCRIMINATOR, &attribute)));
    } else if (!dwarf_entrypc(die, &entry)) {
        scope.entry = entry;
    }
    if (number >= SCOPES_MAX ||
        !array_push(unit->scopes, unit->scope_capacity, unit->scope_count, scope))
        return false;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
        if (start < end && (unit->range_count >= SCOPES_MAX ||
                            !array_push(unit->ranges, unit->range_capacity, unit->range_count,
                                        (struct span){start, end, number})))
            return false;
    return true;
}

/* Adds what is below a DIE. False: give up (out of memory, absurd counts). */
static bool add_scopes(struct unit *unit, Dwarf_Die *above, uint32_t parent, unsigned depth) {
    Dwarf_Die die;
    if (depth > SCOPE_DEPTH_MAX || dwarf_child(above, &die))
        return true;
    for (;;) {
        const int tag = dwarf_tag(&die);
        const bool inlined = tag == DW_TAG_inlined_subroutine && parent != NO_SCOPE;
        const bool abstract = tag == DW_TAG_subprogram && dwarf_hasattr(&die, DW_AT_inline);
        uint32_t scope = tag == DW_TAG_subprogram ? NO_SCOPE : parent;
        if (inlined || (tag == DW_TAG_subprogram && !abstract &&
                        (dwarf_hasattr(&die, DW_AT_low_pc) || dwarf_hasattr(&die, DW_AT_ranges)))) {
            scope = (uint32_t)unit->scope_count;
            if (!add_scope(unit, &die, parent, inlined))
                return false;
        }
        if (scope_holds_code(tag) && !abstract && !add_scopes(unit, &die, scope, depth + 1))
            return false;
        const Dwarf_Off offset = dwarf_dieoffset(&die);
        if (dwarf_siblingof(&die, &die) || dwarf_dieoffset(&die) <= offset)
            return true;
    }
}

/* ---- pieces ---- */

static uint32_t behind(uint32_t line, uint32_t declaration) {
    return (line - declaration) & 0xffff;
}

/* The frames of a scope, the function first; 0: a name is missing, or there are too many. */
static uint32_t make_frames(const struct unit *unit, uint32_t scope, uint32_t line,
                            uint32_t discriminator, struct program_frame *frames) {
    uint32_t count = 0, at = scope;
    for (; at != NO_SCOPE && count < PROGRAM_MAX_FRAMES; at = unit->scopes[at].parent)
        count++;
    if (at != NO_SCOPE)
        return 0;
    at = scope;
    for (uint32_t i = count; i-- > 0; at = unit->scopes[at].parent) {
        const struct scope *of = &unit->scopes[at];
        frames[i] = (struct program_frame){of->symbol, behind(line, of->line), discriminator};
        line = of->call_line;
        discriminator = of->call_discriminator;
        if (!of->symbol)
            return 0;
    }
    return count;
}

/* [start, end) is of one row of the line table; spans cut it. */
static bool visit_row(const struct walk *walk, uint64_t start, uint64_t end, uint32_t line,
                      uint32_t discriminator) {
    const struct unit *unit = &walk->unit;
    struct program_frame frames[PROGRAM_MAX_FRAMES];
    const struct span_table *spans = &walk->spans;
    for (size_t i = first_where(k, spans->count, spans->spans[k].end > start);
         i < spans->count && spans->spans[i].start < end; i++) {
        const struct span *span = &spans->spans[i];
        struct program_piece piece = {.start = span->start > start ? span->start : start,
                                      .end = span->end < end ? span->end : end,
                                      .copies = copies_of(unit, discriminator),
                                      .has_line = line > 0,
                                      .frames = frames};
        uint32_t function = span->value;
        while (unit->scopes[function].parent != NO_SCOPE)
            function = unit->scopes[function].parent;
        piece.entry = unit->scopes[function].entry;
        piece.frame_count =
            make_frames(unit, span->value, line, block_of_line(unit, discriminator), frames);
        if (piece.frame_count && !walk->visit(walk->context, &piece))
            return false;
    }
    return true;
}

static bool visit_rows(const struct walk *walk, Dwarf_Die *die) {
    Dwarf_Lines *lines;
    size_t count;
    if (dwarf_getsrclines(die, &lines, &count))
        return true;
    for (size_t i = 0; i + 1 < count; i++) {
        Dwarf_Line *row = dwarf_onesrcline(lines, i);
        Dwarf_Addr start, end;
        bool last;
        int line;
        unsigned discriminator;
        if (dwarf_lineaddr(row, &start) || dwarf_lineendsequence(row, &last) ||
            dwarf_lineno(row, &line) || dwarf_linediscriminator(row, &discriminator) ||
            dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &end))
            continue;
        if (!last && line >= 0 && start < end &&
            !visit_row(walk, start, end, (uint32_t)line, discriminator))
            return false;
    }
    return true;
}

static bool visit_unit(struct walk *walk, Dwarf_Die *die, Dwarf_Die *split) {
    Dwarf_Attribute attribute;
    struct unit *unit = &walk->unit;
    const char *producer = dwarf_formstring(dwarf_attr(die, DW_AT_producer, &attribute));
    *unit = (struct unit){.encodes = !producer || strncmp(producer, "GNU ", 4) != 0};
    bool good = add_scopes(unit, split->addr ? split : die, NO_SCOPE, 0) &&
                span_table_build(&walk->spans, unit->ranges, unit->range_count);
    good = good && visit_rows(walk, die);
    span_table_free(&walk->spans);
    free(unit->scopes);
    free(unit->ranges);
    return good;
}

static bool is_touched(Dwarf_Die *die, program_touched *touched, void *context) {
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
        if (start < end && touched(context, start, end))
            return true;
    return false;
}

bool compiled_each_piece(const struct elf_image *file, program_touched *touched,
                         program_piece_visitor *visit, void *context) {
    struct walk walk = {.visit = visit, .context = context};
    Dwarf *dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
    uint8_t type;
    Dwarf_Die die, split = {0};
    bool good = true;
    for (Dwarf_CU *cu = NULL;
         dwarf && good && dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, &split) == 0;)
        if ((type == DW_UT_compile || type == DW_UT_skeleton) && is_touched(&die, touched, context))
            good = visit_unit(&walk, &die, &split);
    dwarf_end(dwarf);
    return good;
}
