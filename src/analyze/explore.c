/* Links are followed in the order in which they were found, each until it reaches an instruction
 * that was found before. What needs more than the instruction itself is put off until all links are
 * followed: indirect jumps, which need their tables; and calls before padding, which return if the
 * padding aligns a loop, and do not if it separates functions. Then come gaps. */
#include "analyze/explore.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/jump_table.h"
#include "analyze/no_return.h"
#include "analyze/padding.h"
#include "isa/expression.h"
#include "util/array.h"

enum {
    CODE_SIZE_MAX = 16 << 20,
    ALIGNED = 8, /* bytes: alignment of what padding before a loop or a jump's target leads to */
    DEPTH_MOST = 1 << 30, /* bytes of stack */
    LOOK_MAX = 256,       /* instructions: so many in a row are code */
    CALL_ROUNDS_MAX = 16  /* rounds over the calls put off; then the rest are taken to return */
};

static void add_open(struct exploration *exploration, struct open_list *list, uint32_t insn,
                     int32_t depth) {
    if (array_room(list->items, list->capacity, list->count + 1))
        list->items[list->count++] = (struct code_open){insn, depth};
    else
        exploration->out_of_memory = true;
}

static void add_link(struct exploration *exploration, uint32_t from, uint32_t to,
                     enum cfg_edge_kind kind, int32_t depth) {
    if (array_room(exploration->links, exploration->link_capacity, exploration->link_count + 1))
        exploration->links[exploration->link_count++] =
            (struct code_link){from, to, CFG_NONE, depth, (uint8_t)kind};
    else
        exploration->out_of_memory = true;
}

/* ---- decoding ---- */

/* Whether bytes cut off by the end might have been an instruction. */
static bool is_cut_off(const struct procedure_code *code, uint32_t offset) {
    uint8_t bytes[INSN_MAX_LENGTH] = {0};
    size_t rest = code->size - offset;
    struct insn insn;
    if (rest >= sizeof bytes)
        return false;
    memcpy(bytes, code->bytes + offset, rest);
    return insn_decode(code->isa, bytes, sizeof bytes, &insn);
}

/* The instruction that begins at an offset, decoded unless it was before; CFG_NONE: none does,
 * which is flagged. */
static uint32_t insn_at(struct exploration *exploration, uint64_t offset) {
    const struct procedure_code *code = exploration->code;
    struct insn insn;
    if (offset >= code->size) {
        exploration->flags |= CFG_RUNS_OUT;
        return CFG_NONE;
    }
    if (exploration->at[offset] != CFG_NONE)
        return exploration->at[offset];
    if (!insn_decode(code->isa, code->bytes + offset, code->size - offset, &insn)) {
        exploration->flags |= is_cut_off(code, (uint32_t)offset) ? CFG_RUNS_OUT : CFG_UNDECODABLE;
        return CFG_NONE;
    }
    if (!array_room(exploration->insns, exploration->insn_capacity, exploration->insn_count + 1)) {
        exploration->out_of_memory = true;
        return CFG_NONE;
    }
    uint32_t number = (uint32_t)exploration->insn_count++;
    exploration->insns[number] = (struct code_insn){
        .offset = (uint32_t)offset, .first_into = CFG_NONE, .falls = true, .insn = insn};
    return exploration->at[offset] = number;
}

/* ---- what an instruction leads to ---- */

static void end_block(struct exploration *exploration, uint32_t insn) {
    exploration->insns[insn].falls = false;
    exploration->insns[insn].ends = true;
}

static void leave(struct exploration *exploration, uint32_t insn, enum cfg_edge_kind kind) {
    end_block(exploration, insn);
    add_link(exploration, insn, CFG_NONE, kind, DEPTH_UNKNOWN);
}

/* A jump to an address: within the procedure or to another one. */
static void jump_to(struct exploration *exploration, uint32_t insn, uint64_t offset,
                    int32_t depth) {
    if (offset < exploration->code->size)
        add_link(exploration, insn, (uint32_t)offset, EDGE_TAKEN, depth);
    else
        add_link(exploration, insn, CFG_NONE, EDGE_TAIL, DEPTH_UNKNOWN);
}

