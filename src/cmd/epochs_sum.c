/* Sums of days, for questions about many hosts. */
#include <stdio.h>

#include "cmd/epochs.h"
#include "cmd/interrupt.h"
#include "report/epochs_report.h"
#include "util/clock.h"

static bool tell(void *context, size_t done, size_t all) {
    struct progress *progress = context;
    progress_set_total(progress, all);
    progress_update(progress, done);
    return !verb_watch.signal;
}

bool epochs_sum(struct epochs_request *request, struct error *error) {
    struct store *store = store_options_open(&request->store, STORE_WRITE, error);
    struct day_sums_made made;
    struct progress progress;
    if (!store)
        return false;
    interrupt_catch();
    progress_start(&progress, stderr, "summing", "epochs", 0);
    bool good = store_sum_days(store, clock_since_1970(), tell, &progress, &made, error);
    progress_finish(&progress);
    if (good)
        sums_made_text(&made, verb_watch.signal, stdout);
    store_close(store);
    return good && sums_made_all(&made, error);
}
