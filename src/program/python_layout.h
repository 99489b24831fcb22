/* Where CPython keeps what runs: offsets in bytes of members of its structures. Up to 3.12 they are
 * those of its headers (Include/internal/pycore_runtime.h, pycore_interp.h, pycore_gil.h,
 * pycore_frame.h; Include/cpython/pystate.h, code.h, unicodeobject.h); from 3.13 on the interpreter
 * tells them itself, in the _Py_DebugOffsets at the head of _PyRuntime. Of 64 bits, little endian.
 */
#pragma once

#include <linux/types.h>

/* What a BPF program follows (live/bpf/python.bpf.h): the interpreters of the runtime, their
 * threads, the innermost frame of a thread, the frames that called it. */
struct python_layout {
    __u32 interpreters;     /* runtime: the first interpreter */
    __u32 holder;           /* the thread that has the lock, of the runtime or ... */
    __u32 holder_is_inner;  /* ... of the interpreter */
    __u32 interpreter_next; /* interpreter */
    __u32 threads;          /* interpreter: the newest thread */
    __u32 thread_next;      /* thread */
    __u32 thread_id;        /* thread: as gettid() says */
    __u32 thread_frame;     /* thread: the innermost frame; or, to 3.12, the innermost _PyCFrame, */
    __u32 has_c_frames;     /* a struct on the C stack for each run of the interpreter's loop */
    __u32 c_frame_frame;    /* _PyCFrame: the innermost frame */
    __u32 c_frame_previous; /* _PyCFrame */
    __u32 frame_code;       /* frame; all of it within PYTHON_FRAME_BYTES */
    __u32 frame_previous;
    __u32 frame_instruction;
    __u32 frame_owner;   /* a byte: PYTHON_OWNED_BY_C: a frame on the C stack, which begins a run */
    __u32 frame_entry;   /* a byte of 3.11: whether the frame begins a run; 0: there is none */
    __u32 code_filename; /* code object */
    __u32 code_qualname; /* code object; and behind it */
    __u32 code_linetable;  /* code object */
    __u32 code_first_line; /* code object: 32 bits */
    __u32 code_instructions;
    __u32 object_type;
    __u32 bytes_size, bytes_data;
    __u32 text_length, text_state, text_ascii; /* a string: behind the last its ASCII characters */
    __u32 text_data;                           /* others */
};
enum { PYTHON_FRAME_BYTES = 72, PYTHON_OWNED_BY_C = 3 };

/* Tells apart code objects that had the same address one after the other. */
static inline __attribute__((always_inline)) __u64 python_identity(__u64 qualname,
                                                                   __u64 linetable) {
    return qualname * 0x9e3779b97f4a7c15ull ^ linetable;
}

#ifndef __bpf__
#include <stdbool.h>
#include <stdint.h>

#include "program/elf_image.h"

/* The function that executes Python's instructions; its arguments are the thread and a frame. */
#define PYTHON_LOOP "_PyEval_EvalFrameDefault"

/* A file with an interpreter: the program or its library. Addresses are as linked. */
struct python_image {
    uint32_t version;    /* PY_VERSION_HEX: 3.11.7 is 0x030b07f0; 0: not told */
    bool known;          /* the layout is that of this version */
    uint64_t runtime;    /* _PyRuntime */
    uint64_t code_type;  /* PyCode_Type */
    uint64_t text_type;  /* PyUnicode_Type */
    uint64_t bytes_type; /* PyBytes_Type */
    uint64_t loop;       /* _PyEval_EvalFrameDefault: PYTHON_LOOP; 0: not found */
    struct python_layout layout;
};

/* False: there is none in it. */
bool python_image_read(const struct elf_image *elf, struct python_image *image);

/* Interpreters are found by the names of their files: not every file that is mapped is read. */
bool python_may_be_in(const char *path);
/* Writes a note: this interpreter is not known. */
void python_image_say_unknown(const struct python_image *image, const char *path, char *text,
                              size_t size);
#endif
