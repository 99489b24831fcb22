/* Exact counts of executions (region/execution_counts.h) as compilers and linkers read profiles:
 *
 *     autofdo   the text of sample profiles: by function and line, with what was inlined
 *               (clang -fprofile-sample-use, llvm-profdata merge --sample)
 *     bolt      taken and not taken branches between functions and offsets (llvm-bolt -data)
 *     ranges    ranges of addresses and branches between them, which AutoFDO's tools read
 *               (create_gcov and create_llvm_prof --profiler=text)
 *
 * Each is of one file, a program or a library. */
#pragma once

#include <stdio.h>

#include "program/program.h"
#include "region/execution_counts.h"

enum compiler_format { COMPILER_AUTOFDO, COMPILER_BOLT, COMPILER_RANGES, COMPILER_FORMATS };

extern const char *const compiler_format_names[COMPILER_FORMATS];
/* What such a file's name ends in: ".afdo". */
const char *compiler_format_ending(enum compiler_format format);

struct compiler_profile {
    struct program *program;
    uint32_t image;                 /* in `program` */
    uint32_t number;                /* the same file in the lists */
    enum program_language language; /* of most that was executed of it */
    const struct executed_list *insns, *edges;
    FILE *file;
    uint64_t functions; /* filled in: of which something is told; 0 of COMPILER_RANGES */
};

/* False with an error: memory is out, or the file tells nothing of its functions. What cannot be
 * written shows in ferror(profile->file). */
bool compiler_profile_write(struct compiler_profile *profile, enum compiler_format format,
                            struct error *error);
