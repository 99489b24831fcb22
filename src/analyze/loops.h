/* Loops of a graph whose edges are there. Inside of this room. */
#pragma once

#include "analyze/cfg.h"

/* Fills in the blocks' loops, and sets CFG_ENDLESS. A loop is natural: its head dominates it. If
 * control enters a cycle at several blocks (irreducible), its retreating edges make no loop and
 * count for no depth. False: out of memory. */
bool loops_find(struct cfg *cfg);
