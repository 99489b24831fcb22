/* The roofline as two tables: the roofs, and the loops below them. */
#include <math.h>

#include "report/roofline.h"
#include "report/table.h"
#include "util/text.h"

enum { NAME_BYTES = 512 };

static void print_roofs(const struct roofline *roofline, const struct page *page) {
    for (uint32_t i = 0; i < roofline->memory_count; i++)
        page_print(page, " %8sB/s  %s", text_quantity(roofline->memory[i].rate).s,
                   roofline->memory[i].name);
    for (uint32_t i = 0; i < roofline->computing_count; i++)
        page_print(page, " %8sop/s %s", text_quantity(roofline->computing[i].rate).s,
                   roofline->computing[i].name);
}

void roofline_text(const struct roofline *roofline, const struct page *page) {
    const struct table_column columns[] = {{"  cycles", TABLE_FIGURE, .gap = 0},
                                           {"   op/s", TABLE_FIGURE, .gap = 1},
                                           {"    B/s", TABLE_FIGURE, .gap = 1},
                                           {"op per B", TABLE_FIGURE, .gap = 1},
                                           {"of roof %", TABLE_FIGURE, .gap = 1},
                                           {"roof above", TABLE_TEXT, .gap = 2, .least = 14},
                                           {"loop", TABLE_NAME, .gap = 2, .least = 16}};
    page_heading(page, "roofline",
                 roofline->fp ? " (floating-point operations, and bytes that the core loads and "
                                "stores; loops without those within)"
                              : " (integer operations, and bytes that the core loads and stores; "
                                "loops without those within)");
    print_roofs(roofline, page);
    struct table *table = table_with(page, columns, sizeof columns / sizeof *columns);
    for (uint32_t i = 0; i < roofline->count; i++) {
        const struct roofline_loop *loop = &roofline->points[i];
        char name[NAME_BYTES];
        roofline_name(roofline, i, name, sizeof name);
        table_figure(table, "%s %%", text_percent(loop->cycles, roofline->cycles).s);
        table_cell(table, text_quantity(loop->rate).s);
        table_cell(table, text_quantity(loop->rate / loop->intensity).s);
        table_figure(table, "%.3f", loop->intensity);
        table_cell(table, isfinite(loop->bound) ? text_percent(loop->rate, loop->bound).s : "-");
        table_cell(table, roofline_bound(roofline, i));
        table_cell(table, name);
    }
    table_end(table);
}
