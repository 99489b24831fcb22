/* How late samples are is known of those that were taken on a processor like this host's. */
#include <stdio.h>
#include <string.h>

#include "calibrate/skid.h"
#include "report/annotated.h"

static void find(struct annotate_settings *settings) {
    const char *event = settings->event->name;
    struct annotation_skid *skid = &settings->skid;
    struct processor processor;
    struct error error = {0};
    *skid = (struct annotation_skid){0};
    if (!annotate_processor_of(settings->set, &processor, &error))
        snprintf(skid->why, sizeof skid->why, "the epochs are of several processors");
    else if (!annotate_is_here(&processor))
        snprintf(skid->why, sizeof skid->why, "they are not of this processor");
    else if (strcmp(event, "cycles") != 0 && strcmp(event, "cpu-clock") != 0)
        snprintf(skid->why, sizeof skid->why, "it is none of culprit's events");
    else if (!skid_of_host(event, &skid->skid, &skid->now, &error))
        snprintf(skid->why, sizeof skid->why, "%.*s", (int)sizeof skid->why - 1, error.message);
    else
        return;
    skid->skid = settings->event->precise ? skid_none() : skid_assumed();
}

const struct annotation_skid *annotate_skid_of(struct annotate_settings *settings) {
    if (!settings->skid_known)
        find(settings);
    settings->skid_known = true;
    return &settings->skid;
}
