#include "report/stalls.h"

#include "report/json_values.h"
#include "util/text.h"

static void sum(const struct simulation *simulation, uint64_t cycles[STALL_CAUSES]) {
    for (int cause = 0; cause < STALL_CAUSES; cause++)
        cycles[cause] = 0;
    for (size_t i = 0; i < simulation->stall_count; i++)
        cycles[simulation->stalls[i].cause] += simulation->stalls[i].cycles;
}

static int largest(const uint64_t cycles[STALL_CAUSES]) {
    int best = 0;
    for (int cause = 1; cause < STALL_CAUSES; cause++)
        if (cycles[cause] > cycles[best])
            best = cause;
    return best;
}

void stalls_text(const struct simulation *simulation, const struct page *page) {
    FILE *file = page->file;
    uint64_t cycles[STALL_CAUSES];
    if (!simulation->stalls)
        return;
    sum(simulation, cycles);
    fprintf(file, "\n%scycles by what the oldest instruction waited for%s\n", page->bold,
            page->plain);
    for (int cause; cycles[cause = largest(cycles)] > 0; cycles[cause] = 0)
        fprintf(file, " %-20s %5s %%  %9s\n",
                cause == STALL_NONE ? "nothing: it issued" : stall_cause_name(cause),
                text_percent((double)cycles[cause], (double)simulation->cycles).s,
                text_count(cycles[cause]).s);
}

json_t *stalls_json(const struct simulation *simulation) {
    uint64_t cycles[STALL_CAUSES];
    if (!simulation->stalls)
        return json_null();
    sum(simulation, cycles);
    json_t *object = json_object();
    for (int cause = 0; cause < STALL_CAUSES; cause++)
        json_object_set_new(object, stall_cause_key(cause), json_count(cycles[cause]));
    return object;
}
