/* All profilers side by side as one worker of a tap, and what a core showed, cut otherwise. */
#ifndef CULPRIT_TESTS_PROFILE_FIXTURE_H
#define CULPRIT_TESTS_PROFILE_FIXTURE_H

#include "attribute/profiler.h"
#include "core_fixture.h"
#include "tap_script.h"

enum { SET_PROFILERS = 12 };
static const struct sampler_options EVERY_CYCLE = {.period = 1};

/* One profile of each profiler. */
struct profile_set {
    struct profile *profiles[SET_PROFILERS];
    struct profile_lane *lanes[SET_PROFILERS];
    struct profile_result results[SET_PROFILERS];
};

static inline void set_open(struct profile_set *set, const struct sampler_options *sampling) {
    struct error error;
    for (unsigned i = 0; profilers[i]; i++) {
        assert_true(i < SET_PROFILERS);
        struct profile_options options = {profilers[i], *sampling, 4};
        assert_non_null(set->profiles[i] = profile_new(&options, &error));
        assert_non_null(set->lanes[i] = profile_lane_new(set->profiles[i]));
    }
}

static bool set_consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct profile_set *set = context;
    bool right = true;
    for (unsigned i = 0; i < SET_PROFILERS && right; i++) {
        struct tap_worker worker = profile_lane_worker(set->lanes[i]);
        right = worker.consume(worker.context, buffer, error);
    }
    return right;
}

static inline struct tap_worker set_worker(struct profile_set *set) {
    struct tap_worker worker = {.name = "profilers", .consume = set_consume, .context = set};
    for (unsigned i = 0; i < SET_PROFILERS; i++)
        worker.kinds |= profile_lane_worker(set->lanes[i]).kinds;
    return worker;
}

static inline void set_finish(struct profile_set *set) {
    struct error error;
    for (unsigned i = 0; i < SET_PROFILERS; i++) {
        profile_lane_free(set->lanes[i]);
        if (!profile_finish(set->profiles[i], &set->results[i], &error))
            fail_msg("%s: %s", profilers[i]->name, error.message);
    }
}

static inline void set_close(struct profile_set *set) {
    for (unsigned i = 0; i < SET_PROFILERS; i++)
        profile_free(set->profiles[i]);
}

static inline const struct profile_result *result_of(const struct profile_set *set,
                                                     const char *name) {
    for (unsigned i = 0; i < SET_PROFILERS; i++)
        if (!strcmp(profilers[i]->name, name))
            return &set->results[i];
    fail_msg("no profiler %s", name);
    return NULL;
}

/* Cell by cell. */
static inline void assert_same_pics(const char *name, const struct pics *a, const struct pics *b) {
    uint64_t a_count, b_count;
    struct pics_cell *a_cells = pics_cells(a, &a_count), *b_cells = pics_cells(b, &b_count);
    assert_non_null(a_cells);
    assert_non_null(b_cells);
    for (uint64_t i = 0; i < a_count && i < b_count; i++)
        if (memcmp(&a_cells[i], &b_cells[i], sizeof *a_cells) != 0)
            fail_msg("%s: instruction %u/%u, signature %u/%u: %lu, not %lu units", name,
                     a_cells[i].insn, b_cells[i].insn, a_cells[i].psv, b_cells[i].psv,
                     a_cells[i].units, b_cells[i].units);
    assert_int_equal(a_count, b_count);
    free(a_cells);
    free(b_cells);
}

/* ---- what a core showed, once more, cut otherwise ---- */

struct recording {
    uint64_t *words;
    size_t count, capacity;
};

static bool record_consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct recording *recording = context;
    (void)error;
    if (recording->count + buffer->used > recording->capacity) {
        recording->capacity = 2 * (recording->count + buffer->used);
        recording->words = realloc(recording->words, recording->capacity * sizeof(uint64_t));
    }
    memcpy(recording->words + recording->count, buffer->words, buffer->used * sizeof(uint64_t));
    recording->count += buffer->used;
    return true;
}

static inline struct tap_worker recording_worker(struct recording *recording) {
    return (struct tap_worker){.name = "recording",
                               .kinds = 1 << TAP_DISPATCH | 1 << TAP_FETCH,
                               .consume = record_consume,
                               .context = recording};
}

struct player {
    const uint64_t *word, *end;
    struct tap_script *script;
    struct tap_worker worker;
    unsigned cut, records; /* a new buffer after so many records; 0: when it is full */
};

static inline void player_open(struct player *player, const struct recording *recording,
                               const struct tap_worker *worker, unsigned cut) {
    *player = (struct player){.word = recording->words,
                              .end = recording->words + recording->count,
                              .script = tap_script_new(),
                              .worker = *worker,
                              .cut = cut};
}

static inline void player_exchange(struct player *player, bool hidden) {
    struct error error;
    const struct tap_buffer *buffer = &player->script->buffer;
    if (!hidden && !player->worker.consume(player->worker.context, buffer, &error))
        fail_msg("%s", error.message);
    script_next_buffer(player->script);
    player->records = 0;
}

/* The next so many records, or all that are left; hidden ones are not shown, as before a trigger.
 */
static inline void player_play(struct player *player, size_t records, bool hidden) {
    struct tap_script *script = player->script;
    if (hidden)
        player_exchange(player, false);
    for (size_t i = 0; i < records && player->word < player->end; i++) {
        struct tap_record record;
        player->word = tap_read(player->word, &record);
        script_record(script, record.kind, script->after.cycle + record.delta,
                      record.flags & TAP_EMPTY_MASK, record.empty, record.count, record.uops);
        if (++player->records == player->cut ||
            script->buffer.used + TAP_RECORD_WORDS > TAP_BUFFER_WORDS)
            player_exchange(player, hidden);
    }
    if (hidden)
        player_exchange(player, true);
}

static inline void player_close(struct player *player) {
    player_exchange(player, false);
    tap_script_free(player->script);
}

static inline void replay(const struct recording *recording, const struct tap_worker *worker,
                          unsigned cut) {
    struct player player;
    player_open(&player, recording, worker, cut);
    player_play(&player, SIZE_MAX, false);
    player_close(&player);
}

#endif
