/* Terms form trees in one array, whose first element is the unknown term. The term of a register is
 * overwritten by what the register was computed from. When the array is full, anything added is
 * unknown. */
#include "analyze/formula.h"

#include <stdlib.h>
#include <string.h>

#include "util/little_endian.h"
#include "util/order.h"

static uint64_t mask_of(unsigned width) {
    return width >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * width) - 1;
}

/* ---- making terms ---- */

/* The index of a new term; 0, the unknown one, if there is no room. */
static uint8_t add_term(struct formula *formula, struct term term) {
    if (formula->term_count == FORMULA_TERMS)
        return 0;
    formula->terms[formula->term_count] = term;
    return formula->term_count++;
}

static uint8_t add_constant(struct formula *formula, uint64_t value) {
    return add_term(formula, (struct term){.kind = TERM_CONSTANT, .constant = value});
}

static uint8_t add_register(struct formula *formula, uint8_t reg) {
    return add_term(formula, (struct term){.kind = TERM_REGISTER, .reg = reg});
}

static uint8_t add_sum(struct formula *formula, uint8_t left, uint8_t right) {
    return add_term(formula, (struct term){.kind = TERM_ADD, .left = left, .right = right});
}

/* base + (index << shift) + constant */
static uint8_t add_address(struct formula *formula, const struct expression *by) {
    uint8_t sum = 0;
    bool any = false;
    if (by->index != REG_NONE) {
        sum = add_register(formula, by->index);
        if (by->shift > 0)
            sum = add_term(formula,
                           (struct term){.kind = TERM_SHIFT_LEFT, .shift = by->shift, .left = sum});
        any = true;
    }
    if (by->base != REG_NONE) {
        uint8_t base = add_register(formula, by->base);
        sum = any ? add_sum(formula, sum, base) : base;
        any = true;
    }
    if (any && by->constant == 0)
        return sum;
    uint8_t constant = add_constant(formula, (uint64_t)by->constant);
    return any ? add_sum(formula, sum, constant) : constant;
}

static uint8_t add_extension(struct formula *formula, uint8_t of, uint8_t width, bool is_signed) {
    if (width >= 8)
        return of;
    return add_term(
        formula,
        (struct term){.kind = TERM_EXTEND, .width = width, .is_signed = is_signed, .left = of});
}

static uint8_t add_base(struct formula *formula, const struct expression *by) {
    return by->base == REG_NONE ? add_constant(formula, 0) : add_register(formula, by->base);
}

static uint8_t add_load(struct formula *formula, const struct expression *by) {
    uint8_t address = add_address(formula, by);
    return add_term(formula, (struct term){.kind = TERM_LOAD,
                                           .width = by->width,
                                           .is_signed = by->is_signed,
                                           .left = address});
}

/* What an instruction computes; 0: unknown. */
static uint8_t add_result(struct formula *formula, const struct expression *by) {
    uint8_t value;
    switch (by->kind) {
    case EXPRESSION_SUM:
        value = add_address(formula, by);
        break;
    case EXPRESSION_AND:
        value = add_term(formula, (struct term){.kind = TERM_AND,
                                                .constant = (uint64_t)by->constant,
                                                .left = add_base(formula, by)});
        break;
    case EXPRESSION_SHIFT_RIGHT:
        value = add_extension(formula, add_base(formula, by), by->width, false);
        value = add_term(
            formula, (struct term){.kind = TERM_SHIFT_RIGHT, .shift = by->shift, .left = value});
        break;
    case EXPRESSION_LOAD:
        return add_load(formula, by);
    default:
        return 0;
    }
    return add_extension(formula, value, by->width, by->is_signed);
}

void formula_start(struct formula *formula, const struct expression *expression, bool loads) {
    formula->term_count = formula->bound_count = 0;
    formula->has_index = false;
    formula->limit = 0;
    add_term(formula, (struct term){.kind = TERM_UNKNOWN});
    formula->root = loads ? add_load(formula, expression) : add_address(formula, expression);
}

/* ---- going back ---- */

bool register_is_kept(enum isa isa, uint8_t reg) {
    if (isa == ISA_X86_64)
        return (reg >= 3 && reg <= 5) || (reg >= 12 && reg <= 15); /* rbx rsp rbp r12-r15 */
    return (reg >= 2 && reg <= 4) || reg == 8 || reg == 9 || (reg >= 18 && reg <= 27);
}

static bool is_branch_over(const struct insn *insn) {
    return insn->branch == BRANCH_CALL || insn->branch == BRANCH_INDIRECT_CALL;
}

