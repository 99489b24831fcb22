/* Threads are replayed one instruction after the other, without time: a thread stops where it read
 * what another has not written yet, waits for a wake that has not come, or has not been made. All
 * of these are as captured, so one can always go on; a damaged trace may need a push. */
#include "simulate/lock_messages.h"

#include <stdlib.h>
#include <string.h>

#include "simulate/lock_counters.h"
#include "simulate/selection.h"
#include "util/array.h"
#include "util/random.h"

enum {
    WORDS = 1 << 20,             /* at most, that are remembered */
    FEW_SLOTS = 1 << 12,         /* of the table, at first */
    MOST_MESSAGES = 1 << 22,     /* of a process */
    NEIGHBOURS = 16,             /* words that are kept side by side */
    WORD_BYTES = 4,              /* of what two neighbours in memory hold, neither is the other */
    MOST_ACCESS_WORDS = 1 << 10, /* of one access */
    MOST_COUNTER_BYTES = 8
};

struct word {
    uint64_t key; /* key_of(); 0: none */
    struct deed {
        uint64_t place; /* instructions of its thread up to and with that one */
        uint32_t thread;
        uint32_t section; /* numbered over all threads */
    } write, read;        /* the last message, and its first reading by another */
    uint32_t section;     /* of the last reading of all */
    uint8_t state;        /* enum word_state */
    bool counted;         /* a counter has been written there */
};
enum word_state { WORD_FREE, WORD_WRITTEN, WORD_READ };

struct replay {
    struct chip_run *chip;
    struct word *words; /* `slots` of them, twice as many as there are words, or more */
    size_t slots;
    uint32_t word_count;
    bool out_of_memory;
    struct lock_counters *counters;
    uint32_t sections;
    size_t messages;
    bool *passed; /* by event of the list */
    struct replayed {
        struct guest guest;
        struct lock_section section;
        size_t capacity;          /* of its guest's messages */
        struct trace_order order; /* that it waits for; `written` 0: none */
        size_t waits_for;         /* event; SIZE_MAX: none */
        bool opened, ended;
    } * threads;
};

/* ---- words ---- */

static uint64_t key_of(uint64_t address) {
    return address / WORD_BYTES + 1;
}

/* What lies side by side in memory does so in the table: few lines of the host's caches have it. */
static size_t home_of(size_t slots, uint64_t key) {
    return (random_mix(key / NEIGHBOURS) * NEIGHBOURS + key % NEIGHBOURS) & (slots - 1);
}

static struct word *slot_of(struct word *words, size_t slots, uint64_t key) {
    size_t slot = home_of(slots, key);
    while (words[slot].key && words[slot].key != key)
        slot = (slot + 1) & (slots - 1);
    return &words[slot];
}

static bool grow(struct replay *replay) {
    const size_t slots = replay->slots ? 2 * replay->slots : FEW_SLOTS;
    struct word *words = calloc(slots, sizeof *words);
    if (!words)
        return false;
    for (size_t i = 0; i < replay->slots; i++)
        if (replay->words[i].key)
            *slot_of(words, slots, replay->words[i].key) = replay->words[i];
    free(replay->words);
    replay->words = words;
    replay->slots = slots;
    return true;
}

/* NULL: there is no room. */
static struct word *word_at(struct replay *replay, uint64_t key) {
    struct word *word = slot_of(replay->words, replay->slots, key);
    if (word->key)
        return word;
    if (replay->word_count == WORDS || replay->out_of_memory)
        return NULL;
    if (2 * (size_t)replay->word_count >= replay->slots) {
        if ((replay->out_of_memory = !grow(replay)))
            return NULL;
        word = slot_of(replay->words, replay->slots, key);
    }
    replay->word_count++;
    word->key = key;
    return word;
}

/* As word_at(), of the key behind that of a word. */
static struct word *word_behind(struct replay *replay, struct word *word, uint64_t key) {
    struct word *behind = word ? word + 1 : NULL;
    return word && behind < replay->words + replay->slots && behind->key == key
               ? behind
               : word_at(replay, key);
}

static bool may_bind(const struct lock_section *section, const struct deed *deed) {
    return lock_section_may_bind(section, deed->thread, deed->section);
}

