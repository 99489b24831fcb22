/* Speed of branch_predict: nanoseconds per conditional branch, for each direction predictor of the
 * shipped machines, over a fixed stream of 2^17 branches of 1024 static ones: loops of 4 to 67
 * trips, branches that repeat an earlier outcome, biased and random ones. Best of 60 passes, each
 * a few milliseconds, so that a busy machine leaves some undisturbed.
 * Wrong predictions are those of the first. Then each kind of target prediction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "branch/branch.h"
#include "util/clock.h"

enum { STREAM = 1 << 17, STATIC = 1024, PASSES = 60 };

struct executed {
    uint64_t address, next;
    uint8_t kind;
    bool taken;
};

static uint64_t random_state = 88172645463325252ull;
static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

/* Functions of eight branches run in loops, so that history repeats as in programs. */
static void make_stream(struct executed *stream) {
    static uint32_t trips[STATIC];
    bool recent[64] = {0};
    uint32_t at = 0;
    while (at < STREAM) {
        uint32_t function = (uint32_t)(next_random() % (STATIC / 8));
        uint32_t count = 4 + function % 64;
        for (uint32_t trip = 0; trip < count && at < STREAM; trip++)
            for (uint32_t i = 0; i < 8 && at < STREAM; i++, at++) {
                uint32_t branch = function * 8 + i;
                bool taken;
                if (i == 7)
                    taken = trip + 1 < count;
                else if (branch % 4 == 0)
                    taken = recent[(at - branch % 13 - 1) % 64];
                else if (branch % 4 == 1)
                    taken = next_random() % 64 == 0;
                else if (branch % 4 == 2)
                    taken = trips[branch]++ % 3 == 0;
                else
                    taken = branch % 32 == 3 ? next_random() & 1 : 1;
                recent[at % 64] = taken;
                uint64_t address = 0x400000 + branch * 22;
                stream[at] = (struct executed){address, taken ? address - 200 : address + 2,
                                               BRANCH_CONDITIONAL, taken};
            }
    }
}

static double pass(struct branch_predictor *predictor, const struct executed *stream) {
    const double start = clock_monotonic();
    for (uint32_t i = 0; i < STREAM; i++)
        branch_predict(predictor, stream[i].address, stream[i].kind, 2, stream[i].taken,
                       stream[i].next);
    return (clock_monotonic() - start) * 1e9 / STREAM;
}

static void measure(const char *title, const struct machine_branch *machine,
                    const struct executed *stream) {
    struct error error;
    struct branch_predictor *predictor = branch_new(machine, &error);
    if (!predictor) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    struct branch_statistics statistics;
    double best = pass(predictor, stream);
    branch_statistics(predictor, &statistics);
    for (int i = 1; i < PASSES; i++) {
        double time = pass(predictor, stream);
        best = time < best ? time : best;
    }
    printf("%-34s %5.1f ns per branch", title, best);
    uint64_t all = statistics.conditional + statistics.indirect + statistics.returns;
    uint64_t wrong =
        statistics.conditional_wrong + statistics.indirect_wrong + statistics.returns_wrong;
    if (all)
        printf(", %4.1f %% wrong", 100.0 * (double)wrong / (double)all);
    printf("\n");
    branch_free(predictor);
}

static void load(const char *name, const char *direction, struct machine_branch *branch) {
    struct machine machine;
    struct error error;
    if (!machine_load(name, &machine, &error) ||
        (direction && !machine_set(&machine, direction, &error))) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    *branch = machine.branch;
}

int main(void) {
    struct executed *stream = malloc(STREAM * sizeof *stream);
    if (!stream)
        return 1;
    make_stream(stream);
    struct machine_branch branch;
    load("boom-tea", "branch.direction=bimodal", &branch);
    measure("bimodal, 16K", &branch, stream);
    load("boom-tea", "branch.direction=gshare", &branch);
    measure("gshare, 8K", &branch, stream);
    load("fields2004", NULL, &branch);
    measure("tournament, 8K each (fields2004)", &branch, stream);
    load("boom-tea", NULL, &branch);
    measure("TAGE, 6 tables (boom-tea)", &branch, stream);
    load("zen4", NULL, &branch);
    measure("TAGE, 8 tables (zen4)", &branch, stream);

    for (uint32_t i = 0; i < STREAM; i++)
        stream[i] = (struct executed){0x500000 + i % 1024 * 6, 0x600000, BRANCH_JUMP, true};
    measure("jumps, BTB (zen4)", &branch, stream);
    for (uint32_t i = 0; i < STREAM; i++)
        stream[i] = (struct executed){0x500000, 0x600000 + (uint64_t)(i * i % 23) * 64,
                                      BRANCH_INDIRECT, true};
    measure("indirect, period 23 (zen4)", &branch, stream);
    free(stream);
    return 0;
}
