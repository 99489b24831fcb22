/* The jump's target is a formula (formula.h) that is taken back through the code, along every way
 * that leads to the jump, until only constants are left and one index that a branch on the way
 * bounds. Base addresses that were set long before, such as before a loop, are found by a search
 * for all instructions that may have set the register. Work is limited for each jump, and for all
 * jumps in proportion to the code: a jump that needs more stays unresolved. */
#include "analyze/jump_table.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/formula.h"
#include "util/array.h"
#include "util/order.h"

enum {
    WAY_STEPS_MAX = 1024,       /* instructions gone back over for a jump */
    SEARCH_STEPS_MAX = 1 << 14, /* for the value of a register */
    STEPS_PER_INSN = 16,        /* of the code, for all jumps together, and beside: */
    STEPS_FREE = 1 << 18,
    WAYS_MAX = 16,           /* that lead to one instruction */
    ENTRIES_MAX = 1 << 16,   /* of a table */
    OPEN_ENTRIES_MAX = 1024, /* of one whose end is not known */
    FORKS_MAX = 6,
    BYTE_MOST = 255, /* the greatest index that is a byte, and by a mask */
    MASK_MOST = 4095,
    CONSTANT_DEPTH = 3 /* instructions that make a constant together: auipc, addi */
};

/* A jump being resolved. */
struct search {
    struct jump_resolver *resolver;
    const struct exploration *exploration;
    const struct procedure_code *code;
    struct jump_targets *targets;
    size_t steps;
    bool is_table; /* a formula that was not closed looks like a table's */
    bool gave_up;  /* the work for all jumps is spent: how the remaining ways look is not known */
    bool out_of_memory;
};

static const struct code_insn *insn_of(const struct search *search, uint32_t insn) {
    return &search->exploration->insns[insn];
}

static struct expression expression_of(const struct search *search, uint32_t insn) {
    const struct code_insn *found = insn_of(search, insn);
    return insn_expression(search->code->isa, search->code->bytes + found->offset,
                           found->insn.length, search->code->address + found->offset);
}

/* Counts a step. False: there have been `most` of them. */
static bool spend_step(struct search *search, size_t *steps, size_t most) {
    size_t all = STEPS_PER_INSN * search->exploration->insn_count + STEPS_FREE;
    search->gave_up |= search->resolver->steps >= all;
    return !search->gave_up && (*steps)++ < most && search->resolver->steps++ < all;
}

/* ---- ways back ---- */

struct way {
    uint32_t from; /* instruction; CFG_NONE: outside */
    bool taken;    /* by a jump, else by falling */
};

/* Walks the ways that lead to an instruction: first those that fall into it, then links. */
struct ways {
    const struct search *search;
    uint32_t insn, behind, link;
};

static struct ways ways_to(const struct search *search, uint32_t insn) {
    return (struct ways){search, insn, 0, insn_of(search, insn)->first_into};
}

static bool next_way(struct ways *ways, struct way *way) {
    const struct exploration *exploration = ways->search->exploration;
    uint32_t offset = exploration->insns[ways->insn].offset;
    while (ways->behind < INSN_MAX_LENGTH && ways->behind < offset) {
        uint32_t from = exploration->at[offset - ++ways->behind];
        if (from == CFG_NONE || !exploration->insns[from].falls ||
            exploration->insns[from].insn.length != ways->behind)
            continue;
        *way = (struct way){from, false};
        return true;
    }
    if (ways->link == CFG_NONE)
        return false;
    const struct code_link *link = &exploration->links[ways->link];
    *way = (struct way){link->from, true};
    ways->link = link->next_into;
    return true;
}

static unsigned count_ways(const struct search *search, uint32_t insn, struct way *last) {
    struct ways ways = ways_to(search, insn);
    unsigned count = 0;
    while (count <= WAYS_MAX && next_way(&ways, last))
        count++;
    return count;
}

/* ---- constants ---- */

static bool is_call(const struct insn *insn) {
    return insn->branch == BRANCH_CALL || insn->branch == BRANCH_INDIRECT_CALL;
}

static bool sets_register(const struct code_insn *found, uint8_t reg) {
    if (is_call(&found->insn))
        return !register_is_kept((enum isa)found->insn.isa, reg);
    return memchr(found->insn.destination, reg, found->insn.destination_count);
}

static bool constant_before(struct search *search, uint32_t insn, uint8_t reg, unsigned depth,
                            uint64_t *value);

