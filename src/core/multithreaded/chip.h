/* A chip of single-issue in-order cores, each with several hardware threads (fine-grained
 * multithreading), that share a banked L2 over a crossbar: Niagara, after Chen 2009 Table 5.3 and
 * §4.4.
 *
 * In each cycle a core issues one instruction of one ready thread, the next in round-robin order
 * after the one that issued last; a thread that waits is skipped. A thread whose instruction issued
 * in cycle c is ready again in cycle
 *     c + 1                   as a rule, also after a hit in the L1 with l1d.latency 1
 *     c + latency             after an operation that takes longer: the longest class latency of
 *                             its µops; l1d.latency after a load that hits (address generation is
 *                             a stage that every instruction passes)
 *     c + l2.latency          after a load or store that misses the L1D and hits the L2;
 *                             dram.latency later when it misses the L2, too: one outstanding miss
 *                             per thread, nothing runs ahead of it (no store buffer)
 *     c + latency + redirect + frontend_depth   after a mispredicted branch
 *     c + 1 + btb_miss_penalty or taken_bubble  after a branch whose target is late, or is taken
 *     c + flush_penalty (syscall_cycles) + frontend_depth   after a flushing instruction (system
 *                             call)
 * whichever is latest. The line of an instruction, where it is another than the one before, is
 * looked up in the cycle f before the thread would be ready; one that the L1I does not hold is
 * there in f + l2.latency, dram.latency later when the L2 does not hold it either. An access that
 * misses its TLB is made once more, when the translation is there: a page walk later; of data,
 * that takes another turn to issue. penalties.h has these sums.
 *
 * An access at cycle c that misses its L1 asks its bank of the L2 at once (the time to the bank is
 * part of l2.latency); banks are interleaved by lines. A bank takes one request every bank_interval
 * cycles, in the order of cycles, then of cores; within a core data go before instructions. What a
 * request waits for its bank comes on top. Writing back dirty lines delays no request.
 *
 * L1s and TLBs are a core's, shared by its threads; predictors are a thread's. Programs share
 * nothing: every hardware thread is an address space of its own (memory/frame.h), so that two
 * threads never wait for the same line. All caches are indexed by physical addresses. An
 * instruction with k memory accesses takes k turns to issue, and one more for each further line of
 * the L1D that an access touches.
 *
 * Cycles are numbered from 1; what the first instructions need is looked up in cycle 0. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "trace/dynamic.h"
#include "util/error.h"

/* Why a thread is suspended. */
enum suspension {
    SUSPENDED_LONG,    /* an operation of more than one cycle */
    SUSPENDED_L2_HIT,  /* data: L1 miss that hits the L2 */
    SUSPENDED_L2_MISS, /* data: from memory */
    SUSPENDED_FETCH,   /* instruction: its line comes from the L2 or memory */
    SUSPENDED_TRANSLATION,
    SUSPENDED_BRANCH, /* misprediction, late target */
    SUSPENDED_SYSTEM, /* flushing instruction, system call */
    SUSPENSIONS
};

struct chip_thread_statistics {
    uint64_t instructions;
    uint64_t turns;    /* issue slots used: instructions, one more for each access beyond the first,
                          and each DTLB miss */
    uint64_t cycles;   /* from the start of the chip to the last of these turns */
    uint64_t accesses; /* loads and stores, one for each line of the L1D that they touch */
    uint64_t l1d_misses, l2_misses; /* of them: not in the L1D; not in the L2, either */
    uint64_t l1i_misses, l2_fetch_misses;
    uint64_t events[SUSPENSIONS];    /* how often */
    uint64_t cycles_in[SUSPENSIONS]; /* cycles in which the thread could not issue because of it,
                                        beyond the one that every turn takes; the latest
                                        where several overlap */
};

struct core_input;
/* Hands over the next instructions of hardware thread `thread` by one chip_push(); asked again
 * whenever they are used up. A program that has ended is handed out from its start again. False: an
 * error. */
struct chip_source {
    bool (*refill)(void *context, uint32_t thread, struct error *error);
    void *context;
};

struct chip;
/* A chip of the machine's chip.cores and chip.threads; thread t of core c has the number c ×
 * threads + t. `active`: hardware threads that run at all (bit i of active[i / 64]); NULL: all. */
struct chip *chip_new(const struct machine *machine, const uint64_t *active,
                      struct chip_source source, struct error *error);
void chip_free(struct chip *chip);

/* Called by refill: the next instructions. `program_ends`: the
 * last of them is the last of the program (there may be none). Errors: a program without
 * instructions. */
bool chip_push(struct chip *chip, uint32_t thread, const struct core_input *input,
               bool program_ends, struct error *error);

/* Runs to the end of cycle `until`, however often programs begin again. *finished: every active
 * thread has run its program once. */
bool chip_run(struct chip *chip, uint64_t until, bool *finished, struct error *error);

uint64_t chip_cycle(const struct chip *chip);
/* What a thread did in the first run of its program (so far, where it is not over), or in all. */
void chip_thread_first(const struct chip *chip, uint32_t thread,
                       struct chip_thread_statistics *statistics);
void chip_thread_all(const struct chip *chip, uint32_t thread,
                     struct chip_thread_statistics *statistics);
