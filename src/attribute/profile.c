/* The profile of one profiler over all cores of a run.
 *
 * Which samples are in the log at the end depends on the cycles that the cores ran for alone: the
 * period is the shortest of which fewer than twice the number asked for have passed, and at any
 * moment the log holds no sample that this period would not keep. */
#include "attribute/profile.h"

#include <stdlib.h>

#include "util/array.h"

struct profile *profile_new(const struct profile_options *options, struct error *error) {
    struct profile *profile = calloc(1, sizeof *profile);
    if (!profile || !(profile->pics = pics_new())) {
        free(profile);
        error_set(error, "out of memory for the profile of %s", options->profiler->name);
        return NULL;
    }
    profile->options = *options;
    profile->sampler = sampler_start(&options->sampling);
    return profile;
}

void profile_free(struct profile *profile) {
    if (!profile)
        return;
    pics_free(profile->pics);
    free(profile->log);
    free(profile->gone);
    free(profile);
}

/* `cycles` in equal shares; units that do not divide go to the first, one each. */
static bool add_shares(struct profile *profile, uint64_t cycles, const uint64_t *uops, unsigned n) {
    uint64_t share = cycles * CYCLE_UNITS / n, rest = cycles * CYCLE_UNITS % n;
    uint32_t events = profile->options.profiler->events;
    bool room = true;
    for (unsigned i = 0; i < n; i++)
        room &= pics_add(profile->pics, tap_uop_insn(uops[i]), tap_uop_psv(uops[i]) & events,
                         share + (i < rest));
    return room;
}

static bool log_sample(struct profile *profile, uint64_t cycle, const uint64_t *uops, unsigned n) {
    if (!array_reserve((void **)&profile->log, &profile->log_capacity, profile->log_used + 1 + n,
                       sizeof *profile->log))
        return false;
    profile->log[profile->log_used++] = cycle << 8 | n;
    for (unsigned i = 0; i < n; i++)
        profile->log[profile->log_used++] = uops[i];
    return true;
}

bool profile_add(struct profile *profile, uint64_t value, uint64_t samples, const uint64_t *uops,
                 unsigned n) {
    if (profile_logs(profile))
        return log_sample(profile, value, uops, n);
    profile->samples += samples;
    return add_shares(profile, value, uops, n);
}

/* ---- a longer period ---- */

static void thin_log(struct profile *profile) {
    uint64_t *from = profile->log, *to = profile->log, *end = profile->log + profile->log_used;
    while (from < end) {
        unsigned words = 1 + (*from & 255);
        bool keep = sampler_keeps(&profile->sampler, *from >> 8);
        for (unsigned i = 0; i < words; i++)
            to[i] = from[i];
        from += words;
        to += keep ? words : 0;
    }
    profile->log_used = (size_t)(to - profile->log);
}

static void thin_pending(const struct profile *profile, struct profile_lane *lane) {
    size_t kept = 0;
    for (size_t i = 0; i < lane->pending_count; i++)
        if (sampler_keeps(&profile->sampler, lane->pending[i].value))
            lane->pending[kept++] = lane->pending[i];
    lane->pending_count = kept;
}

static void double_period(struct profile *profile) {
    thin_log(profile);
    for (struct profile_lane *lane = profile->lanes; lane; lane = lane->next)
        thin_pending(profile, lane);
    profile->sampler.level++;

    uint64_t period = sampler_period(&profile->sampler);
    profile->periods = 0;
    for (struct profile_lane *lane = profile->lanes; lane; lane = lane->next) {
        sampler_seek(&profile->sampler, &lane->cursor, lane->seen);
        profile->periods += lane->cycles / period;
    }
    size_t kept = 0;
    for (size_t i = 0; i < profile->gone_count; i++)
        if (profile->gone[i] >= period) {
            profile->periods += profile->gone[i] / period;
            profile->gone[kept++] = profile->gone[i];
        }
    profile->gone_count = kept;
}

void profile_advance(struct profile_lane *lane, uint64_t cycles) {
    struct profile *profile = lane->profile;
    uint64_t period = sampler_period(&profile->sampler);
    profile->periods += (lane->cycles + cycles) / period - lane->cycles / period;
    lane->cycles += cycles;
    while (profile_logs(profile) && profile->periods >= 2 * profile->options.sampling.samples)
        double_period(profile);
}

/* ---- the end ---- */

bool profile_finish(struct profile *profile, struct profile_result *result, struct error *error) {
    const struct profiler *profiler = profile->options.profiler;
    bool room = !profile->short_of_memory;
    for (size_t i = 0; i < profile->log_used; i += 1 + (profile->log[i] & 255)) {
        uint64_t weight = sampler_weight(&profile->sampler, profile->log[i] >> 8);
        unsigned n = profile->log[i] & 255;
        profile->samples += n > 0;
        if (n == 0)
            profile->lost += weight;
        else
            room &= add_shares(profile, weight, &profile->log[i + 1], n);
    }
    profile->log_used = 0;
    if (!room)
        return error_set(error, "out of memory for the profile of %s", profiler->name);
    *result = (struct profile_result){
        .period = sampler_period(&profile->sampler),
        .samples = profile->samples,
        .bytes = profile->samples * profiler_sample_bytes(profiler, profile->options.commit_width),
        .lost = profile->lost,
        .pics = profile->pics,
    };
    return true;
}
