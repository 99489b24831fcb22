/* A line for each cause that costs something, the costliest first, with its strongest interaction;
 * then the pair that saves most together. */
#include "report/what_if.h"

#include <math.h>
#include <stdio.h>

#include "core/core.h"
#include "util/text.h"

enum { CAUSES = 5, NAME = 6, DESCRIPTION = 56 };
#define LEAST_COST        0.01
#define LEAST_INTERACTION 0.02

static double share(const struct breakdown *breakdown, double cycles) {
    return cycles / breakdown->cycles[0];
}

/* The category that `category` interacts with most; its own number when it does with none. */
static uint32_t partner_of(const struct breakdown *breakdown, uint32_t category) {
    uint32_t best = category;
    double most = LEAST_INTERACTION * breakdown->cycles[0];
    for (uint32_t i = 0; i < breakdown->count; i++) {
        double icost = fabs(breakdown_icost(breakdown, 1u << category | 1u << i));
        if (i != category && icost >= most) {
            most = icost;
            best = i;
        }
    }
    return best;
}

/* Categories by cost; returns how many cost enough. */
static uint32_t by_cost(const struct breakdown *breakdown, uint32_t order[BREAKDOWN_CATEGORIES]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < breakdown->count; i++) {
        double cost = breakdown_cost(breakdown, 1u << i);
        uint32_t at = count;
        if (!(share(breakdown, cost) >= LEAST_COST))
            continue;
        for (; at > 0 && breakdown_cost(breakdown, 1u << order[at - 1]) < cost; at--)
            order[at] = order[at - 1];
        order[at] = i;
        count++;
    }
    return count;
}

static uint32_t best_pair(const struct breakdown *breakdown) {
    uint32_t best = 0;
    for (uint32_t a = 0; a < breakdown->count; a++)
        for (uint32_t b = a + 1; b < breakdown->count; b++) {
            uint32_t pair = 1u << a | 1u << b;
            if (!best || breakdown->cycles[pair] < breakdown->cycles[best])
                best = pair;
        }
    return best;
}

static void print_cell(FILE *file, const char *text, unsigned columns) {
    char fitted[4 * DESCRIPTION + 1];
    fputs(text_fit(fitted, sizeof fitted, text, columns, TEXT_LEFT), file);
}

static void print_cause(const struct breakdown *breakdown, uint32_t category, FILE *file) {
    uint32_t partner = partner_of(breakdown, category);
    double icost = breakdown_icost(breakdown, 1u << category | 1u << partner);
    fputc(' ', file);
    print_cell(file, breakdown->names[category], NAME);
    print_cell(file, ideal_description(category), DESCRIPTION);
    fprintf(file, "%5s",
            text_percent(breakdown_cost(breakdown, 1u << category), breakdown->cycles[0]).s);
    if (partner != category)
        fprintf(file, "  %s %s (%s%s)", icost < 0 ? "in series with" : "overlaps with",
                breakdown->names[partner], icost < 0 ? "" : "+",
                text_percent(icost, breakdown->cycles[0]).s);
    fputc('\n', file);
}

void what_if_text(const struct breakdown *breakdown, bool colour, FILE *file) {
    uint32_t order[BREAKDOWN_CATEGORIES];
    uint32_t count = breakdown->cycles ? by_cost(breakdown, order) : 0;
    if (!count)
        return;
    fprintf(file, "\n%swhat if%s (percent of run time that it would save)\n",
            colour ? "\033[1m" : "", colour ? "\033[0m" : "");
    for (uint32_t i = 0; i < count && i < CAUSES; i++)
        print_cause(breakdown, order[i], file);
    char name[NAME + DESCRIPTION + 1], both[2 * BREAKDOWN_NAME_BYTES + 2];
    uint32_t pair = best_pair(breakdown);
    snprintf(name, sizeof name, "%.48s: both",
             breakdown_set_name(breakdown, pair, both, sizeof both));
    fputc(' ', file);
    print_cell(file, name, NAME + DESCRIPTION);
    fprintf(file, "%5s\n", text_percent(breakdown_cost(breakdown, pair), breakdown->cycles[0]).s);
    fputs(" in series: either removes the same cycles; overlap: these go only when both are "
          "removed\n",
          file);
}

static json_t *amount(const struct breakdown *breakdown, double cycles) {
    return json_pack("{s:f, s:f}", "cycles", cycles, "percent", 100 * share(breakdown, cycles));
}

json_t *what_if_json(const struct breakdown *breakdown) {
    if (!breakdown->cycles)
        return json_null();
    json_t *costs = json_array(), *pairs = json_array();
    for (uint32_t a = 0; a < breakdown->count; a++) {
        json_array_append_new(costs,
                              json_pack("{s:s, s:o}", "category", breakdown->names[a], "cost",
                                        amount(breakdown, breakdown_cost(breakdown, 1u << a))));
        for (uint32_t b = a + 1; b < breakdown->count; b++)
            json_array_append_new(
                pairs,
                json_pack("{s:[s, s], s:o, s:o}", "members", breakdown->names[a],
                          breakdown->names[b], "cost",
                          amount(breakdown, breakdown_cost(breakdown, 1u << a | 1u << b)), "icost",
                          amount(breakdown, breakdown_icost(breakdown, 1u << a | 1u << b))));
    }
    return json_pack("{s:o, s:o}", "costs", costs, "pairs", pairs);
}