static void touch(struct lock_section *section, struct word *word, bool store, uint64_t place) {
    const struct deed deed = {
        .place = place, .thread = section->thread, .section = section->number};
    if (!store) {
        word->section = section->number;
        if (word->state == WORD_FREE || !may_bind(section, &word->write))
            return;
        if (word->state == WORD_WRITTEN)
            word->read = deed;
        else if (lock_section_knows(section, word->write.thread, word->write.place))
            return;
        lock_section_bind(section, word->write.thread, word->write.place);
        word->state = WORD_READ;
    } else if (word->section == section->number) {
        word->state = WORD_FREE; /* it depends on what it was */
    } else {
        if (word->state == WORD_READ && may_bind(section, &word->read))
            lock_section_bind(section, word->read.thread, word->read.place);
        word->state = WORD_WRITTEN;
        word->write = deed;
    }
}

/* `place`: instructions of the thread up to and with the one whose access this is. */
static void touch_all(struct replay *replay, struct lock_section *section,
                      const struct memory_access *access, uint32_t insn, uint64_t place) {
    const uint64_t first = key_of(access->address);
    uint64_t count = key_of(access->address + access->size_bytes - 1) - first + 1;
    struct word *word = NULL;
    bool counted = false, depends = false;
    if (count > MOST_ACCESS_WORDS)
        count = MOST_ACCESS_WORDS;
    for (uint64_t k = 0; k < count; k++) {
        word = word_behind(replay, word, first + k);
        if (!word)
            continue;
        depends |= word->section == section->number;
        touch(section, word, access->is_store, place);
        if (access->is_store && depends)
            word->counted = true;
        counted |= word->counted;
    }
    if (access->size_bytes > MOST_COUNTER_BYTES)
        return;
    if (!access->is_store)
        lock_counters_read(replay->counters, section, access->address, counted, insn);
    else if (counted)
        lock_counters_write(replay->counters, section, access->address, depends, place);
}

/* An instruction of a section, with its accesses. */
static void take_insn(struct replay *replay, struct lock_section *section,
                      const struct trace_batch *piece, uint32_t number, uint64_t place) {
    const struct dynamic_insn *insn = &piece->insns[number];
    const struct memory_access *accesses =
        &piece->accesses[insn->memory - (uint32_t)piece->first_access];
    lock_counters_begin(replay->counters, section, insn->insn);
    for (uint32_t i = 0; i < insn->memory_count; i++)
        if (!accesses[i].is_store)
            touch_all(replay, section, &accesses[i], insn->insn, place);
    lock_counters_compute(replay->counters, section, insn->insn);
    for (uint32_t i = 0; i < insn->memory_count; i++)
        if (accesses[i].is_store)
            touch_all(replay, section, &accesses[i], insn->insn, place);
}

/* ---- sections ---- */

/* `waits`: at a condition. */
static bool end_section(struct replay *replay, struct replayed *thread, bool waits,
                        struct error *error) {
    struct guest *guest = &replay->chip->guests[thread->guest.thread];
    struct lock_section *section = &thread->section;
    lock_counters_end(replay->counters, section, waits);
    lock_section_end(section);
    for (uint32_t i = 0; i < section->source_count && replay->messages < MOST_MESSAGES; i++) {
        if (!array_push(guest->messages, thread->capacity, guest->message_count,
                        section->sources[i]))
            return error_set(error, "out of memory for what threads hand to each other");
        replay->messages++;
    }
    return true;
}

/* Whether the thread has a lock that others take too. */
static bool has_common(const struct guest *guest) {
    return any_where(i, guest->held_count, guest->held[i]->common);
}

/* `place`: instructions of the thread before what comes next. */
static bool act(struct replay *replay, struct replayed *thread, const struct guest_action *action,
                uint64_t place, struct error *error) {
    struct guest *guest = &thread->guest;
    const bool waits = action->what == DO_GIVE && guest->routine == ENTRY_CONDITION;
    guest_note_action(guest, action);
    const bool within = has_common(guest);
    if (within && !thread->section.number)
        lock_section_begin(&thread->section, ++replay->sections, place);
    return within || !thread->section.number || end_section(replay, thread, waits, error);
}

/* ---- threads ---- */

static uint64_t place_of(const struct replay *replay, const struct trace_order *order) {
    const uint64_t before = replay->chip->events.before[order->writer];
    return order->written > before ? order->written - before : 0;
}

