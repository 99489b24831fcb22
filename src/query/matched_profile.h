/* One command measured and simulated: the procedures of its live samples beside those of its
 * simulation, in cycles. */
#pragma once

#include "program/program.h"
#include "store/store.h"
#include "util/arena.h"

enum { MATCHED_HOTTEST = 10 };

struct matched_procedure {
    const char *name;           /* "longest_match", "libc.so.6+0x9f20", "memmove (any variant)" */
    const char *image;          /* path */
    double samples;             /* live ones */
    double halves[2];           /* of these: of the first half of the runs, and of the others */
    double measured, predicted; /* cycles */
};

struct matched_profile {
    struct matched_procedure *rows; /* the largest absolute difference first */
    size_t count;
    double samples;             /* of all rows, as below */
    double measured, predicted; /* cycles */
    size_t variants;            /* rows that are several variants of one function */
    /* Spearman's coefficient of the measured and the predicted cycles of the procedures with most
     * samples, `ranked` of them; NAN: it has none (util/rank.h). */
    double rank_correlation;
    size_t ranked;                            /* ≤ MATCHED_HOTTEST */
    bool equally_measured, equally_predicted; /* all of these */
    /* The same, of the samples of half the runs with those of the others: what the order of these
     * procedures is worth as it is measured. NAN: there was one run, or it has none. */
    double rank_repeats;
    struct arena arena;
};

/* Of sessions of live samples, which together took `cycles`, and the session of a simulation, in
 * one store. False, with an error: no samples, or the store cannot be read. matched_profile_free()
 * either way. */
bool matched_profile_read(struct matched_profile *profile, struct store *store, const int64_t *live,
                          size_t live_count, double cycles, int64_t simulated,
                          struct program *program, struct error *error);
void matched_profile_free(struct matched_profile *profile);

/* The C library has several variants of a function and takes one by the processor it finds itself
 * on, which under the emulator is another than here. The name that they share, as far as
 * `procedure` is one of them ("__memmove_avx512_unaligned_erms" → "memmove", "__sin_fma" → "sin"),
 * in `family`; false: it is none. */
bool procedure_family(const char *image, const char *procedure, char *family, size_t size);