static bool writes(const struct insn *insn, uint8_t reg) {
    return memchr(insn->destination, reg, insn->destination_count) != NULL;
}

static void step_term(struct formula *formula, uint8_t number, const struct insn *insn,
                      const struct expression *by) {
    struct term *term = &formula->terms[number];
    switch (term->kind) {
    case TERM_ADD:
        step_term(formula, term->right, insn, by);
        step_term(formula, term->left, insn, by);
        break;
    case TERM_SHIFT_LEFT:
    case TERM_SHIFT_RIGHT:
    case TERM_AND:
    case TERM_EXTEND:
    case TERM_LOAD:
        step_term(formula, term->left, insn, by);
        break;
    case TERM_REGISTER:
        if (is_branch_over(insn)) {
            if (!register_is_kept((enum isa)insn->isa, term->reg))
                term->kind = TERM_UNKNOWN;
        } else if (term->reg == by->to && by->kind <= EXPRESSION_LOAD) {
            *term = formula->terms[add_result(formula, by)];
        } else if (writes(insn, term->reg)) {
            bool steps = by->stack_step != 0 && term->reg != by->to;
            uint8_t constant = steps ? add_constant(formula, (uint64_t)(int64_t)by->stack_step) : 0;
            uint8_t left = constant ? add_register(formula, term->reg) : 0;
            *term = left ? (struct term){.kind = TERM_ADD, .left = left, .right = constant}
                         : (struct term){.kind = TERM_UNKNOWN};
        }
        break;
    default:
        break;
    }
}

void formula_step(struct formula *formula, const struct insn *insn, const struct expression *by) {
    step_term(formula, formula->root, insn, by);
    for (unsigned i = 0; i < formula->bound_count; i++)
        step_term(formula, formula->bounds[i].root, insn, by);
}

/* ---- the index ---- */

/* A term as an inner term plus a constant, and how many of its bytes do not come from extension. */
struct peeled {
    uint8_t core, width;
    uint64_t added;
};

static struct peeled peel(const struct formula *formula, uint8_t number) {
    struct peeled peeled = {number, 8, 0};
    for (;; peeled.core = formula->terms[peeled.core].left) {
        const struct term *term = &formula->terms[peeled.core];
        bool adds = term->kind == TERM_ADD && formula->terms[term->right].kind == TERM_CONSTANT;
        if ((term->kind == TERM_EXTEND || term->kind == TERM_LOAD) && term->width < peeled.width)
            peeled.width = term->width;
        if (adds)
            peeled.added += formula->terms[term->right].constant;
        else if (term->kind != TERM_EXTEND)
            return peeled;
    }
}

static bool equal(const struct formula *formula, uint8_t left, uint8_t right) {
    const struct term *a = &formula->terms[left], *b = &formula->terms[right];
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case TERM_CONSTANT:
        return a->constant == b->constant;
    case TERM_REGISTER:
        return a->reg == b->reg;
    case TERM_ADD:
        return equal(formula, a->left, b->left) && equal(formula, a->right, b->right);
    case TERM_SHIFT_LEFT:
    case TERM_SHIFT_RIGHT:
        return a->shift == b->shift && equal(formula, a->left, b->left);
    case TERM_AND:
        return a->constant == b->constant && equal(formula, a->left, b->left);
    case TERM_EXTEND:
        return a->width == b->width && a->is_signed == b->is_signed &&
               equal(formula, a->left, b->left);
    case TERM_LOAD:
        return a->width == b->width && equal(formula, a->left, b->left);
    default:
        return false;
    }
}

/* Whether a term is the bounded operand, at the width at which it was compared, or both in 4 or 8
 * bytes: compilers use the whole register only if the upper half is zero. */
static bool is_bounded(const struct formula *formula, uint8_t number, const struct bound *bound) {
    struct peeled term = peel(formula, number), compared = peel(formula, bound->root);
    uint8_t width = bound->width < compared.width ? bound->width : compared.width;
    bool same = term.width == width || (term.width >= 4 && width >= 4);
    return same && bound->limit <= mask_of(width) &&
           ((term.added ^ compared.added) & mask_of(width)) == 0 &&
           equal(formula, term.core, compared.core);
}

