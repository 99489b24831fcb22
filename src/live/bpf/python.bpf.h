/* The Python functions that a sampled thread is in: follows, from _PyRuntime, the interpreters,
 * their threads and the frames of this thread, and writes the code objects to the ring buffer of
 * the sample, right before it. Everything is read as it is at the time of the sample; what is read
 * is the process's own memory, which may hold anything: all walks are bounded, and what cannot be
 * read ends them. */
#pragma once

#include "kernel_types.h"
#include "python.h"

enum {
    SEARCH_STEPS = 1024,
    FRAME_ROOM = 128 /* a power of 2: the verifier sees that masked offsets are inside */
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, PYTHON_PROCESSES_MAX);
    __type(key, __u32);
    __type(value, struct python_process);
} processes SEC(".maps");

/* Which code objects were copied by this processor: a hash of each in its slot. */
enum { COPIED_SLOTS = 4096 };
/* Of one sample: with them it takes no more room than deep stacks do, whatever a process makes up.
 * The rest is copied with the next samples, or read from the process. */
enum { COPIES_MAX = 8 };
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, COPIED_SLOTS);
    __type(key, __u32);
    __type(value, __u64);
} copied SEC(".maps");

struct scratch {
    struct python_stack stack;
    struct python_copy copy;
    __u32 copies; /* of this sample */
    __u8 frame[FRAME_ROOM];
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct scratch);
} scratches SEC(".maps");

static __always_inline bool read(__u64 address, void *to, __u32 size) {
    return bpf_probe_read_user(to, size, (const void *)address) == 0;
}

static __always_inline __u64 read_word(__u64 address) {
    __u64 word = 0;
    return read(address, &word, sizeof word) ? word : 0;
}

/* The number of this thread as gettid() tells it. */
static __always_inline __u64 own_id(void) {
    struct task_struct *task = (void *)bpf_get_current_task();
    struct pid *pid = BPF_CORE_READ(task, thread_pid);
    __u32 level = BPF_CORE_READ(pid, level);
    int number = 0;
    const void *at = (const char *)pid +
                     __builtin_preserve_field_info(pid->numbers, BPF_FIELD_BYTE_OFFSET) +
                     (__u64)level * bpf_core_type_size(struct upid);
    bpf_probe_read_kernel(&number, sizeof number, at);
    return (__u64)number;
}

/* ---- the thread ---- */

struct search {
    const struct python_layout *layout;
    __u64 id; /* wanted */
    __u64 interpreter, thread;
    __u64 found;
};

static long search_step(__u32 step, struct search *search) {
    (void)step;
    const struct python_layout *layout = search->layout;
    if (!search->thread) {
        if (!search->interpreter)
            return 1;
        search->thread = read_word(search->interpreter + layout->threads);
        search->interpreter = read_word(search->interpreter + layout->interpreter_next);
        return 0;
    }
    if (read_word(search->thread + layout->thread_id) == search->id) {
        search->found = search->thread;
        return 1;
    }
    search->thread = read_word(search->thread + layout->thread_next);
    return 0;
}

/* That which has the lock most likely; else any, with the newest first. 0: none. */
static __always_inline __u64 find_thread(const struct python_process *process) {
    const struct python_layout *layout = &process->layout;
    struct search search = {.layout = layout, .id = own_id()};
    search.interpreter = read_word(process->runtime + layout->interpreters);
    __u64 holder = read_word((layout->holder_is_inner ? search.interpreter : process->runtime) +
                             layout->holder);
    if (holder && read_word(holder + layout->thread_id) == search.id)
        return holder;
    bpf_loop(SEARCH_STEPS, search_step, &search, 0);
    return search.found;
}

/* ---- code objects ---- */

/* Copies `size` bytes if there is so much room, which is a power of 2. */
static __always_inline void copy_part(struct python_copy *copy, __u32 part, __u64 address,
                                      __u32 offset, __u64 size, __u32 room) {
    copy->parts[part].address = address;
    copy->parts[part].offset = offset;
    copy->parts[part].size = 0;
    if (!address || size >= room)
        return;
    size &= room - 1;
    if (read(address, copy->bytes + offset, size))
        copy->parts[part].size = size;
}

/* A string: what stands before its characters, and these if they take one byte each. */
static __always_inline void copy_text(struct python_copy *copy, const struct python_layout *layout,
                                      __u32 part, __u64 address, __u32 offset) {
    __u64 length = read_word(address + layout->text_length);
    copy_part(copy, part, address, offset,
              length < PYTHON_TEXT_ROOM ? layout->text_ascii + length : PYTHON_TEXT_ROOM,
              PYTHON_TEXT_ROOM);
}

/* Once for each object and processor, or a few times more. */
static __always_inline void tell_code(struct bpf_perf_event_data *context, struct scratch *scratch,
                                      const struct python_layout *layout, __u64 code,
                                      __u64 qualname, __u64 linetable) {
    struct python_copy *copy = &scratch->copy;
    __u64 identity = python_identity(qualname, linetable);
    __u64 tag = (code + (bpf_get_current_pid_tgid() >> 32)) * 0xc2b2ae3d27d4eb4full ^ identity;
    __u32 slot = (tag ^ tag >> 32) & (COPIED_SLOTS - 1);
    __u64 *told = bpf_map_lookup_elem(&copied, &slot);
    if (!told || *told == tag || scratch->copies >= COPIES_MAX)
        return;
    scratch->copies++;
    *told = tag;
    copy->mark = PYTHON_COPY_MARK;
    copy->code = code;
    copy->identity = identity;
    copy_part(copy, 0, code, PYTHON_CODE_AT, 160, 256);
    copy_text(copy, layout, 1, qualname, PYTHON_NAME_AT);
    copy_text(copy, layout, 2, read_word(code + layout->code_filename), PYTHON_PATH_AT);
    copy_part(copy, 3, linetable, PYTHON_TABLE_AT,
              layout->bytes_data + read_word(linetable + layout->bytes_size), PYTHON_TABLE_ROOM);
    __u64 size = sizeof *copy - PYTHON_TABLE_ROOM + (copy->parts[3].size & (PYTHON_TABLE_ROOM - 1));
    bpf_perf_event_output(context, &outputs, BPF_F_CURRENT_CPU, copy, size);
}

