/* Keys are looked up in the table by the part of the section before its '.'; what follows the '.'
 * chooses the object: a queue or pool of that name (created if new) or an operation class. */
#include "machine/draft.h"

#include <stdio.h>
#include <string.h>

#include "machine/ports.h"
#include "util/array.h"
#include "util/nearest.h"

static const char NAME_LETTERS[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

static void reset_section(const char *section, void *object) {
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (!strcmp(KEYS[i].section, section))
            key_reset(&KEYS[i], object);
}

void draft_init(struct draft *draft) {
    memset(draft, 0, sizeof *draft);
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (strcmp(KEYS[i].section, "queue") && strcmp(KEYS[i].section, "pool") &&
            strcmp(KEYS[i].section, "class"))
            key_reset(&KEYS[i], &draft->machine);
    for (int operation = OP_NOP + 1; operation < OP_COUNT; operation++)
        reset_section("class", &draft->machine.classes[operation]);
}

void draft_from(struct draft *draft, const struct machine *machine) {
    memset(draft, 0, sizeof *draft);
    draft->machine = *machine;
    draft->queue_count = machine->queue_count;
    draft->pool_count = machine->pool_count;
    memcpy(draft->queues, machine->queues, sizeof machine->queues);
    memcpy(draft->pools, machine->pools, sizeof machine->pools);
    for (uint32_t i = 0; i < machine->pool_count; i++)
        if (machine->pools[i].queue < machine->queue_count)
            memcpy(draft->pool_queue[i], machine->queues[machine->pools[i].queue].name, NAME_SIZE);
    for (int operation = OP_NOP + 1; operation < OP_COUNT; operation++)
        if (machine->classes[operation].pool < machine->pool_count)
            memcpy(draft->class_pool[operation],
                   machine->pools[machine->classes[operation].pool].name, NAME_SIZE);
}

/* ---- setting ---- */

static bool valid_name(const char *name) {
    size_t length = strlen(name);
    return length && length < NAME_SIZE && strspn(name, NAME_LETTERS) == length;
}

static bool error_name(const char *name, struct error *error) {
    return error_set(error, "bad name \"%.40s\": allowed are 1 to %d of a-z, 0-9 and _", name,
                     NAME_SIZE - 1);
}

static int find_queue(const struct draft *draft, const char *name) {
    const size_t i = index_where(k, draft->queue_count, !strcmp(draft->queues[k].name, name));
    return i < draft->queue_count ? (int)i : -1;
}

static int find_pool(const struct draft *draft, const char *name) {
    const size_t i = index_where(k, draft->pool_count, !strcmp(draft->pools[k].name, name));
    return i < draft->pool_count ? (int)i : -1;
}

static int find_operation(const char *name, struct error *error) {
    const char *names[OP_COUNT];
    char list[512] = "";
    size_t length = 0;
    for (int operation = OP_NOP + 1; operation < OP_COUNT; operation++) {
        names[operation - 1] = operation_name((enum operation)operation);
        if (!strcmp(name, names[operation - 1]))
            return operation;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", length ? ", " : "",
                                   names[operation - 1]);
    }
    const char *nearest = nearest_word(name, names, OP_COUNT - 1);
    error_set(error, "no operation class %.40s%s%s%s; classes: %s", name,
              nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "", list);
    return -1;
}

static struct machine_queue *queue_of(struct draft *draft, const char *name, struct error *error) {
    int found = find_queue(draft, name);
    if (found >= 0)
        return &draft->queues[found];
    if (!valid_name(name)) {
        error_name(name, error);
        return NULL;
    }
    if (draft->queue_count == DRAFT_QUEUES)
        return error_null(error, "too many queues: at most %d in all, removed ones included",
                          DRAFT_QUEUES);
    struct machine_queue *queue = &draft->queues[draft->queue_count++];
    reset_section("queue", queue);
    strcpy(queue->name, name);
    return queue;
}

static int pool_of(struct draft *draft, const char *name, struct error *error) {
    int found = find_pool(draft, name);
    if (found >= 0)
        return found;
    if (!valid_name(name)) {
        error_name(name, error);
        return -1;
    }
    if (draft->pool_count == DRAFT_POOLS) {
        error_set(error, "too many pools: at most %d in all, removed ones included", DRAFT_POOLS);
        return -1;
    }
    struct machine_pool *pool = &draft->pools[draft->pool_count];
    reset_section("pool", pool);
    strcpy(pool->name, name);
    return (int)draft->pool_count++;
}

static bool set_reference(char reference[NAME_SIZE], const char *value, struct error *error) {
    if (!valid_name(value))
        return error_name(value, error);
    memset(reference, 0, NAME_SIZE);
    strcpy(reference, value);
    return true;
}

bool draft_set(struct draft *draft, const char *section, const char *name, const char *value,
               const void **field, struct error *error) {
    char group[32];
    const char *dot = strchr(section, '.');
    size_t length = dot ? (size_t)(dot - section) : strlen(section);
    snprintf(group, sizeof group, "%.*s", (int)(length < sizeof group ? length : 0), section);
    const char *member = dot ? dot + 1 : "";

    const struct key *key = key_find(group, section, name, error);
    if (!key)
        return false;
    void *object = &draft->machine;
    char *reference = NULL;
    if (!strcmp(group, "queue")) {
        object = queue_of(draft, member, error);
    } else if (!strcmp(group, "pool")) {
        int pool = pool_of(draft, member, error);
        object = pool < 0 ? NULL : &draft->pools[pool];
        reference = pool < 0 ? NULL : draft->pool_queue[pool];
    } else if (!strcmp(group, "class")) {
        int operation = find_operation(member, error);
        object = operation < 0 ? NULL : &draft->machine.classes[operation];
        reference = operation < 0 ? NULL : draft->class_pool[operation];
    } else if (dot) {
        return error_set(error, "no section [%.40s]; did you mean [%s]?", section, group);
    }
    if (!object)
        return error_prefix(error, "[%.40s]", section);

    bool is_reference = reference && (key->type == KEY_QUEUE || key->type == KEY_POOL);
    *field = is_reference ? reference : (char *)object + key->offset;
    if (is_reference ? set_reference(reference, value, error)
                     : key_parse(key, object, value, error))
        return true;
    return error_prefix(error, "%s%.40s%s%s = %.60s (%s)", *section ? "[" : "", section,
                        *section ? "] " : "", name, value,
                        *key->meaning ? key->meaning : key->name);
}

