/* Values are followed back from a use through the blocks of the loop to the instructions that write
 * the register. What an address depends on is the closure of that; a load in it that is in its own
 * closure makes a chain from round to round. */
#include "analyze/loop_body.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/feeding.h"
#include "analyze/formula.h"
#include "isa/access.h"
#include "isa/expression.h"

enum { MARK_SEEN = 1 };
enum { CHAIN_UNKNOWN = 1, CHAIN_NO, CHAIN_YES }; /* 0: not asked yet */

static bool is_within(const struct cfg *cfg, uint32_t block, uint32_t head) {
    uint32_t loop = block == CFG_NONE ? CFG_NONE : cfg->blocks[block].loop;
    while (loop != CFG_NONE && loop != head)
        loop = cfg->blocks[loop].outer_loop;
    return loop == head;
}

bool loop_body_build(struct loop_body *body, const struct cfg *cfg, uint32_t head) {
    const size_t room = (size_t)cfg->insn_count + cfg->block_count + 1;
    *body = (struct loop_body){.cfg = cfg,
                               .head = head,
                               .insns = calloc(LOOP_BODY_MOST, sizeof *body->insns),
                               .blocks = calloc(LOOP_BODY_MOST, sizeof *body->blocks),
                               .marks = calloc(room, sizeof *body->marks),
                               .chains = calloc(LOOP_BODY_MOST, sizeof *body->chains),
                               .work = calloc(room, sizeof *body->work),
                               .steps = calloc(1, sizeof *body->steps)};
    if (!body->insns || !body->blocks || !body->marks || !body->chains || !body->work ||
        !body->steps)
        return false;
    for (uint32_t i = 0; i < cfg->block_count; i++) {
        const struct cfg_block *block = &cfg->blocks[i];
        if (!is_within(cfg, i, head))
            continue;
        if (body->insn_count + block->insn_count > LOOP_BODY_MOST)
            return false;
        body->blocks[body->block_count++] = i;
        for (uint32_t k = 0; k < block->insn_count; k++)
            body->insns[body->insn_count++] = block->first_insn + k;
    }
    return body->insn_count;
}

void loop_body_free(struct loop_body *body) {
    free(body->insns);
    free(body->blocks);
    free(body->marks);
    free(body->chains);
    free(body->work);
    free(body->steps);
    *body = (struct loop_body){.head = CFG_NONE};
}

static const struct insn *insn_at(const struct loop_body *body, uint32_t number) {
    return &body->cfg->insns[number].insn;
}

static bool writes(const struct insn *insn, uint8_t reg) {
    for (unsigned i = 0; i < insn->destination_count; i++)
        if (insn->destination[i] == reg)
            return true;
    return false;
}

static bool clobbers(const struct loop_body *body, const struct insn *insn, uint8_t reg) {
    return insn_calls(insn) && !register_is_kept(body->cfg->code->isa, reg);
}

static bool loads(const struct insn *insn) {
    for (unsigned i = 0; i < insn->memory_count; i++)
        if (insn->memory[i].is_load)
            return true;
    return false;
}

/* ---- who wrote a register ---- */

/* The instructions of the body that may have written what a register holds. */
struct writers {
    uint32_t *list;
    uint32_t count;
    bool unknown; /* a call may have */
};

/* The last in [first, end) that writes it; CFG_NONE: none. */
static uint32_t last_writer(const struct loop_body *body, uint32_t first, uint32_t end, uint8_t reg,
                            bool *unknown) {
    for (uint32_t i = end; i-- > first;) {
        if (++*body->steps > LOOP_STEPS_MOST) {
            *unknown = true;
            return i;
        }
        if (clobbers(body, insn_at(body, i), reg)) {
            *unknown = true;
            return i;
        }
        if (writes(insn_at(body, i), reg))
            return i;
    }
    return CFG_NONE;
}