/* ---- frames ---- */

struct walk {
    struct bpf_perf_event_data *context;
    const struct python_layout *layout;
    struct scratch *scratch;
    __u64 frame, c_frame;
};

static __always_inline __u64 frame_word(const struct scratch *scratch, __u32 offset) {
    return *(const __u64 *)(scratch->frame + (offset & (FRAME_ROOM / 2 - 1)));
}

static __always_inline __u8 frame_byte(const struct scratch *scratch, __u32 offset) {
    return scratch->frame[offset & (FRAME_ROOM - 1)];
}

static __always_inline bool put(struct walk *walk, __u64 code, __u64 identity, __u64 instruction) {
    /* Kept where the verifier knows no values: it would follow each by itself. */
    __u32 at = walk->scratch->stack.count;
    if (at >= PYTHON_ITEMS_MAX) {
        walk->scratch->stack.flags |= PYTHON_CUT;
        return false;
    }
    struct python_item *item = &walk->scratch->stack.items[at];
    item->code = code;
    item->identity = identity;
    item->instruction = instruction;
    walk->scratch->stack.count = at + 1;
    return true;
}

static long walk_step(__u32 step, struct walk *walk) {
    (void)step;
    const struct python_layout *layout = walk->layout;
    struct scratch *scratch = walk->scratch;
    __u64 names[2] = {};
    if (!walk->frame || !read(walk->frame, scratch->frame, PYTHON_FRAME_BYTES))
        return 1;
    if (frame_byte(scratch, layout->frame_owner) == PYTHON_OWNED_BY_C) {
        if (!put(walk, 0, walk->frame, 0))
            return 1;
    } else {
        __u64 code = frame_word(scratch, layout->frame_code);
        /* Nor its name nor its lines: no code object, but None. */
        if (!code || !read(code + layout->code_qualname, names, sizeof names))
            return 1;
        if (!put(walk, code, python_identity(names[0], names[1]),
                 frame_word(scratch, layout->frame_instruction) - code - layout->code_instructions))
            return 1;
        tell_code(walk->context, scratch, layout, code, names[0], names[1]);
        if (layout->frame_entry && frame_byte(scratch, layout->frame_entry)) {
            if (!put(walk, 0, walk->c_frame, 0))
                return 1;
            walk->c_frame = read_word(walk->c_frame + layout->c_frame_previous);
        }
    }
    walk->frame = frame_word(scratch, layout->frame_previous);
    return 0;
}

static __always_inline void walk_frames(struct bpf_perf_event_data *context,
                                        struct scratch *scratch, const struct python_layout *layout,
                                        __u64 thread) {
    struct walk walk = {.context = context, .layout = layout, .scratch = scratch};
    walk.frame = read_word(thread + layout->thread_frame);
    if (layout->has_c_frames) {
        walk.c_frame = walk.frame;
        walk.frame = read_word(walk.c_frame + layout->c_frame_frame);
    }
    bpf_loop(2 * PYTHON_ITEMS_MAX, walk_step, &walk, 0);
}

/* A thread that runs no Python has a stack without frames. */
static __always_inline void follow(struct bpf_perf_event_data *context,
                                   const struct python_process *process) {
    __u32 zero = 0;
    __u64 thread = find_thread(process);
    struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
    if (!scratch)
        return;
    scratch->stack.mark = PYTHON_STACK_MARK;
    scratch->stack.flags = 0;
    scratch->stack.count = 0;
    scratch->copies = 0;
    if (thread)
        walk_frames(context, scratch, &process->layout, thread);
    __u32 count = scratch->stack.count;
    if (count > PYTHON_ITEMS_MAX)
        return;
    bpf_perf_event_output(context, &outputs, BPF_F_CURRENT_CPU, &scratch->stack,
                          sizeof scratch->stack - sizeof scratch->stack.items +
                              count * sizeof(struct python_item));
}

/* A child that was forked, and has not called exec since, is as its parent was. */
static __always_inline const struct python_process *find_of_parent(void) {
    struct task_struct *task = (void *)bpf_get_current_task();
    struct task_struct *parent = BPF_CORE_READ(task, real_parent);
    __u32 number = BPF_CORE_READ(parent, tgid);
    const struct python_process *process = bpf_map_lookup_elem(&processes, &number);
    return process && BPF_CORE_READ(task, self_exec_id) == BPF_CORE_READ(parent, self_exec_id)
               ? process
               : 0;
}

/* Of the current thread; NULL: it runs no Python. */
static __always_inline const struct python_process *find_python(void) {
    __u32 number = bpf_get_current_pid_tgid() >> 32;
    const struct python_process *process = bpf_map_lookup_elem(&processes, &number);
    return process ? process : find_of_parent();
}
