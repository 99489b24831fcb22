/* The machine that is simulated: the description with its idealisations applied. */
#include "core/ooo/ooo.h"
#include "core/places.h"
#include "util/array.h"

#include <stdlib.h>
#include <string.h>

enum { UNLIMITED = NO_LIMIT, WINDOW_TIMES = 20 };
#define QUEUE_FULL UINT64_C(0x8000) /* a full queue's occupancy; no queue is larger */

static void widen_window(struct ooo *core) {
    struct machine_core *machine = &core->machine;
    machine->rob = (uint32_t)lesser(machine->rob * WINDOW_TIMES, ORDER_MAX / core->most_of_place);
    machine->load_queue *= WINDOW_TIMES;
    machine->store_queue = (uint32_t)lesser(machine->store_queue * WINDOW_TIMES, ORDER_MAX);
    machine->int_registers *= WINDOW_TIMES;
    machine->fp_registers *= WINDOW_TIMES;
    machine->flag_registers *= WINDOW_TIMES;
    machine->outstanding_branches *= WINDOW_TIMES;
    machine->fetch_target_queue *= WINDOW_TIMES;
    for (uint32_t queue = 0; queue < core->queue_count; queue++) {
        core->queues[queue].entries *= WINDOW_TIMES;
        core->queues[queue].unit_entries *= WINDOW_TIMES;
    }
}

static void set_bubbles(struct ooo *core, const struct machine_branch *branch) {
    for (unsigned kind = 0; kind < BRANCH_KINDS; kind++)
        core->bubbles[kind] = (uint16_t)branch->taken_bubble;
    core->bubbles[BRANCH_CALL] += (uint16_t)branch->call_bubble;
    core->bubbles[BRANCH_INDIRECT_CALL] += (uint16_t)branch->call_bubble;
    core->bubbles[BRANCH_RETURN] += (uint16_t)branch->return_bubble;
    for (unsigned kind = 0; kind < BRANCH_KINDS; kind++) {
        const bool follows = !core->bubbles[kind];
        if (kind == BRANCH_JUMP)
            core->bubbles[kind] |= (follows ? FOLLOWS_JUMP | FOLLOWS_CALL : 0) | LEADS_JUMP;
        else if (kind == BRANCH_CONDITIONAL)
            core->bubbles[kind] |= follows ? FOLLOWS_JUMP : 0;
        else if (kind == BRANCH_CALL)
            core->bubbles[kind] |= LEADS_CALL;
    }
    core->far_bubble = (uint16_t)(branch->far_bit ? branch->far_bubble : 0);
    core->far_bit = branch->far_bit;
    core->near_bubble = (uint16_t)(branch->near_btb_entries ? branch->near_btb_bubble : 0);
    core->indirect_bubble = (uint16_t)branch->indirect_bubble;
    core->override_bubble = (uint16_t)branch->override_bubble;
    core->prediction_ahead = branch->prediction_ahead;
    core->lines_ahead = branch->lines_ahead;
    core->prediction_width = (uint32_t)later(branch->prediction_width, 1);
}

static void free_bandwidth(struct ooo *core) {
    struct machine_core *machine = &core->machine;
    machine->fetch_width = machine->dispatch_width = machine->decode_width = UNLIMITED;
    machine->decode_bytes = 0;
    machine->commit_width = UNLIMITED / core->most_of_place;
    machine->store_drain = UNLIMITED;
    machine->store_block = machine->split_store = machine->partial_store = 0;
    machine->string_start = 0;
    machine->taken_branches = UNLIMITED + 1;
    memset(core->bubbles, 0, sizeof core->bubbles);
    core->far_bubble = core->near_bubble = core->indirect_bubble = core->override_bubble = 0;
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        core->queues[queue].issue = UINT32_MAX;
}

static void free_splits(struct ooo *core) {
    core->machine.split_load = core->machine.split_store = 0;
}

