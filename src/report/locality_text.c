#include "report/contend_report.h"
#include "util/text.h"

void locality_text(const struct locality *locality, const struct machine *machine, FILE *file) {
    const double thousands = 1e-3 * (double)locality->events.instructions;
    const struct page page = page_of(file, false);
    page_print(&page,
               "%s%s instructions, %s loads and stores; misses per 1000 instructions: L1D %.3f, %s "
               "%.3f",
               locality->partial ? "(partial) " : "", text_count(locality->events.instructions).s,
               text_count(locality->events.accesses).s,
               (double)locality->levels[0].misses / thousands, machine->llc.present ? "LLC" : "L2",
               (double)locality->levels[1].misses / thousands);
}