/* ---- settling ---- */

/* "no such queue", with what there is. Always false. */
static bool error_unknown(const char *what, const char *name, const char *user_kind,
                          const char *user, const char *const *names, uint32_t count,
                          struct error *error) {
    char list[256] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < count && length < sizeof list; i++)
        length +=
            (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", names[i]);
    if (!*name && !count)
        return error_set(error,
                         "[%s.%s] %s: not given, and there are no %ss; a file that begins with "
                         "'base = NAME' gives only what differs from that machine",
                         user_kind, user, what, what);
    if (!*name)
        return error_set(error, "[%s.%s] %s: not given; %ss: %s", user_kind, user, what, what,
                         count ? list : "none");
    return error_set(error, "[%s.%s] %s = %s: no such %s; %ss: %s", user_kind, user, what, name,
                     what, what, count ? list : "none");
}

static bool settle_queues(const struct draft *draft, struct machine *machine, struct error *error) {
    machine->queue_count = 0;
    memset(machine->queues, 0, sizeof machine->queues);
    for (uint32_t i = 0; i < draft->queue_count; i++) {
        if (!draft->queues[i].entries)
            continue;
        if (machine->queue_count == MACHINE_MAX_QUEUES)
            return error_set(error, "[queue.%s]: at most %d queues", draft->queues[i].name,
                             MACHINE_MAX_QUEUES);
        machine->queues[machine->queue_count++] = draft->queues[i];
    }
    return true;
}

static bool settle_pools(const struct draft *draft, struct machine *machine, struct error *error) {
    const char *names[MACHINE_MAX_QUEUES];
    for (uint32_t i = 0; i < machine->queue_count; i++)
        names[i] = machine->queues[i].name;
    machine->pool_count = 0;
    memset(machine->pools, 0, sizeof machine->pools);
    for (uint32_t i = 0; i < draft->pool_count; i++) {
        if (!draft->pools[i].units)
            continue;
        if (machine->pool_count == MACHINE_MAX_POOLS)
            return error_set(error, "[pool.%s]: at most %d pools", draft->pools[i].name,
                             MACHINE_MAX_POOLS);
        struct machine_pool *pool = &machine->pools[machine->pool_count++];
        *pool = draft->pools[i];
        for (pool->queue = 0; pool->queue < machine->queue_count; pool->queue++)
            if (!strcmp(names[pool->queue], draft->pool_queue[i]))
                break;
        if (pool->queue == machine->queue_count)
            return error_unknown("queue", draft->pool_queue[i], "pool", pool->name, names,
                                 machine->queue_count, error);
    }
    return true;
}

static bool settle_classes(const struct draft *draft, struct machine *machine,
                           struct error *error) {
    const char *names[MACHINE_MAX_POOLS];
    for (uint32_t i = 0; i < machine->pool_count; i++)
        names[i] = machine->pools[i].name;
    for (int operation = OP_NOP + 1; operation < OP_COUNT; operation++) {
        uint32_t *pool = &machine->classes[operation].pool;
        if (operation == OP_CLOCK && !machine->core.vdso && !draft->class_pool[operation][0])
            continue;
        for (*pool = 0; *pool < machine->pool_count; ++*pool)
            if (!strcmp(names[*pool], draft->class_pool[operation]))
                break;
        if (*pool == machine->pool_count)
            return error_unknown("pool", draft->class_pool[operation], "class",
                                 operation_name((enum operation)operation), names,
                                 machine->pool_count, error);
    }
    return true;
}

/* Without a vDSO, reading the clock is a system call. A file need not mention the class. */
static void settle_clock(struct machine *machine) {
    if (!machine->core.vdso)
        machine->classes[OP_CLOCK] = machine->classes[OP_SYSTEM];
}

static void settle_cache(const char *section, struct machine_cache *cache,
                         struct machine *machine) {
    cache->present = cache->size != 0;
    if (cache->present)
        return;
    reset_section(section, machine);
    cache->size = 0;
}

bool draft_settle(const struct draft *draft, struct machine *machine, struct error *error) {
    struct machine settled = draft->machine;
    if (!settle_queues(draft, &settled, error) || !settle_pools(draft, &settled, error) ||
        !settle_classes(draft, &settled, error))
        return false;
    if (!ports_settle(&settled, error))
        return false;
    for (uint32_t i = 0; i < settled.form_ports_count; i++)
        if (!ports_move(&draft->machine, &settled, &settled.form_ports[i], error))
            return false;
    settle_clock(&settled);
    settle_cache("l1i", &settled.l1i, &settled);
    settle_cache("l1d", &settled.l1d, &settled);
    settle_cache("l2", &settled.l2, &settled);
    settle_cache("llc", &settled.llc, &settled);
    memcpy(machine, &settled, sizeof settled);
    return true;
}
