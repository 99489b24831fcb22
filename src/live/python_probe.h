/* The BPF program that takes the Python frames of sampled threads at the moment of each sample
 * (bpf/python.bpf.c). It belongs to the events that sample, and writes to their ring buffers, right
 * before each sample of a process that it was told of. Needs CAP_BPF and CAP_PERFMON, or root. The
 * kernel gives no sample to an event with a program while it runs another BPF program on that
 * processor. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/bpf/python.h"
#include "util/error.h"

struct python_probe;

/* NULL: it is not permitted, or the kernel is older than 5.17, as `error` says. */
struct python_probe *python_probe_new(size_t processors, struct error *error);
void python_probe_free(struct python_probe *probe);

/* To be called of each event before it counts; `ring`: the event of this processor that has the
 * ring buffer, which records of stacks go to. False with errno. */
bool python_probe_attach(struct python_probe *probe, int event, int processor, int ring);

/* Whether a record is one of ours: then what the program wrote, from its mark on. */
bool python_probe_take(const struct python_probe *probe, const uint8_t *record, size_t size,
                       const uint8_t **written, size_t *written_size);

/* From now on the process is followed. False: there are too many. */
bool python_probe_follow(struct python_probe *probe, uint32_t pid,
                         const struct python_process *process);
void python_probe_forget(struct python_probe *probe, uint32_t pid);
