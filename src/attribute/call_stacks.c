/* A tree of stacks whose nodes are functions, by their first instruction; and for each guest thread
 * the calls that have not returned.
 *
 * Calls and returns are known from the static code. The instruction after a committed call begins a
 * function. The instruction after a return is looked for among the return addresses, the youngest
 * first, so that calls that never returned (longjmp, exceptions) are dropped. A return that nobody
 * called (the trace began inside, a signal's handler ended) leads to an unknown caller: what
 * follows is a stack of its own at the thread's root, until a known address is returned to. A jump
 * or return to where a call of a function that is still active had returned before is a longjmp to
 * it. A jump among the first instructions of a function hands the call on: a stub of the linkage
 * table counts as the function that it leads to. */
#include "attribute/call_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "attribute/span.h"
#include "util/array.h"

enum { MAX_FRAMES = 1 << 16, STUB_INSNS = 4 };

/* ---- the tree ---- */

bool call_stacks_init(struct call_stacks *stacks, const struct places *places) {
    *stacks = (struct call_stacks){.places = places};
    return hash_index_reserve(&stacks->index, 1);
}

void call_stacks_end(struct call_stacks *stacks) {
    free(stacks->nodes);
    hash_index_free(&stacks->index);
    free(stacks->sites);
}

static uint32_t find_node(const struct call_stacks *stacks, uint32_t parent, uint32_t insn) {
    const uint64_t hash = hash_number((uint64_t)parent << 32 | insn);
    size_t at;
    for (uint32_t i = hash_index_first(&stacks->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&stacks->index, hash, &at))
        if (stacks->nodes[i].parent == parent && stacks->nodes[i].insn == insn)
            return i;
    return CALL_NONE;
}

/* CALL_NONE: out of memory. */
static uint32_t add_node(struct call_stacks *stacks, uint32_t parent, uint32_t insn,
                         uint32_t depth) {
    if (!array_room(stacks->nodes, stacks->node_capacity, stacks->node_count + 1) ||
        !hash_index_add(&stacks->index, hash_number((uint64_t)parent << 32 | insn),
                        stacks->node_count))
        return CALL_NONE;
    stacks->nodes[stacks->node_count] =
        (struct call_node){.parent = parent, .insn = insn, .depth = depth};
    return stacks->node_count++;
}

/* The stack of a function called from `parent`. */
static uint32_t child(struct call_stacks *stacks, uint32_t parent, uint32_t insn) {
    uint32_t depth = stacks->nodes[parent].depth + 1;
    uint32_t found = find_node(stacks, parent, insn);
    if (found != CALL_NONE)
        return found;
    if (depth > CALL_MAX_DEPTH || stacks->node_count >= CALL_MAX_STACKS)
        return parent;
    return add_node(stacks, parent, insn, depth);
}

/* ---- a thread ---- */

bool call_thread_init(struct call_thread *thread, struct call_stacks *stacks, uint32_t number) {
    *thread = (struct call_thread){.stacks = stacks, .entered = STUB_INSNS};
    uint32_t known = find_node(stacks, CALL_NONE, number);
    thread->root = known != CALL_NONE ? known : add_node(stacks, CALL_NONE, number, 0);
    thread->node = thread->last_node = thread->root;
    return thread->root != CALL_NONE;
}

void call_thread_end(struct call_thread *thread) {
    free(thread->frames);
}

/* Pushes a frame. Of very deep recursion the outer half is forgotten. */
static bool push(struct call_thread *thread) {
    if (thread->frame_count == MAX_FRAMES) {
        thread->frame_count /= 2;
        memmove(thread->frames, thread->frames + thread->frame_count,
                thread->frame_count * sizeof *thread->frames);
    }
    if (!array_room(thread->frames, thread->frame_capacity, thread->frame_count + 1))
        return false;
    thread->frames[thread->frame_count++] =
        (struct call_frame){thread->return_address, thread->node};
    return true;
}

/* Remembers where a call returned to, to recognise a longjmp. */
static bool note_site(struct call_stacks *stacks, uint32_t insn, uint32_t function) {
    if (!array_zeroed_room(stacks->sites, stacks->site_capacity, (size_t)insn + 1))
        return false;
    stacks->sites[insn] = function + 1;
    return true;
}

/* Recognises a longjmp: a call of a function that is active further out had returned there
 * before. */
