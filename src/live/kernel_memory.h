/* The memory of the kernel that runs, as /proc/kcore shows it: a core file of which each segment is
 * a range of addresses. */
#pragma once

#include "isa/insn.h"
#include "live/proc_files.h"

struct kernel_memory;

/* NULL, with an error that says what is missing: the file, permission, a machine that is known. */
struct kernel_memory *kernel_memory_open(const struct live_roots *roots, struct error *error);
void kernel_memory_free(struct kernel_memory *memory);

enum isa kernel_memory_isa(const struct kernel_memory *memory);

/* False: not all of it is in the file. */
bool kernel_memory_read(const struct kernel_memory *memory, uint64_t address, void *bytes,
                        size_t size);
