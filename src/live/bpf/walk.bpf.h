/* The callers of a sampled thread, found in the interrupt itself: nothing of its stack is copied.
 * What live/unwinder.c and program/unwind_step.c do afterwards with a copy, step for step, by the
 * same rows, which culprit writes to a map when it has first met a file. Where an address lies is
 * read from the mappings of the process as they are (mapping.bpf.h), and remembered with its row
 * until they change. */
#pragma once

#include "mapping.bpf.h"
#include "walk.h"

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, WALK_ROWS_MAX);
    __type(key, __u32);
    __type(value, struct unwind_row);
} rows SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, WALK_FILES_MAX);
    __type(key, struct walk_file);
    __type(value, struct walk_rows);
} files SEC(".maps");

/* The row of an address; its `start` counts from the address down: 0: the row begins there. */
struct walk_place {
    __u64 address, space;
    struct unwind_row row;
};

/* Of each processor WALK_PLACES: sized when the program is loaded. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct walk_place);
} known_places SEC(".maps");

enum {
    WINDOW_WORDS = 64, /* of the stack, read at once */
    REGISTERS_ROOM = 32,
    SIGNAL_REGISTERS = 40, /* as unwind_step.c */
    SIGNAL_WORDS = 17,
    USER_CODE_64 = 0x33, /* segment */
    KERNEL_THREAD = 0x200000,
    ROW_STEPS = 21 /* halvings of WALK_ROWS_MAX */
};

struct walk_room {
    __u64 registers[REGISTERS_ROOM]; /* by DWARF's numbers */
    __u64 window[WINDOW_WORDS];      /* of the stack, from window_at on */
    __u64 window_at, word;
    __u64 signal[SIGNAL_WORDS];
    struct pt_regs entered;
    __u32 known;
    __u32 frames, at; /* frames found; the next of stack.words */
    __u32 unknown;    /* `missing` is */
    struct unwind_row row;
    struct walk_unknown missing;
    struct walk_stack stack;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct walk_room);
} walk_rooms SEC(".maps");

struct walking {
    struct walk_room *room;
    __u64 space; /* names the address space and the state of its mappings */
    __u32 places;
};

static __always_inline __u64 walk_mix(__u64 word) {
    word ^= word >> 32;
    word *= 0x9e3779b97f4a7c15ull;
    return word ^ word >> 29;
}

/* ---- the row of an address ---- */

/* The last of `count` rows from `first` on that begins at the offset or before; ~0: none. A
 * function of its own for the verifier, which then looks at it once. */
