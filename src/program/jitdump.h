/* What a program compiles while it runs, as it writes it to a jitdump (perf's jit-PID.dump; the
 * kernel's tools/perf/Documentation/jitdump-specification.txt): which code was where from when on,
 * what it is called, and its lines. A dump grows while its program runs, and is read as far as it
 * has come. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct jitdump;

/* Of a piece of code at an address. */
struct jitdump_place {
    const char *name; /* lives as long as the dump, as does `file` */
    const char *file; /* of the source; NULL: not told */
    uint32_t line;    /* 0: not told */
    uint64_t offset;  /* from the first byte of the code */
    uint64_t size;    /* of the code, in bytes */
};

/* Whether a file is called as dumps are: "jit-42.dump". */
bool jitdump_is_named(const char *path);

/* Opens the dump at a path of a folder that anybody may write to: it must be a regular file of this
 * user or of root, and no link. NULL: it is none, or memory is out. */
struct jitdump *jitdump_open(const char *path, uid_t user);
/* Takes the open file. */
struct jitdump *jitdump_of_file(int file);
void jitdump_free(struct jitdump *dump);

/* Reads what was written since the last time, up to the last whole record. False: out of memory. */
bool jitdump_read(struct jitdump *dump);

/* Up to when it tells, on CLOCK_MONOTONIC; UINT64_MAX: its clock is another. */
uint64_t jitdump_time(const struct jitdump *dump);

/* What was at an address at a time (of another clock: what is there at last). False: nothing that
 * it tells of. */
bool jitdump_find(const struct jitdump *dump, uint64_t address, uint64_t time,
                  struct jitdump_place *place);
/* The same for who does not know the time: the only function that ever was at an address. False:
 * there was none, or several. */
bool jitdump_find_only(const struct jitdump *dump, uint64_t address, struct jitdump_place *place);
