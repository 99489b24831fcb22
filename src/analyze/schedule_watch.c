/* Every cycle to an instruction, as the profilers of that view have it when they sample each cycle
 * (attribute/nci.c, attribute/tip.c; the rule is that of attribute/span.h). */
#include "analyze/scheduler.h"
#include "attribute/span.h"

static inline void add(struct schedule_watch *watch, uint64_t uop, uint64_t units) {
    uint32_t number = tap_uop_insn(uop) - watch->first;
    if (number < watch->count)
        watch->units[number] += units;
}

/* NCI: everything to the oldest of those that commit next. */
static void add_next(struct schedule_watch *watch, const struct closings *at) {
    bool commits = at->record.kind == TAP_COMMIT;
    watch->waited += (at->span.stalled + at->span.empty + commits) * CYCLE_UNITS;
    if (!commits)
        return;
    add(watch, at->record.uops[0], watch->waited);
    watch->waited = 0;
}

/* TIP: waiting to the head, or to what flushed; a commit in equal shares. */
static void add_shares(struct schedule_watch *watch, const struct closings *at) {
    const struct tap_record *record = &at->record;
    add(watch, at->last_uop, at->span.last);
    add(watch, record->uops[0], at->span.next);
    for (unsigned i = 0; i < record->count && record->kind == TAP_COMMIT; i++)
        add(watch, record->uops[i], at->span.share + (i < at->span.rest));
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct schedule_watch *watch = context;
    (void)error;
    for (struct closings at = closings_of(buffer); closings_next(&at);)
        if (watch->view == VIEW_HEAD)
            add_next(watch, &at);
        else
            add_shares(watch, &at);
    return true;
}

struct tap_worker schedule_watch_worker(struct schedule_watch *watch) {
    return (struct tap_worker){.name = "schedule", .consume = consume, .context = watch};
}