/* What shalu and lgalu leave of the latency of an operation. */
static uint32_t ideal_latency(const struct ooo *core, unsigned operation, uint32_t latency) {
    if (operation == OP_LOAD || operation == OP_STORE || operation == OP_SYSTEM ||
        operation == OP_CLOCK || operation == OP_NOP)
        return latency;
    const bool integer = operation == OP_INT_ALU || operation == OP_BRANCH;
    return core->ideal & (integer && latency <= 1 ? IDEAL_SHALU : IDEAL_LGALU) ? 0 : latency;
}

/* ---- units ---- */

static bool has_unit(const struct machine_ports *ports, uint32_t pool, uint32_t unit) {
    return ports->units[pool] >> unit & 1;
}

/* How many kinds of µops, beside those of its own pool, a unit is for. */
static uint32_t demand(const struct machine *machine, uint32_t pool, uint32_t unit) {
    uint32_t kinds = has_unit(&machine->store_data, pool, unit);
    for (uint32_t i = 0; i < machine->pool_count; i++)
        kinds += machine->pools[i].shares[0] && has_unit(&machine->pools[i].shared, pool, unit);
    for (uint32_t i = 0; i < machine->form_ports_count; i++)
        kinds += has_unit(&machine->form_ports[i], pool, unit);
    return kinds;
}

/* Those that are given first, and of these and of the others those that the fewest kinds of µops
 * could use. */
static void number_units(struct ooo *core, const struct machine *machine) {
    enum { MOST_KINDS = MACHINE_MAX_POOLS + MACHINE_MAX_FORM_PORTS + 1 };
    uint8_t number = 0;
    for (uint32_t rank = 0; rank <= 2 * MOST_KINDS + 1; rank++)
        for (uint32_t pool = 0; pool < machine->pool_count; pool++) {
            if (machine->pools[pool].shares[0])
                continue;
            for (uint32_t unit = 0; unit < machine->pools[pool].units; unit++) {
                const bool first = has_unit(&machine->given_first, pool, unit);
                const bool apart = machine->queues[machine->pools[pool].queue].unit_entries;
                const uint32_t kinds = apart ? 0 : demand(machine, pool, unit);
                if (kinds + (first ? 0 : MOST_KINDS + 1) == rank)
                    core->unit_number[pool][unit] = number++;
            }
        }
    assert(number <= MACHINE_MAX_UNITS);
}

static uint64_t numbered(const struct ooo *core, const struct machine_ports *ports) {
    uint64_t units = 0;
    for (uint32_t pool = 0; pool < core->pool_count; pool++)
        for (uint32_t left = ports->units[pool]; left; left &= left - 1)
            units |= UINT64_C(1) << core->unit_number[pool][__builtin_ctz(left)];
    return units;
}

static bool has_any(const struct ooo *core, const struct machine_ports *ports) {
    return any_where(pool, core->pool_count, ports->units[pool]);
}

/* All units of the pools that these are of. */
static uint64_t pools_of(const struct ooo *core, const struct machine_ports *ports) {
    struct machine_ports all = {{0}};
    for (uint32_t pool = 0; pool < core->pool_count; pool++)
        if (ports->units[pool])
            all.units[pool] = machine_pool_whole(&core->pools[pool]);
    return numbered(core, &all);
}

/* Those of a pool that lie beside units which they are taken with. */
static uint32_t taken_together(const struct ooo *core, const struct machine_pool *pool) {
    uint32_t together = 0, own = 0;
    for (uint32_t i = 0; i < core->pool_count; i++)
        for (uint32_t left = pool->neighbours.units[i]; left; left &= left - 1)
            together |= (uint32_t)has_unit(&pool->together, i, (uint32_t)__builtin_ctz(left))
                        << own++;
    return together;
}

/* Those of pools that are taken together with just these. */
static uint64_t joint_units(const struct ooo *core, const struct machine_ports *ports) {
    struct machine_ports joint = {{0}};
    for (uint32_t i = 0; i < core->pool_count; i++)
        if (!memcmp(&core->pools[i].neighbours, ports, sizeof *ports))
            joint.units[i] = taken_together(core, &core->pools[i]);
    return numbered(core, &joint);
}

/* µops wait for units of their own. */
static bool has_schedulers(const struct ooo *core, uint32_t queue) {
    return core->queues[queue].unit_entries && !(core->ideal & IDEAL_BW);
}

