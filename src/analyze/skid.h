/* Skid: how far behind the instruction that the processor waits for the one lies that an interrupt
 * finds (the one to go on with). It is counted in instructions as they are executed: 0 is the one
 * that waits, the oldest that has not committed. It is measured where samples come from
 * (calibrate/skid.h), since it is neither constant nor documented. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { SKID_MOST = 40, SKID_ASSUMED = 16 };

struct skid {
    double shares[SKID_MOST + 1]; /* of all samples, by distance; the last: so far or farther */
    uint64_t samples;             /* that it was measured from; 0: it was not measured */
};

/* What is taken where it was not measured: each distance below SKID_ASSUMED is as likely. */
struct skid skid_assumed(void);
/* Of samples for which the processor itself notes the instruction (PEBS, IBS). */
struct skid skid_none(void);

/* The narrowest run of distances, `least` to `most`, that has SKID_WINDOW of the samples (of
 * several the nearest), and what share of them it has. */
#define SKID_WINDOW 0.9
struct skid_window {
    uint32_t least, most;
    double share;
};
struct skid_window skid_window(const struct skid *skid);
uint32_t skid_median(const struct skid *skid);
