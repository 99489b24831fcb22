/* One table, tried from the top: the first component that has an event in common decides. */
#include "attribute/component.h"

#include "tap/tap.h"

static const struct {
    uint32_t events;
    const char *name, *event_names, *description;
} COMPONENTS[COMPONENT_COUNT] = {
    [COMPONENT_LLC_MISS] = {PSV_ST_LLC, "LLC miss", "ST-LLC",
                            "waiting for a load that missed the last-level cache"},
    [COMPONENT_MISPREDICT] = {PSV_FL_MB, "mispredict", "FL-MB",
                              "refilling the pipeline after a mispredicted branch"},
    [COMPONENT_FLUSH] = {PSV_FL_EX | PSV_FL_MO, "flush", "FL-EX, FL-MO",
                         "other flushes: system calls, flushing instructions, memory ordering"},
    [COMPONENT_TLB_MISS] = {PSV_ST_TLB, "TLB miss", "ST-TLB",
                            "waiting for an access that missed the first-level data TLB"},
    [COMPONENT_FORWARDING] =
        {PSV_ST_FW, "forwarding", "ST-FW",
         "a load waited for an older store that holds a part of what it reads"},
    [COMPONENT_COHERENCE] =
        {PSV_ST_CO, "coherence", "ST-CO",
         "a load, or a full store queue, waited for a line that another core had"},
    [COMPONENT_L1_MISS] = {PSV_ST_L1, "L1 miss", "ST-L1",
                           "waiting for an access that missed the L1 data cache, not the last one"},
    [COMPONENT_STORES] = {PSV_DR_SQ, "stores", "DR-SQ",
                          "the store queue was full of stores on their way to the cache"},
    [COMPONENT_FRONT_END] = {PSV_DR_L1 | PSV_DR_TLB, "front end", "DR-L1, DR-TLB",
                             "instructions came late: L1 instruction cache or TLB miss"},
    [COMPONENT_EXECUTE] = {0, "execute", "Base",
                           "no event: committing, or waiting for an operation's own latency"},
};

enum component component_of(uint32_t psv) {
    for (int component = 0; component < COMPONENT_EXECUTE; component++)
        if (psv & COMPONENTS[component].events)
            return component;
    return COMPONENT_EXECUTE;
}

const char *component_name(enum component component) {
    return COMPONENTS[component].name;
}

const char *component_description(enum component component) {
    return COMPONENTS[component].description;
}

const char *component_events(enum component component) {
    return COMPONENTS[component].event_names;
}

static const char *const KEYS[COMPONENT_COUNT] = {
    [COMPONENT_LLC_MISS] = "llc_miss",     [COMPONENT_MISPREDICT] = "mispredict",
    [COMPONENT_FLUSH] = "flush",           [COMPONENT_TLB_MISS] = "tlb_miss",
    [COMPONENT_FORWARDING] = "forwarding", [COMPONENT_COHERENCE] = "coherence",
    [COMPONENT_L1_MISS] = "l1_miss",       [COMPONENT_STORES] = "stores",
    [COMPONENT_FRONT_END] = "front_end",   [COMPONENT_EXECUTE] = "execute"};

const char *component_key(enum component component) {
    return KEYS[component];
}
