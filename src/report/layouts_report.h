/* One program under several layouts of its memory: how far its cycles lie apart, and which
 * functions are why. */
#pragma once

#include "attribute/component.h"
#include "query/layout_spread.h"
#include "report/report.h"
#include "util/arena.h"

/* Sums over layouts, exact, so that the order in which these come does not matter. */
struct layout_sum {
    uint64_t sum;              /* units */
    unsigned __int128 product; /* of units and of all units of the layout */
};

struct layout_function {
    const char *image, *name;
    uint64_t offset;  /* of its first byte in the image */
    const char *file; /* of its costliest instruction in the layout that was taken first that has
                         it; NULL: not known */
    uint32_t line;
    uint32_t seen;        /* layouts in which it took time */
    uint64_t least, most; /* units, in those */
    struct layout_sum all, components[COMPONENT_COUNT];

    /* layouts_report_build() */
    double share;             /* of the variance of all cycles: what it contributes, of 1 */
    enum component component; /* that contributes most of that */
};

struct layouts_report {
    struct report report; /* verb, notes and next; the rest is not used */
    char *title;          /* the command */
    const struct machine *machine;
    uint32_t count; /* layouts asked for */
    bool relinked;  /* functions lie elsewhere under each: they go by name alone */
    struct layout_cycles *layouts;
    struct arena names;
    struct layout_function *functions; /* when built, those of the largest share first */
    size_t function_count, capacity, known;
    struct layout_sum total;
    uint32_t top; /* rows asked for; 0: all */

    struct layout_spread spread;
    size_t shown;  /* functions */
    size_t varied; /* that do not take the same cycles under all layouts */
};

bool layouts_report_begin(struct layouts_report *report, uint32_t count, struct error *error);
/* In any order. */
bool layouts_report_take(struct layouts_report *report, uint32_t layout, const char *command,
                         const struct simulation *simulation, const struct code *code,
                         const struct machine *machine, struct error *error);
/* Of at least one layout that was taken. */
bool layouts_report_build(struct layouts_report *report, struct error *error);
void layouts_report_free(struct layouts_report *report);

void layouts_report_text(const struct layouts_report *report, const struct page *page);
bool layouts_report_json(const struct layouts_report *report, FILE *file, struct error *error);
