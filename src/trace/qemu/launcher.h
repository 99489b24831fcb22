/* Finds what is needed to run a command under the emulator, and starts it. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "isa/insn.h"
#include "trace/qemu/emulator_version.h"
#include "trace/qemu/ring.h"
#include "trace/trace.h"
#include "util/error.h"

struct launch {
    enum isa isa;
    char program[RING_PATH_BYTES];        /* the ELF file to run: the command, or its interpreter */
    char named[RING_PATH_BYTES];          /* the same, as it was called where that is a path */
    char **arguments;                     /* of the program, NULL-terminated; owned */
    char emulator[RING_PATH_BYTES];       /* absolute */
    char plugin[RING_PATH_BYTES];         /* absolute */
    char allocations[RING_PATH_BYTES];    /* library to preload, absolute; empty: none */
    char version[EMULATOR_VERSION_BYTES]; /* "qemu 7.2.22" */
    bool set_user_id;
};

/* False with *exec_status 125, 126 or 127, as trace_capture(). */
bool launch_prepare(const struct capture_options *options, struct launch *launch, int *exec_status,
                    struct error *error);
bool launch_start(const struct capture_options *options, const struct launch *launch,
                  const struct ring_control *control, pid_t *pid, struct error *error);
void launch_free(struct launch *launch);
