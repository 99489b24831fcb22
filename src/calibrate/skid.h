/* The skid of an event's samples on this host (analyze/skid.h): a loop in which nearly all time
 * belongs to one load, whose address is what the load before it found in memory that the inner
 * caches do not hold, followed by additions that wait for nothing, is sampled; how far behind the
 * load samples lie is the skid.
 *
 *     chase:  mov rax, [rax]        waits hundreds of cycles
 *             add rcx, 1            four chains of additions
 *             add rdx, 1
 *             ... */
#pragma once

#include "analyze/skid.h"
#include "util/error.h"

/* Measures it, in half a second of processor time. `event`: as events of live profiles are named;
 * the form that the collectors choose is taken. False: the event cannot be had, or this is no
 * x86-64 processor. */
bool skid_measure(const char *event, struct skid *skid, struct error *error);

/* What was measured on this host before, else measures it and keeps it for the next time, for this
 * kind of processor, in a virtual machine or not, and event: $XDG_CACHE_HOME/culprit/skid-...
 * (without it ~/.cache). `new`: it was measured now. */
bool skid_of_host(const char *event, struct skid *skid, bool *new, struct error *error);

/* Inside of this room: reads and writes what is kept. Numbers are checked; a file that others can
 * write is not read. */
bool skid_read(const char *path, struct skid *skid);
bool skid_write(const char *path, const struct skid *skid);
