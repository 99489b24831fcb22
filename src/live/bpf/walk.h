/* What the BPF program that walks stacks (walk.bpf.h) shares with culprit. */
#pragma once

#include "../../program/unwind_row.h"

enum {
    WALK_KERNEL_MAX = 127, /* addresses in the kernel */
    WALK_FRAMES_MAX = 255, /* callers in user code: LIVE_FRAMES_MAX */
    WALK_WORDS = 1024,
    WALK_ROWS_MAX = 1 << 20, /* of all files: 16 MB */
    WALK_FILES_MAX = 1 << 14,
    WALK_PLACES = 1 << 12, /* whose rows are remembered, of each processor */
    /* No size of a record that begins so could be true. */
    WALK_STACK_MARK = 0x6b617473,
    WALK_UNKNOWN_MARK = 0x6b617474
};

/* A mapped file, as the kernel knows it. The vDSO: all 0. */
struct walk_file {
    __u64 inode;
    __u32 device, generation;
};

/* Where its rows stand in the map of rows. None: its code is walked by frame pointers. */
struct walk_rows {
    __u32 first, count;
};

enum walk_end { WALK_WHOLE, WALK_TRUNCATED, WALK_FAILED };

/* One sample in place of perf's own. */
struct walk_stack {
    __u32 mark;
    __u8 end;       /* enum walk_end, of the user part */
    __u8 in_kernel; /* the sampled place is there */
    __u8 has_user;  /* 0: a thread of the kernel */
    __u8 has_tops;  /* see `words` */
    __u32 kernel;   /* of `words` are addresses in the kernel, the sampled one first */
    __u32 count;    /* words */
    __u64 id;       /* of the event that was opened */
    __u64 address;  /* sampled */
    __u64 user;     /* the place in user code: the sampled one, or where it entered the kernel */
    __u64 words[WALK_WORDS]; /* behind those of the kernel: callers in user code, places within the
                                instructions that called. With tops each is followed by where its
                                part of the stack ends, and before the first stands that of `user`;
                                0: not known */
};

/* The sample that follows is perf's, with a copy of its stack: of this file, which has code mapped
 * at `address`, no rows are known. */
struct walk_unknown {
    __u32 mark, reserved;
    struct walk_file file;
    __u64 address;
};
