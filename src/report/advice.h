/* What to try, and what it would save at most: part of the report of `explain`, beside what_if.h.
 */
#pragma once

#include <jansson.h>

#include "query/advice.h"
#include "report/page.h"

struct what_if;
struct report;
struct struct_run;

struct advice_list {
    struct advice items[ADVICE_MOST];
    int count;
    bool interval_unknown; /* as of the what-ifs that it follows from */
};

/* What is known of each cause: of a sample, or, of threads, of what was simulated without it.
 * False: nothing is. */
bool advice_costs(const struct report *report, struct multisim_cost costs[MULTISIM_CATEGORIES]);
/* From what is known of its causes; nothing when nothing is. `structs`: what it would save to lay a
 * struct out anew, or NULL; it outlives the list. */
bool advice_build(const struct report *report, const struct code *code, struct program *program,
                  const struct struct_run *structs, struct advice_list *list, struct error *error);
void advice_text(const struct advice_list *list, const struct page *page);
/* An array (docs/json.md); NULL: out of memory. */
json_t *advice_json(const struct advice_list *list);
