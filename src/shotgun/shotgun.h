/* Shotgun profiling of a simulation (interaction-cost paper §5 and §6): samples as hardware would
 * give them, fragments of the graph constructed from them, and their breakdown.
 *
 *     struct shotgun *shotgun = shotgun_new(&machine, &options, &error);
 *     observer = {shotgun_attach, shotgun_detach, shotgun_learn, shotgun}    the cores run
 *     shotgun_breakdown(shotgun, &request, &breakdown, &statistics, &error)  as often as wanted
 *     shotgun_free(shotgun); */
#pragma once

#include "graph/breakdown.h"
#include "shotgun/construct.h"
#include "shotgun/database.h"
#include "shotgun/file.h"
#include "tap/tap.h"
#include "util/watcher.h"

struct shotgun;
/* NULL with an error. The machine must outlive it. `threads`: sampling has a thread of its own. */
struct shotgun *shotgun_new(const struct machine *machine, const struct shotgun_options *options,
                            bool threads, struct error *error);
/* The same from a file of samples, whose database and code it takes: for shotgun_breakdown(). */
struct shotgun *shotgun_from(const struct machine *machine, struct shotgun_file *file,
                             struct error *error);
void shotgun_free(struct shotgun *shotgun);

/* For a simulation's observer: the context is the struct shotgun. */
bool shotgun_attach(void *context, struct tap_source source, struct tap *tap, void **state,
                    struct error *error);
void shotgun_detach(void *context, void *state);
bool shotgun_learn(void *context, const struct code *code, struct error *error);

/* The samples. */
const struct shotgun_database *shotgun_database(const struct shotgun *shotgun);

struct shotgun_request {
    enum shotgun_design design; /* 1 only when the options asked for perfect graphs */
    uint32_t fragments;         /* at most; designs 1, 2 and 4: one for each signature sample */
    uint32_t ideal;             /* enum ideal: of the simulation */
    struct watcher watcher; /* told the fragments tried so far, after each; when it stops, what is
                               constructed by then counts */
};
enum {
    SHOTGUN_FRAGMENTS = SHOTGUN_SKELETONS_MAX,
    SHOTGUN_TRIES = 4 /* tries for each of them at most */
};

struct shotgun_statistics {
    uint64_t samples, skeletons; /* in the database */
    uint64_t outcomes[SHOTGUN_OUTCOMES];
    /* Instructions of the complete fragments, without compares that are wholly in the branch behind
     * them, by where they came from. */
    uint64_t sources[SHOTGUN_NOTHING];
    /* Whether the fragments represent the run: how many instructions have bit 2 (a miss or
     * misprediction) in the signature samples that were tried, and in those of which no fragment
     * was completed; cycles per instruction of the run, and of the fragments by their weights. */
    uint64_t events, events_discarded;
    double run_cpi, cpi;
    /* Against what was executed, where that is known (`truth` of the options, designs 2 and 4):
     * fragments that left the path, and which of them were discarded; those found illegal though
     * they had not left it; targets taken from samples on the path, and how many were right. */
    bool validated;
    uint64_t errant, errant_discarded, right_discarded;
    uint64_t targets, targets_right;
};

/* Constructs fragments and sums t(S) of all sets of the standard categories over them into
 * `breakdown`, which is initialised here; the caller frees it either way. False with an error:
 * there was too little to construct even one fragment. */
bool shotgun_breakdown(struct shotgun *shotgun, const struct shotgun_request *request,
                       struct breakdown *breakdown, struct shotgun_statistics *statistics,
                       struct error *error);
