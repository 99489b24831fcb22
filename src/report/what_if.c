/* A line for each cause that costs something, the costliest first, with its strongest interaction,
 * and one for the places that hold it; then the pair that saves most together. */
#include "report/what_if.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "report/short_name.h"
#include "util/file_name.h"
#include "util/text.h"

enum { CAUSES = 5, NAME = 6, DESCRIPTION = 53, DESCRIPTION_LEAST = 16, PLACE = 28 };
#define LEAST_COST        0.01
#define LEAST_INTERACTION 0.02

static double share(const struct breakdown *breakdown, double cycles) {
    return cycles / breakdown->cycles[0];
}

/* The category that `category` interacts with most, beyond what the sample may err; its own number
 * when it does with none. */
static uint32_t partner_of(const struct what_if *what_if, uint32_t category) {
    const struct breakdown *breakdown = &what_if->breakdown;
    uint32_t best = category;
    double most = LEAST_INTERACTION * breakdown->cycles[0];
    for (uint32_t i = 0; i < breakdown->count; i++) {
        if (i == category)
            continue;
        const uint32_t pair = 1u << category | 1u << i;
        const double icost = fabs(breakdown_icost(breakdown, pair));
        if (icost >= most &&
            icost > sampled_multisim_icost(&what_if->sample, &what_if->run, pair).half_interval *
                        breakdown->cycles[0]) {
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

/* The pair that saves most at the lower end of its interval: of many, the largest figure is likely
 * to be one that errs. */
static uint32_t best_pair(const struct what_if *what_if) {
    uint32_t best = 0;
    double most = 0;
    for (uint32_t a = 0; a < MULTISIM_CATEGORIES; a++)
        for (uint32_t b = a + 1; b < MULTISIM_CATEGORIES; b++) {
            const uint32_t pair = 1u << a | 1u << b;
            const struct multisim_cost cost =
                sampled_multisim_cost(&what_if->sample, &what_if->run, pair);
            if (best && !(cost.share - cost.half_interval > most))
                continue;
            most = cost.share - cost.half_interval;
            best = pair;
        }
    return best;
}

/* Columns of a description: what the figures beside it leave. */
static unsigned description_columns(const struct page *page) {
    enum { REST = NAME + 41 };
    return page->columns < REST + DESCRIPTION_LEAST ? (unsigned)DESCRIPTION_LEAST
           : page->columns > REST + DESCRIPTION     ? (unsigned)DESCRIPTION
                                                    : page->columns - REST;
}

static void format_cost(const struct what_if *what_if, uint32_t set, char *text, size_t size) {
    const struct multisim_cost cost = sampled_multisim_cost(&what_if->sample, &what_if->run, set);
    const bool known = !what_if->interval_unknown;
    snprintf(text, size, "%5s%s%s", text_percent(cost.share, 1).s, known ? " ±" : "",
             known ? text_percent(cost.half_interval, 1).s : "");
}

/* "61 % in longest_match, deflate.c:1148-1153" */
static void print_place(const struct what_if_place *place, FILE *file) {
    fprintf(file, "%.0f %% in ", 100 * place->share);
    if (place->function) {
        char fitted[4 * PLACE + 1];
        fputs(short_name(place->function, PLACE, fitted, sizeof fitted), file);
    } else {
        fprintf(file, "%s+0x%" PRIx64, place->image, place->offset);
    }
    if (!place->file)
        return;
    fprintf(file, ", %s:%" PRIu32, file_base_name(place->file), place->first_line);
    if (place->last_line > place->first_line)
        fprintf(file, "-%" PRIu32, place->last_line);
}

static void print_places(const struct what_if *what_if, uint32_t category,
                         const struct page *page) {
    char *text = NULL;
    size_t size;
    FILE *line = what_if->place_count[category] ? open_memstream(&text, &size) : NULL;
    if (!line)
        return;
    for (uint32_t i = 0; i < what_if->place_count[category]; i++) {
        fputs(i ? "; " : "", line);
        print_place(&what_if->places[category][i], line);
    }
    if (fclose(line) == 0)
        page_wrap(page, text, NULL, "       ", "       ");
    free(text);
}

static void print_cause(const struct what_if *what_if, uint32_t category, const struct page *page) {
    const struct breakdown *breakdown = &what_if->breakdown;
    uint32_t partner = partner_of(what_if, category);
    double icost = breakdown_icost(breakdown, 1u << category | 1u << partner);
    char cost[32], together[64] = "";
    format_cost(what_if, 1u << category, cost, sizeof cost);
    if (partner != category)
        snprintf(together, sizeof together, "%s %s (%s%s)",
                 icost < 0 ? "in series with" : "overlaps with", breakdown->names[partner],
                 icost < 0 ? "" : "+", text_percent(icost, breakdown->cycles[0]).s);
    const unsigned before = 1 + NAME + description_columns(page) + text_columns(cost) + 2;
    const bool fits = before + strlen(together) <= page->columns;
    fputc(' ', page->file);
    page_cell(page, breakdown->names[category], NAME, TEXT_LEFT);
    page_cell(page, ideal_description(category), description_columns(page), TEXT_LEFT);
    fputs(cost, page->file);
    if (*together)
        fprintf(page->file, "%s%s", fits ? "  " : "\n       ", together);
    fputc('\n', page->file);
    print_places(what_if, category, page);
}

void what_if_text(const struct what_if *what_if, const struct page *page) {
    const struct breakdown *breakdown = &what_if->breakdown;
    uint32_t order[BREAKDOWN_CATEGORIES];
    uint32_t count = breakdown->cycles ? by_cost(breakdown, order) : 0;
    if (!count)
        return;
    page_heading(page, "what if",
                 "a cause were gone entirely (percent of run time; a fix saves at most that)");
    for (uint32_t i = 0; i < count && i < CAUSES; i++)
        print_cause(what_if, order[i], page);
    char name[NAME + DESCRIPTION + 1], both[2 * BREAKDOWN_NAME_BYTES + 2];
    uint32_t pair = best_pair(what_if);
    snprintf(name, sizeof name, "%.48s: both",
             breakdown_set_name(breakdown, pair, both, sizeof both));
    fputc(' ', page->file);
    page_cell(page, name, NAME + description_columns(page), TEXT_LEFT);
    format_cost(what_if, pair, both, sizeof both);
    fprintf(page->file, "%s\n", both);
    page_wrap(page,
              "in series: either removes the same cycles; overlap: these go only when both are "
              "removed",
              NULL, " ", " ");
}

void what_if_brief(const struct what_if *what_if, const struct page *page) {
    enum { MOST = 3 };
    const struct breakdown *breakdown = &what_if->breakdown;
    uint32_t order[BREAKDOWN_CATEGORIES];
    uint32_t count = breakdown->cycles ? by_cost(breakdown, order) : 0;
    char line[128] = "";
    for (uint32_t i = 0; i < count && i < MOST; i++) {
        const struct multisim_cost cost =
            sampled_multisim_cost(&what_if->sample, &what_if->run, 1u << order[i]);
        const size_t length = strlen(line);
        snprintf(line + length, sizeof line - length, "%s%s %s %%",
                 i ? ", " : "gone without: ", breakdown->names[order[i]],
                 text_percent(cost.share, 1).s);
    }
    page_clip(page, line, page->columns);
    fputs(count ? "\n" : "", page->file);
}

/* ---- JSON ---- */

static json_t *amount(const struct what_if *what_if, double cycles, double interval) {
    return json_pack("{s:f, s:f, s:o}", "cycles", cycles, "percent",
                     100 * share(&what_if->breakdown, cycles), "half_interval_95",
                     what_if->interval_unknown ? json_null() : json_real(100 * interval));
}

static json_t *places_json(const struct what_if *what_if, uint32_t category) {
    json_t *places = json_array();
    for (uint32_t i = 0; i < what_if->place_count[category]; i++) {
        const struct what_if_place *place = &what_if->places[category][i];
        json_array_append_new(places, json_pack("{s:s?, s:s, s:I, s:s?, s:i, s:i, s:f}", "function",
                                                place->function, "image", place->image, "offset",
                                                (json_int_t)place->offset, "file", place->file,
                                                "first_line", (int)place->first_line, "last_line",
                                                (int)place->last_line, "share", place->share));
    }
    return places;
}

json_t *what_if_json(const struct what_if *what_if) {
    const struct breakdown *breakdown = &what_if->breakdown;
    const struct sampled_multisim_result *sample = &what_if->sample;
    const struct multisim_run_cycles *run = &what_if->run;
    if (!breakdown->cycles)
        return json_null();
    json_t *costs = json_array(), *pairs = json_array();
    for (uint32_t a = 0; a < breakdown->count; a++) {
        json_array_append_new(
            costs, json_pack("{s:s, s:o, s:o}", "category", breakdown->names[a], "cost",
                             amount(what_if, breakdown_cost(breakdown, 1u << a),
                                    sampled_multisim_cost(sample, run, 1u << a).half_interval),
                             "places", places_json(what_if, a)));
        for (uint32_t b = a + 1; b < breakdown->count; b++) {
            const uint32_t pair = 1u << a | 1u << b;
            json_array_append_new(
                pairs, json_pack("{s:[s, s], s:o, s:o}", "members", breakdown->names[a],
                                 breakdown->names[b], "cost",
                                 amount(what_if, breakdown_cost(breakdown, pair),
                                        sampled_multisim_cost(sample, run, pair).half_interval),
                                 "icost",
                                 amount(what_if, breakdown_icost(breakdown, pair),
                                        sampled_multisim_icost(sample, run, pair).half_interval)));
        }
    }
    return json_pack("{s:o, s:o, s:I, s:I}", "costs", costs, "pairs", pairs, "pieces",
                     (json_int_t)sample->cells, "instructions_simulated_again",
                     (json_int_t)sample->instructions);
}

/* ---- building ---- */

bool what_if_build(const struct sampled_multisim_result *sample,
                   const struct simulation *simulation, const struct code *code,
                   struct program *program, struct what_if *what_if, struct error *error) {
    *what_if = (struct what_if){
        .sample = *sample,
        .interval_unknown = simulation->regions.simulated < simulation->regions.count,
        .run = multisim_run_cycles(simulation->cells, simulation->cell_count)};
    return sampled_multisim_breakdown(sample, &what_if->run, &what_if->breakdown, error) &&
           (!what_if->breakdown.cycles ||
            what_if_find_places(what_if, simulation, code, program, error));
}

void what_if_free(struct what_if *what_if) {
    breakdown_free(&what_if->breakdown);
}
