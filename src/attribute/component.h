/* Plain words for performance signatures: each combination of events belongs to one
 * component, that of its dominant event: the one that costs most when several meet, in the order of
 * the enumeration below. A cycle without any event is `execute`: instructions committed, or the
 * oldest waited for the plain latency of an operation. */
#pragma once

#include <stdint.h>

enum component {
    COMPONENT_LLC_MISS,   /* ST-LLC */
    COMPONENT_MISPREDICT, /* FL-MB */
    COMPONENT_FLUSH,      /* FL-EX, FL-MO */
    COMPONENT_TLB_MISS,   /* ST-TLB */
    COMPONENT_FORWARDING, /* ST-FW */
    COMPONENT_COHERENCE,  /* ST-CO */
    COMPONENT_L1_MISS,    /* ST-L1 */
    COMPONENT_STORES,     /* DR-SQ */
    COMPONENT_FRONT_END,  /* DR-L1, DR-TLB */
    COMPONENT_EXECUTE,    /* none */
    COMPONENT_COUNT
};

enum component component_of(uint32_t psv);
const char *component_name(enum component component);        /* heading of a column */
const char *component_key(enum component component);         /* in files: "llc_miss" */
const char *component_description(enum component component); /* for a legend, one line */
const char *component_events(enum component component);      /* "FL-EX, FL-MO" */