static uint32_t padding_behind(const struct procedure_code *code, uint32_t behind) {
    return (uint32_t)padding_size(code->isa, code->bytes + behind, code->size - behind);
}

/* Whether nothing that could be executed follows a call: the end, padding up to it, padding that is
 * never executed, no instruction. */
static bool nothing_behind(const struct procedure_code *code, uint32_t behind) {
    struct insn insn;
    const uint8_t *bytes = code->bytes + behind;
    size_t rest = code->size - behind;
    return padding_behind(code, behind) == rest || padding_is_dead(code->isa, bytes, rest) ||
           !insn_decode(code->isa, bytes, rest, &insn);
}

/* Of riscv64: where auipc and the jalr behind it lead together, as an offset. */
static bool far_target(const struct procedure_code *code, uint32_t offset, const struct insn *insn,
                       uint64_t *target) {
    enum { AUIPC_BYTES = 4 };
    if (code->isa != ISA_RISCV64 || offset < AUIPC_BYTES)
        return false;
    uint64_t address = code->address + offset;
    struct expression jump =
        insn_expression(code->isa, code->bytes + offset, insn->length, address);
    struct expression base = insn_expression(code->isa, code->bytes + offset - AUIPC_BYTES,
                                             AUIPC_BYTES, address - AUIPC_BYTES);
    if (jump.kind != EXPRESSION_JUMP || base.kind != EXPRESSION_SUM || base.to != jump.base ||
        base.base != REG_NONE || base.index != REG_NONE)
        return false;
    *target = (uint64_t)base.constant + (uint64_t)jump.constant - code->address;
    return true;
}

/* Where a call leads, as an offset. */
static bool call_target(const struct procedure_code *code, uint32_t offset, const struct insn *insn,
                        uint64_t *target) {
    if (insn->branch == BRANCH_INDIRECT_CALL)
        return far_target(code, offset, insn, target);
    *target = offset + (uint64_t)insn->target;
    return true;
}

/* A call to the next instruction, by which code learns its own address, counts as returning. */
static bool call_returns(const struct procedure_code *code, uint32_t offset,
                         const struct insn *insn) {
    uint64_t target;
    uint32_t behind = offset + insn->length;
    bool known = call_target(code, offset, insn, &target);
    if (known && target == behind)
        return true;
    const char *name =
        known && code->name ? code->name(code->context, code->address + target) : NULL;
    return !name_never_returns(name) && !nothing_behind(code, behind);
}

/* Whether control goes on behind a call, as far as can be told yet. */
static bool follow_call(struct exploration *exploration, uint32_t insn, int32_t depth) {
    const struct procedure_code *code = exploration->code;
    const struct code_insn *found = &exploration->insns[insn];
    uint32_t behind = code_behind(found);
    uint64_t target;
    if (!call_returns(code, found->offset, &found->insn)) {
        leave(exploration, insn, EDGE_STOP);
        return false;
    }
    bool known = call_target(code, found->offset, &found->insn, &target);
    if (known && target == behind)
        return true;
    if (known && target > 0 && target < code->size)
        add_link(exploration, CFG_NONE, (uint32_t)target, EDGE_ENTRY, 0);
    uint32_t padding = padding_behind(code, behind);
    if (padding == 0 || (code->address + behind + padding) % ALIGNED != 0)
        return true;
    add_open(exploration, &exploration->calls, insn, depth);
    return false;
}

/* Follows the stack pointer. When a frame pointer restores it, that is assumed to point where the
 * usual prologue sets it: on x86-64 below the return address, on riscv64 to where the frame
 * begins. */