__attribute__((noinline)) __u32 walk_search(__u32 first, __u32 count, __u32 offset) {
    __u32 low = first, high = first + count;
    for (int i = 0; i < ROW_STEPS && low < high; i++) {
        __u32 middle = low + (high - low) / 2;
        const struct unwind_row *row = bpf_map_lookup_elem(&rows, &middle);
        if (!row)
            break;
        if (row->start <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low > first ? low - 1 : ~0u;
}

static __always_inline bool walk_file_of(struct mm_struct *space, const struct mapping *mapping,
                                         struct walk_file *file) {
    struct file *mapped = mapping->file;
    if (!mapped)
        return mapping->start == (__u64)space->context.vdso;
    struct inode *inode = BPF_CORE_READ(mapped, f_inode);
    file->inode = BPF_CORE_READ(inode, i_ino);
    file->device = BPF_CORE_READ(inode, i_sb, s_dev);
    file->generation = BPF_CORE_READ(inode, i_generation);
    return true;
}

/* False: it is not known, as `missing` then says if it is for want of rows. */
__attribute__((noinline)) int walk_look_up(struct walk_room *room, __u64 address) {
    if (!room)
        return 0;
    struct task_struct *task = bpf_get_current_task_btf();
    struct mm_struct *space = task->mm;
    struct mapping mapping = {};
    struct walk_file file = {};
    if (!space)
        return false;
    walk_mappings(space, address, &mapping);
    if (!mapping.found)
        return false;
    room->row = (struct unwind_row){.kind = UNWIND_NO_RULE, .start = 1};
    if (!walk_file_of(space, &mapping, &file))
        return true;
    const struct walk_rows *of_file = bpf_map_lookup_elem(&files, &file);
    if (!of_file) {
        room->missing.file = file;
        room->missing.address = address;
        room->unknown = 1;
        return false;
    }
    __u64 offset = address - mapping.start + mapping.file_offset;
    if (offset >> 32 || !of_file->count)
        return true;
    __u32 index = walk_search(of_file->first, of_file->count, offset);
    const struct unwind_row *row = bpf_map_lookup_elem(&rows, &index);
    if (!row)
        return true;
    room->row = *row;
    room->row.start = offset - row->start;
    return true;
}

static __always_inline bool walk_find(struct walking *walking, __u64 address) {
    struct walk_room *room = walking->room;
    __u32 slot = walking->places + (walk_mix(address ^ walking->space) >> 8 & (WALK_PLACES - 1));
    struct walk_place *place = bpf_map_lookup_elem(&known_places, &slot);
    if (place && place->address == address && place->space == walking->space) {
        room->row = place->row;
        return true;
    }
    if (!walk_look_up(room, address))
        return false;
    if (place) {
        place->address = address;
        place->space = walking->space;
        place->row = room->row;
    }
    return true;
}

/* ---- a step ---- */

enum walk_outcome { WALK_STEPPED, WALK_ENDED, WALK_IMPOSSIBLE };

/* Reads a word of user memory to `word`: most often of the part of the stack that was read last.
 * This and walk_by() stand by themselves for the verifier, as walk_search(). */
__attribute__((noinline)) int walk_fetch(struct walk_room *room, __u64 address) {
    if (!room)
        return 0;
    __u64 at = address - room->window_at;
    if (at > sizeof room->window - 8 || at & 7) {
        room->window_at = ~0ull;
        if (bpf_probe_read_user(room->window, sizeof room->window, (const void *)address) != 0)
            return bpf_probe_read_user(&room->word, sizeof room->word, (const void *)address) == 0;
        room->window_at = address;
        at = 0;
    }
    room->word = room->window[at >> 3 & (WINDOW_WORDS - 1)];
    return 1;
}

static __always_inline bool walk_read(struct walk_room *room, __u64 address, __u64 *word) {
    if (!walk_fetch(room, address))
        return false;
    *word = room->word;
    return true;
}

static __always_inline bool walk_is_known(const struct walk_room *room, __u32 number) {
    return room->known >> (number & (REGISTERS_ROOM - 1)) & 1;
}

static __always_inline bool walk_cfa(struct walk_room *room, __u64 *cfa) {
    const struct unwind_row *row = &room->row;
    if (row->kind == UNWIND_LINKAGE) {
        *cfa = room->registers[UNWIND_RSP] + 8 +
               8 * ((room->registers[UNWIND_RIP] & 15) >= (__u64)row->cfa_offset);
        return true;
    }
    if (row->base >= UNWIND_REGISTERS || !walk_is_known(room, row->base))
        return false;
    *cfa = room->registers[row->base & (REGISTERS_ROOM - 1)] + (__s64)row->cfa_offset;
    if (row->kind != UNWIND_DEREFERENCE)
        return true;
    if (!walk_read(room, *cfa, cfa))
        return false;
    *cfa += row->after;
    return true;
}

static __always_inline bool walk_saved(struct walk_room *room, __s16 words, bool by_rbp,
                                       __u32 number, __u64 cfa, __u64 *value) {
    __u64 at = (by_rbp ? room->registers[UNWIND_RBP] : cfa) + 8 * (__s64)words;
    *value = room->registers[number];
    if ((!words && !by_rbp) || at < room->registers[UNWIND_RSP])
        return true;
    if (by_rbp && !walk_is_known(room, UNWIND_RBP))
        return false;
    return walk_read(room, at, value);
}

static __always_inline enum walk_outcome walk_return(struct walk_room *room, __u64 cfa, __u64 rip,
                                                     __u64 rbp, __u64 rbx) {
    room->registers[UNWIND_RIP] = rip;
    room->registers[UNWIND_RSP] = cfa;
    room->registers[UNWIND_RBP] = rbp;
    room->registers[UNWIND_RBX] = rbx;
    room->known &= 1u << UNWIND_RIP | 1u << UNWIND_RSP | 1u << UNWIND_RBP | 1u << UNWIND_RBX;
    return rip ? WALK_STEPPED : WALK_ENDED;
}

static __always_inline enum walk_outcome walk_by_row(struct walk_room *room) {
    const struct unwind_row *row = &room->row;
    __u64 cfa, rip, rbp, rbx;
    if (!walk_cfa(room, &cfa) || cfa <= room->registers[UNWIND_RSP] ||
        !walk_saved(room, row->rbx, row->flags & UNWIND_RBX_BY_RBP, UNWIND_RBX, cfa, &rbx) ||
        !walk_saved(room, row->rbp, row->flags & UNWIND_RBP_BY_RBP, UNWIND_RBP, cfa, &rbp) ||
        !walk_read(room, cfa - 8, &rip))
        return WALK_IMPOSSIBLE;
    return walk_return(room, cfa, rip, rbp, rbx);
}

static __always_inline enum walk_outcome walk_by_frame_pointer(struct walk_room *room) {
    __u64 frame = room->registers[UNWIND_RBP], rbp, rip;
    if (!walk_is_known(room, UNWIND_RBP))
        return WALK_IMPOSSIBLE;
    if (!frame)
        return WALK_ENDED;
    if (frame < room->registers[UNWIND_RSP] || frame % 8 || !walk_read(room, frame, &rbp) ||
        !walk_read(room, frame + 8, &rip))
        return WALK_IMPOSSIBLE;
    return walk_return(room, frame + 16, rip, rbp, room->registers[UNWIND_RBX]);
}

/* struct sigcontext: r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip. */
static __always_inline enum walk_outcome walk_over_signal(struct walk_room *room) {
    __u64 at = room->registers[UNWIND_RSP] + SIGNAL_REGISTERS;
    if (bpf_probe_read_user(room->signal, sizeof room->signal, (const void *)at) != 0)
        return WALK_IMPOSSIBLE;
    for (int i = 0; i < 8; i++)
        room->registers[8 + i] = room->signal[i];
    room->registers[5] = room->signal[8];
    room->registers[4] = room->signal[9];
    room->registers[UNWIND_RBP] = room->signal[10];
    room->registers[UNWIND_RBX] = room->signal[11];
    room->registers[1] = room->signal[12];
    room->registers[0] = room->signal[13];
    room->registers[2] = room->signal[14];
    room->registers[UNWIND_RSP] = room->signal[15];
    room->registers[UNWIND_RIP] = room->signal[16];
    room->known = (1u << UNWIND_REGISTERS) - 1;
    return WALK_STEPPED;
}

__attribute__((noinline)) int walk_by(struct walk_room *room) {
    if (!room)
        return WALK_IMPOSSIBLE;
    switch (room->row.kind) {
    case UNWIND_NO_RULE:
        return walk_by_frame_pointer(room);
    case UNWIND_OUTERMOST:
        return WALK_ENDED;
    case UNWIND_SIGNAL:
        return walk_over_signal(room);
    case UNWIND_UNKNOWN:
        return WALK_IMPOSSIBLE;
    default:
        return walk_by_row(room);
    }
}

/* ---- all of them ---- */

static __always_inline void walk_put(struct walk_room *room, __u64 word) {
    room->stack.words[room->at & (WALK_WORDS - 1)] = word;
    room->at++;
}

static __always_inline long walk_finish(struct walk_room *room, enum walk_end end) {
    room->stack.end = end;
    return 1;
}

/* What cannot be looked up leaves `stack.end` as it is: then the stack was not walked. */
enum { NOT_WALKED = 255 };

static long caller_step(__u32 step, struct walking *walking) {
    struct walk_room *room = walking->room;
    const bool was_signal = room->row.kind == UNWIND_SIGNAL;
    const bool no_rule = room->row.kind == UNWIND_NO_RULE;
    if (!step && no_rule && !room->registers[UNWIND_RBP])
        return walk_finish(room, WALK_FAILED);
    int outcome = walk_by(room);
    if (outcome != WALK_STEPPED)
        return walk_finish(room, outcome == WALK_ENDED ? WALK_WHOLE : WALK_FAILED);
    if (room->stack.has_tops)
        room->stack.words[(room->at - 1) & (WALK_WORDS - 1)] = room->registers[UNWIND_RSP];
    __u64 address = room->registers[UNWIND_RIP] - !was_signal;
    if (!walk_find(walking, address))
        return 1;
    if (room->row.kind == UNWIND_SIGNAL)
        return 0;
    if (room->frames == WALK_FRAMES_MAX)
        return walk_finish(room, WALK_TRUNCATED);
    bool begins = false;
    if (!was_signal && room->row.kind == UNWIND_NO_RULE) {
        begins =
            walk_find(walking, address + 1) && !room->row.start && room->row.kind != UNWIND_NO_RULE;
        if (room->unknown)
            return 1;
        if (!begins)
            room->row.kind = UNWIND_NO_RULE;
    }
    room->frames++;
    walk_put(room, begins ? address + 1 : address);
    if (room->stack.has_tops)
        walk_put(room, 0);
    return begins ? walk_finish(room, WALK_WHOLE) : 0;
}

static __always_inline void walk_enter(struct walk_room *room) {
    const struct pt_regs *from = &room->entered;
    const __u64 in_order[UNWIND_REGISTERS] = {from->rax, from->rdx, from->rcx, from->rbx, from->rsi,
                                              from->rdi, from->rbp, from->rsp, from->r8,  from->r9,
                                              from->r10, from->r11, from->r12, from->r13, from->r14,
                                              from->r15, from->rip};
#pragma clang loop unroll(full)
    for (int i = 0; i < UNWIND_REGISTERS; i++)
        room->registers[i] = in_order[i];
    room->known = (1u << UNWIND_REGISTERS) - 1;
}

/* False: perf's own sample is needed. */
static __always_inline bool walk_user(struct task_struct *task, struct walk_room *room) {
    struct mm_struct *space = task->mm;
    if (!space ||
        bpf_probe_read_kernel(&room->entered, sizeof room->entered,
                              (const void *)bpf_task_pt_regs(task)) != 0 ||
        room->entered.cs != USER_CODE_64)
        return false;
    struct walking walking = {.room = room, .places = bpf_get_smp_processor_id() * WALK_PLACES};
    walking.space = walk_mix(task->group_leader->start_boottime ^
                             walk_mix((__u64)task->self_exec_id << 32 | (__u32)task->tgid)) +
                    mappings_marker(space);
    walk_enter(room);
    room->stack.user = room->registers[UNWIND_RIP];
    if (room->stack.has_tops)
        walk_put(room, 0);
    room->stack.end = NOT_WALKED;
    room->window_at = ~0ull;
    if (!walk_find(&walking, room->stack.user))
        return false;
    bpf_loop(2 * WALK_FRAMES_MAX, caller_step, &walking, 0);
    return room->stack.end != NOT_WALKED;
}

extern void *bpf_cast_to_kern_ctx(void *context) __ksym __weak;

/* The number of an event as it was opened: children inherit it. */
static __always_inline __u64 walk_event(struct bpf_perf_event_data *context) {
    struct bpf_perf_event_data_kern *inner = bpf_cast_to_kern_ctx(context);
    struct perf_event *event = inner->event, *parent = event->parent;
    return parent ? parent->id : event->id;
}

/* Writes the sample. False: perf has to. */
static __always_inline bool write_stack(struct bpf_perf_event_data *context, bool tops) {
    struct task_struct *task = bpf_get_current_task_btf();
    __u32 zero = 0;
    struct walk_room *room = bpf_map_lookup_elem(&walk_rooms, &zero);
    if (!room || !mappings_counted())
        return false;
    struct walk_stack *stack = &room->stack;
    stack->mark = WALK_STACK_MARK;
    stack->address = PT_REGS_IP(&context->regs);
    stack->in_kernel = !(context->regs.cs & 3);
    stack->has_user = !(task->flags & KERNEL_THREAD);
    stack->has_tops = tops;
    stack->end = WALK_WHOLE;
    room->frames = room->at = room->unknown = 0;
    stack->kernel = 0;
    if (stack->in_kernel) {
        long bytes = bpf_get_stack(context, stack->words, 8 * WALK_KERNEL_MAX, 0);
        if (bytes < 0)
            return false;
        stack->kernel = room->at = bytes / 8;
    }
    if (stack->has_user && !walk_user(task, room)) {
        if (!room->unknown)
            return false;
        room->missing.mark = WALK_UNKNOWN_MARK;
        bpf_perf_event_output(context, &outputs, BPF_F_CURRENT_CPU, &room->missing,
                              sizeof room->missing);
        return false;
    }
    __u32 count = room->at & (WALK_WORDS - 1); /* as it is: for the verifier */
    stack->count = count;
    stack->id = walk_event(context);
    return bpf_perf_event_output(context, &outputs, BPF_F_CURRENT_CPU, stack,
                                 sizeof *stack - sizeof stack->words + 8 * count) == 0;
}
