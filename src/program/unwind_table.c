/* Call frame instructions (DWARF 5) are run once, and each state of the rules that a row
 * can say becomes a row. */
#include "program/unwind_table.h"

#include <dwarf.h>

#include "program/frame_entries.h"
#include "program/go_table.h"
#include "program/unwind_parts.h"
#include "util/array.h"
#include "util/order.h"

enum { STATES_MAX = 16, EXPRESSION_MAX = 32 };

/* ---- rules ---- */

/* How a register of the caller is found. */
struct rule {
    enum { SAME, BY_CFA, BY_RBP, LOST } kind;
    int64_t offset; /* bytes */
};

struct state {
    enum unwind_kind kind;
    uint64_t base; /* register */
    int64_t offset;
    uint64_t after;
    struct rule rbp, rbx;
    bool outermost;
    bool other_return; /* the return address is not below the CFA */
};

struct machine { /* that runs the instructions of one entry */
    struct unwind_table *table;
    const struct elf_image *image;
    const struct frame_entry *entry;
    struct state state, initial;
    struct state remembered[STATES_MAX];
    size_t depth;
    uint64_t at; /* address */
};

static struct rule *rule_of(struct machine *machine, uint64_t number) {
    return number == UNWIND_RBP   ? &machine->state.rbp
           : number == UNWIND_RBX ? &machine->state.rbx
                                  : NULL;
}

static void set_rule(struct machine *machine, uint64_t number, struct rule rule) {
    struct rule *of = rule_of(machine, number);
    if (of)
        *of = rule;
    if (number == UNWIND_RIP)
        machine->state.other_return = rule.kind != BY_CFA || rule.offset != -8;
}

/* ---- rows ---- */

/* False: no row can say it. */
static bool word_of(const struct rule *rule, int16_t *word) {
    const int64_t words = rule->offset / 8;
    *word = rule->kind == BY_CFA || rule->kind == BY_RBP ? (int16_t)words : 0;
    return rule->kind == SAME || (rule->kind != LOST && rule->offset % 8 == 0 &&
                                  words == (int16_t)words && (rule->kind == BY_RBP || words));
}

static struct unwind_row row_of(const struct state *state) {
    struct unwind_row row = {.kind = (uint8_t)state->kind,
                             .base = (uint8_t)state->base,
                             .cfa_offset = (int32_t)state->offset,
                             .after = (uint8_t)state->after};
    if (state->outermost)
        return (struct unwind_row){.kind = UNWIND_OUTERMOST};
    bool good = state->kind != UNWIND_UNKNOWN && !state->other_return && state->base < UNWIND_RIP &&
                state->offset >= INT32_MIN && state->offset <= INT32_MAX &&
                state->after <= UINT8_MAX && word_of(&state->rbp, &row.rbp);
    /* rbx is hardly ever what a CFA is found by. */
    const bool by_rbp = word_of(&state->rbx, &row.rbx) && state->rbx.kind == BY_RBP;
    row.flags = (uint8_t)((state->rbp.kind == BY_RBP ? UNWIND_RBP_BY_RBP : 0) |
                          (by_rbp ? UNWIND_RBX_BY_RBP : 0));
    return good ? row : (struct unwind_row){.kind = UNWIND_UNKNOWN};
}

bool unwind_table_add(struct unwind_table *table, const struct elf_image *image, uint64_t address,
                      struct unwind_row row) {
    uint64_t offset;
    if (table->count >= UNWIND_ROWS_MAX || !elf_image_address_to_offset(image, address, &offset) ||
        offset > UINT32_MAX)
        return true;
    row.start = (uint32_t)offset;
    return array_push(table->rows, table->capacity, table->count, row);
}

static bool add_row(struct machine *machine) {
    return machine->at >= machine->entry->end ||
           unwind_table_add(machine->table, machine->image, machine->at, row_of(&machine->state));
}

/* ---- expressions ---- */

static bool read_block(struct frame_bytes *bytes, struct frame_bytes *block) {
    uint64_t size;
    if (!frame_bytes_uleb(bytes, &size) || size > (size_t)(bytes->end - bytes->next))
        return false;
    *block = (struct frame_bytes){bytes->next, bytes->next + size};
    bytes->next += size;
    return true;
}

static bool next_is(struct frame_bytes *bytes, uint8_t byte) {
    return bytes->next < bytes->end && *bytes->next == byte && (bytes->next++, true);
}