static void follow_stack(const struct procedure_code *code, const struct code_insn *found,
                         int32_t *depth, bool *has_frame) {
    bool x86 = code->isa == ISA_X86_64;
    uint8_t stack = x86 ? 4 : 2, frame = x86 ? 5 : 8;
    const struct insn *insn = &found->insn;
    if (insn->branch != BRANCH_NONE || /* a callee leaves it as it was */
        !memchr(insn->destination, stack, insn->destination_count))
        return;
    struct expression by = insn_expression(code->isa, code->bytes + found->offset, insn->length,
                                           code->address + found->offset);
    bool sum = by.kind == EXPRESSION_SUM && by.to == stack && by.index == REG_NONE;
    bool known = *depth != DEPTH_UNKNOWN;
    int64_t now = DEPTH_UNKNOWN;
    if (sum && by.base == frame)
        now = (x86 ? 8 : 0) - by.constant;
    else if (sum && by.base == stack && known)
        now = *depth - by.constant;
    else if (by.to != stack && by.stack_step != 0 && known)
        now = *depth - by.stack_step;
    *depth = now >= -DEPTH_MOST && now <= DEPTH_MOST ? (int32_t)now : DEPTH_UNKNOWN;
    *has_frame |= *depth != 0 && *depth != DEPTH_UNKNOWN;
}

/* Adds what an instruction leads to. False: control does not go on to the next one, or it is not
 * known yet. */
static bool step(struct exploration *exploration, uint32_t insn, int32_t *depth) {
    struct code_insn *found = &exploration->insns[insn];
    uint64_t target = found->offset + (uint64_t)found->insn.target;
    follow_stack(exploration->code, found, depth, &exploration->has_frame);
    switch (found->insn.branch) {
    case BRANCH_CONDITIONAL:
        found->ends = true;
        jump_to(exploration, insn, target, *depth);
        return true;
    case BRANCH_JUMP:
        end_block(exploration, insn);
        jump_to(exploration, insn, target, *depth);
        return false;
    case BRANCH_CALL:
    case BRANCH_INDIRECT_CALL:
        return follow_call(exploration, insn, *depth);
    case BRANCH_INDIRECT:
        end_block(exploration, insn);
        if (far_target(exploration->code, found->offset, &found->insn, &target)) {
            jump_to(exploration, insn, target, *depth);
            return false;
        }
        add_open(exploration, &exploration->jumps, insn, *depth);
        return false;
    case BRANCH_RETURN:
        leave(exploration, insn, EDGE_RETURN);
        return false;
    default:
        if (!(found->insn.flags & INSN_TRAP))
            return true;
        leave(exploration, insn, EDGE_STOP);
        return false;
    }
}

/* ---- following ---- */

/* Goes on to the next instruction, unless it was found before. */
static uint32_t advance(struct exploration *exploration, uint32_t insn) {
    uint32_t behind = code_behind(&exploration->insns[insn]);
    if (behind < exploration->code->size && exploration->at[behind] != CFG_NONE)
        return CFG_NONE;
    uint32_t next = insn_at(exploration, behind);
    if (next == CFG_NONE)
        leave(exploration, insn, EDGE_STOP);
    return next;
}

static void run(struct exploration *exploration, uint32_t insn, int32_t depth) {
    while (insn != CFG_NONE && !exploration->out_of_memory && step(exploration, insn, &depth))
        insn = advance(exploration, insn);
}

static void follow_link(struct exploration *exploration, size_t number) {
    struct code_link *link = &exploration->links[number];
    if (link->to == CFG_NONE)
        return;
    bool found = exploration->at[link->to] != CFG_NONE;
    uint32_t insn = insn_at(exploration, link->to);
    if (insn == CFG_NONE) {
        link->to = CFG_NONE; /* bytes that do not decode; nothing, if it came from outside */
        link->kind = EDGE_STOP;
        return;
    }
    struct code_insn *target = &exploration->insns[insn];
    if (link->from == CFG_NONE && target->entered) {
        link->to = CFG_NONE;
        return;
    }
    target->entered |= link->from == CFG_NONE;
    link->next_into = target->first_into;
    target->first_into = (uint32_t)number;
    if (!found)
        run(exploration, insn, link->depth);
}

static void follow_links(struct exploration *exploration) {
    while (exploration->followed < exploration->link_count && !exploration->out_of_memory)
        follow_link(exploration, exploration->followed++);
}