static bool may_go_on(const struct replay *replay, const struct replayed *thread) {
    const struct chip_run *chip = replay->chip;
    const struct trace_order *order = &thread->order;
    if (thread->waits_for != SIZE_MAX && !replay->passed[thread->waits_for])
        return false;
    if (!order->written || order->writer >= chip->thread_count ||
        order->writer >= chip->events.thread_count ||
        chip->process_of[order->writer] != chip->process)
        return true;
    const struct replayed *writer = &replay->threads[order->writer];
    return writer->ended || (writer->opened &&
                             guest_input_position(&writer->guest.input) >= place_of(replay, order));
}

static void take_event(struct replay *replay, struct replayed *thread,
                       const struct thread_event *event) {
    const struct chip_run *chip = replay->chip;
    const size_t place = chip->events.first[event->thread] + event->number;
    if (place >= chip->events.count)
        return;
    replay->passed[place] = true;
    if (event->kind == THREAD_EVENT_WAIT && chip->pairs.released_by[place] != WAKE_PAIRS_NONE)
        thread->waits_for = chip->pairs.released_by[place];
}

/* Up to and with the next that does something with a lock, which may also begin or end a section;
 * of a section, one. *taken: how many. `before`: instructions of the thread before the piece. */
static bool take_looking(struct replay *replay, struct replayed *thread,
                         const struct trace_batch *piece, uint64_t before, uint32_t *taken,
                         struct error *error) {
    struct guest *guest = &thread->guest;
    struct guest_action action = {.what = DO_NOTHING};
    const bool within = thread->section.number;
    struct trace_batch rest = *piece;
    rest.insns += *taken;
    rest.insn_count = within ? 1 : rest.insn_count - *taken;
    const uint32_t count = guest_look(replay->chip, guest, &rest, &action, error);
    if (count == UINT32_MAX)
        return false;
    if (within && !guest->routine && count)
        take_insn(replay, &thread->section, piece, *taken, before + *taken + 1);
    *taken += count;
    guest_settle_try(replay->chip, guest, before + *taken, &action);
    return action.what == DO_NOTHING || act(replay, thread, &action, before + *taken, error);
}

/* Of a section, one by one what may belong to a routine of a lock. */
static bool take_insns(struct replay *replay, struct replayed *thread,
                       const struct trace_batch *piece, struct error *error) {
    const uint64_t before = guest_input_position(&thread->guest.input) - piece->insn_count;
    for (uint32_t taken = 0; taken < piece->insn_count;) {
        const uint32_t plain =
            thread->section.number ? guest_plain(replay->chip, &thread->guest, piece, taken) : 0;
        if (plain <= taken && !take_looking(replay, thread, piece, before, &taken, error))
            return false;
        for (; taken < plain; taken++)
            take_insn(replay, &thread->section, piece, taken, before + taken + 1);
    }
    return true;
}

/* Until it has to wait. */
static bool go_on(struct replay *replay, struct replayed *thread, struct error *error) {
    struct guest *guest = &thread->guest;
    struct guest_next next;
    thread->order.written = 0;
    thread->waits_for = SIZE_MAX;
    if (!thread->opened && !guest_input_open(&guest->input, replay->chip->options->path,
                                             replay->chip->run->trace, guest->thread, error))
        return false;
    thread->opened = true;
    while (thread->waits_for == SIZE_MAX && !thread->order.written) {
        if (watcher_stops(&replay->chip->run->options->watcher))
            return true;
        switch (guest_input_next(&guest->input, TRACE_BATCH_INSNS, &next, error)) {
        case GUEST_FAILED:
            return false;
        case GUEST_INSNS:
            if (!take_insns(replay, thread, &next.piece, error))
                return false;
            break;
        case GUEST_EVENT:
            take_event(replay, thread, next.event);
            break;
        case GUEST_ORDER:
            thread->order = *next.order;
            break;
        case GUEST_END:
            thread->ended = true;
            guest_input_close(&guest->input);
            return !thread->section.number || end_section(replay, thread, false, error);
        }
        if ((thread->order.written || thread->waits_for != SIZE_MAX) && may_go_on(replay, thread)) {
            thread->order.written = 0;
            thread->waits_for = SIZE_MAX;
        }
    }
    return true;
}

