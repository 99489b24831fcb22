/* A word is first looked for among the names of pools, so that a pool "alu1" is not taken for unit
 * 1 of "alu". */
#include "machine/ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/key.h"
#include "util/array.h"

uint32_t ports_first_pool(const struct machine_ports *ports) {
    return (uint32_t)index_where(pool, MACHINE_MAX_POOLS, ports->units[pool]);
}

static uint32_t find_pool(const struct machine *machine, const char *name) {
    return (uint32_t)index_where(pool, machine->pool_count,
                                 !strcmp(machine->pools[pool].name, name));
}

static bool error_pool(const struct machine *machine, const char *word, struct error *error) {
    char list[256] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < machine->pool_count && length < sizeof list; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "",
                                   machine->pools[i].name);
    return error_set(error, "%.20s: no such pool or unit; pools: %s (alu1: the second unit of alu)",
                     word, list);
}

static void add_pool(const struct machine *machine, uint32_t number, struct machine_ports *ports) {
    const struct machine_pool *pool = &machine->pools[number];
    if (pool->shares[0])
        for (uint32_t i = 0; i < MACHINE_MAX_POOLS; i++)
            ports->units[i] |= pool->shared.units[i];
    else
        ports->units[number] |= machine_pool_whole(pool);
}

/* Adds the units that one word names. */
static bool add_word(const struct machine *machine, const char *word, struct machine_ports *ports,
                     struct error *error) {
    char name[NAME_SIZE];
    const size_t length = strlen(word);
    uint32_t pool = find_pool(machine, word);
    if (pool < machine->pool_count) {
        add_pool(machine, pool, ports);
        return true;
    }
    size_t stem = length;
    while (stem && word[stem - 1] >= '0' && word[stem - 1] <= '9')
        stem--;
    if (stem == 0 || stem == length || length - stem > 2)
        return error_pool(machine, word, error);
    snprintf(name, sizeof name, "%.*s", (int)stem, word);
    pool = find_pool(machine, name);
    const uint32_t unit = (uint32_t)atoi(word + stem);
    if (pool == machine->pool_count || machine->pools[pool].shares[0] ||
        unit >= machine->pools[pool].units)
        return error_pool(machine, word, error);
    ports->units[pool] |= (uint16_t)(1u << unit);
    return true;
}

bool ports_parse(const struct machine *machine, const char *text, struct machine_ports *ports,
                 struct error *error) {
    memset(ports, 0, sizeof *ports);
    for (const char *at = text;;) {
        char word[NAME_SIZE + 2];
        const size_t length = strcspn(at, "+");
        if (length == 0 || length >= sizeof word)
            return error_set(error,
                             "%.40s: not ports; they are pools or units of pools, as alu or "
                             "alu0+alu3",
                             text);
        memcpy(word, at, length);
        word[length] = 0;
        if (!add_word(machine, word, ports, error))
            return false;
        at += length;
        if (!*at)
            break;
        at++;
    }
    const uint32_t first = ports_first_pool(ports);
    if (first == MACHINE_MAX_POOLS)
        return error_set(error, "%.40s: has no units of its own", text);
    const uint32_t queue = machine->pools[first].queue;
    for (uint32_t i = 0; i < machine->pool_count; i++)
        if (ports->units[i] && machine->pools[i].queue != queue)
            return error_set(error, "%.40s: units of two queues, %s and %s", text,
                             machine->queues[queue].name,
                             machine->queues[machine->pools[i].queue].name);
    return true;
}

void machine_ports_text(const struct machine *machine, const struct machine_ports *ports,
                        char text[PORTS_TEXT_SIZE]) {
    size_t length = 0;
    snprintf(text, PORTS_TEXT_SIZE, "-");
    for (uint32_t i = 0; i < machine->pool_count; i++) {
        const struct machine_pool *pool = &machine->pools[i];
        const bool whole = ports->units[i] && ports->units[i] == machine_pool_whole(pool);
        for (uint32_t unit = 0; unit < 16; unit++) {
            if (!(ports->units[i] >> unit & 1) || (whole && unit))
                continue;
            length += (size_t)snprintf(text + length, PORTS_TEXT_SIZE - length, "%s%s",
                                       length ? "+" : "", pool->name);
            if (!whole)
                length += (size_t)snprintf(text + length, PORTS_TEXT_SIZE - length, "%u", unit);
        }
    }
}

static bool settle_shared(struct machine *machine, struct machine_pool *pool, struct error *error) {
    struct machine_ports shared;
    if (!ports_parse(machine, pool->shares, &shared, error))
        return error_prefix(error, "[pool.%s] shares", pool->name);
    pool->units = 0;
    for (uint32_t i = 0; i < machine->pool_count; i++)
        pool->units += (uint32_t)__builtin_popcount(shared.units[i]);
    if (machine->pools[ports_first_pool(&shared)].queue != pool->queue)
        return error_set(error, "[pool.%s] shares = %s: units of another queue than its own",
                         pool->name, pool->shares);
    pool->shared = shared;
    return true;
}

