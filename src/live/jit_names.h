/* Names of code that was compiled at run time, from the jitdump of its program (program/jitdump.h):
 * as they were at the time of the sample. A stage between a recorder and its sink: samples in such
 * code wait in it until the dump tells of their time, some seconds at most, since programs write
 * their dumps late. What the dump does not tell of passes as it came: when it is saved the dump may
 * tell more (resolver_compiled.c). */
#pragma once

#include "live/live.h"
#include "live/proc_files.h"

struct jit_names;

/* `sink` is copied. NULL: out of memory. */
struct jit_names *jit_names_new(const struct live_roots *roots, const struct live_sink *sink);
void jit_names_free(struct jit_names *names);

/* In place of `sink`. A dump is known by its file, which its program maps executable. */
struct live_sink jit_names_sink(struct jit_names *names);

/* Passes on the samples that need not wait any more; `all`: every one. False: the sink failed. */
bool jit_names_pass(struct jit_names *names, bool all, struct error *error);