static void set_schedulers(struct ooo *core, const struct machine *machine) {
    uint32_t entries[MACHINE_MAX_UNITS + 1] = {0};
    for (uint32_t unit = 0; unit <= MACHINE_MAX_UNITS; unit++)
        core->schedulers.beside[unit] = UINT64_C(1) << unit;
    for (uint32_t pool = 0; pool < machine->pool_count; pool++) {
        const struct machine_ports *neighbours = &machine->pools[pool].neighbours;
        const uint32_t queue = machine->pools[pool].queue;
        const bool has = !machine->pools[pool].shares[0] && has_schedulers(core, queue);
        uint32_t own = 0;
        for (uint32_t unit = 0; has && unit < machine->pools[pool].units; unit++)
            entries[core->unit_number[pool][unit]] = core->queues[queue].unit_entries;
        for (uint32_t i = 0; i < machine->pool_count; i++)
            for (uint32_t left = neighbours->units[i]; left; left &= left - 1)
                schedulers_join(&core->schedulers, core->unit_number[i][__builtin_ctz(left)],
                                core->unit_number[pool][own++]);
    }
    schedulers_number(&core->schedulers, entries);
}

static uint32_t queue_of(const struct ooo *core, const struct machine_ports *ports) {
    uint32_t pool = 0;
    while (pool + 1 < core->pool_count && !ports->units[pool])
        pool++;
    return core->pools[pool].queue;
}

/* µops that may wait; those with schedulers of their own wait there. */
static uint64_t queue_entries(const struct ooo *core, uint32_t queue) {
    return has_schedulers(core, queue) ? UINT64_MAX : core->queues[queue].entries;
}

struct unit unit_for(const struct ooo *core, enum operation operation,
                     const struct uop_timing *timing) {
    const uint32_t latency = ideal_latency(core, operation, timing->latency);
    const uint32_t queue = queue_of(core, &timing->ports);
    const uint32_t l1_latency = core->ideal & IDEAL_DL1 ? 0 : core->l1d_latency;
    const uint32_t least = core->machine.issue_wakeup;
    const bool halves = operation == OP_STORE && core->data_apart;
    const uint64_t data_place = halves ? core->data_unit.place : 0;
    const uint64_t units = core->ideal & IDEAL_BW ? UNLIMITED_UNIT : numbered(core, &timing->ports);
    const bool apart = has_schedulers(core, queue) && timing->interval <= 1;
    const struct machine_ports *given =
        has_any(core, &timing->beside) ? &timing->beside : &timing->ports;
    return (struct unit){.latency = latency,
                         .wake = operation == OP_LOAD         ? latency + l1_latency
                                 : latency && latency < least ? least
                                                              : latency,
                         .interval = core->ideal & IDEAL_BW ? 1 : timing->interval,
                         .queue = (uint8_t)queue,
                         .operation = (uint8_t)operation,
                         .queue_issues = low16(core->queues[queue].issue),
                         .entries = apart ? low16(core->queues[queue].unit_entries) : 0,
                         .units = units,
                         .given = apart ? numbered(core, given) : 0,
                         .joint = apart ? joint_units(core, &timing->ports) : 0,
                         .pool = apart ? pools_of(core, given) : 0,
                         .place = (UINT64_C(1) << 16 * queue) + data_place,
                         .full = QUEUE_FULL << 16 * queue | data_place * QUEUE_FULL,
                         .second = halves && core->data_unit.queue == queue ? data_place : 0};
}

static bool is_same(const struct unit *a, const struct unit *b) {
    return a->operation == b->operation && a->latency == b->latency && a->interval == b->interval &&
           a->units == b->units && a->given == b->given && a->queue == b->queue;
}

uint32_t unit_row(struct ooo *core, enum operation operation, const struct uop_timing *timing) {
    const struct unit unit = unit_for(core, operation, timing);
    const uint32_t row =
        (uint32_t)index_where(i, core->unit_count, is_same(&core->units[i], &unit));
    if (row == core->unit_count && row < MOST_UNITS) {
        core->units[core->unit_count++] = unit;
        if (core->kept)
            predecoded_note_row(core->kept, row, timing);
    }
    return row;
}

