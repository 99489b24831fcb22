/* The points of a design: text, JSON, comma-separated values, and a picture of speed against cost.
 */
#pragma once

#include "report/report.h"
#include "study/design_summary.h"

enum design_sort {
    DESIGN_BY_SPEED, /* fastest first */
    DESIGN_BY_COST,  /* cheapest first, of those the fastest */
    DESIGN_AS_GIVEN
};

struct design_report {
    struct report report; /* verb, notes and next; the rest is not used */
    const struct design *design;
    enum design_sort sort;

    struct design_summary summary;
    uint32_t *order; /* numbers of points: by program, each sorted */
};

/* design_report_free() either way. */
bool design_report_build(struct design_report *report, struct error *error);
void design_report_free(struct design_report *report);
/* Notes what failed and what is missing. */
void design_report_note_failures(struct design_report *report);

void design_report_text(const struct design_report *report, const struct page *page);
bool design_report_json(const struct design_report *report, FILE *file, struct error *error);
/* A line for each point, in the order of the report; the first names the columns. */
void design_report_csv(const struct design_report *report, FILE *file);
/* Speed over cost of all configurations, with the front. */
void design_report_svg(const struct design_report *report, FILE *file);

/* Of a point that is done: cycles per instruction. */
double design_point_cpi(const struct design_point *point);
/* Whether it is done, and its configuration on the front. */
bool design_report_front(const struct design_report *report, uint32_t number);
/* "zen4 l2.size=1M": what tells a configuration from others. Cut where there is no room. */
void design_point_name(const struct design *design, const struct design_point *point, char *name,
                       size_t size);
