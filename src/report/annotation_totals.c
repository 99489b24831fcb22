/* Procedures summed up, as DCPI's dcpisumm has it: shares of all their cycles by cause. */
#include <stdio.h>

#include "report/annotation.h"
#include "util/text.h"

static void add_range(struct stall_range *to, const struct stall_range *from) {
    to->least += from->least;
    to->most += from->most;
}

static void add_scheduled(struct annotation_totals *totals, const struct annotation *annotation) {
    const struct analysis *analysis = annotation->input.analysis;
    const struct stall_summary *from = &analysis->culprits.summary;
    struct stall_summary *to = &totals->summary;
    double truth[STALL_CAUSES];
    const bool known = annotation_truth(annotation, truth);
    totals->has_truth = known && (totals->has_truth || !totals->procedures);
    totals->procedures++;
    totals->lost += analysis->lost;
    to->total += from->total;
    to->unexplained_stall += from->unexplained_stall;
    to->unexplained_gain += from->unexplained_gain;
    to->execution += from->execution;
    to->sampling_error += from->sampling_error;
    to->explained += from->explained;
    for (int cause = 0; cause < STALL_CAUSES; cause++) {
        add_range(&to->dynamic[cause], &from->dynamic[cause]);
        to->static_stalls[cause] += from->static_stalls[cause];
        totals->truth[cause] += known ? truth[cause] : 0;
    }
}

static void add_late(struct annotation_totals *totals, const struct annotation *annotation) {
    const struct late *from = &annotation->input.analysis->late;
    struct late *to = &totals->late;
    totals->late_procedures++;
    totals->late_lost += annotation->input.analysis->lost;
    to->total += from->total;
    to->elsewhere.likely += from->elsewhere.likely;
    to->elsewhere.least += from->elsewhere.least;
    to->elsewhere.most += from->elsewhere.most;
    for (int cause = 0; cause < STALL_CAUSES; cause++) {
        to->ranges[cause].least += from->ranges[cause].least;
        to->ranges[cause].most += from->ranges[cause].most;
    }
}

void annotation_totals_add(struct annotation_totals *totals, const struct annotation *annotation) {
    if (annotation_is_late(annotation))
        add_late(totals, annotation);
    else
        add_scheduled(totals, annotation);
}

void annotation_totals_text(const struct annotation_totals *totals, const struct page *page) {
    char heading[96];
    snprintf(heading, sizeof heading, "what can have had the time of %s",
             totals->late_procedures == 1 ? "the one procedure above" : "all procedures above");
    annotation_text_late_summary(&totals->late, totals->late_lost, heading, page);
    snprintf(heading, sizeof heading, "where the cycles of %s went",
             totals->procedures == 1 ? "the one procedure above" : "all procedures above");
    annotation_text_summary(&totals->summary, totals->has_truth ? totals->truth : NULL,
                            totals->lost, heading, page);
}

json_t *annotation_totals_json(const struct annotation_totals *totals) {
    json_t *late = totals->late_procedures
                       ? annotation_late_summary_json(&totals->late, totals->late_lost)
                       : json_null();
    json_t *scheduled =
        totals->procedures
            ? annotation_summary_json(&totals->summary, totals->has_truth ? totals->truth : NULL,
                                      totals->lost)
            : json_null();
    return json_pack("{s:I, s:o, s:I, s:o}", "frequency_procedures", (json_int_t)totals->procedures,
                     "frequency", scheduled, "elimination_procedures",
                     (json_int_t)totals->late_procedures, "elimination", late);
}