void unit_row_alone(struct ooo *core, uint32_t row, const struct uop_timing *timing) {
    const struct uop_timing alone = {timing->latency, timing->interval, timing->ports, {{0}}};
    const uint32_t other = unit_row(core, (enum operation)core->units[row].operation, &alone);
    core->units[row].alone = (uint16_t)(other < MOST_UNITS ? other : 0);
}

bool configure(struct ooo *core, const struct machine *machine) {
    core->machine = machine->core;
    core->most_of_place = most_of_place(&machine->core);
    core->queue_count = machine->queue_count;
    core->pool_count = machine->pool_count;
    memcpy(core->queues, machine->queues, sizeof core->queues);
    memcpy(core->pools, machine->pools, sizeof core->pools);
    memcpy(core->classes, machine->classes, sizeof core->classes);
    core->l1i_latency = machine->l1i.present ? machine->l1i.latency : 1;
    core->l1d_latency = machine->l1d.latency;
    core->fetch_line_shift = (uint32_t)__builtin_ctz(machine->l1i.present ? machine->l1i.line : 64);
    core->fetch_line_mask = ~UINT64_C(0) << core->fetch_line_shift;
    core->fetch_block_mask = machine->core.fetch_bytes && !(core->ideal & IDEAL_BW)
                                 ? -(uint64_t)machine->core.fetch_bytes
                                 : UINT64_C(1) << 63; /* two blocks */
    core->btb_miss_penalty = machine->branch.btb_miss_penalty;
    set_bubbles(core, &machine->branch);
    if (core->ideal & IDEAL_WIN)
        widen_window(core);
    if (core->ideal & IDEAL_BW)
        free_bandwidth(core);
    if (core->ideal & IDEAL_SPLIT)
        free_splits(core);
    if (core->ideal & IDEAL_IMISS)
        core->machine.decode_restart = core->machine.decode_switch = 0;
    core->has_op_cache = machine->branch.op_cache_entries != 0;
    core->decode_mask = core->machine.decode_bytes ? -(uint64_t)core->machine.decode_bytes : 0;
    core->now.fetch_width = core->machine.fetch_width;
    core->branches_available = core->machine.outstanding_branches;
    core->limited = core->machine.outstanding_branches ? U_BRANCH_ENTRY : 0;
    core->notes_more = core->ideal & (IDEAL_SHALU | IDEAL_LGALU) || machine->core.memory_renaming ||
                       machine->form_count /* some may take no time */;
    core->store_block_shift =
        core->machine.store_block ? (uint32_t)__builtin_ctz(core->machine.store_block) : 63;
    core->line_shift = (uint32_t)__builtin_ctz(machine->l1d.line);
    core->split_mask = core->machine.split_load ? machine->l1d.line - UINT64_C(1) : UINT64_MAX;
    core->packet_limit = core->machine.fetch_target_queue;
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        core->no_occupancy |= (QUEUE_FULL - lesser(queue_entries(core, queue), QUEUE_FULL))
                              << 16 * queue;
    core->occupancy = core->no_occupancy;
    number_units(core, machine);
    core->result_bus = numbered(core, &machine->result_bus);
    set_schedulers(core, machine);
    if (machine->core.store_data[0]) {
        const struct uop_timing data = {.latency = 1, .interval = 1, .ports = machine->store_data};
        core->data_unit = unit_for(core, OP_STORE, &data);
        core->data_apart = true;
    }
    for (unsigned operation = 0; operation < OP_COUNT; operation++) {
        const struct uop_timing timing = uop_timing_of_class(machine, operation);
        core->units[operation] = unit_for(core, operation, &timing);
    }
    core->unit_count = OP_COUNT;
    /* µops on their way through the front end, and the buffer behind it. */
    core->fetch_capacity = core->machine.fetch_buffer + 2 * INSN_MAX_UOPS +
                           core->machine.frontend_depth * core->machine.dispatch_width;
    if (!machine->form_count && !any_where(i, machine->pool_count, machine->pools[i].beside[0]))
        return true;
    core->described = malloc(sizeof *core->described);
    if (core->described)
        *core->described = *machine;
    return core->described != NULL;
}