/* The constant that an instruction sets its register to. */
static bool constant_set(struct search *search, uint32_t insn, uint8_t reg, unsigned depth,
                         uint64_t *value) {
    struct expression by = expression_of(search, insn);
    struct formula formula;
    uint8_t operand;
    uint64_t before;
    if (by.kind != EXPRESSION_SUM || by.to != reg || is_call(&insn_of(search, insn)->insn))
        return false;
    struct insn none = {.isa = (uint8_t)search->code->isa};
    struct expression copy = {.base = reg, .index = REG_NONE, .right = REG_NONE};
    formula_start(&formula, &copy, false);
    formula_step(&formula, &none, &by);
    while (formula_register(&formula, &operand)) {
        if (depth == 0 || !constant_before(search, insn, operand, depth - 1, &before))
            return false;
        formula_set_register(&formula, operand, before);
    }
    return formula_value(&formula, 0, NULL, NULL, value);
}

/* What a register holds before an instruction, if all instructions that may have set it set it to
 * one constant. */
static bool constant_before(struct search *search, uint32_t insn, uint8_t reg, unsigned depth,
                            uint64_t *value) {
    enum { PENDING_MAX = 64 };
    struct jump_resolver *resolver = search->resolver;
    uint32_t pending[PENDING_MAX], number = ++resolver->searches;
    unsigned count = 0;
    size_t steps = 0;
    bool found = false;
    pending[count++] = insn;
    while (count > 0) {
        struct ways ways = ways_to(search, pending[--count]);
        struct way way;
        while (next_way(&ways, &way)) {
            uint64_t one;
            if (way.from == CFG_NONE || !spend_step(search, &steps, SEARCH_STEPS_MAX))
                return false;
            if (resolver->seen[way.from] == number)
                continue;
            resolver->seen[way.from] = number;
            if (!sets_register(insn_of(search, way.from), reg)) {
                if (count == PENDING_MAX)
                    return false;
                pending[count++] = way.from;
                continue;
            }
            if (!constant_set(search, way.from, reg, depth, &one) || (found && one != *value))
                return false;
            *value = one;
            found = true;
        }
    }
    return found;
}

static bool read_bytes(void *context, uint64_t address, void *bytes, size_t size) {
    const struct procedure_code *code = context;
    uint64_t offset = address - code->address;
    if (code->read)
        return code->read(code->context, address, bytes, size);
    if (offset >= code->size || size > code->size - offset)
        return false;
    memcpy(bytes, code->bytes + offset, size);
    return true;
}

/* ---- bounds ---- */

static enum condition opposite(enum condition condition) {
    switch (condition) {
    case CONDITION_BELOW:
        return CONDITION_ABOVE_EQUAL;
    case CONDITION_BELOW_EQUAL:
        return CONDITION_ABOVE;
    case CONDITION_ABOVE:
        return CONDITION_BELOW_EQUAL;
    case CONDITION_ABOVE_EQUAL:
        return CONDITION_BELOW;
    default:
        return CONDITION_OTHER;
    }
}

/* A side of the comparison that instruction `insn` makes, if it is constant. */
static bool constant_side(struct search *search, uint32_t insn, const struct expression *compare,
                          bool right, uint64_t *value) {
    uint8_t reg = right ? compare->right : compare->base;
    uint64_t mask = compare->width >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * compare->width) - 1;
    *value = right ? (uint64_t)compare->limit : 0;
    if (!right && compare->kind == EXPRESSION_COMPARE_LOADED)
        return false;
    if (reg != REG_NONE && !constant_before(search, insn, reg, CONSTANT_DEPTH, value))
        return false;
    *value &= mask;
    return true;
}

/* Tells the formula what holds on a way on which the condition is true. */
static void add_bound(struct search *search, struct formula *formula, uint32_t insn,
                      const struct expression *compare, enum condition condition) {
    bool right = condition == CONDITION_ABOVE || condition == CONDITION_ABOVE_EQUAL;
    bool less = condition == CONDITION_BELOW || condition == CONDITION_ABOVE;
    uint64_t limit;
    if (condition == CONDITION_OTHER || !constant_side(search, insn, compare, !right, &limit) ||
        (less && limit == 0) || limit - less >= ENTRIES_MAX)
        return;
    formula_bound(formula, compare, right, limit - less);
}

/* ---- targets ---- */

static bool add_target(struct search *search, uint32_t offset) {
    struct jump_targets *targets = search->targets;
    if (!array_room(targets->offsets, targets->capacity, targets->count + 1)) {
        search->out_of_memory = true;
        return false;
    }
    targets->offsets[targets->count++] = offset;
    return true;
}

/* Whether an instruction begins, or may begin, at an offset: no instruction found covers it, and,
 * if `doubtful`, it also looks like code. */