static bool start_threads(struct replay *replay, struct error *error) {
    const struct chip_run *chip = replay->chip;
    const struct thread_event_list *events = &chip->events;
    replay->threads = calloc((size_t)chip->thread_count + 1, sizeof *replay->threads);
    replay->passed = calloc(events->count + 1, sizeof *replay->passed);
    replay->counters = lock_counters_new(trace_code(chip->run->trace));
    if (!replay->threads || !grow(replay) || !replay->passed || !replay->counters)
        return error_set(error, "out of memory for what threads hand to each other");
    for (uint32_t i = 0; i < chip->thread_count; i++) {
        struct replayed *thread = &replay->threads[i];
        thread->guest = (struct guest){.thread = i, .routine_call = UINT32_MAX};
        thread->section.thread = i;
        thread->ended = chip->process_of[i] != chip->process;
        thread->waits_for = SIZE_MAX;
        if (i < events->thread_count && events->threads[i].creator != THREAD_EVENT_NO_THREAD)
            thread->waits_for =
                events->first[events->threads[i].creator] + events->threads[i].creator_event;
    }
    return true;
}

static bool replay_all(struct replay *replay, struct error *error) {
    const uint32_t count = replay->chip->thread_count;
    for (bool force = false, more = true; more;) {
        bool moved = false;
        more = false;
        for (uint32_t i = 0; i < count; i++) {
            struct replayed *thread = &replay->threads[i];
            if (thread->ended)
                continue;
            if (watcher_stops(&replay->chip->run->options->watcher))
                return true;
            more = true;
            if (!force && !may_go_on(replay, thread))
                continue;
            force = false;
            moved = true;
            if (!go_on(replay, thread, error))
                return false;
        }
        force = !moved;
    }
    return true;
}

/* Whether several threads may take locks. */
static bool has_locks(const struct chip_run *chip) {
    const uint32_t insns = trace_code(chip->run->trace)->insn_count;
    uint32_t threads = 0;
    for (uint32_t i = 0; i < chip->thread_count; i++)
        threads += chip->process_of[i] == chip->process;
    return threads > 1 && any_where(i, insns, (chip->lock_flags[i] & LOCK_ENTRY) == ENTRY_LOCK);
}

static bool is_of_process(const struct chip_run *chip, uint32_t thread) {
    return chip->process_of[thread] == chip->process;
}

/* True: those of all threads of the process are known. */
static bool take_known(struct chip_run *chip) {
    const struct together_messages *known = chip->options->messages;
    if (!known || known->count < chip->thread_count ||
        any_where(i, chip->thread_count, is_of_process(chip, i) && !known->of[i].known))
        return false;
    for (uint32_t i = 0; i < chip->thread_count; i++) {
        if (!is_of_process(chip, i))
            continue;
        struct guest *guest = &chip->guests[i];
        guest->messages = known->of[i].items;
        guest->message_count = known->of[i].count;
        guest->messages_known = true;
        chip->result->handed += guest->message_count;
    }
    return true;
}

static bool make_known(struct chip_run *chip, struct error *error) {
    struct together_messages *known = chip->options->messages;
    if (!known || watcher_stops(&chip->run->options->watcher))
        return true;
    if (!known->of && !(known->of = calloc((size_t)chip->thread_count + 1, sizeof *known->of)))
        return error_set(error, "out of memory for what threads hand to each other");
    known->count = chip->thread_count;
    for (uint32_t i = 0; i < chip->thread_count; i++) {
        if (!is_of_process(chip, i))
            continue;
        struct guest *guest = &chip->guests[i];
        known->of[i] = (struct thread_messages){guest->messages, guest->message_count, true};
        guest->messages_known = true;
    }
    return true;
}

static bool find(struct replay *replay, struct error *error) {
    const struct lock_table *locks = &replay->chip->locks;
    if (!chip_count_locks(replay->chip, error))
        return false;
    return !any_where(i, locks->count, locks->locks[i]->common) ||
           (start_threads(replay, error) && replay_all(replay, error) &&
            ((!replay->out_of_memory && !lock_counters_failed(replay->counters)) ||
             error_set(error, "out of memory for what threads hand to each other")));
}

bool lock_messages_find(struct chip_run *chip, struct error *error) {
    if (!has_locks(chip) || take_known(chip))
        return true;
    struct replay replay = {.chip = chip};
    const bool good = find(&replay, error);
    for (uint32_t i = 0; replay.threads && i < chip->thread_count; i++)
        guest_input_close(&replay.threads[i].guest.input);
    chip->result->handed += replay.messages;
    free(replay.threads);
    lock_counters_free(replay.counters);
    free(replay.words);
    free(replay.passed);
    lock_table_free(&chip->locks);
    return good && make_known(chip, error);
}
