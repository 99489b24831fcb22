/* Sums of days, for questions about many hosts. */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/epochs.h"
#include "cmd/interrupt.h"
#include "store/day_sums.h"
#include "util/clock.h"
#include "util/text.h"

static bool tell(void *context, size_t done, size_t all) {
    struct progress *progress = context;
    progress_set_total(progress, all);
    progress_update(progress, done);
    return !verb_watch.signal;
}

bool epochs_sum(struct epochs_request *request, struct error *error) {
    struct store *store = epochs_open(request, STORE_WRITE, error);
    struct day_sums_made made;
    struct progress progress;
    if (!store)
        return false;
    interrupt_catch();
    progress_start(&progress, stderr, "summing", "epochs", 0);
    bool good = store_sum_days(store, clock_since_1970(), tell, &progress, &made, error);
    progress_finish(&progress);
    if (good) {
        printf("made %zu sum%s of days from %s epochs; %zu were there, %zu removed\n", made.made,
               text_plural(made.made), text_grouped(made.epochs).s, made.kept, made.removed);
        if (verb_watch.signal)
            puts("interrupted: the same command goes on where it was");
        else if (!made.days)
            puts("no day is over yet that has epochs (days are those of UTC)");
    }
    store_close(store);
    if (good && made.left_out)
        good =
            error_set(error, "%zu day%s of hosts %s no sum, and these days none of all hosts: %s",
                      made.left_out, text_plural(made.left_out),
                      made.left_out == 1 ? "has" : "have", made.why);
    return good;
}
