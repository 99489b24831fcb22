/* The table of profilers. */
#include <stddef.h>
#include <strings.h>

#include "attribute/profiler.h"

extern const struct profiler software_profiler, dispatch_profiler, lci_profiler, nci_profiler,
    nci_ilp_profiler, tip_ilp_profiler, tip_profiler, ibs_profiler, spe_profiler, ris_profiler,
    nci_tea_profiler, tea_profiler;

const struct profiler *const profilers[] = {
    &software_profiler, &dispatch_profiler, &lci_profiler, &nci_profiler, &nci_ilp_profiler,
    &tip_ilp_profiler,  &tip_profiler,      &ibs_profiler, &spe_profiler, &ris_profiler,
    &nci_tea_profiler,  &tea_profiler,      NULL,
};

const struct profiler *profiler_find(const char *name) {
    for (const struct profiler *const *profiler = profilers; *profiler; profiler++)
        if (!strcasecmp((*profiler)->name, name))
            return *profiler;
    return NULL;
}

uint32_t profiler_sample_bytes(const struct profiler *profiler, uint32_t commit_width) {
    enum { PERF_BYTES = 40, WORD = 8, STATES = 5 };
    if (!profiler->wide)
        return PERF_BYTES + (profiler->events ? 3 : 2) * WORD;
    uint32_t oldest = 0; /* bits of Oldest ID */
    while (1u << oldest < commit_width)
        oldest++;
    uint32_t events = (uint32_t)__builtin_popcount(profiler->events) * commit_width;
    uint32_t bits = STATES + oldest + commit_width, words = (bits + 63) / 64;
    if (bits + events > 64)
        words += (events + 63) / 64;
    return PERF_BYTES + (1 + commit_width + words) * WORD;
}

uint32_t profiler_storage_bytes(const struct profiler *profiler, const struct machine_core *core) {
    if (profiler->storage_bytes)
        return profiler->storage_bytes(core);
    bool tags = !profiler->at_commit;
    return tags ? ((uint32_t)__builtin_popcount(profiler->events) + 7) / 8 : 0;
}