/* Before instruction `use`: back through the blocks of the loop. */
static void find_writers(const struct loop_body *body, uint32_t use, uint8_t reg,
                         struct writers *writers) {
    const struct cfg *cfg = body->cfg;
    uint8_t *seen = body->marks + cfg->insn_count;
    uint32_t *queue = body->work, head = 0, tail = 0;
    const uint32_t block = cfg->insns[use].block;
    uint32_t found = last_writer(body, cfg->blocks[block].first_insn, use, reg, &writers->unknown);
    if (found != CFG_NONE) {
        writers->list[writers->count++] = found;
        return;
    }
    for (uint32_t at = block;; at = queue[head++]) {
        for (uint32_t i = 0; i < cfg->blocks[at].in_count; i++) {
            const uint32_t from = cfg->edges[cfg->in_edges[cfg->blocks[at].first_in + i]].from;
            if (!is_within(cfg, from, body->head) || seen[from])
                continue;
            seen[from] = 1;
            const struct cfg_block *other = &cfg->blocks[from];
            found = last_writer(body, other->first_insn, other->first_insn + other->insn_count, reg,
                                &writers->unknown);
            if (found != CFG_NONE && writers->count < LOOP_BODY_MOST)
                writers->list[writers->count++] = found;
            else if (found == CFG_NONE)
                queue[tail++] = from;
        }
        if (head == tail)
            break;
    }
    for (uint32_t i = 0; i < body->block_count; i++)
        seen[body->blocks[i]] = 0;
}

/* ---- what a value depends on ---- */

struct closure {
    const struct loop_body *body;
    uint8_t in[LOOP_BODY_MOST]; /* by place in the body */
    uint32_t stack[LOOP_BODY_MOST];
    uint32_t depth, count;
    bool unknown;
};