/* "register + offset" at the beginning. */
static bool read_base(struct frame_bytes *bytes, uint64_t *base, int64_t *offset) {
    if (bytes->next == bytes->end || *bytes->next < DW_OP_breg0 || *bytes->next > DW_OP_breg31)
        return false;
    *base = *bytes->next++ - DW_OP_breg0;
    return frame_bytes_sleb(bytes, offset);
}

/* rsp + 8 + ((rip & 15) >= n) * 8, which linkers say of lazy linkage tables: the second half of an
 * entry has pushed a word. */
static bool is_linkage(struct frame_bytes block, int64_t *threshold) {
    uint64_t base;
    int64_t offset;
    if (!read_base(&block, &base, &offset) || base != UNWIND_RSP || offset != 8 ||
        !read_base(&block, &base, &offset) || base != UNWIND_RIP || offset != 0 ||
        !next_is(&block, DW_OP_lit15) || !next_is(&block, DW_OP_and) || block.next == block.end ||
        *block.next < DW_OP_lit0 || *block.next > DW_OP_lit15)
        return false;
    *threshold = *block.next++ - DW_OP_lit0;
    return next_is(&block, DW_OP_ge) && next_is(&block, DW_OP_lit3) && next_is(&block, DW_OP_shl) &&
           next_is(&block, DW_OP_plus) && block.next == block.end;
}

static void cfa_by_expression(struct state *state, struct frame_bytes block) {
    state->after = 0;
    if (is_linkage(block, &state->offset)) {
        state->kind = UNWIND_LINKAGE;
        state->base = UNWIND_RSP;
        return;
    }
    state->kind = UNWIND_UNKNOWN;
    if (!read_base(&block, &state->base, &state->offset))
        return;
    bool dereferenced = next_is(&block, DW_OP_deref);
    if (next_is(&block, DW_OP_plus_uconst) && !frame_bytes_uleb(&block, &state->after))
        return;
    if (block.next == block.end && (dereferenced || !state->after))
        state->kind = dereferenced ? UNWIND_DEREFERENCE : UNWIND_REGISTER;
}

static struct rule rule_by_expression(struct frame_bytes block) {
    uint64_t base;
    struct rule rule = {.kind = BY_RBP};
    bool good =
        read_base(&block, &base, &rule.offset) && base == UNWIND_RBP && block.next == block.end;
    return good ? rule : (struct rule){.kind = LOST};
}

/* ---- instructions ---- */

static int64_t factored(const struct machine *machine, uint64_t offset) {
    return (int64_t)(offset * (uint64_t)machine->entry->common->data_alignment_factor);
}

/* The rules from here on are those before it: a row ends. */
static bool advance(struct machine *machine, uint64_t factor) {
    uint64_t distance;
    if (!add_row(machine))
        return false;
    if (__builtin_mul_overflow(factor, machine->entry->common->code_alignment_factor, &distance) ||
        distance > machine->entry->end - machine->at)
        distance = machine->entry->end - machine->at;
    machine->at += distance;
    return true;
}

static void restore(struct machine *machine, uint64_t number) {
    struct rule *of = rule_of(machine, number);
    if (of)
        *of = number == UNWIND_RBP ? machine->initial.rbp : machine->initial.rbx;
    if (number == UNWIND_RIP)
        machine->state.other_return = machine->initial.other_return;
}

static void undefine(struct machine *machine, uint64_t number) {
    set_rule(machine, number, (struct rule){.kind = LOST});
    machine->state.outermost |= number == machine->entry->common->return_address_register;
}

static void define_cfa(struct state *state, uint64_t base, int64_t offset) {
    state->kind = UNWIND_REGISTER;
    state->base = base;
    state->offset = offset;
    state->after = 0;
}

enum outcome { DONE, DAMAGED, NO_MEMORY };

