/* Late samples and their skid as JSON; every key is documented in docs/json.md, annotate. */
#include "report/annotation.h"
#include "report/json_values.h"

json_t *annotation_skid_json(const struct annotation *annotation) {
    const struct annotation_skid *skid = annotation->input.skid;
    if (!annotation_is_late(annotation))
        return json_null();
    const struct skid_window window = skid_window(&skid->skid);
    const bool measured = skid->skid.samples > 0;
    json_t *shares = json_array();
    for (unsigned i = 0; i <= SKID_MOST; i++)
        json_array_append_new(shares, json_real(skid->skid.shares[i]));
    return json_pack("{s:b, s:o, s:I, s:I, s:I, s:I, s:f, s:o}", "measured", measured, "why_not",
                     measured ? json_null() : json_text(skid->why), "samples",
                     (json_int_t)skid->skid.samples, "median", (json_int_t)skid_median(&skid->skid),
                     "least", (json_int_t)window.least, "most", (json_int_t)window.most, "share",
                     window.share, "shares", shares);
}

json_t *annotation_late_json(const struct late_cycles *cycles) {
    return json_pack("{s:f, s:f, s:f}", "likely", cycles->likely, "least", cycles->least, "most",
                     cycles->most);
}

json_t *annotation_late_summary_json(const struct late *late, double lost) {
    json_t *causes = json_object();
    for (int i = 0; i < STALL_CAUSES; i++) {
        const enum stall_cause cause = (enum stall_cause)i;
        if (cause != STALL_NONE && cause != STALL_UNIT && !stall_cause_is_dynamic(cause))
            continue;
        json_object_set_new(
            causes, cause == STALL_NONE ? "execution" : stall_cause_key(cause),
            json_pack("{s:f, s:f}", "least", late->ranges[i].least, "most", late->ranges[i].most));
    }
    return json_pack("{s:f, s:o, s:o, s:f}", "total", late->total, "causes", causes, "elsewhere",
                     annotation_late_json(&late->elsewhere), "lost", lost);
}
