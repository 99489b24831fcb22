/* A fragment has left the path at the first instruction that is not the one executed. The
 * instruction at which it was aborted counts too, if there was one. */
#include "shotgun/validate.h"

#include "util/array.h"

/* Whether `insn` was executed there. A compare that is wholly in its branch is not seen
 * committing. */
static bool is_right(const uint32_t *path, uint32_t at, uint32_t insn) {
    return insn != CODE_UNKNOWN && (path[at] == SHOTGUN_NONE || path[at] == insn);
}

static void validate(struct shotgun_statistics *statistics, const struct shotgun_fragment *fragment,
                     const uint32_t *path) {
    bool complete = fragment->outcome == SHOTGUN_COMPLETE;
    const uint32_t end = fragment->insns;
    const size_t right = index_where(i, end, !is_right(path, (uint32_t)i, fragment->path[i]));
    bool stopped = fragment->outcome == SHOTGUN_NO_TARGET;
    bool errant = right < end || (!complete && !stopped && !is_right(path, end, fragment->next));
    statistics->errant += errant;
    statistics->errant_discarded += errant && !complete;
    statistics->right_discarded += !errant && !complete && !stopped;
    uint32_t known = complete || stopped ? end - 1 : end; /* instructions whose next is known */
    for (uint32_t i = 0; i < right && i < known; i++) {
        uint32_t next = i + 1 < end ? fragment->path[i + 1] : fragment->next;
        statistics->targets += fragment->by_sample[i];
        statistics->targets_right += fragment->by_sample[i] && is_right(path, i + 1, next);
    }
}

void shotgun_count(struct shotgun_statistics *statistics, const struct shotgun_fragment *fragment,
                   const uint32_t *path) {
    statistics->outcomes[fragment->outcome]++;
    for (uint32_t i = 0; fragment->outcome == SHOTGUN_COMPLETE && i < fragment->insns; i++)
        if (fragment->source[i] != SHOTGUN_NOTHING)
            statistics->sources[fragment->source[i]]++;
    statistics->validated |= path != NULL;
    if (path)
        validate(statistics, fragment, path);
}
