/* Which slices stand for all: SimPoint's choice, or as many drawn at random or at even distances,
 * to compare it with (PinPoints §4.5, Figs 13 and 14). */
#pragma once

#include "region/profiled_runs.h"
#include "region/split.h"

enum selection_method { SELECT_SIMPOINT, SELECT_RANDOM, SELECT_SYSTEMATIC, SELECT_METHODS };
extern const char *const SELECTION_METHODS[SELECT_METHODS]; /* their names */

/* Where distances are measured by which a slice stands for its cluster. */
enum selection_space { SPACE_PROJECTED, SPACE_FULL, SELECT_SPACES };
extern const char *const SELECTION_SPACES[SELECT_SPACES]; /* their names */

struct selection_settings {
    struct region_settings clusters;
    enum selection_method method;
    enum selection_space nearest_in; /* FULL: before projection (full_space.h) */
    uint32_t split;  /* clusters are split in time up to so many (split.h); 0: they are not */
    uint32_t count;  /* of slices drawn; 0: as many as SimPoint's choice has */
    uint64_t draw;   /* seed of a draw */
    double coverage; /* 0 to 1; 1: only as many clusters, the heaviest first, as have this share of
                        all instructions; weights are divided by what they have */
};
#define SELECTION_DEFAULTS                                                                         \
    ((struct selection_settings){.clusters = REGION_DEFAULTS, .draw = 1, .coverage = 1})

/* Points of *choice: of SELECT_SIMPOINT as region_choose() says, but nearest in the space that the
 * settings name, and less those that `coverage` leaves out; of a draw each its own cluster, by
 * place, and labels NULL. */
bool selection_choose(const struct profiled_runs *runs, const struct selection_settings *settings,
                      struct region_choice *choice, struct error *error);

/* Draws `count` of the slices, at most all of them: at random each slice at most once and each as
 * likely; systematically one every n/count slices from a random one of the first n/count on. The
 * weight of each is its share of the instructions of those drawn. Fills points[count], by place. */
bool selection_draw(const struct projection *slices, enum selection_method method, uint32_t count,
                    uint64_t seed, struct region_point *points, struct error *error);
