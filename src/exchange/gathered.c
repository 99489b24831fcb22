/* Everything is interned: a key's number indexes what is summed under it. */
#include "exchange/gathered.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "util/array.h"
#include "util/order.h"

struct process_key {
    uint32_t command, executable; /* strings */
};

struct image_key {
    uint32_t kind, path; /* path: string */
    uint32_t build_id_size;
    uint8_t build_id[BUILD_ID_MAX];
};

struct event_key {
    uint32_t name, unit;
};

struct symbol_key {
    uint64_t start;
    uint32_t image, name;
};

void gathered_free(struct gathered *gathered) {
    struct intern *tables[] = {&gathered->strings,    &gathered->processes, &gathered->images,
                               &gathered->event_keys, &gathered->entries,   &gathered->symbols};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        intern_free(tables[i]);
    free(gathered->events);
    free(gathered->values);
    free(gathered->symbol_sizes);
    for (size_t i = 0; i < gathered->calls_count; i++)
        call_tree_free(&gathered->calls[i].tree);
    free(gathered->calls);
    *gathered = (struct gathered){0};
}

static uint32_t string_of(struct gathered *gathered, const char *text) {
    return intern_add(&gathered->strings, text, strlen(text));
}

uint32_t gathered_process(struct gathered *gathered, const char *command, const char *executable) {
    struct process_key key = {string_of(gathered, command), string_of(gathered, executable)};
    if (key.command == INTERN_NONE || key.executable == INTERN_NONE)
        return GATHERED_NONE;
    return intern_add(&gathered->processes, &key, sizeof key);
}

uint32_t gathered_image(struct gathered *gathered, enum image_kind kind, const char *path,
                        const uint8_t *build_id, size_t build_id_size) {
    struct image_key key;
    memset(&key, 0, sizeof key);
    key.kind = kind;
    key.path = string_of(gathered, path);
    key.build_id_size = (uint32_t)(build_id_size <= BUILD_ID_MAX ? build_id_size : BUILD_ID_MAX);
    if (key.build_id_size)
        memcpy(key.build_id, build_id, key.build_id_size);
    return key.path == INTERN_NONE ? GATHERED_NONE
                                   : intern_add(&gathered->images, &key, sizeof key);
}

uint32_t gathered_event(struct gathered *gathered, const char *name, const char *unit,
                        const char *period_unit, bool precise) {
    struct event_key key = {string_of(gathered, name), string_of(gathered, unit)};
    uint32_t distance = string_of(gathered, period_unit);
    if (key.name == INTERN_NONE || key.unit == INTERN_NONE || distance == INTERN_NONE)
        return GATHERED_NONE;
    size_t known = gathered->event_keys.count;
    if (!array_room(gathered->events, gathered->event_capacity, known + 1))
        return GATHERED_NONE;
    uint32_t number = intern_add(&gathered->event_keys, &key, sizeof key);
    if (number == known)
        gathered->events[number] = (struct gathered_event){
            .name = key.name, .unit = key.unit, .period_unit = distance, .precise = precise};
    return number;
}

static void add_to(uint64_t *sum, uint64_t value) {
    if (__builtin_add_overflow(*sum, value, sum) || *sum > INT64_MAX)
        *sum = INT64_MAX;
}

void gathered_period(struct gathered *gathered, uint32_t event, uint64_t sum, uint64_t count) {
    add_to(&gathered->events[event].period_sum, sum);
    add_to(&gathered->events[event].period_count, count);
}

bool gathered_add(struct gathered *gathered, const struct gathered_key *key, uint64_t value) {
    size_t known = gathered->entries.count;
    if (!array_room(gathered->values, gathered->value_capacity, known + 1))
        return false;
    uint32_t number = intern_add(&gathered->entries, key, sizeof *key);
    if (number == INTERN_NONE)
        return false;
    if (number == known)
        gathered->values[number] = 0;
    add_to(&gathered->values[number], value);
    return true;
}

bool gathered_symbol(struct gathered *gathered, uint32_t image, const char *name, uint64_t start,
                     uint64_t size) {
    struct symbol_key key = {.start = start, .image = image, .name = string_of(gathered, name)};
    size_t known = gathered->symbols.count;
    if (key.name == INTERN_NONE ||
        !array_room(gathered->symbol_sizes, gathered->symbol_capacity, known + 1))
        return false;
    uint32_t number = intern_add(&gathered->symbols, &key, sizeof key);
    if (number == INTERN_NONE)
        return false;
    uint64_t most = UINT64_MAX - start;
    size = size < most ? size : most;
    if (number == known || size > gathered->symbol_sizes[number])
        gathered->symbol_sizes[number] = size;
    return true;
}

uint64_t gathered_place_of_name(const char *name) {
    const uint64_t names = UINT64_C(1) << 42; /* up to bit 61: the kernel's addresses have 62 */
    return UINT64_C(1) << 63 |
           XXH3_64bits(name, strlen(name)) % names * (uint64_t)GATHERED_NAMED_BYTES;
}

/* ---- symbols ---- */

