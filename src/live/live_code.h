/* Functions of code that no ELF file names, as what runs it tells. They are shared: by who found
 * them, and by who keeps frames for longer than a call. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct live_frame;

struct live_code {
    const char *path; /* of its source file, or what stands for one */
    const char *name;
    uint32_t first_line;
    uint64_t start, size; /* of its offsets: those of store/source_place.h */
    uint32_t holders;     /* 0: it lives for ever */
};

/* A copy of *code, held by the caller, whose texts have question marks in place of control
 * characters; NULL: out of memory. */
const struct live_code *live_code_new(const struct live_code *code);
void live_code_hold(const struct live_code *code);
void live_code_release(const struct live_code *code); /* NULL: nothing happens */

/* The same of the functions of frames. */
void live_frames_hold(const struct live_frame *frames, size_t count);
void live_frames_release(const struct live_frame *frames, size_t count);