/* ---- calls in front of padding ---- */

static bool jumped_back_to(const struct exploration *exploration, uint32_t insn) {
    const struct code_insn *target = &exploration->insns[insn];
    for (uint32_t link = target->first_into; link != CFG_NONE;
         link = exploration->links[link].next_into) {
        uint32_t from = exploration->links[link].from;
        if (from != CFG_NONE && exploration->insns[from].offset >= target->offset)
            return true;
    }
    return false;
}

/* Compilers align the heads of loops, and code that is reached by jumps alone. So a call before
 * padding returns if nothing else leads to the code that the padding aligns, or if that is the head
 * of a loop. */
static bool returns_into(const struct exploration *exploration, uint32_t call) {
    const struct procedure_code *code = exploration->code;
    uint32_t behind = code_behind(&exploration->insns[call]);
    uint32_t insn = exploration->at[behind + padding_behind(code, behind)];
    return insn == CFG_NONE || jumped_back_to(exploration, insn);
}

/* False: no call goes on. */
static bool continue_calls(struct exploration *exploration, bool all) {
    struct open_list *calls = &exploration->calls;
    size_t count = calls->count, kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct code_open call = calls->items[i];
        if (!all && !returns_into(exploration, call.insn)) {
            calls->items[kept++] = call;
            continue;
        }
        run(exploration, advance(exploration, call.insn), call.depth);
    }
    /* Those found meanwhile are at the end. */
    for (size_t i = count; i < calls->count; i++)
        calls->items[kept + i - count] = calls->items[i];
    calls->count -= count - kept;
    return kept < count;
}

static void end_calls(struct exploration *exploration) {
    for (size_t i = 0; i < exploration->calls.count; i++)
        leave(exploration, exploration->calls.items[i].insn, EDGE_STOP);
    exploration->calls.count = 0;
}

/* ---- indirect jumps ---- */

static void add_targets(struct exploration *exploration, const struct code_open *jump,
                        const struct jump_targets *targets) {
    for (size_t i = 0; i < targets->count; i++)
        add_link(exploration, jump->insn, targets->offsets[i], EDGE_TABLE, jump->depth);
    if (targets->leaves || !targets->complete)
        add_link(exploration, jump->insn, CFG_NONE, EDGE_TAIL, DEPTH_UNKNOWN);
    if (!targets->complete) {
        exploration->flags |= CFG_MISSING_EDGES;
        exploration->unresolved++;
    }
}

/* Follows jumps. Those whose targets are not all known come last, as what looks like a target of
 * theirs is judged by the code found by then. */
static void follow_jumps(struct exploration *exploration, struct jump_resolver *resolver,
                         struct open_list *jumps, bool last) {
    struct jump_targets targets = {0};
    for (size_t i = 0; i < jumps->count && !exploration->out_of_memory; i++) {
        const struct code_open *jump = &jumps->items[i];
        if (!jump_resolve(resolver, exploration, jump, &targets))
            exploration->out_of_memory = true;
        else if (targets.complete || last)
            add_targets(exploration, jump, &targets);
        else
            add_open(exploration, &exploration->late, jump->insn, jump->depth);
    }
    jumps->count = 0;
    free(targets.offsets);
}

/* Everything that the links lead to. */
static void follow_all(struct exploration *exploration, struct jump_resolver *resolver) {
    unsigned rounds = 0;
    while (!exploration->out_of_memory) {
        follow_links(exploration);
        if (exploration->jumps.count > 0)
            follow_jumps(exploration, resolver, &exploration->jumps, false);
        else if (continue_calls(exploration, rounds >= CALL_ROUNDS_MAX))
            rounds++;
        else if (exploration->late.count > 0)
            follow_jumps(exploration, resolver, &exploration->late, true);
        else
            break;
    }
    end_calls(exploration);
}

/* ---- gaps ---- */

