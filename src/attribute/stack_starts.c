/* Frames are kept as lists from the innermost outwards; equal frames with equal lists behind them
 * are one. Nodes and functions are those of the run's own tree: they are looked up in the other
 * one's, outermost first, when a stack begins there. */
#include "attribute/stack_starts.h"

#include <assert.h>
#include <stdlib.h>

#include "attribute/memory_journal.h"
#include "attribute/shadow_parts.h"
#include "util/array.h"

enum { NO_FRAME = UINT32_MAX };

struct kept_frame {
    struct shadow_frame frame;
    uint32_t outer; /* frame; NO_FRAME: the outermost */
};

/* A stack of the program, or one that was set aside. */
struct kept_stack {
    uint32_t innermost, node;
    uint64_t stamp;
};

/* A frame of Python. */
struct kept_python {
    uint32_t function, line, owner;
    bool begins;
    uint32_t outer; /* as in struct kept_frame */
};

struct stack_start {
    uint32_t thread;
    uint64_t position;
    struct kept_stack present;
    uint32_t python; /* the innermost frame; NO_FRAME: there is none */
    uint32_t first_aside, aside_count;
    struct memory_mark memory; /* with a journal */
    uint32_t stub_site;
    uint8_t stub_kind;
    bool stub_lazy, fresh;
    struct departure left; /* of the last instruction seen: where it leads is not known yet */
};

struct wanted {
    uint32_t thread;
    uint64_t position;
};

struct stack_starts {
    struct path_tree tree;
    struct path_functions functions;
    const struct code *code;
    struct shadow_stack stack; /* of the thread that was seen last */
    bool any;
    uint32_t thread, process; /* of what was seen last */
    struct wanted *wanted;
    size_t wanted_count, wanted_capacity, next;
    struct stack_start *items;
    size_t count, capacity;
    struct kept_frame *frames;
    size_t frame_count, frame_capacity;
    struct hash_index index; /* of the frames */
    struct kept_python *python;
    size_t python_count, python_capacity;
    struct hash_index python_index;
    struct kept_stack *asides;
    size_t aside_count, aside_capacity;
    struct memory_journal *journal; /* NULL: data is not asked for */
    bool has_data;                  /* something is in it */
};

static bool stay(void *context, uint64_t position, uint32_t node) {
    (void)context, (void)position, (void)node;
    return true;
}

struct stack_starts *stack_starts_new(const struct path_extents *extents, bool data) {
    struct stack_starts *starts = calloc(1, sizeof *starts);
    if (!starts)
        return NULL;
    starts->functions.extents = *extents;
    if (!data || (starts->journal = memory_journal_new()))
        return starts;
    stack_starts_free(starts);
    return NULL;
}

void stack_starts_free(struct stack_starts *starts) {
    if (!starts)
        return;
    if (starts->any)
        shadow_stack_free(&starts->stack);
    path_tree_free(&starts->tree);
    path_functions_free(&starts->functions);
    hash_index_free(&starts->index);
    hash_index_free(&starts->python_index);
    memory_journal_free(starts->journal);
    free(starts->python);
    free(starts->wanted);
    free(starts->items);
    free(starts->frames);
    free(starts->asides);
    free(starts);
}

const struct code *stack_starts_code(const struct stack_starts *starts) {
    return starts->code;
}

/* ---- what is kept ---- */

/* The number of a frame with these behind it; NO_FRAME: out of memory. */
static uint32_t keep_frame(struct stack_starts *starts, const struct shadow_frame *frame,
                           uint32_t outer) {
    const uint64_t hash =
        hash_pair(hash_pair(frame->slot, frame->back), (uint64_t)frame->node << 32 | outer) ^
        frame->kind;
    size_t at;
    for (uint32_t i = hash_index_first(&starts->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&starts->index, hash, &at)) {
        const struct kept_frame *known = &starts->frames[i];
        if (known->outer == outer && known->frame.slot == frame->slot &&
            known->frame.back == frame->back && known->frame.node == frame->node &&
            known->frame.site == frame->site && known->frame.kind == frame->kind &&
            known->frame.stub_kind == frame->stub_kind)
            return i;
    }
    const uint32_t number = (uint32_t)starts->frame_count;
    const struct kept_frame kept = {*frame, outer};
    return array_push(starts->frames, starts->frame_capacity, starts->frame_count, kept) &&
                   hash_index_add(&starts->index, hash, number)
               ? number
               : NO_FRAME;
}

static bool keep_frames(struct stack_starts *starts, const struct shadow_frames *frames,
                        uint32_t node, struct kept_stack *kept) {
    *kept = (struct kept_stack){NO_FRAME, node, frames->stamp};
    for (size_t i = 0; i < frames->count; i++)
        if ((kept->innermost = keep_frame(starts, &frames->items[i], kept->innermost)) == NO_FRAME)
            return false;
    return true;
}

