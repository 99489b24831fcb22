/* The kinds of cores behind core/core.h, which describes their functions. Inside of the core room.
 */
#pragma once

#include "core/core.h"
#include "core/input.h"

#define CORE_KIND(kind)                                                                            \
    struct kind;                                                                                   \
    struct kind *kind##_new(const struct machine *machine, const struct core_options *options,     \
                            struct error *error);                                                  \
    void kind##_free(struct kind *core);                                                           \
    bool kind##_push(struct kind *core, const struct core_input *input, struct error *error);      \
    bool kind##_warm(struct kind *core, const struct core_input *input, struct error *error);      \
    void kind##_warm_tables(struct kind *core, uint64_t address, uint64_t bytes);                  \
    void kind##_pass(struct kind *core, uint64_t cycles);                                          \
    bool kind##_drain(struct kind *core, struct error *error);                                     \
    bool kind##_finish(struct kind *core, struct error *error);                                    \
    void kind##_give(struct kind *core, struct core_learned *learned);                             \
    const struct memory *kind##_memory(const struct kind *core);                                   \
    const struct branch_predictor *kind##_predictor(const struct kind *core);                      \
    void kind##_statistics(const struct kind *core, struct core_statistics *statistics);

CORE_KIND(ooo)     /* core/ooo/ */
CORE_KIND(inorder) /* core/inorder/ */
#undef CORE_KIND

enum core_state ooo_run(struct ooo *core, uint64_t until, uint64_t others, bool all,
                        struct error *error);
void ooo_move(struct ooo *core, struct memory *memory);
void ooo_succeed(struct ooo *core, struct ooo *before);
uint64_t ooo_cycle(const struct ooo *core);
uint64_t ooo_earliest(const struct ooo *core);
void ooo_wait_until(struct ooo *core, uint64_t cycle);
bool ooo_predecode_again(struct ooo *core, const struct branch_predictor *predictor,
                         struct error *error);
bool ooo_push_predecoded(struct ooo *core, const struct ooo *from, struct error *error);
uint32_t ooo_needless(const struct ooo *core);

/* ---- what they share (shared.c) ---- */

/* Warms caches, TLBs and the predictor with these instructions; what the predictor counts meanwhile
 * is added to `warmed`. `fuses`: of the machine, compares and branches. False: the input names code
 * or accesses that the trace does not have. */
bool core_warm_learned(const struct core_learned *learned, uint32_t fetch_line_shift, bool fuses,
                       const struct core_input *input, struct branch_statistics *warmed,
                       struct error *error);
/* Takes the branches of `warmed` out of `all`. */
void core_subtract_branches(struct branch_statistics *all, const struct branch_statistics *warmed);

/* Makes what a core starts with. On failure its members are NULL. */
bool core_learned_new(struct core_learned *learned, const struct machine *machine,
                      const struct core_options *options, struct error *error);
