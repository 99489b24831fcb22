/* More regions than clusters: vectors do not show what data do to the time that code takes, so
 * slices of a cluster may differ, and one of them tells neither what they take together nor how far
 * they differ. */
#pragma once

#include "region/points.h"

/* Splits clusters in time, into parts of about the same instructions one after the other, until
 * there are `most` (at least one slice in each): first every cluster into two, the heaviest first,
 * then the one whose parts weigh most. A part is a cluster of its own from then on, its point a
 * slice of it drawn at random, so that what the points differ by is what the slices do
 * (simulate/estimate.h). What is not split keeps its point. With most ≤ clusters nothing changes.
 * The same on every machine. */
bool region_split(const struct projection *slices, uint32_t most, uint64_t seed,
                  struct region_choice *choice, struct error *error);