static enum outcome run_extended(struct machine *machine, struct frame_bytes *bytes, uint8_t code) {
    struct state *state = &machine->state;
    struct frame_bytes block;
    uint64_t number = 0, value = 0;
    int64_t signed_value = 0;
    bool good = true;
    switch (code) {
    case DW_CFA_nop:
        break;
    case DW_CFA_advance_loc1:
    case DW_CFA_advance_loc2:
    case DW_CFA_advance_loc4:
        if (!frame_bytes_fixed(bytes, 1u << (code - DW_CFA_advance_loc1), &value))
            return DAMAGED;
        return advance(machine, value) ? DONE : NO_MEMORY;
    case DW_CFA_offset_extended:
        good = frame_bytes_uleb(bytes, &number) && frame_bytes_uleb(bytes, &value);
        set_rule(machine, number, (struct rule){BY_CFA, factored(machine, value)});
        break;
    case DW_CFA_offset_extended_sf:
        good = frame_bytes_uleb(bytes, &number) && frame_bytes_sleb(bytes, &signed_value);
        set_rule(machine, number, (struct rule){BY_CFA, factored(machine, (uint64_t)signed_value)});
        break;
    case DW_CFA_GNU_negative_offset_extended:
        good = frame_bytes_uleb(bytes, &number) && frame_bytes_uleb(bytes, &value);
        set_rule(machine, number, (struct rule){BY_CFA, factored(machine, -value)});
        break;
    case DW_CFA_restore_extended:
        good = frame_bytes_uleb(bytes, &number);
        restore(machine, number);
        break;
    case DW_CFA_undefined:
        good = frame_bytes_uleb(bytes, &number);
        undefine(machine, number);
        break;
    case DW_CFA_same_value:
        good = frame_bytes_uleb(bytes, &number);
        set_rule(machine, number, (struct rule){.kind = SAME});
        break;
    case DW_CFA_register:
    case DW_CFA_val_offset:
    case DW_CFA_val_offset_sf:
        good = frame_bytes_uleb(bytes, &number) && frame_bytes_uleb(bytes, &value);
        set_rule(machine, number, (struct rule){.kind = LOST});
        break;
    case DW_CFA_remember_state:
        if (machine->depth == STATES_MAX)
            return DAMAGED;
        machine->remembered[machine->depth++] = *state;
        break;
    case DW_CFA_restore_state:
        if (!machine->depth)
            return DAMAGED;
        *state = machine->remembered[--machine->depth];
        break;
    case DW_CFA_def_cfa:
        good = frame_bytes_uleb(bytes, &number) && frame_bytes_uleb(bytes, &value);
        define_cfa(state, number, (int64_t)value);
        break;
    case DW_CFA_def_cfa_sf:
        good = frame_bytes_uleb(bytes, &number) && frame_bytes_sleb(bytes, &signed_value);
        define_cfa(state, number, factored(machine, (uint64_t)signed_value));
        break;
    case DW_CFA_def_cfa_register:
        good = frame_bytes_uleb(bytes, &number);
        define_cfa(state, number, state->offset);
        break;
    case DW_CFA_def_cfa_offset:
        good = frame_bytes_uleb(bytes, &value);
        define_cfa(state, state->base, (int64_t)value);
        break;
    case DW_CFA_def_cfa_offset_sf:
        good = frame_bytes_sleb(bytes, &signed_value);
        define_cfa(state, state->base, factored(machine, (uint64_t)signed_value));
        break;
    case DW_CFA_def_cfa_expression:
        good = read_block(bytes, &block);
        if (good)
            cfa_by_expression(state, block);
        break;
    case DW_CFA_expression:
        good = frame_bytes_uleb(bytes, &number) && read_block(bytes, &block);
        if (good)
            set_rule(machine, number, rule_by_expression(block));
        break;
    case DW_CFA_val_expression:
        good = frame_bytes_uleb(bytes, &number) && read_block(bytes, &block);
        set_rule(machine, number, (struct rule){.kind = LOST});
        break;
    case DW_CFA_GNU_args_size:
        good = frame_bytes_uleb(bytes, &value);
        break;
    default: /* among them DW_CFA_set_loc, which nobody writes */
        return DAMAGED;
    }
    return good ? DONE : DAMAGED;
}

static enum outcome run(struct machine *machine, struct frame_bytes bytes) {
    enum outcome outcome = DONE;
    while (outcome == DONE && bytes.next < bytes.end) {
        uint8_t code = *bytes.next++;
        uint64_t value = code & 0x3f;
        switch (code & 0xc0) {
        case DW_CFA_advance_loc:
            outcome = advance(machine, value) ? DONE : NO_MEMORY;
            break;
        case DW_CFA_offset: {
            uint64_t number = value;
            if (!frame_bytes_uleb(&bytes, &value))
                return DAMAGED;
            set_rule(machine, number, (struct rule){BY_CFA, factored(machine, value)});
            break;
        }
        case DW_CFA_restore:
            restore(machine, value);
            break;
        default:
            outcome = run_extended(machine, &bytes, code);
        }
    }
    return outcome;
}

