/* Figures are of the whole run: cycles per instruction by the model, times the instructions that
 * the simulation stands for. What an upgrade saves has two bounds that the simulation gives: what
 * the core waits for long misses, and, since the model knows no limit of bandwidth, the time for
 * which the memory's bus is not busy. More room costs nothing, whatever the model says; a
 * prefetcher may. */
#include "report/upgrades.h"

#include <math.h>

#include "attribute/component.h"
#include "util/text.h"

enum { NAME = 64 };
#define LEAST_SHARE 0.05
/* The model is far off when the simulation's share is so many times its own, or the other way
 * round, unless that is less than LEAST_SHARE. */
#define FAR_OFF 1.5

/* Cycles of the run. */
struct costs {
    double all;           /* simulated */
    double loads, stores; /* simulated: waiting for loads that missed the last level, and behind a
                             full store queue */
    double bus;           /* for which the memory's data bus is busy; 0: it has no limit */
    double now;           /* lost to long data misses, by the model */
    double then[UPGRADES_MOST];
};

double memory_bus_cycles(const struct report *report) {
    const struct machine *machine = report->machine;
    const struct memory_statistics *memory = &report->simulation->counted.memory;
    const struct machine_cache *last = machine->llc.present  ? &machine->llc
                                       : machine->l2.present ? &machine->l2
                                                             : &machine->l1d;
    if (!machine->dram.banked || !(machine->dram.bandwidth > 0))
        return 0;
    return (double)(memory->dram_reads + memory->dram_writes) * last->line * machine->clock_ghz /
           machine->dram.bandwidth;
}

static struct costs costs_of(const struct report *report) {
    const struct simulation *simulation = report->simulation;
    const struct forecast_result *forecast = &report->forecast;
    uint64_t units[COMPONENT_COUNT];
    stack_components(&report->stack, units);
    struct costs costs = {.all = (double)simulation->cycles,
                          .loads = (double)units[COMPONENT_LLC_MISS] / CYCLE_UNITS,
                          .stores = (double)units[COMPONENT_STORES] / CYCLE_UNITS,
                          .bus = memory_bus_cycles(report)};
    const double per = (double)simulation->instructions / forecast->instructions;
    costs.now = forecast->now * per;
    for (uint32_t i = 0; i < UPGRADES_MOST; i++)
        costs.then[i] = forecast->then[i] * per;
    return costs;
}

static bool is_known(const struct report *report) {
    return report->forecast.instructions > 0 && report->simulation->cycles > 0;
}

static bool stands_for_enough(const struct report *report) {
    return 2 * report->forecast.instructions >= (double)report->simulation->instructions;
}

/* More than the whole time cannot be lost. */
static bool can_tell(const struct report *report, const struct costs *costs) {
    return stands_for_enough(report) && costs->now <= costs->all;
}

/* Which of the waiting for stores is for misses, the simulation does not tell. */
static bool is_far_off(const struct costs *costs) {
    const double most = costs->loads + costs->stores, least = LEAST_SHARE * costs->all;
    return (costs->now > FAR_OFF * most && costs->now - most > least) ||
           (costs->loads > FAR_OFF * costs->now && costs->loads - costs->now > least);
}

static double saved(const struct costs *costs, const struct upgrade *upgrade, uint32_t number) {
    const double most = fmin(costs->loads + costs->stores, fmax(costs->all - costs->bus, 0));
    const double says = fmin(costs->now - costs->then[number], most);
    return upgrade->kind == UPGRADE_PREFETCHER ? says : fmax(says, 0);
}

static bool matters(const struct costs *costs) {
    const double least = LEAST_SHARE * costs->all;
    return costs->loads >= least || (costs->loads + costs->stores >= least && costs->now >= least);
}

static void name_upgrade(const struct report *report, const struct upgrade *upgrade, char *name,
                         size_t size) {
    switch (upgrade->kind) {
    case UPGRADE_WINDOW:
        snprintf(name, size, "reorder buffer %u (%u now), queues and registers with it",
                 upgrade->then, upgrade->now);
        return;
    case UPGRADE_MSHRS:
        snprintf(name, size, "MSHRs %u (%u now)", upgrade->then, upgrade->now);
        return;
    case UPGRADE_BOTH:
        snprintf(name, size, "both %s as large", upgrade->times == 2 ? "twice" : "four times");
        return;
    case UPGRADE_PREFETCHER:
        snprintf(name, size, "%s prefetcher in the L1D (%s now)", upgrade->name,
                 machine_prefetchers[report->machine->l1d.prefetcher].word);
        return;
    }
}