static uint32_t keep_python(struct stack_starts *starts, const struct kept_python *frame) {
    const uint64_t hash = hash_pair((uint64_t)frame->function << 32 | frame->line,
                                    (uint64_t)frame->owner << 32 | frame->outer) ^
                          frame->begins;
    size_t at;
    for (uint32_t i = hash_index_first(&starts->python_index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&starts->python_index, hash, &at)) {
        const struct kept_python *known = &starts->python[i];
        if (known->function == frame->function && known->line == frame->line &&
            known->owner == frame->owner && known->outer == frame->outer &&
            known->begins == frame->begins)
            return i;
    }
    const uint32_t number = (uint32_t)starts->python_count;
    return array_push(starts->python, starts->python_capacity, starts->python_count, *frame) &&
                   hash_index_add(&starts->python_index, hash, number)
               ? number
               : NO_FRAME;
}

static bool keep_pythons(struct stack_starts *starts, uint32_t *innermost) {
    const struct shadow_python *python = &starts->stack.python;
    *innermost = NO_FRAME;
    for (size_t i = 0; i < python->count; i++) {
        const struct shadow_python_frame *frame = &python->frames[i];
        *innermost = keep_python(starts, &(struct kept_python){.function = frame->function,
                                                               .line = frame->line,
                                                               .owner = frame->owner,
                                                               .begins = frame->begins,
                                                               .outer = *innermost});
        if (*innermost == NO_FRAME)
            return false;
    }
    return true;
}

/* Of a thread of the process. */
static bool keep_start(struct stack_starts *starts, uint32_t process) {
    const struct shadow_stack *stack = &starts->stack;
    struct stack_start start = {.thread = starts->thread,
                                .position = stack->position,
                                .first_aside = (uint32_t)starts->aside_count,
                                .aside_count = stack->aside_count,
                                .stub_site = stack->stub_site,
                                .stub_kind = stack->stub_kind,
                                .stub_lazy = stack->stub_lazy,
                                .fresh = stack->fresh,
                                .left = stack->left};
    if (!keep_frames(starts, &stack->frames, stack->node, &start.present) ||
        !keep_pythons(starts, &start.python) ||
        (starts->journal && !memory_journal_mark(starts->journal, process, &start.memory)))
        return false;
    for (uint32_t i = 0; i < stack->aside_count; i++) {
        struct kept_stack aside;
        if (!keep_frames(starts, &stack->aside[i], stack->aside[i].node, &aside) ||
            !array_push(starts->asides, starts->aside_capacity, starts->aside_count, aside))
            return false;
    }
    return array_push(starts->items, starts->capacity, starts->count, start);
}

/* ---- the run ---- */

bool stack_starts_want(struct stack_starts *starts, uint32_t thread, uint64_t position) {
    const struct wanted wanted = {thread, position};
    return array_push(starts->wanted, starts->wanted_capacity, starts->wanted_count, wanted);
}

static bool begin_thread(struct stack_starts *starts, uint32_t thread) {
    if (starts->any)
        shadow_stack_free(&starts->stack);
    starts->any = true;
    starts->thread = thread;
    return shadow_stack_init(&starts->stack, &starts->tree, &starts->functions, thread, stay, NULL);
}

/* What is wanted of another thread than the one that is seen was not reached. NULL: no more is. */
static const struct wanted *next_wanted(struct stack_starts *starts, uint32_t thread) {
    const bool same = starts->any && starts->thread == thread;
    const uint64_t position = same ? starts->stack.position : 0;
    for (; starts->next < starts->wanted_count; starts->next++) {
        const struct wanted *wanted = &starts->wanted[starts->next];
        if (wanted->thread == thread && wanted->position >= position)
            return wanted;
    }
    return NULL;
}

uint64_t stack_starts_left(struct stack_starts *starts, uint32_t thread) {
    const struct wanted *wanted = next_wanted(starts, thread);
    if (!wanted)
        return UINT64_MAX;
    const uint64_t position = starts->any && starts->thread == thread ? starts->stack.position : 0;
    /* One that is wanted here is kept with the next instruction. */
    return wanted->position > position ? wanted->position - position
           : starts->next + 1 < starts->wanted_count &&
                   starts->wanted[starts->next + 1].thread == thread
               ? starts->wanted[starts->next + 1].position - position
               : UINT64_MAX;
}

/* Events of memory are noted where they happen. */
static bool walk_and_note(struct stack_starts *starts, const struct code *code,
                          const struct trace_batch *piece) {
    const struct trace_memory *event = piece->memory, *last = event + piece->memory_count;
    for (uint32_t begin = 0, end; begin < piece->insn_count; begin = end) {
        struct trace_batch part = *piece;
        const bool more = event < last && event->position - piece->first_insn < piece->insn_count;
        end = more ? (uint32_t)(event->position - piece->first_insn) : piece->insn_count;
        part.insns += begin;
        part.first_insn += begin;
        part.insn_count = end - begin;
        if (!shadow_stack_walk(&starts->stack, code, &part, true))
            return false;
        for (; event < last && event->position <= piece->first_insn + end; event++) {
            starts->has_data = true;
            if (!memory_journal_note(starts->journal, piece->process, starts->stack.node, event))
                return false;
        }
    }
    return true;
}

