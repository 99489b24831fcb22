/* Inside of the calibrate room: how many instructions that wait for nothing enter the core per
 * cycle, by their kind. */
#pragma once

#include "calibrate/calibration.h"

enum mix {
    MIX_NOPS,
    MIX_ADDS,
    MIX_MOVES,
    MIX_ZEROS,
    MIX_ADDS_NOPS, /* by turns, and so below */
    MIX_VECTOR_ADDS,
    MIX_ADDS_VECTOR_ADDS,
    MIXES
};
struct dispatch {
    struct host_result results[MIXES]; /* cycles of an instruction; not all need be measured */
    double width;                      /* µops per cycle */
    bool whole;        /* it was measured as a whole number, which it is on a core of its own */
    bool no_ops_share; /* a µop holds several no-ops */
};

/* False: it cannot go on at all. */
bool dispatch_measure(struct calibration *calibration, struct dispatch *dispatch,
                      struct error *error);

/* Fills in the rest from the results. No-ops share a µop where twice as many of them pass as of
 * anything else, and where two kinds of additions by turns, of which each alone takes its units'
 * time, pass more slowly than these units and as many µops as no-ops would let them. */
void dispatch_conclude(struct dispatch *dispatch);

/* Its width, of which groups are made: 2 to 16 µops, 4 where it is not known. */
unsigned dispatch_whole_width(const struct dispatch *dispatch);

/* So many µops that take nothing but dispatch: no-ops, or eliminated moves. */
void dispatch_put_padding(struct assembler *code, unsigned count, bool moves);

/* What the first of two kernels takes less, in parts of the time of a µop; groups of it have
 * `group` µops if two that may be one are one, those of the other kernel one more. 1: they are one,
 * 0: they are two. */
double dispatch_saving(const struct host_result kernels[2], unsigned group);

/* That two are not one is said where a group takes what its µops take to be dispatched, and not if
 * something else holds it up: more than so many times that. */
#define DISPATCH_MOST_OF_TWO 1.1
