#include "simulate/course_balance.h"

double course_balance_saves(const struct course_counts *counts, uint32_t cores,
                            enum course_activity activity) {
    double saved = 0;
    for (unsigned running = 1; running <= COURSE_MOST; running++)
        for (unsigned waiting = 1; waiting <= COURSE_MOST; waiting++) {
            const typeof(counts->waiting[0][0]) *cell = &counts->waiting[running][waiting];
            if (!cell->cycles || running >= cores)
                continue;
            const double helpers = waiting * cell->parts[activity] / (double)cell->cycles;
            const double left = cores - running;
            const double all = running + (helpers < left ? helpers : left);
            saved += (double)cell->cycles * (1 - running / all);
        }
    return saved;
}

double course_spread_saves(const struct course_counts *counts, uint32_t cores) {
    double saved = 0;
    for (unsigned others = 1; others <= COURSE_MOST && others < cores; others++)
        for (unsigned joining = 0; joining <= COURSE_MOST; joining++)
            saved += (double)counts->joining[others][joining] * (cores - others) / cores;
    return saved;
}
