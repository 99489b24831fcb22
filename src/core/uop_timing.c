#include "core/uop_timing.h"
#include "core/places.h"

#include "util/array.h"

enum { LONGEST_INTERVAL = 1000 };

const struct machine_form *uop_timing_form(const struct machine *machine,
                                           const struct static_insn *insn) {
    return machine->form_count && insn->form != FORM_NONE ? machine_form_of(machine, insn->form)
                                                          : NULL;
}

struct uop_timing uop_timing_of_class(const struct machine *machine, enum operation operation) {
    const struct machine_class *class = &machine->classes[operation];
    const struct machine_pool *pool = &machine->pools[class->pool];
    struct uop_timing timing = {.latency = class->latency,
                                .interval = class->interval ? class->interval : 1,
                                .ports = pool->shared};
    if (!pool->shares[0])
        timing.ports.units[class->pool] = machine_pool_whole(pool);
    return timing;
}

static bool is_memory(const struct uop *uop) {
    return uop->operation == OP_LOAD || uop->operation == OP_STORE;
}

/* Whether the µop does what the instruction is for. What else there is loads, stores, or steps the
 * pointers of a string instruction. */
static bool computes(const struct static_insn *insn, const struct uop *uop) {
    const bool moves = insn->operation == OP_LOAD || insn->operation == OP_STORE;
    return !is_memory(uop) && (moves || uop->operation == insn->operation);
}

/* Whether the next µop computes with this one's result: a part of an operation of many sources. */
static bool is_part(const struct static_insn *insn, const struct uop *uops, uint32_t number) {
    const struct uop *uop = &uops[number], *next = uop + 1;
    if (number + 1 == insn->uop_count || !computes(insn, next) || uop->destination_count != 1)
        return false;
    return any_where(i, next->source_count, next->source[i] == uop->destination[0]);
}

static bool stores(const struct static_insn *insn, const struct uop *uops) {
    return any_where(i, insn->uop_count, uops[i].operation == OP_STORE);
}

/* Cycles from data to the result; FORM_UNKNOWN: the line does not say. */
static uint32_t data_latency(const struct machine_form *form) {
    return form->latency != FORM_UNKNOWN ? form->latency : form->flag_latency;
}

/* What the operation takes from its operands to its result, all its parts. */
static uint32_t operation_latency(const struct machine *machine, const struct machine_form *form,
                                  const struct static_insn *insn, const struct uop *uops) {
    uint32_t parts = 0, last = 0;
    bool any = false;
    for (uint32_t i = 0; i < insn->uop_count; i++) {
        if (!computes(insn, &uops[i]))
            continue;
        const uint32_t latency = machine->classes[uops[i].operation].latency;
        any = true;
        parts += is_part(insn, uops, i) ? latency : 0;
        last = latency > last ? latency : last;
    }
    return !any ? 0 : data_latency(form) != FORM_UNKNOWN ? data_latency(form) : parts + last;
}

static uint32_t latency_of(const struct machine *machine, const struct machine_form *form,
                           const struct static_insn *insn, const struct uop *uops,
                           uint32_t number) {
    const struct uop *uop = &uops[number];
    const uint32_t class = machine->classes[uop->operation].latency;
    if (uop->operation == OP_LOAD) {
        const uint32_t other =
            class + machine->l1d.latency + operation_latency(machine, form, insn, uops);
        const bool longer = form->address_latency != FORM_UNKNOWN && form->address_latency > other;
        return class + (longer ? form->address_latency - other : 0);
    }
    if (!computes(insn, uop) || data_latency(form) == FORM_UNKNOWN || stores(insn, uops) ||
        is_part(insn, uops, number))
        return class;
    const uint32_t before = sum_over(uint32_t, i, number,
                                     computes(insn, &uops[i]) && is_part(insn, uops, (uint32_t)i)
                                         ? machine->classes[uops[i].operation].latency
                                         : 0);
    return data_latency(form) > before ? data_latency(form) - before : 0;
}

/* ---- throughput ---- */

static uint32_t count_units(const struct machine_ports *ports) {
    return sum_over(uint32_t, pool, MACHINE_MAX_POOLS,
                    (uint32_t)__builtin_popcount(ports->units[pool]));
}

/* Whether the line's ports are those of this µop. */
static bool has_ports(const struct static_insn *insn, const struct uop *uops, uint32_t number) {
    return computes(insn, &uops[number]) || (insn->uop_count == 1 && is_memory(&uops[number]));
}