ORDER(by_start, struct code_symbol, ascending(a->start, b->start) ?: strcmp(a->name, b->name))

/* Joins neighbours of one name, which are pieces of one procedure, and cuts what reaches into the
 * next. Returns how many are left. */
static size_t settle(struct code_symbol *symbols, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct code_symbol *last = kept ? &symbols[kept - 1] : NULL;
        if (last && !strcmp(last->name, symbols[i].name)) {
            uint64_t end = symbols[i].start + symbols[i].size;
            if (end > last->start + last->size)
                last->size = end - last->start;
            continue;
        }
        if (last && last->start == symbols[i].start)
            continue;
        if (last && last->size > symbols[i].start - last->start)
            last->size = symbols[i].start - last->start;
        symbols[kept++] = symbols[i];
    }
    return kept;
}

/* The symbols of one image, `own` of them in the gathered order, added to those that the store has.
 */
static bool save_symbols(const struct gathered *gathered, struct store *store, int64_t image,
                         const uint32_t *own, size_t own_count, struct error *error) {
    struct code_symbol *old = NULL;
    size_t old_count = 0;
    if (!store_get_symbols(store, image, &old, &old_count, error))
        return false;
    struct code_symbol *all = calloc(old_count + own_count, sizeof *all);
    bool good = all || error_set(error, "out of memory for symbols");
    for (size_t i = 0; good && i < old_count; i++)
        all[i] = old[i];
    for (size_t i = 0; good && i < own_count; i++) {
        const struct symbol_key *key = (const void *)gathered->symbols.items[own[i]].bytes;
        all[old_count + i] = (struct code_symbol){
            .start = key->start,
            .size = gathered->symbol_sizes[own[i]],
            .name = intern_text(&gathered->strings, key->name),
        };
    }
    if (good) {
        qsort(all, old_count + own_count, sizeof *all, by_start);
        good = store_set_symbols(store, image, all, settle(all, old_count + own_count), error);
    }
    free(all);
    store_free_symbols(old, old_count);
    return good;
}

static int by_image(const void *a, const void *b, void *context) {
    const struct gathered *gathered = context;
    const struct symbol_key *left = (const void *)gathered->symbols.items[*(uint32_t *)a].bytes;
    const struct symbol_key *right = (const void *)gathered->symbols.items[*(uint32_t *)b].bytes;
    return ascending(left->image, right->image);
}

static bool save_all_symbols(const struct gathered *gathered, struct store *store,
                             const int64_t *images, struct error *error) {
    size_t count = gathered->symbols.count;
    uint32_t *order = calloc(count + 1, sizeof *order);
    if (!order)
        return error_set(error, "out of memory for symbols");
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, count, sizeof *order, by_image, (void *)(uintptr_t)gathered);
    bool good = true;
    for (size_t first = 0, next; good && first < count; first = next) {
        const struct symbol_key *key = (const void *)gathered->symbols.items[order[first]].bytes;
        for (next = first + 1; next < count; next++)
            if (by_image(&order[first], &order[next], (void *)(uintptr_t)gathered) != 0)
                break;
        good =
            save_symbols(gathered, store, images[key->image], order + first, next - first, error);
    }
    free(order);
    return good;
}

/* ---- values ---- */

struct row {
    struct gathered_key key;
    uint64_t value;
};

static int by_profile(const void *a, const void *b) {
    const struct gathered_key *left = &((const struct row *)a)->key;
    const struct gathered_key *right = &((const struct row *)b)->key;
    return ascending(left->image, right->image) ?: ascending(left->process, right->process) ?:
           ascending(left->event, right->event) ?: ascending(left->offset, right->offset) ?:
           ascending(left->signature, right->signature);
}

static bool same_profile(const struct gathered_key *a, const struct gathered_key *b) {
    return a->image == b->image && a->process == b->process && a->event == b->event;
}

/* ---- calls ---- */

/* NULL: out of memory. */
static struct call_tree *tree_of(struct gathered *gathered, uint32_t process, uint32_t event) {
    for (size_t i = gathered->calls_count; i-- > 0;)
        if (gathered->calls[i].process == process && gathered->calls[i].event == event)
            return &gathered->calls[i].tree;
    const struct gathered_calls calls = {
        .process = process, .event = event, .tree.most = STORE_CALLS_MAX};
    return array_push(gathered->calls, gathered->calls_capacity, gathered->calls_count, calls)
               ? &gathered->calls[gathered->calls_count - 1].tree
               : NULL;
}

bool gathered_add_stack(struct gathered *gathered, const struct gathered_key *key,
                        const struct gathered_frame *frames, size_t count, uint64_t value) {
    struct call_tree *tree = tree_of(gathered, key->process, key->event);
    uint32_t node = STORE_CALL_TOP;
    if (!tree)
        return false;
    for (size_t i = count; i-- > 0;)
        if (!call_tree_node(tree, node, 1 + (int64_t)frames[i].image, frames[i].offset, &node))
            return false;
    if (node != STORE_CALL_TOP)
        tree->calls[node].value += value;
    gathered->has_callers |= count > 1;
    return true;
}

