/* The table of profilers. */
#include <stddef.h>
#include <strings.h>

#include "attribute/profiler.h"

#define PROFILER(name) extern const struct profiler name##_profiler;
#include "attribute/profilers.def"
#undef PROFILER

const struct profiler *const profilers[] = {
#define PROFILER(name) &name##_profiler,
#include "attribute/profilers.def"
#undef PROFILER
    NULL,
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