static uint32_t place_of(const struct loop_body *body, uint32_t insn) {
    uint32_t low = 0, high = body->insn_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (body->insns[middle] < insn)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_register(struct closure *closure, uint32_t use, uint8_t reg) {
    uint32_t list[LOOP_BODY_MOST];
    struct writers writers = {.list = list};
    if (reg == REG_NONE)
        return;
    find_writers(closure->body, use, reg, &writers);
    closure->unknown |= writers.unknown;
    for (uint32_t i = 0; i < writers.count; i++) {
        const uint32_t place = place_of(closure->body, list[i]);
        if (closure->in[place])
            continue;
        closure->in[place] = MARK_SEEN;
        closure->stack[closure->depth++] = list[i];
        closure->count++;
    }
}

static void add_address(struct closure *closure, uint32_t number) {
    const struct insn *insn = insn_at(closure->body, number);
    for (unsigned i = 0; i < insn->memory_count; i++)
        if (insn->memory[i].is_load) {
            add_register(closure, number, insn->memory[i].base);
            add_register(closure, number, insn->memory[i].index);
        }
}

static void close_over(struct closure *closure) {
    while (closure->depth) {
        const uint32_t number = closure->stack[--closure->depth];
        const struct insn *insn = insn_at(closure->body, number);
        for (unsigned i = 0; i < insn->source_count; i++)
            add_register(closure, number, insn->source[i]);
    }
}

/* Whether a load needs what it gave itself. */
static bool is_chain(const struct loop_body *body, uint32_t place, bool *unknown) {
    struct closure closure = {.body = body};
    const uint32_t load = body->insns[place];
    const struct insn *insn = insn_at(body, load);
    if (!body->chains[place]) {
        for (unsigned i = 0; i < insn->source_count; i++)
            add_register(&closure, load, insn->source[i]);
        close_over(&closure);
        body->chains[place] = closure.in[place] ? CHAIN_YES
                              : closure.unknown ? CHAIN_UNKNOWN
                                                : CHAIN_NO;
    }
    *unknown |= body->chains[place] == CHAIN_UNKNOWN;
    return body->chains[place] == CHAIN_YES;
}

/* A variable in memory, which the loop may write: what it holds is not followed. */
static bool is_variable(const struct loop_body *body, uint32_t load) {
    struct closure closure = {.body = body};
    const struct insn *insn = insn_at(body, load);
    add_address(&closure, load);
    if (closure.count)
        return false;
    for (uint32_t i = 0; i < body->insn_count; i++) {
        const struct insn *other = insn_at(body, body->insns[i]);
        for (unsigned k = 0; k < other->memory_count; k++)
            if (other->memory[k].is_store && other->memory[k].index == REG_NONE &&
                insn->memory_count && other->memory[k].base == insn->memory[0].base)
                return true;
    }
    return false;
}

enum address_origin loop_address_origin(const struct loop_body *body, uint32_t insn) {
    struct closure closure = {.body = body};
    enum address_origin origin = ADDRESS_COMPUTED;
    add_address(&closure, insn);
    if (!closure.count && !closure.unknown)
        return ADDRESS_FIXED;
    close_over(&closure);
    if (closure.in[place_of(body, insn)] && loads(insn_at(body, insn)))
        return ADDRESS_CHASED;
    for (uint32_t i = 0; i < body->insn_count; i++) {
        if (!closure.in[i] || !loads(insn_at(body, body->insns[i])))
            continue;
        if (is_chain(body, i, &closure.unknown))
            return ADDRESS_CHASED;
        closure.unknown |= is_variable(body, body->insns[i]);
        origin = ADDRESS_LOADED;
    }
    return closure.unknown ? ADDRESS_UNKNOWN : origin;
}

/* ---- divisions ---- */

static bool is_invariant(const struct loop_body *body, uint8_t reg) {
    for (uint32_t i = 0; i < body->insn_count; i++) {
        const struct insn *insn = insn_at(body, body->insns[i]);
        if (writes(insn, reg) || clobbers(body, insn, reg))
            return false;
    }
    return true;
}

/* The divisor is what is in memory, or the register that is not the dividend: of integers rdx:rax,
 * of floating point the first source. */
bool loop_divides_by_invariant(const struct loop_body *body, uint32_t number) {
    const struct insn *insn = insn_at(body, number);
    const bool integer = insn->operation == OP_INT_DIV;
    enum { RAX = 0, RDX = 2 };
    if (!integer && insn->operation != OP_FP_DIV)
        return false;
    if (insn->memory_count)
        return loop_address_origin(body, number) == ADDRESS_FIXED && !is_variable(body, number);
    bool x86_integer = integer && body->cfg->code->isa == ISA_X86_64;
    for (unsigned i = x86_integer ? 0 : 1; i < insn->source_count; i++)
        if (!x86_integer || (insn->source[i] != RAX && insn->source[i] != RDX))
            return is_invariant(body, insn->source[i]);
    return false;
}

/* ---- branches ---- */

/* What a block without another way out leads to, if it is short and plain. */
static uint32_t arm_end(const struct cfg *cfg, uint32_t number) {
    const struct cfg_block *block = &cfg->blocks[number];
    unsigned stores = 0;
    if (block->out_count != 1 || block->in_count != 1 || block->insn_count > LOOP_ARM_MOST)
        return CFG_NONE;
    for (uint32_t i = 0; i < block->insn_count; i++) {
        const struct insn *insn = &cfg->insns[block->first_insn + i].insn;
        for (unsigned k = 0; k < insn->memory_count; k++)
            stores += insn->memory[k].is_store;
        if (insn_calls(insn) || insn->operation == OP_SYSTEM || insn->operation == OP_INT_DIV)
            return CFG_NONE;
    }
    return stores > 1 ? CFG_NONE : cfg->edges[block->first_out].to;
}

bool branch_selects(const struct cfg *cfg, uint32_t insn) {
    const struct cfg_block *block = &cfg->blocks[cfg->insns[insn].block];
    if (cfg->insns[insn].insn.branch != BRANCH_CONDITIONAL || block->out_count != 2)
        return false;
    const uint32_t one = cfg->edges[block->first_out].to,
                   other = cfg->edges[block->first_out + 1].to;
    if (one == CFG_NONE || other == CFG_NONE || one == other)
        return false;
    const uint32_t behind_one = arm_end(cfg, one), behind_other = arm_end(cfg, other);
    return behind_one == other || behind_other == one ||
           (behind_one != CFG_NONE && behind_one == behind_other);
}

/* ---- scalar streams ---- */

static unsigned scalar_size(const struct loop_body *body, uint32_t number) {
    const struct cfg_insn *insn = &body->cfg->insns[number];
    char text[96];
    const struct procedure_code *code = body->cfg->code;
    insn_text(code->isa, code->bytes + insn->offset, code->size - insn->offset,
              code->address + insn->offset, text, sizeof text);
    const size_t length = strcspn(text, " ");
    if (code->isa != ISA_X86_64 || length < 3 || text[length - 2] != 's')
        return 0;
    return text[length - 1] == 'd' ? 8 : text[length - 1] == 's' ? 4 : 0;
}

/* What is added to a register each round; 0: nothing is, or not a constant, or more than once. */
static int64_t step_of(const struct loop_body *body, uint8_t reg) {
    const struct procedure_code *code = body->cfg->code;
    int64_t step = 0;
    for (uint32_t i = 0; i < body->insn_count; i++) {
        const struct cfg_insn *insn = &body->cfg->insns[body->insns[i]];
        if (!writes(&insn->insn, reg))
            continue;
        const struct expression by =
            insn_expression(code->isa, code->bytes + insn->offset, code->size - insn->offset,
                            code->address + insn->offset);
        if (step || by.kind != EXPRESSION_SUM || by.to != reg || by.base != reg ||
            by.index != REG_NONE)
            return 0;
        step = by.constant;
    }
    return step;
}

static int64_t stride_of(const struct loop_body *body, const struct access_address *access) {
    int64_t stride = access->base == REG_NONE ? 0 : step_of(body, access->base);
    if (access->index != REG_NONE)
        stride += step_of(body, access->index) << access->shift;
    return stride;
}

/* No floating-point register has what the round before left in it. */
static bool rounds_are_independent(const struct loop_body *body) {
    bool written[REG_COUNT] = {false}, read_first[REG_COUNT] = {false};
    for (uint32_t i = 0; i < body->insn_count; i++) {
        const struct insn *insn = insn_at(body, body->insns[i]);
        for (unsigned k = 0; k < insn->source_count; k++)
            read_first[insn->source[k]] |= !written[insn->source[k]];
        for (unsigned k = 0; k < insn->destination_count; k++)
            written[insn->destination[k]] = true;
    }
    for (unsigned reg = 0; reg < REG_COUNT; reg++)
        if (register_is_fp((uint8_t)reg) && written[reg] && read_first[reg])
            return false;
    return true;
}

static bool is_arithmetic(uint8_t operation) {
    return operation == OP_FP_ADD || operation == OP_FP_MUL || operation == OP_FP_FMA ||
           operation == OP_FP_DIV || operation == OP_FP_SQRT;
}

unsigned loop_scalar_stream(const struct loop_body *body) {
    const struct procedure_code *code = body->cfg->code;
    unsigned size = 0, stores = 0;
    if (body->block_count != 1 || !rounds_are_independent(body))
        return 0;
    for (uint32_t i = 0; i < body->insn_count; i++) {
        const struct cfg_insn *insn = &body->cfg->insns[body->insns[i]];
        if (insn_calls(&insn->insn))
            return 0;
        if (is_arithmetic(insn->insn.operation)) {
            const unsigned scalar = scalar_size(body, body->insns[i]);
            if (!scalar || (size && scalar != size))
                return 0;
            size = scalar;
        }
    }
    for (uint32_t i = 0; size && i < body->insn_count; i++) {
        const struct cfg_insn *insn = &body->cfg->insns[body->insns[i]];
        struct access_address access;
        if (!insn->insn.memory_count ||
            !insn_access_address(code->isa, code->bytes + insn->offset, code->size - insn->offset,
                                 code->address + insn->offset, &access))
            continue;
        const int64_t stride = stride_of(body, &access);
        if (access.size_bytes != size || (stride && stride != size && stride != -(int64_t)size) ||
            (access.is_store && !stride))
            return 0;
        stores += access.is_store;
    }
    return stores ? size : 0;
}
