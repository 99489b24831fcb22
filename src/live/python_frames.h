/* The Python functions of sampled threads in place of the interpreter's loop: of CPython 3.11 to
 * 3.13, in which one call of _PyEval_EvalFrameDefault() runs a chain of Python frames. What a
 * thread was in is taken at the moment of the sample (sample_probe.h); what code objects are called
 * is read from the memory of the process when they are first met. */
#pragma once

#include "live/sample_probe.h"
#include "live/unwinder.h"

struct python_frames;

struct python_statistics {
    uint64_t samples; /* with their stacks, of processes with an interpreter that is known */
    uint64_t whole;   /* of them with all Python functions that they were in, if any, in their
                         places among those of C */
    uint64_t partial; /* of them with some, or with some whose names could not be read any more */
};

/* `probe`: NULL where it is not permitted; outlives this. NULL: out of memory. */
struct python_frames *python_frames_new(const struct live_roots *roots, struct sample_probe *probe);
void python_frames_free(struct python_frames *frames);

/* What a process does; a mapping of `file` begins at `start` with the file's byte `offset`. False:
 * out of memory. */
bool python_frames_mapped(struct python_frames *frames, uint32_t pid, const struct live_file *file,
                          uint64_t start, uint64_t offset);
bool python_frames_forked(struct python_frames *frames, uint32_t parent, uint32_t child);
void python_frames_ended(struct python_frames *frames, uint32_t pid); /* or called exec */

/* Whether what the probe wrote at a sample of this thread is a Python stack, which then is kept for
 * the sample that follows it, or a code object. */
bool python_frames_take(struct python_frames *frames, uint32_t pid, uint32_t tid,
                        const uint8_t *written, size_t size);

/* Puts the Python functions of a sample of this thread among the callers found. Functions live as
 * long as no other record is taken, unless they are held. `alike` (live_sample) is made to tell of
 * them, too. False: out of memory. */
bool python_frames_weave(struct python_frames *frames, uint32_t pid, uint32_t tid,
                         struct live_stack *stack, uint64_t *alike);

void python_frames_statistics(const struct python_frames *frames,
                              struct python_statistics *statistics);
/* One line that says why functions of Python are not shown; NULL: all well, or there are none. */
const char *python_frames_note(const struct python_frames *frames);
size_t python_frames_bytes(const struct python_frames *frames);
