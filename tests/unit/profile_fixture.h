/* All profilers side by side as one worker of a tap, and streams of records made or cut by hand. */
#ifndef CULPRIT_TESTS_PROFILE_FIXTURE_H
#define CULPRIT_TESTS_PROFILE_FIXTURE_H

#include "attribute/profiler.h"
#include "core_fixture.h"

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

/* ---- records by hand ---- */

struct hand {
    struct tap *tap;
    struct tap_buffer *buffer;
    struct tap_state state;
    unsigned records, cut; /* a new buffer after so many records; 0: when it is full */
};

static inline void hand_begin(struct hand *hand, struct tap *tap, unsigned cut) {
    *hand = (struct hand){.tap = tap, .buffer = tap_current(tap), .cut = cut};
    hand->buffer->start = hand->state;
}

static inline void hand_exchange(struct hand *hand) {
    struct error error;
    hand->records = 0;
    if (!(hand->buffer = tap_exchange(hand->tap, &hand->state, &error)))
        fail_msg("%s", error.message);
}

static inline void hand_advance(struct tap_state *state, unsigned kind, uint64_t cycle,
                                const uint64_t *uops, unsigned n) {
    state->cycle = cycle;
    switch (kind) {
    case TAP_COMMIT:
        state->uop += n;
        state->last_uop = uops[n - 1];
        state->last_commit = cycle;
        break;
    case TAP_FLUSH:
        state->dispatched = state->fetched = state->uop;
        state->last_commit = cycle;
        break;
    case TAP_DISPATCH:
        state->dispatched += n;
        break;
    default:
        state->fetched += n;
    }
}

/* A record in cycle `cycle`; `empty` and `why` as in tap.h. */
static inline void hand_record(struct hand *hand, unsigned kind, uint64_t cycle, unsigned why,
                               uint64_t empty, const uint64_t *uops, unsigned n) {
    struct tap_buffer *buffer = hand->buffer;
    buffer->words[buffer->used++] = tap_header(kind, why, n, empty, cycle - hand->state.cycle);
    for (unsigned i = 0; i < tap_payload(kind, n); i++)
        buffer->words[buffer->used++] = uops[i];
    buffer->records[kind]++;
    hand_advance(&hand->state, kind, cycle, uops, n);
    if (++hand->records == hand->cut || buffer->used + TAP_RECORD_WORDS > TAP_BUFFER_WORDS)
        hand_exchange(hand);
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
    struct hand hand;
};

static inline void player_open(struct player *player, const struct recording *recording,
                               const struct tap_worker *worker, unsigned cut) {
    struct error error;
    struct tap *tap = tap_new(NULL);
    assert_true(tap_add_worker(tap, worker, &error));
    hand_begin(&player->hand, tap, cut);
    player->word = recording->words;
    player->end = recording->words + recording->count;
}

/* The next so many records, or all that are left; hidden ones are not shown, as before a trigger.
 */
static inline void player_play(struct player *player, size_t records, bool hidden) {
    struct hand *hand = &player->hand;
    if (hidden)
        hand_exchange(hand);
    for (size_t i = 0; i < records && player->word < player->end; i++) {
        struct tap_record record;
        player->word = tap_read(player->word, &record);
        uint64_t cycle = hand->state.cycle + record.delta;
        if (hidden)
            hand_advance(&hand->state, record.kind, cycle, record.uops, record.count);
        else
            hand_record(hand, record.kind, cycle, record.flags, record.empty, record.uops,
                        record.count);
    }
    hand->buffer->start = hidden ? hand->state : hand->buffer->start;
}

static inline void player_close(struct player *player) {
    struct error error;
    struct hand *hand = &player->hand;
    assert_true(tap_flush(hand->tap, &hand->state, &hand->buffer, &error));
    tap_free(hand->tap);
}

static inline void replay(const struct recording *recording, const struct tap_worker *worker,
                          unsigned cut) {
    struct player player;
    player_open(&player, recording, worker, cut);
    player_play(&player, SIZE_MAX, false);
    player_close(&player);
}

#endif