static void put_index(struct formula *formula, uint8_t number, const struct bound *bound) {
    struct term *term = &formula->terms[number];
    if (is_bounded(formula, number, bound)) {
        *term = (struct term){.kind = TERM_INDEX};
        formula->has_index = true;
        formula->limit = bound->limit;
        return;
    }
    if (term->kind >= TERM_ADD)
        put_index(formula, term->left, bound);
    if (term->kind == TERM_ADD)
        put_index(formula, term->right, bound);
}

void formula_bound(struct formula *formula, const struct expression *comparison, bool right,
                   uint64_t limit) {
    struct expression operand = *comparison;
    if (right)
        operand.base = comparison->right;
    uint8_t root = comparison->kind == EXPRESSION_COMPARE_LOADED && !right
                       ? add_load(formula, &operand)
                       : add_base(formula, &operand);
    if (formula->bound_count == FORMULA_BOUNDS) {
        memmove(formula->bounds, formula->bounds + 1,
                (FORMULA_BOUNDS - 1) * sizeof *formula->bounds);
        formula->bound_count--;
    }
    formula->bounds[formula->bound_count++] = (struct bound){root, comparison->width, limit};
}

ORDER(compare_limits, struct bound, ascending(a->limit, b->limit))

void formula_find_index(struct formula *formula) {
    struct bound bounds[FORMULA_BOUNDS];
    if (formula->has_index || formula->bound_count == 0)
        return;
    memcpy(bounds, formula->bounds, formula->bound_count * sizeof *bounds);
    qsort(bounds, formula->bound_count, sizeof *bounds, compare_limits);
    for (unsigned i = 0; i < formula->bound_count && !formula->has_index; i++)
        put_index(formula, formula->root, &bounds[i]);
}

static uint64_t least(uint64_t left, uint64_t right) {
    return left < right ? left : right;
}

/* The greatest value that a term can have. */
static uint64_t most_of(const struct formula *formula, uint8_t number) {
    const struct term *term = &formula->terms[number];
    uint64_t left = term->kind >= TERM_ADD ? most_of(formula, term->left) : UINT64_MAX;
    switch (term->kind) {
    case TERM_AND:
        return least(left, term->constant);
    case TERM_SHIFT_RIGHT:
        return left >> term->shift;
    case TERM_EXTEND:
        if (left <= mask_of(term->width) / 2)
            return left;
        return term->is_signed ? UINT64_MAX : least(left, mask_of(term->width));
    case TERM_LOAD:
        return term->is_signed ? UINT64_MAX : mask_of(term->width);
    default:
        return UINT64_MAX;
    }
}

static bool is_constant(const struct formula *formula, uint8_t number) {
    const struct term *term = &formula->terms[number];
    switch (term->kind) {
    case TERM_CONSTANT:
        return true;
    case TERM_UNKNOWN:
    case TERM_REGISTER:
    case TERM_INDEX:
        return false;
    case TERM_ADD:
        return is_constant(formula, term->left) && is_constant(formula, term->right);
    default:
        return is_constant(formula, term->left);
    }
}

static void guess_index(struct formula *formula, uint8_t number, uint64_t most) {
    struct term *term = &formula->terms[number];
    if (formula->has_index || is_constant(formula, number))
        return;
    uint64_t value = most_of(formula, number);
    if (value <= most) {
        *term = (struct term){.kind = TERM_INDEX};
        formula->has_index = true;
        formula->limit = value;
        return;
    }
    if (term->kind >= TERM_ADD)
        guess_index(formula, term->left, most);
    if (term->kind == TERM_ADD)
        guess_index(formula, term->right, most);
}

void formula_guess_index(struct formula *formula, uint64_t most) {
    guess_index(formula, formula->root, most);
}

static void open_index(struct formula *formula, uint8_t number, bool loaded) {
    const struct term *term = &formula->terms[number];
    if (formula->has_index)
        return;
    if (loaded && term->kind == TERM_SHIFT_LEFT && term->left > 0 &&
        !is_constant(formula, term->left)) {
        formula->terms[term->left] = (struct term){.kind = TERM_INDEX};
        formula->has_index = true;
        formula->limit = UINT64_MAX;
        return;
    }
    if (term->kind >= TERM_ADD)
        open_index(formula, term->left, loaded || term->kind == TERM_LOAD);
    if (term->kind == TERM_ADD)
        open_index(formula, term->right, loaded);
}

void formula_open_index(struct formula *formula) {
    open_index(formula, formula->root, false);
}

/* ---- what is left ---- */