static bool resume(struct call_thread *thread, uint32_t insn) {
    const struct call_stacks *stacks = thread->stacks;
    if (insn >= stacks->site_capacity || !stacks->sites[insn])
        return false;
    uint32_t function = stacks->sites[insn] - 1;
    if (stacks->nodes[thread->node].insn == function)
        return true;
    for (size_t i = thread->frame_count; i-- > 0;)
        if (stacks->nodes[thread->frames[i].node].insn == function) {
            thread->frame_count = i;
            thread->node = thread->frames[i].node;
            return true;
        }
    return false;
}

/* Whether the µop begins at the address. A fused pair is known by the address of its branch; the
 * compare before it has a length that is not always known. */
static bool begins_at(const struct place *place, bool fused, uint64_t address) {
    return place->address == address || (fused && place->address - address <= INSN_MAX_LENGTH);
}

static bool returned(struct call_thread *thread, uint32_t insn, bool fused) {
    const struct place *place = place_of(thread->stacks->places, insn);
    for (size_t i = thread->frame_count; i-- > 0;)
        if (begins_at(place, fused, thread->frames[i].return_address)) {
            thread->frame_count = i;
            thread->node = thread->frames[i].node;
            return note_site(thread->stacks, insn, thread->stacks->nodes[thread->node].insn);
        }
    if (resume(thread, insn))
        return true;
    thread->node = child(thread->stacks, thread->root, insn);
    return thread->node != CALL_NONE;
}

/* Follows a jump: a stub's, a longjmp's, or one within a function. */
static bool jumped(struct call_thread *thread, uint32_t insn, bool indirect) {
    struct call_stacks *stacks = thread->stacks;
    if (thread->entered < STUB_INSNS && thread->node != thread->root) {
        thread->node = child(stacks, stacks->nodes[thread->node].parent, insn);
        thread->entered = 0;
        return thread->node != CALL_NONE;
    }
    if (indirect)
        resume(thread, insn);
    return true;
}

/* Handles the µop that follows a branch. */
static bool arrive(struct call_thread *thread, uint64_t uop) {
    uint32_t insn = tap_uop_insn(uop);
    bool fused = tap_uop_flags(uop) & TAP_UOP_FUSED;
    enum branch_kind branch = thread->branch;
    thread->branch = BRANCH_NONE;
    switch (branch) {
    case BRANCH_CALL:
    case BRANCH_INDIRECT_CALL:
        if (begins_at(place_of(thread->stacks->places, insn), fused, thread->return_address))
            return true; /* call to the next instruction, to learn the address */
        if (!push(thread))
            return false;
        thread->node = child(thread->stacks, thread->node, insn);
        thread->entered = 0;
        return thread->node != CALL_NONE;
    case BRANCH_RETURN:
        thread->entered = STUB_INSNS;
        return returned(thread, insn, fused);
    case BRANCH_JUMP:
    case BRANCH_INDIRECT:
        return jumped(thread, insn, branch == BRANCH_INDIRECT);
    default:
        return true;
    }
}

static inline void leave(struct call_thread *thread, uint32_t insn) {
    const struct place *place = place_of(thread->stacks->places, insn);
    thread->entered += thread->entered < STUB_INSNS;
    thread->branch = place->branch;
    thread->return_address = place->address + place->length;
}

static bool commit(struct call_thread *thread, const struct tap_record *record,
                   const struct span *span) {
    uint64_t units = span->next + span->share;
    for (unsigned i = 0; i < record->count; i++) {
        uint64_t uop = record->uops[i];
        if (thread->branch != BRANCH_NONE && !arrive(thread, uop))
            return false;
        thread->stacks->nodes[thread->node].units += units + (i < span->rest);
        units = span->share;
        if (tap_uop_flags(uop) & TAP_UOP_LAST)
            leave(thread, tap_uop_insn(uop));
    }
    return true;
}

bool call_thread_consume(struct call_thread *thread, const struct tap_buffer *buffer,
                         struct error *error) {
    for (struct closings at = closings_of(buffer); closings_next(&at);) {
        bool room = true;
        if (at.span.last)
            thread->stacks->nodes[thread->last_node].units += at.span.last;
        if (at.record.kind == TAP_COMMIT) {
            room = commit(thread, &at.record, &at.span);
            thread->last_node = thread->node;
        } else {
            room = thread->branch == BRANCH_NONE || arrive(thread, at.record.uops[0]);
            if (room)
                thread->stacks->nodes[thread->node].units += at.span.next;
        }
        if (!room)
            return error_set(error, "out of memory for call stacks");
    }
    return true;
}
