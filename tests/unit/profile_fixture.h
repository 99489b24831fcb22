/* All profilers side by side as one worker of a tap, and what a core showed, cut otherwise. */
#pragma once

#include "attribute/profiler.h"
#include "core_fixture.h"
#include "tap_script.h"

enum { SET_PROFILERS = 12 };
static const struct sampler_options EVERY_CYCLE = {.period = 1};

/* One profile of each profiler; each is a group of its own. */
struct profile_set {
    struct profile_group *groups[SET_PROFILERS];
    struct profile_lane *lanes[SET_PROFILERS];
    struct profile_result results[SET_PROFILERS];
};

static inline void set_open(struct profile_set *set, const struct sampler_options *sampling) {
    struct error error;
    *set = (struct profile_set){.groups = {NULL}};
    for (unsigned i = 0; profilers[i]; i++) {
        assert_true(i < SET_PROFILERS);
        struct profile_options options = {profilers[i], *sampling, 4};
        assert_non_null(set->groups[i] = profile_group_new(&options, 1, &error));
        assert_non_null(set->lanes[i] = profile_lane_new(set->groups[i]));
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
        if (!profile_group_finish(set->groups[i], &set->results[i], &error))
            fail_msg("%s: %s", profilers[i]->name, error.message);
    }
}

static inline void set_close(struct profile_set *set) {
    for (unsigned i = 0; i < SET_PROFILERS; i++)
        profile_group_free(set->groups[i]);
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

/* ---- a program drawn at random: 20,000 instructions ---- */

enum { BLOCKS = 40, BLOCK_INSNS = 12, EXECUTED_BLOCKS = 1700 };

static inline uint32_t next_random(uint32_t *state) { /* xorshift32 (Marsaglia 2003) */
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static inline uint32_t random_insn(struct program_fixture *program, uint32_t *random) {
    uint8_t a = (uint8_t)(1 + next_random(random) % 12), b = (uint8_t)(next_random(random) % 13);
    switch (next_random(random) % 12) {
    case 0:
        return operation(program, OP_INT_DIV, a, b);
    case 1:
        return operation(program, OP_INT_MUL, a, b);
    case 2:
    case 3:
    case 4:
        return load(program, a, b);
    case 5:
    case 6:
        return store(program, a, b);
    default:
        return alu(program, a, b, 0);
    }
}

/* Blocks over 4 KiB of code, each ending with a conditional branch; one instruction that flushes.
 */
static inline void draw_program(struct program_fixture *program) {
    uint32_t random = 12345, first[BLOCKS];
    for (uint32_t block = 0; block < BLOCKS; block++) {
        program->address = 0x10000 + block * 0x65;
        first[block] = program->code.insn_count;
        for (int i = 0; i < BLOCK_INSNS - 1; i++)
            random_insn(program, &random);
        branch(program, BRANCH_CONDITIONAL, (uint8_t)(1 + next_random(&random) % 12));
    }
    uint32_t csr = with_flags(program, operation(program, OP_SYSTEM, 1, 0), INSN_FLUSHING);
    for (int n = 0; n < EXECUTED_BLOCKS; n++) {
        uint32_t insn = first[next_random(&random) % BLOCKS];
        for (int i = 0; i < BLOCK_INSNS - 1; i++, insn++) {
            enum operation operation = program->uops[program->insns[insn].first_uop].operation;
            uint32_t at = next_random(&random);
            /* Mostly one of 16 words, so that loads meet stores; else anywhere in 1 MiB. */
            if (operation == OP_LOAD || operation == OP_STORE)
                execute_at(program, insn, 0x100000 + at / 8 % (at % 8 ? 16 : 131072) * 8, 8);
            else
                execute(program, insn);
        }
        if (next_random(&random) % 2)
            execute_taken(program, insn);
        else
            execute(program, insn);
        if (n % 97 == 0)
            execute(program, csr);
    }
}

/* Executes them, with mispredictions, flushes, ordering violations, and misses of both caches. */
static inline struct machine random_machine(void) {
    struct machine machine = little_machine();
    machine.core.disambiguation = DISAMBIGUATE_SPECULATE;
    machine.branch = (struct machine_branch){
        .direction = DIRECTION_BIMODAL, .bimodal_entries = 1024, .ras_entries = 8};
    machine.l1i = (struct machine_cache){
        .present = true, .size = 2048, .ways = 2, .line = 64, .latency = 1, .mshrs = 2};
    return machine;
}
