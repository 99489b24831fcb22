/* What the BPF program that follows Python's frames shares with culprit. */
#pragma once

#include "../../program/python_layout.h"

/* Of a process, by its number: map of processes. */
struct python_process {
    __u64 runtime; /* address of _PyRuntime */
    struct python_layout layout;
    __u32 reserved;
};

enum {
    PYTHON_ITEMS_MAX = 255,
    PYTHON_PROCESSES_MAX = 1 << 12,
    /* No size of a record that begins so could be true. */
    PYTHON_STACK_MARK = 0x6e687470,
    PYTHON_COPY_MARK = 0x6e687471,
    PYTHON_CUT = 1 /* the stack has more frames than there is room for */
};

/* A frame; or, with `code` 0, the end of those that one run of the interpreter's loop stands for:
 * `identity` is an address in the frame that this has on the C stack. */
struct python_item {
    __u64 code;        /* address of the code object */
    __u64 identity;    /* of what is at that address now: python_identity() */
    __u64 instruction; /* bytes, from the object's first instruction on */
};

/* One stack, the innermost frame first. It is written right before the sample that it is of. */
struct python_stack {
    __u32 mark;
    __u32 flags;
    __u32 count, reserved;
    struct python_item items[PYTHON_ITEMS_MAX + 1];
};

/* A code object and what it refers to, as they are when they are first met: soon afterwards they
 * may be gone. Of what is longer than its room nothing is copied. */
enum { PYTHON_PARTS = 4, PYTHON_TABLE_ROOM = 4096 };
struct python_copy {
    __u32 mark, reserved;
    __u64 code, identity;
    struct python_part {
        __u64 address;
        __u32 offset, size; /* in `bytes`; size 0: not copied */
    } parts[PYTHON_PARTS];
    __u8 bytes[2048 + PYTHON_TABLE_ROOM];
};
/* Where the parts may stand: the code object, its name, its file's name, its table of lines; the
 * last is as long as it is. */
enum {
    PYTHON_CODE_AT = 0,
    PYTHON_NAME_AT = 192,
    PYTHON_PATH_AT = 192 + 512,
    PYTHON_TABLE_AT = 2048,
    PYTHON_TEXT_ROOM = 512 /* a power of 2, as is that of tables */
};