static bool may_begin(const struct search *search, uint64_t offset, bool doubtful) {
    const struct exploration *exploration = search->exploration;
    struct insn insn;
    uint32_t stop;
    if (offset >= search->code->size)
        return false;
    if (exploration->at[offset] != CFG_NONE)
        return true;
    for (uint32_t i = 1; i < INSN_MAX_LENGTH && i <= offset; i++) {
        uint32_t before = exploration->at[offset - i];
        if (before != CFG_NONE && exploration->insns[before].insn.length > i)
            return false;
    }
    if (doubtful)
        return exploration_finds_code(exploration, (uint32_t)offset, &stop);
    return insn_decode(search->code->isa, search->code->bytes + offset, search->code->size - offset,
                       &insn);
}

/* Reads the targets that a closed formula has for the indices up to `limit`. If that is `doubtful`,
 * it stops at a target that is not code of the procedure or, for whole addresses, that leads
 * nowhere. True: all are known. */
static bool read_targets(struct search *search, const struct formula *formula, uint64_t limit,
                         bool doubtful) {
    struct procedure_code *code = (struct procedure_code *)search->code;
    size_t most = search->code->size + ENTRIES_MAX;
    for (uint64_t index = 0; index <= limit; index++) {
        uint64_t target;
        uint8_t byte;
        if (search->resolver->entries++ >= most ||
            !formula_value(formula, index, read_bytes, code, &target))
            return false;
        uint64_t offset = target - code->address;
        if (may_begin(search, offset, doubtful)) {
            if (!add_target(search, (uint32_t)offset))
                return false;
        } else if ((doubtful && !formula_loads_address(formula)) || offset < code->size ||
                   !read_bytes(code, target, &byte, 1)) {
            return false;
        } else {
            search->targets->leaves = true;
        }
    }
    return true;
}

/* Whether the first entry of a table leads out of the procedure. */
static bool leads_outside(struct search *search, const struct formula *formula) {
    struct procedure_code *code = (struct procedure_code *)search->code;
    uint64_t target;
    uint8_t byte;
    return formula_value(formula, 0, read_bytes, code, &target) &&
           target - code->address >= code->size && read_bytes(code, target, &byte, 1);
}

/* A way back ends without a closed formula: takes an index that has few values by itself, else
 * reads a table whose end is not known as long as its entries look like targets. */
static bool settle(struct search *search, struct formula *formula) {
    search->is_table |= formula_is_table(formula);
    formula_guess_index(formula, BYTE_MOST);
    formula_guess_index(formula, MASK_MOST);
    if (formula->has_index && formula_is_closed(formula))
        return read_targets(search, formula, formula->limit, true);
    formula_open_index(formula);
    if (!formula->has_index || !formula_is_closed(formula))
        return false;
    if (leads_outside(search, formula))
        return search->targets->leaves = true;
    read_targets(search, formula, OPEN_ENTRIES_MAX, true);
    return false;
}

/* ---- the way back ---- */

static bool resolve(struct search *search, struct formula *formula, uint32_t insn,
                    enum condition pending, unsigned forks);

/* Whether there is nothing more to find out. *complete: all targets are known. */
static bool is_settled(struct search *search, struct formula *formula, bool *complete) {
    formula_find_index(formula);
    if (!formula_is_closed(formula))
        return false;
    if (formula->has_index) {
        *complete = read_targets(search, formula, formula->limit, false);
    } else if (formula_is_fixed_load(formula)) {
        *complete = search->targets->leaves = true;
    } else {
        *complete = read_targets(search, formula, 0, false);
    }
    return true;
}

/* Goes back over the instruction that a way comes from. */
static void step_back(struct search *search, struct formula *formula, const struct way *way,
                      enum condition *pending) {
    const struct insn *insn = &insn_of(search, way->from)->insn;
    struct expression by = expression_of(search, way->from);
    if (insn->branch == BRANCH_CONDITIONAL) {
        enum condition holds =
            way->taken ? (enum condition)by.condition : opposite((enum condition)by.condition);
        if (insn->isa == ISA_RISCV64)
            add_bound(search, formula, way->from, &by, holds);
        else if (holds != CONDITION_OTHER)
            *pending = holds;
        return;
    }
    if (insn->isa == ISA_X86_64 && memchr(insn->destination, REG_X86_CF, insn->destination_count)) {
        if (by.kind == EXPRESSION_COMPARE || by.kind == EXPRESSION_COMPARE_LOADED)
            add_bound(search, formula, way->from, &by, *pending);
        *pending = CONDITION_OTHER;
    }
    formula_step(formula, insn, &by);
}