static const struct term *find_kind(const struct formula *formula, uint8_t number,
                                    enum term_kind kind) {
    const struct term *term = &formula->terms[number], *found = NULL;
    if (term->kind == kind)
        return term;
    if (term->kind >= TERM_ADD)
        found = find_kind(formula, term->left, kind);
    if (!found && term->kind == TERM_ADD)
        found = find_kind(formula, term->right, kind);
    return found;
}

bool formula_register(const struct formula *formula, uint8_t *reg) {
    const struct term *found = find_kind(formula, formula->root, TERM_REGISTER);
    if (found)
        *reg = found->reg;
    return found;
}

static void set_register(struct formula *formula, uint8_t number, uint8_t reg, uint64_t value) {
    struct term *term = &formula->terms[number];
    if (term->kind == TERM_REGISTER && term->reg == reg)
        *term = (struct term){.kind = TERM_CONSTANT, .constant = value};
    if (term->kind >= TERM_ADD)
        set_register(formula, term->left, reg, value);
    if (term->kind == TERM_ADD)
        set_register(formula, term->right, reg, value);
}

void formula_set_register(struct formula *formula, uint8_t reg, uint64_t value) {
    set_register(formula, formula->root, reg, value);
    for (unsigned i = 0; i < formula->bound_count; i++)
        set_register(formula, formula->bounds[i].root, reg, value);
}

bool formula_is_closed(const struct formula *formula) {
    return !find_kind(formula, formula->root, TERM_REGISTER) &&
           !find_kind(formula, formula->root, TERM_UNKNOWN);
}

/* Table addresses are in the code: an added address that was loaded belongs to a structure. */
static bool adds(const struct formula *formula, uint8_t number, enum term_kind kind) {
    const struct term *term = &formula->terms[number];
    if (term->kind == TERM_ADD)
        return adds(formula, term->left, kind) || adds(formula, term->right, kind);
    return term->kind == kind && !is_constant(formula, number);
}

bool formula_is_table(const struct formula *formula) {
    const struct term *root = &formula->terms[formula->root];
    if (root->kind == TERM_LOAD)
        return adds(formula, root->left, TERM_SHIFT_LEFT) && !adds(formula, root->left, TERM_LOAD);
    const struct term *load = find_kind(formula, formula->root, TERM_LOAD);
    return load && load->width < 8;
}

bool formula_loads_address(const struct formula *formula) {
    const struct term *root = &formula->terms[formula->root];
    return root->kind == TERM_LOAD && root->width == 8;
}

bool formula_is_fixed_load(const struct formula *formula) {
    const struct term *root = &formula->terms[formula->root];
    return root->kind == TERM_LOAD && is_constant(formula, root->left);
}

/* ---- values ---- */

static uint64_t extend(uint64_t value, uint8_t width, bool is_signed) {
    value &= mask_of(width);
    if (is_signed && width < 8 && value > mask_of(width) / 2)
        value |= ~mask_of(width);
    return value;
}

struct evaluation {
    const struct formula *formula;
    uint64_t index;
    bool (*read)(void *context, uint64_t address, void *bytes, size_t size);
    void *context;
    bool failed;
};

static uint64_t evaluate(struct evaluation *evaluation, uint8_t number) {
    const struct term *term = &evaluation->formula->terms[number];
    uint8_t bytes[8] = {0};
    uint64_t left = term->kind >= TERM_ADD ? evaluate(evaluation, term->left) : 0;
    switch (term->kind) {
    case TERM_CONSTANT:
        return term->constant;
    case TERM_INDEX:
        return evaluation->index;
    case TERM_ADD:
        return left + evaluate(evaluation, term->right);
    case TERM_SHIFT_LEFT:
        return left << (term->shift & 63);
    case TERM_SHIFT_RIGHT:
        return left >> (term->shift & 63);
    case TERM_AND:
        return left & term->constant;
    case TERM_EXTEND:
        return extend(left, term->width, term->is_signed);
    case TERM_LOAD:
        if (term->width > sizeof bytes || !evaluation->read ||
            !evaluation->read(evaluation->context, left, bytes, term->width)) {
            evaluation->failed = true;
            return 0;
        }
        return extend(get_u64(bytes), term->width, term->is_signed);
    default:
        evaluation->failed = true;
        return 0;
    }
}

bool formula_value(const struct formula *formula, uint64_t index,
                   bool (*read)(void *context, uint64_t address, void *bytes, size_t size),
                   void *context, uint64_t *value) {
    struct evaluation evaluation = {formula, index, read, context, false};
    *value = evaluate(&evaluation, formula->root);
    return !evaluation.failed;
}