/* Without a text: no units. */
static bool settle_text(const struct machine *machine, const char *text,
                        struct machine_ports *ports, struct error *error) {
    memset(ports, 0, sizeof *ports);
    return !text[0] || ports_parse(machine, text, ports, error);
}

/* Of a key of the core. */
static bool settle_named(const struct machine *machine, const char *text,
                         struct machine_ports *ports, const char *key, struct error *error) {
    return settle_text(machine, text, ports, error) || error_prefix(error, "[core] %s", key);
}

static bool settle_beside(const struct machine *machine, struct machine_pool *pool,
                          struct error *error) {
    uint32_t count = 0;
    if (!settle_text(machine, pool->beside, &pool->neighbours, error))
        return error_prefix(error, "[pool.%s] beside", pool->name);
    if (!pool->beside[0])
        return true;
    for (uint32_t i = 0; i < machine->pool_count; i++)
        count += (uint32_t)__builtin_popcount(pool->neighbours.units[i]);
    if (pool->shares[0] || count != pool->units ||
        machine->pools[ports_first_pool(&pool->neighbours)].queue != pool->queue)
        return error_set(error,
                         "[pool.%s] beside = %s: as many units of its queue as it has of its own "
                         "are needed",
                         pool->name, pool->beside);
    return true;
}

static bool settle_joint(const struct machine *machine, struct machine_pool *pool,
                         struct error *error) {
    if (!settle_text(machine, pool->joint, &pool->together, error))
        return error_prefix(error, "[pool.%s] joint", pool->name);
    for (uint32_t i = 0; i < machine->pool_count; i++)
        if (pool->together.units[i] & ~pool->neighbours.units[i])
            return error_set(error, "[pool.%s] joint = %s: not units of its beside", pool->name,
                             pool->joint);
    return true;
}

bool ports_settle(struct machine *machine, struct error *error) {
    for (uint32_t i = 0; i < machine->pool_count; i++)
        memset(&machine->pools[i].shared, 0, sizeof machine->pools[i].shared);
    for (uint32_t i = 0; i < machine->pool_count; i++)
        if (machine->pools[i].shares[0] && !settle_shared(machine, &machine->pools[i], error))
            return false;
    for (uint32_t i = 0; i < machine->pool_count; i++)
        if (!settle_beside(machine, &machine->pools[i], error) ||
            !settle_joint(machine, &machine->pools[i], error))
            return false;
    return settle_named(machine, machine->core.store_data, &machine->store_data, "store_data",
                        error) &&
           settle_named(machine, machine->core.given_first, &machine->given_first, "given_first",
                        error) &&
           settle_named(machine, machine->core.result_bus, &machine->result_bus, "result_bus",
                        error);
}

bool ports_move(const struct machine *from, const struct machine *machine,
                struct machine_ports *ports, struct error *error) {
    struct machine_ports moved = {{0}};
    for (uint32_t i = 0; i < from->pool_count; i++) {
        if (!ports->units[i])
            continue;
        const uint32_t pool = find_pool(machine, from->pools[i].name);
        if (pool == machine->pool_count || machine->pools[pool].shares[0] ||
            ports->units[i] >> machine->pools[pool].units)
            return error_set(error,
                             "the forms of %.60s use units of pool %s that the machine does not "
                             "have; without them: forms =",
                             machine->forms_file, from->pools[i].name);
        moved.units[pool] = ports->units[i];
    }
    *ports = moved;
    return true;
}

static bool overlap(const struct machine_ports *a, const struct machine_ports *b) {
    bool any = false;
    for (uint32_t pool = 0; pool < MACHINE_MAX_POOLS; pool++)
        any |= (a->units[pool] & b->units[pool]) != 0;
    return any;
}

bool machine_pool_is_shared(const struct machine *machine, uint32_t number) {
    const struct machine_pool *pool = &machine->pools[number];
    struct machine_ports units = {{0}};
    if (pool->shares[0] || machine->queues[pool->queue].unit_entries ||
        machine->form_ports_count) /* forms may go anywhere */
        return true;
    add_pool(machine, number, &units);
    bool shared = machine->core.store_data[0] &&
                  pool->queue == machine->pools[ports_first_pool(&machine->store_data)].queue;
    for (uint32_t i = 0; i < machine->pool_count; i++)
        shared |= machine->pools[i].shares[0] && overlap(&units, &machine->pools[i].shared);
    return shared;
}