/* Several ways lead here: registers that hold one constant on all of them, then each way. */
static bool fork_ways(struct search *search, struct formula *formula, uint32_t insn,
                      enum condition pending, unsigned forks) {
    uint8_t reg;
    uint64_t value;
    bool complete = true, any = false;
    struct formula rest = *formula;
    while (formula_register(&rest, &reg)) {
        if (constant_before(search, insn, reg, CONSTANT_DEPTH, &value))
            formula_set_register(formula, reg, value);
        formula_set_register(&rest, reg, 0); /* looked at */
    }
    if (is_settled(search, formula, &complete))
        return complete;
    if (forks == 0)
        return settle(search, formula);
    struct ways ways = ways_to(search, insn);
    for (struct way way; next_way(&ways, &way) && !search->out_of_memory;) {
        struct formula copy = *formula;
        enum condition condition = pending;
        any = true;
        if (way.from == CFG_NONE || !spend_step(search, &search->steps, WAY_STEPS_MAX)) {
            complete &= settle(search, &copy);
            continue;
        }
        step_back(search, &copy, &way, &condition);
        complete &= resolve(search, &copy, way.from, condition, forks - 1);
    }
    return any && complete;
}

/* Takes a formula of values before `insn` further back. True: all targets that it may have are
 * known. */
static bool resolve(struct search *search, struct formula *formula, uint32_t insn,
                    enum condition pending, unsigned forks) {
    bool complete;
    for (;;) {
        struct way way;
        if (is_settled(search, formula, &complete))
            return complete;
        uint8_t reg;
        if (!formula_register(formula, &reg))
            return settle(search, formula); /* nothing earlier can change it */
        unsigned count = count_ways(search, insn, &way);
        if (count > WAYS_MAX)
            forks = 0;
        if (count > 1)
            return fork_ways(search, formula, insn, pending, forks);
        if (count == 0 || way.from == CFG_NONE ||
            !spend_step(search, &search->steps, WAY_STEPS_MAX))
            return settle(search, formula);
        step_back(search, formula, &way, &pending);
        insn = way.from;
    }
}

/* ---- the door ---- */

ORDER(compare_offsets, uint32_t, ascending(*a, *b))

static void sort_targets(struct jump_targets *targets) {
    size_t kept = 0;
    if (targets->count == 0)
        return;
    qsort(targets->offsets, targets->count, sizeof *targets->offsets, compare_offsets);
    for (size_t i = 0; i < targets->count; i++)
        if (kept == 0 || targets->offsets[kept - 1] != targets->offsets[i])
            targets->offsets[kept++] = targets->offsets[i];
    targets->count = kept;
}

/* Whether a jump that no table explains calls another procedure: the stack is as at the entry and
 * was not so before (or above it, in a part of a procedure that was split off); or the code cannot
 * tell that, and the jump does not look like a table's. */
static bool is_tail_call(const struct search *search, const struct code_open *jump) {
    if (jump->depth > 0)
        return false;
    return (jump->depth != DEPTH_UNKNOWN && search->exploration->has_frame) ||
           !(search->is_table || search->gave_up);
}

static bool prepare(struct jump_resolver *resolver, const struct exploration *exploration) {
    size_t count = exploration->insn_count;
    if (count <= resolver->seen_count)
        return true;
    uint32_t *grown = realloc(resolver->seen, count * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + resolver->seen_count, 0, (count - resolver->seen_count) * sizeof *grown);
    resolver->seen = grown;
    resolver->seen_count = count;
    return true;
}

bool jump_resolve(struct jump_resolver *resolver, const struct exploration *exploration,
                  const struct code_open *jump, struct jump_targets *targets) {
    struct search search = {.resolver = resolver,
                            .exploration = exploration,
                            .code = exploration->code,
                            .targets = targets};
    struct formula formula;
    targets->count = 0;
    targets->leaves = targets->complete = false;
    if (!prepare(resolver, exploration))
        return false;
    struct expression to = expression_of(&search, jump->insn);
    if (to.kind == EXPRESSION_JUMP || to.kind == EXPRESSION_JUMP_LOADED) {
        formula_start(&formula, &to, to.kind == EXPRESSION_JUMP_LOADED);
        targets->complete = resolve(&search, &formula, jump->insn, CONDITION_OTHER, FORKS_MAX);
        sort_targets(targets);
    }
    if (!targets->complete && targets->count == 0 && is_tail_call(&search, jump))
        targets->leaves = targets->complete = true;
    return !search.out_of_memory;
}

void jump_resolver_free(struct jump_resolver *resolver) {
    free(resolver->seen);
    *resolver = (struct jump_resolver){0};
}