bool stack_starts_see(struct stack_starts *starts, const struct code *code,
                      const struct trace_batch *piece) {
    if (!piece->insn_count)
        return true;
    if ((!starts->any || starts->thread != piece->thread) && !begin_thread(starts, piece->thread))
        return false;
    const struct wanted *wanted = next_wanted(starts, piece->thread);
    if (wanted && wanted->position == starts->stack.position) {
        starts->next++;
        if (!shadow_stack_land(&starts->stack, code, piece->insns[0].insn) ||
            !keep_start(starts, piece->process))
            return false;
    }
    starts->process = piece->process;
    return starts->journal ? walk_and_note(starts, code, piece)
                           : shadow_stack_walk(&starts->stack, code, piece, true);
}

bool stack_starts_end(struct stack_starts *starts, const struct code *code) {
    struct path_node *nodes = starts->tree.nodes;
    starts->code = code;
    if (!starts->any)
        return true;
    for (size_t i = 0; i < starts->tree.node_count; i++) {
        if (nodes[i].parent == PATH_NONE || nodes[i].site == PATH_NONE)
            continue;
        uint32_t around = nodes[i].parent;
        while (nodes[around].kind == PATH_INLINE || nodes[around].kind == PATH_PYTHON)
            around = nodes[around].parent;
        nodes[i].beside =
            path_function_of(&starts->functions, code, nodes[i].site) != nodes[around].function;
    }
    return keep_start(starts, starts->process);
}

const struct stack_start *stack_starts_find(const struct stack_starts *starts, uint32_t thread,
                                            uint64_t position) {
    const size_t found =
        index_where(i, starts->count,
                    starts->items[i].thread == thread && starts->items[i].position == position);
    return found < starts->count ? &starts->items[found] : NULL;
}

const struct stack_start *stack_starts_last(const struct stack_starts *starts) {
    return starts->any && starts->count ? &starts->items[starts->count - 1] : NULL;
}

bool stack_starts_have_data(const struct stack_starts *starts) {
    return starts->has_data;
}

uint32_t stack_start_thread(const struct stack_start *start) {
    return start->thread;
}

/* ---- another stack begins there ---- */

struct beginning {
    const struct stack_starts *starts;
    struct shadow_stack *stack;
    const struct code *code;
    struct memory_objects *objects; /* or NULL */
    uint32_t process;
    struct pair {
        uint32_t from, to;
    } * pairs; /* nodes */
    size_t count, capacity;
    struct hash_index index;
};

static uint32_t known_node(const struct beginning *beginning, uint32_t node) {
    size_t at;
    for (uint32_t i = hash_index_first(&beginning->index, hash_pair(node, 0), &at);
         i != HASH_INDEX_NONE; i = hash_index_next(&beginning->index, hash_pair(node, 0), &at))
        if (assert(beginning->pairs), beginning->pairs[i].from == node)
            return beginning->pairs[i].to;
    return PATH_NONE;
}

static bool note_node(struct beginning *beginning, uint32_t from, uint32_t to) {
    const struct pair pair = {from, to};
    const uint32_t number = (uint32_t)beginning->count;
    return array_push(beginning->pairs, beginning->capacity, beginning->count, pair) &&
           hash_index_add(&beginning->index, hash_pair(from, 0), number);
}

/* A node of the run below one of the stack's. */
static uint32_t make_node(struct beginning *beginning, uint32_t node, uint32_t parent) {
    const struct path_node *from = &beginning->starts->tree.nodes[node];
    struct shadow_stack *stack = beginning->stack;
    const uint32_t function = path_function_from(stack->functions, beginning->code,
                                                 &beginning->starts->functions, from->function);
    const uint32_t site = from->site == PATH_NONE ? PATH_NONE : from->site | PATH_BASE_INSN;
    if (function == FUNCTION_NONE)
        return PATH_NONE;
    const uint32_t made =
        path_tree_child(stack->tree, parent, (enum path_kind)from->kind, site, function);
    if (made != PATH_NONE)
        stack->tree->nodes[made].beside = from->beside;
    return made;
}

/* The stack's node for one of the run, made with its callers if need be. PATH_NONE: out of memory.
 */