static void print_why_not(const struct report *report, const struct page *page) {
    const struct forecast_result *forecast = &report->forecast;
    const struct text all = text_count(report->simulation->instructions);
    char line[256];
    if (stands_for_enough(report))
        snprintf(line, sizeof line,
                 "not told, for by the hybrid analytical model long data misses would take more "
                 "than the whole time (looked at %s of %s instructions)",
                 text_count(forecast->looked).s, all.s);
    else
        snprintf(line, sizeof line,
                 "not told, for what the hybrid analytical model looked at stands for %s of %s "
                 "instructions only",
                 text_count((uint64_t)forecast->instructions).s, all.s);
    page_heading(page, "what if the machine were larger:", line);
}

static void print_upgrades(const struct report *report, const struct costs *costs,
                           const struct page *page) {
    enum { FIGURE = 6, LEAST = 20 };
    struct upgrade upgrades[UPGRADES_MOST];
    const uint32_t count = upgrades_of(report->machine, upgrades);
    const unsigned room = page->columns > LEAST + FIGURE ? page->columns - FIGURE : LEAST;
    const unsigned columns = room < NAME ? room : NAME;
    for (uint32_t i = 0; i < count; i++) {
        char name[NAME + 1], fitted[4 * NAME + 1];
        name_upgrade(report, &upgrades[i], name, sizeof name);
        fprintf(page->file, " %s%5s\n", text_fit(fitted, sizeof fitted, name, columns, TEXT_LEFT),
                text_percent(saved(costs, &upgrades[i], i), costs->all).s);
    }
}

static void print_check(const struct report *report, const struct costs *costs,
                        const struct page *page) {
    char line[512];
    snprintf(line, sizeof line,
             "as it is, long data misses take %s %% of the time by the model; simulated: %s %% "
             "waiting for loads that missed the last cache, %s %% behind a full store queue: %s "
             "(looked at %s of %s instructions)",
             text_percent(costs->now, costs->all).s, text_percent(costs->loads, costs->all).s,
             text_percent(costs->stores, costs->all).s,
             is_far_off(costs) ? "far apart, so these rows are not to be trusted"
                               : "the nearer, the more to trust",
             text_count(report->forecast.looked).s, text_count(report->simulation->instructions).s);
    page_wrap(page, line, NULL, " ", " ");
}

void upgrades_text(const struct report *report, const struct page *page) {
    if (!is_known(report))
        return;
    const struct costs costs = costs_of(report);
    if (!matters(&costs))
        return;
    if (!can_tell(report, &costs)) {
        print_why_not(report, page);
        return;
    }
    page_heading(page, "what if the machine were larger",
                 is_far_off(&costs)
                     ? "(percent of run time saved, by the hybrid analytical model, "
                       "which is far off here)"
                     : "(percent of run time saved, by the hybrid analytical model)");
    print_upgrades(report, &costs, page);
    print_check(report, &costs, page);
}

static json_t *amount(double cycles, double all) {
    return json_pack("{s:f, s:f}", "cycles", cycles, "percent", 100 * cycles / all);
}

static json_t *upgrade_object(const struct costs *costs, const struct upgrade *upgrade,
                              uint32_t number) {
    json_t *settings = json_array();
    for (uint32_t i = 0; i < upgrade->setting_count; i++)
        json_array_append_new(settings, json_string(upgrade->settings[i]));
    return json_pack("{s:s, s:i, s:o, s:o, s:o}", "upgrade", upgrade->name, "times",
                     (int)upgrade->times, "settings", settings, "long_misses",
                     amount(costs->then[number], costs->all), "saves",
                     amount(saved(costs, upgrade, number), costs->all));
}

json_t *upgrades_json(const struct report *report) {
    struct upgrade upgrades[UPGRADES_MOST];
    if (!is_known(report))
        return json_null();
    const struct costs costs = costs_of(report);
    if (!can_tell(report, &costs))
        return json_null();
    const uint32_t count = upgrades_of(report->machine, upgrades);
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(list, upgrade_object(&costs, &upgrades[i], i));
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "instructions_looked_at",
                     (json_int_t)report->forecast.looked, "long_misses",
                     amount(costs.now, costs.all), "simulated_llc_miss",
                     amount(costs.loads, costs.all), "simulated_stores",
                     amount(costs.stores, costs.all), "memory_bus", amount(costs.bus, costs.all),
                     "upgrades", list);
}
