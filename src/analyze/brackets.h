/* Cycle equivalence of the arcs of a strongly connected graph, in linear time (Johnson, Pearson and
 * Pingali 1994 Fig. 4). */
#pragma once

#include "analyze/network.h"

/* Fills in a class for each arc, from 0 on without gaps. An arc from a node to itself is a class of
 * its own. False: out of memory. */
bool brackets_classes(const struct network *network, uint32_t *arc_class, uint32_t *class_count,
                      struct error *error);
