/* Puts the Python frames of a thread among its C frames. */
#pragma once

#include "live/bpf/python.h"
#include "live/unwinder.h"

/* The frame of an item, whose `code` is NULL when it could not be read. False: out of memory. */
typedef bool python_frame_finder(void *context, const struct python_item *item,
                                 struct live_frame *frame);

/* In place of each C frame of the interpreter's loop stand the Python frames that this run of it
 * stands for; the sampled frame, if it is the loop, is called by them. *lacking becomes true when a
 * frame could not be read, which then is one without a name, or when one has no place. False: out
 * of memory. */
bool python_weave(const struct python_stack *python, python_frame_finder *find, void *context,
                  struct live_stack *stack, bool *lacking);