static struct machine_ports ports_of(const struct machine *machine, const struct machine_form *form,
                                     const struct static_insn *insn, const struct uop *uops,
                                     uint32_t number) {
    return form->ports && has_ports(insn, uops, number)
               ? machine->form_ports[form->ports - 1]
               : uop_timing_of_class(machine, uops[number].operation).ports;
}

/* Cycles per instruction of independent ones if all units were pipelined. Those that compute have
 * the same units. */
static double pipelined(const struct machine *machine, const struct machine_form *form,
                        const struct static_insn *insn, const struct uop *uops) {
    uint32_t classes[OP_COUNT] = {0}, queues[MACHINE_MAX_QUEUES] = {0};
    double most =
        (double)places_of(&machine->core, uops, insn->uop_count) / machine->core.dispatch_width;
    for (uint32_t i = 0; i < insn->uop_count; i++) {
        if (uops[i].operation == OP_NOP)
            continue;
        const struct machine_ports ports = ports_of(machine, form, insn, uops, i);
        const uint32_t queue = machine->pools[machine->classes[uops[i].operation].pool].queue;
        const double of_units = (double)++classes[uops[i].operation] / count_units(&ports);
        const double of_queue = (double)++queues[queue] / machine->queues[queue].issue;
        most = of_units > most ? of_units : most;
        most = of_queue > most ? of_queue : most;
    }
    return most;
}

/* For how many cycles each µop that computes takes its unit. Measured throughputs are off by some
 * percent: what is less than a quarter more than pipelined units need is taken for these. What is
 * executed one at a time, at the head with no store before it, as atomics are, says by its
 * throughput how long that takes, and nothing of units. */
static uint32_t interval_of(const struct machine *machine, const struct machine_form *form,
                            const struct static_insn *insn, const struct uop *uops,
                            uint32_t number) {
    const uint32_t operation = uops[number].operation;
    const struct machine_class *class = &machine->classes[operation];
    if (!computes(insn, &uops[number]) || form->throughput <= 0 || operation == OP_NOP ||
        insn->flags & INSN_FENCE_STORE)
        return class->interval ? class->interval : 1;
    if (form->throughput < 1.25 * pipelined(machine, form, insn, uops))
        return 1;
    const uint32_t count = sum_over(uint32_t, i, insn->uop_count, computes(insn, &uops[i]));
    const struct machine_ports ports = ports_of(machine, form, insn, uops, number);
    const double cycles = (double)form->throughput * count_units(&ports) / count + 0.5;
    return cycles < 1 ? 1 : cycles < LONGEST_INTERVAL ? (uint32_t)cycles : LONGEST_INTERVAL;
}

/* By itself. */
static struct uop_timing timing_of(const struct machine *machine, const struct machine_form *form,
                                   const struct static_insn *insn, const struct uop *uops,
                                   uint32_t number) {
    if (!form)
        return uop_timing_of_class(machine, uops[number].operation);
    return (struct uop_timing){.latency = latency_of(machine, form, insn, uops, number),
                               .interval = interval_of(machine, form, insn, uops, number),
                               .ports = ports_of(machine, form, insn, uops, number)};
}

/* Of the units that can execute a load's operation those that lie beside the load's. None: it is
 * for some others only, and has a scheduler of its own choice; one that every unit of the pool can
 * execute never has that. */
static struct machine_ports beside(const struct machine *machine, const struct machine_ports *load,
                                   const struct machine_ports *operation) {
    struct machine_ports both = {{0}}, none = {{0}};
    for (uint32_t i = 0; i < machine->pool_count; i++) {
        uint16_t neighbours = 0;
        for (uint32_t k = 0; k < machine->pool_count; k++)
            neighbours |= load->units[k] ? machine->pools[k].neighbours.units[i] : 0;
        both.units[i] = operation->units[i] & neighbours;
        if (operation->units[i] != both.units[i] &&
            operation->units[i] != machine_pool_whole(&machine->pools[i]))
            return none;
    }
    return both;
}

struct uop_timing uop_timing(const struct machine *machine, const struct machine_form *form,
                             const struct static_insn *insn, const struct uop *uops,
                             uint32_t number) {
    struct uop_timing timing = timing_of(machine, form, insn, uops, number);
    if (has_operation(&machine->core, uops, number, insn->uop_count)) {
        const struct uop_timing operation = timing_of(machine, form, insn, uops, number + 1);
        timing.beside = beside(machine, &timing.ports, &operation.ports);
    }
    return timing;
}