/* ---- entries ---- */

struct building {
    struct unwind_table *table;
    const struct elf_image *image;
    size_t go_count; /* rows of Go's own table, settled, which are the better ones of its code */
    bool good;
};

/* What follows an entry is covered by the next one, or by none. */
static bool add_bounded(struct building *building, const struct frame_entry *entry,
                        enum unwind_kind kind) {
    return unwind_table_add(building->table, building->image, entry->start,
                            (struct unwind_row){.kind = (uint8_t)kind}) &&
           unwind_table_add(building->table, building->image, entry->end, (struct unwind_row){0});
}

static bool is_go(const struct building *building, uint64_t address) {
    const struct unwind_table go = {.rows = building->table->rows, .count = building->go_count};
    uint64_t offset;
    return go.count && elf_image_address_to_offset(building->image, address, &offset) &&
           unwind_table_find(&go, offset)->kind != UNWIND_NO_RULE;
}

static bool add_entry(void *context, const struct frame_entry *entry) {
    struct building *building = context;
    if (is_go(building, entry->start))
        return true;
    struct machine machine = {.table = building->table,
                              .image = building->image,
                              .entry = entry,
                              .state.kind = UNWIND_UNKNOWN,
                              .state.other_return = true,
                              .at = entry->start};
    const size_t before = building->table->count;
    if (entry->is_signal) {
        building->good = add_bounded(building, entry, UNWIND_SIGNAL);
        return building->good;
    }
    enum outcome outcome = run(&machine, entry->first);
    machine.at = entry->start;
    machine.initial = machine.state;
    if (outcome == DONE)
        outcome = run(&machine, entry->rest);
    if (outcome == DONE)
        building->good = add_row(&machine) && unwind_table_add(building->table, building->image,
                                                               entry->end, (struct unwind_row){0});
    else
        building->good = outcome == DAMAGED;
    if (outcome == DAMAGED) {
        building->table->count = before;
        building->good = add_bounded(building, entry, UNWIND_UNKNOWN);
    }
    return building->good;
}

/* ---- the table ---- */

/* Of rows with one start the last one counts that says something: entries end where others begin.
 */
ORDER(by_start, struct unwind_row,
      ascending(a->start, b->start) ?: ascending(a->kind != 0, b->kind != 0))

static bool same_rule(const struct unwind_row *one, const struct unwind_row *other) {
    return one->cfa_offset == other->cfa_offset && one->rbp == other->rbp &&
           one->rbx == other->rbx && one->kind == other->kind && one->base == other->base &&
           one->after == other->after && one->flags == other->flags;
}

static void settle(struct unwind_table *table) {
    size_t kept = 0;
    if (table->count)
        qsort(table->rows, table->count, sizeof *table->rows, by_start);
    for (size_t i = 0; i < table->count; i++) {
        const struct unwind_row *row = &table->rows[i];
        if (kept && table->rows[kept - 1].start == row->start)
            kept--;
        if (!kept || !same_rule(&table->rows[kept - 1], row))
            table->rows[kept++] = *row;
    }
    table->count = kept;
}

bool unwind_table_build(struct unwind_table *table, const struct elf_image *image) {
    struct building building = {.table = table, .image = image, .good = true};
    *table = (struct unwind_table){0};
    if (image->header.e_machine != EM_X86_64)
        return true;
    struct go_table *go = go_table_read(image);
    if (go)
        building.good = go_table_unwind(go, image, table);
    go_table_free(go);
    settle(table);
    building.go_count = table->count;
    if (building.good)
        frame_entries_visit(image, add_entry, &building);
    settle(table);
    return building.good;
}

void unwind_table_free(struct unwind_table *table) {
    free(table->rows);
    *table = (struct unwind_table){0};
}

const struct unwind_row *unwind_table_find(const struct unwind_table *table, uint64_t offset) {
    static const struct unwind_row NONE = {.kind = UNWIND_NO_RULE};
    const size_t after = first_where(i, table->count, table->rows[i].start > offset);
    return after ? &table->rows[after - 1] : &NONE;
}
