#include "query/time_event.h"
#include "report/annotated.h"

const struct profile_event *annotate_choose_event(const struct annotate_settings *settings,
                                                  const char *name, bool picture,
                                                  struct error *error) {
    const struct profile_set *set = settings->set;
    const bool machine = settings->machines.asked;
    const struct profile_event *event = name || !set->event_count
                                            ? profile_set_event(set, name, error)
                                            : profile_set_time_event(set);
    if (!event)
        return NULL;
    if (profile_event_lasts(event)) {
        error_set(error,
                  "--event %s: time in which threads waited, not of instructions ('culprit top "
                  "--tree --event %s' shows where)",
                  event->name, event->name);
        return NULL;
    }
    if (!profile_event_is_time(event)) {
        if (!picture && !settings->exact && !machine && settings->view == ANNOTATE_BY_EVENT)
            return event;
        error_set(error,
                  "--%s: %s is not time, so that there is no schedule to compare it with (choose "
                  "one with --event)",
                  picture           ? "cfg"
                  : settings->exact ? "exact"
                  : machine         ? "machine"
                                    : "view",
                  event->name);
        return NULL;
    }
    if (profile_event_samples_cycles(event))
        return event;
    error_set(error,
              "--event %s: it does not sample cycles, but bounds what can have caused stalls (the "
              "default of %s is %s)",
              event->name, set->label, profile_set_time_event(set)->name);
    return NULL;
}
