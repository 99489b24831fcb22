/* A TLB without entries always hits (machine/machine.h), and an operation's latency is its class's;
 * how long its unit is busy stays, as it does in the graph and with lgalu. */
#include "simulate/category_machine.h"

#define BIT(part) (UINT64_C(1) << (part))

/* The standard categories that are in these parts; *rest: what is beyond them. */
static uint32_t standard_in(uint64_t parts, uint64_t *rest) {
    struct categories standard;
    uint32_t ideal = 0;
    categories_standard(&standard);
    for (uint32_t i = 0; i < standard.count; i++)
        if ((parts & standard.list[i].parts) == standard.list[i].parts) {
            ideal |= 1u << i;
            parts &= ~standard.list[i].parts;
        }
    *rest = parts;
    return ideal;
}

static uint64_t operations(void) {
    return ~(BIT(GRAPH_PART_OPERATION) - 1);
}

static bool knows(const struct category *category) {
    uint64_t rest = category->parts, simple = operations();
    if (category->insns)
        return false;
    if (category->change == CATEGORY_REMOVE) {
        standard_in(category->parts, &rest);
        simple |= BIT(GRAPH_PART_WALK) | BIT(GRAPH_PART_FETCH_TLB);
    }
    return !(rest & ~simple);
}

bool category_machine_knows(const struct categories *categories, struct error *error) {
    for (uint32_t i = 0; i < categories->count; i++)
        if (!knows(&categories->list[i]))
            return error_set(error,
                             "category %s: only the graph knows it; what can be simulated are the "
                             "standard causes, dtlb and itlb, taken away, and operations, of all "
                             "instructions",
                             categories->list[i].name);
    return true;
}

static uint32_t changed(const struct category *category, uint32_t cycles) {
    struct categories one = {.count = 1, .list = {*category}};
    return categories_weight(&one, 1, cycles);
}

/* Of several changes of an operation the least counts, as in the graph. */
static void change_operations(const struct category *category, const struct machine *from,
                              struct machine *machine) {
    for (unsigned i = 0; i < OP_COUNT; i++) {
        struct machine_class *class = &machine->classes[i];
        uint32_t latency = changed(category, from->classes[i].latency);
        if (category->parts & BIT(GRAPH_PART_OPERATION + i) && latency < class->latency)
            class->latency = latency;
    }
}

void category_machine_apply(const struct categories *categories, uint32_t set,
                            struct machine *machine, uint32_t *ideal) {
    const struct machine from = *machine;
    uint64_t removed = 0;
    for (uint32_t rest = set; rest; rest &= rest - 1) {
        const struct category *category = &categories->list[__builtin_ctz(rest)];
        if (category->change == CATEGORY_REMOVE)
            removed |= category->parts;
        change_operations(category, &from, machine);
    }
    *ideal = standard_in(removed, &removed);
    if (removed & BIT(GRAPH_PART_WALK))
        machine->dtlb.entries = 0;
    if (removed & BIT(GRAPH_PART_FETCH_TLB))
        machine->itlb.entries = 0;
}