bool exploration_finds_code(const struct exploration *exploration, uint32_t offset,
                            uint32_t *stop) {
    const struct procedure_code *code = exploration->code;
    struct insn insn;
    unsigned count = 0;
    for (*stop = offset; *stop < code->size; *stop += insn.length) {
        if ((*stop > offset && exploration->at[*stop] != CFG_NONE) || ++count > LOOK_MAX)
            return true;
        const uint8_t *bytes = code->bytes + *stop;
        size_t rest = code->size - *stop;
        if (padding_is_dead(code->isa, bytes, rest) ||
            !insn_decode(code->isa, bytes, rest, &insn)) {
            *stop += code->isa == ISA_RISCV64 ? 2 : 1;
            return false;
        }
        for (unsigned i = 1; i < insn.length; i++)
            if (exploration->at[*stop + i] != CFG_NONE) {
                *stop += i;
                return false;
            }
        bool call = insn.branch == BRANCH_CALL || insn.branch == BRANCH_INDIRECT_CALL;
        if (insn.branch == BRANCH_JUMP || insn.branch == BRANCH_INDIRECT ||
            insn.branch == BRANCH_RETURN || (insn.flags & INSN_TRAP) ||
            (call && !call_returns(code, *stop, &insn)))
            return true;
    }
    *stop = (uint32_t)code->size;
    return false;
}

static void explore_gaps(struct exploration *exploration, struct jump_resolver *resolver) {
    const struct procedure_code *code = exploration->code;
    uint32_t offset = 0, covered = 0; /* the end of what instructions found before `offset` cover */
    while (offset < code->size && !exploration->out_of_memory) {
        uint32_t insn = exploration->at[offset], stop;
        if (insn != CFG_NONE) {
            uint32_t behind = code_behind(&exploration->insns[insn]);
            covered = behind > covered ? behind : covered;
            offset++;
            continue;
        }
        if (offset < covered) {
            offset++;
            continue;
        }
        uint32_t padding = padding_behind(code, offset);
        if (padding > 0) {
            for (uint32_t end = offset + padding;
                 offset < end && exploration->at[offset] == CFG_NONE;)
                offset++;
        } else if (exploration_finds_code(exploration, offset, &stop)) {
            add_link(exploration, CFG_NONE, offset, EDGE_UNKNOWN, DEPTH_UNKNOWN);
            exploration->flags |= CFG_UNREACHED;
            follow_all(exploration, resolver);
        } else {
            offset = stop;
        }
    }
}

/* ---- all of it ---- */

static bool overlaps(const struct exploration *exploration) {
    uint32_t covered = 0;
    for (uint32_t offset = 0; offset < exploration->code->size; offset++) {
        uint32_t insn = exploration->at[offset];
        if (insn == CFG_NONE)
            continue;
        if (offset < covered)
            return true;
        covered = code_behind(&exploration->insns[insn]);
    }
    return false;
}

bool explore(struct exploration *exploration, const struct procedure_code *code,
             struct error *error) {
    *exploration = (struct exploration){.code = code};
    struct jump_resolver resolver = {0};
    struct insn first;
    if (code->size > CODE_SIZE_MAX)
        return error_set(error, "%zu bytes of code are too many for one procedure", code->size);
    if (!insn_decode(code->isa, code->bytes, code->size, &first))
        return error_set(error, "no instruction begins where the procedure does");
    exploration->at = malloc(code->size * sizeof *exploration->at);
    if (exploration->at) {
        memset(exploration->at, 0xff, code->size * sizeof *exploration->at);
        add_link(exploration, CFG_NONE, 0, EDGE_ENTRY, 0);
        follow_all(exploration, &resolver);
        explore_gaps(exploration, &resolver);
    }
    jump_resolver_free(&resolver);
    if (!exploration->at || exploration->out_of_memory)
        return error_set(error, "out of memory");
    if (overlaps(exploration))
        exploration->flags |= CFG_OVERLAPPING;
    return true;
}

void exploration_free(struct exploration *exploration) {
    free(exploration->at);
    free(exploration->insns);
    free(exploration->links);
    free(exploration->jumps.items);
    free(exploration->late.items);
    free(exploration->calls.items);
    *exploration = (struct exploration){0};
}