static uint32_t node_for(struct beginning *beginning, uint32_t node) {
    const struct path_node *nodes = beginning->starts->tree.nodes;
    for (;;) {
        uint32_t at = node, above = known_node(beginning, at);
        while (above == PATH_NONE && nodes[at].parent != PATH_NONE &&
               (above = known_node(beginning, nodes[at].parent)) == PATH_NONE)
            at = nodes[at].parent;
        if (at == node && known_node(beginning, at) != PATH_NONE)
            return above;
        const uint32_t made = nodes[at].parent == PATH_NONE ? beginning->stack->root
                                                            : make_node(beginning, at, above);
        if (made == PATH_NONE || !note_node(beginning, at, made))
            return PATH_NONE;
    }
}

static bool begin_frames(struct beginning *beginning, const struct kept_stack *kept,
                         struct shadow_frames *frames) {
    const struct stack_starts *starts = beginning->starts;
    size_t count = 0;
    for (uint32_t i = kept->innermost; i != NO_FRAME; i = starts->frames[i].outer)
        count++;
    if (!array_room(frames->items, frames->capacity, count + 1))
        return false;
    frames->count = count;
    frames->stamp = kept->stamp;
    for (uint32_t i = kept->innermost; i != NO_FRAME; i = starts->frames[i].outer)
        frames->items[--count] = starts->frames[i].frame;
    for (size_t i = 0; i < frames->count; i++) {
        struct shadow_frame *frame = &frames->items[i];
        if (frame->kind != FRAME_CALL)
            frame->site |= PATH_BASE_INSN;
        if ((frame->node = node_for(beginning, frame->node)) == PATH_NONE)
            return false;
    }
    return (frames->node = node_for(beginning, kept->node)) != PATH_NONE;
}

static bool begin_all(struct beginning *beginning, const struct stack_start *start) {
    struct shadow_stack *stack = beginning->stack;
    if (!begin_frames(beginning, &start->present, &stack->frames))
        return false;
    stack->node = stack->inner = stack->frames.node;
    for (uint32_t i = 0; i < start->aside_count; i++) {
        const struct kept_stack *kept = &beginning->starts->asides[start->first_aside + i];
        if (!begin_frames(beginning, kept, &stack->aside[i]))
            return false;
        stack->aside_count = i + 1;
        stack->stamp = kept->stamp > stack->stamp ? kept->stamp : stack->stamp;
    }
    return true;
}

/* The frames of Python, whose functions are those of the code. */
static bool begin_python(struct beginning *beginning, const struct stack_start *start) {
    const struct stack_starts *starts = beginning->starts;
    struct shadow_python *python = &beginning->stack->python;
    size_t count = 0;
    for (uint32_t i = start->python; i != NO_FRAME; i = starts->python[i].outer)
        count++;
    if (!array_room(python->frames, python->capacity, count + 1))
        return false;
    python->count = count;
    for (uint32_t i = start->python; i != NO_FRAME; i = starts->python[i].outer) {
        const struct kept_python *kept = &starts->python[i];
        const uint32_t owner =
            kept->owner == PATH_NONE ? PATH_NONE : node_for(beginning, kept->owner);
        if (owner == PATH_NONE && kept->owner != PATH_NONE)
            return false;
        python->frames[--count] = (struct shadow_python_frame){
            .function = path_python_from(starts->code, beginning->code, kept->function),
            .line = kept->line,
            .begins = kept->begins,
            .owner = owner,
            .node = PATH_NONE};
    }
    return true;
}

static bool recall(void *context, const struct trace_memory *event, uint32_t node) {
    struct beginning *beginning = context;
    const uint32_t below = node_for(beginning, node);
    return below != PATH_NONE &&
           memory_objects_recall(beginning->objects, beginning->process, event, below);
}

static bool begin_memory(struct beginning *beginning, const struct stack_start *start) {
    const struct stack_starts *starts = beginning->starts;
    return !beginning->objects || !starts->journal ||
           (memory_objects_begin(beginning->objects, starts->code, start->memory.process,
                                 beginning->process) &&
            memory_journal_recall(starts->journal, &start->memory, recall, beginning));
}

bool shadow_stack_begin(struct shadow_stack *stack, const struct code *code,
                        const struct stack_starts *starts, const struct stack_start *start,
                        struct memory_objects *objects, uint32_t process) {
    struct beginning beginning = {
        .starts = starts, .stack = stack, .code = code, .objects = objects, .process = process};
    const bool room = begin_all(&beginning, start) && begin_python(&beginning, start) &&
                      begin_memory(&beginning, start);
    stack->stub_site =
        start->stub_site == PATH_NONE ? PATH_NONE : start->stub_site | PATH_BASE_INSN;
    stack->stub_kind = start->stub_kind;
    stack->stub_lazy = start->stub_lazy;
    stack->fresh = start->fresh;
    stack->left = start->left; /* of the last one alone, behind which the run itself goes on */
    stack->resumes = true;
    free(beginning.pairs);
    hash_index_free(&beginning.index);
    return room;
}