/* Numbers in the store by those of the import. */
struct numbers {
    int64_t session;
    int64_t *processes, *images, *events;
};

static bool save_values(const struct gathered *gathered, struct store *store,
                        const struct numbers *numbers, struct error *error) {
    size_t count = gathered->entries.count;
    struct row *rows = calloc(count + 1, sizeof *rows);
    struct store_value *values = calloc(count + 1, sizeof *values);
    bool good = (rows && values) || error_set(error, "out of memory for what was read");
    if (good) {
        for (size_t i = 0; i < count; i++) {
            memcpy(&rows[i].key, gathered->entries.items[i].bytes, sizeof rows[i].key);
            rows[i].value = gathered->values[i];
        }
        qsort(rows, count, sizeof *rows, by_profile);
    }
    for (size_t first = 0, next; good && first < count; first = next) {
        const struct gathered_key *key = &rows[first].key;
        for (next = first; next < count && same_profile(key, &rows[next].key); next++)
            values[next - first] = (struct store_value){.offset = rows[next].key.offset,
                                                        .signature = rows[next].key.signature,
                                                        .value = rows[next].value};
        good = store_add_values(store, numbers->session, numbers->processes[key->process],
                                numbers->images[key->image], numbers->events[key->event], values,
                                next - first, error);
    }
    free(rows);
    free(values);
    return good;
}

static bool save_calls(const struct gathered *gathered, struct store *store,
                       const struct numbers *numbers, struct error *error) {
    for (size_t i = 0; gathered->has_callers && i < gathered->calls_count; i++) {
        const struct gathered_calls *from = &gathered->calls[i];
        struct store_call *calls = malloc((from->tree.count + 1) * sizeof *calls);
        bool good = calls || error_set(error, "out of memory for what was read");
        for (size_t k = 0; good && k < from->tree.count; k++) {
            calls[k] = from->tree.calls[k];
            calls[k].image = numbers->images[calls[k].image - 1];
        }
        good =
            good && store_add_calls(store, numbers->session, numbers->processes[from->process],
                                    numbers->events[from->event], calls, from->tree.count, error);
        free(calls);
        if (!good)
            return false;
    }
    return true;
}

static bool save_names(const struct gathered *gathered, struct store *store,
                       const struct numbers *numbers, struct error *error) {
    const struct intern *strings = &gathered->strings;
    for (size_t i = 0; i < gathered->processes.count; i++) {
        const struct process_key *key = (const void *)gathered->processes.items[i].bytes;
        struct store_process process = {.command = intern_text(strings, key->command),
                                        .executable = intern_text(strings, key->executable)};
        if (!store_process(store, numbers->session, &process, &numbers->processes[i], error))
            return false;
    }
    for (size_t i = 0; i < gathered->images.count; i++) {
        const struct image_key *key = (const void *)gathered->images.items[i].bytes;
        struct store_image image = {.kind = (enum image_kind)key->kind,
                                    .path = intern_text(strings, key->path),
                                    .build_id_size = key->build_id_size,
                                    .root = ""};
        memcpy(image.build_id, key->build_id, sizeof image.build_id);
        if (!store_image(store, &image, &numbers->images[i], error))
            return false;
    }
    for (size_t i = 0; i < gathered->event_keys.count; i++) {
        const struct gathered_event *from = &gathered->events[i];
        struct store_event event = {.name = intern_text(strings, from->name),
                                    .unit = intern_text(strings, from->unit),
                                    .period_unit = intern_text(strings, from->period_unit),
                                    .precise = from->precise};
        if (from->period_count)
            event.period = from->period_sum / from->period_count;
        if (!store_add_event(store, numbers->session, &event, &numbers->events[i], error))
            return false;
    }
    return true;
}

bool gathered_save(const struct gathered *gathered, struct store *store,
                   const struct store_session *session, int64_t *id, struct error *error) {
    struct numbers numbers = {
        .processes = calloc(gathered->processes.count + 1, sizeof *numbers.processes),
        .images = calloc(gathered->images.count + 1, sizeof *numbers.images),
        .events = calloc(gathered->event_keys.count + 1, sizeof *numbers.events),
    };
    bool good = (numbers.processes && numbers.images && numbers.events) ||
                error_set(error, "out of memory for what was read");
    bool begun = good && store_begin(store, error);
    good = begun && store_add_session(store, session, &numbers.session, error) &&
           save_names(gathered, store, &numbers, error) &&
           save_values(gathered, store, &numbers, error) &&
           save_calls(gathered, store, &numbers, error) &&
           save_all_symbols(gathered, store, numbers.images, error) &&
           store_update_session(store,
                                &(struct store_session){.id = numbers.session,
                                                        .end = session->end,
                                                        .unknown = session->unknown,
                                                        .dropped = session->dropped},
                                error) &&
           store_commit(store, error);
    if (begun && !good)
        store_rollback(store);
    *id = numbers.session;
    free(numbers.processes);
    free(numbers.images);
    free(numbers.events);
    return good;
}
