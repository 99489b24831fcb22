/* The BPF program that runs at each sample with callers (bpf/sample.bpf.c): it takes the Python
 * frames of the thread, and walks its stack, so that no copy of it is needed. It belongs to the
 * events that sample, and writes to their ring buffers. Needs CAP_BPF and CAP_PERFMON, or root. The
 * kernel gives no sample to an event with a program while it runs another BPF program on that
 * processor. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/bpf/python.h"
#include "live/bpf/walk.h"
#include "util/error.h"

struct sample_probe;

/* NULL: it is not permitted, or the kernel is older than 5.17, as `error` says. */
struct sample_probe *sample_probe_new(size_t processors, struct error *error);
void sample_probe_free(struct sample_probe *probe);

/* To be called of each event before it counts; `ring`: the event of this processor that has the
 * ring buffer, which records of stacks go to. False with errno. */
bool sample_probe_attach(struct sample_probe *probe, int event, int processor, int ring);

/* Whether a record is one of ours: then what the program wrote, from its mark on. */
bool sample_probe_take(const struct sample_probe *probe, const uint8_t *record, size_t size,
                       const uint8_t **written, size_t *written_size);

/* From now on the Python frames of the process are taken, before each of its samples. False: there
 * are too many such processes. */
bool sample_probe_follow(struct sample_probe *probe, uint32_t pid,
                         const struct python_process *process);
void sample_probe_forget(struct sample_probe *probe, uint32_t pid);

/* Makes room for rows of a file, and says where they stand. NULL: there is none left. */
struct unwind_row *sample_probe_rows(struct sample_probe *probe, size_t count, uint32_t *first);
/* From now on stacks are walked through this file by these rows. False: there are too many. */
bool sample_probe_tell(struct sample_probe *probe, const struct walk_file *file,
                       const struct walk_rows *rows);
