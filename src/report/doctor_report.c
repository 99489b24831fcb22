#include "report/doctor_report.h"

#include <stdio.h>

#include "report/json_values.h"

static const char *const STATES[] = {"works", "limited", "missing"};

void doctor_report_text(const struct doctor *doctor, const struct page *page) {
    for (size_t i = 0; i < doctor->count; i++) {
        const struct finding *finding = &doctor->findings[i];
        char first[64], text[sizeof finding->found + 64];
        snprintf(first, sizeof first, "%-8s ", STATES[finding->state]);
        snprintf(text, sizeof text, "%s: %s", finding->what, finding->found);
        page_wrap(page, text, NULL, first, "         ");
        if (finding->mend[0])
            page_wrap(page, finding->mend, finding->mend,
                      "         mend it: ", "                  ");
    }
}

static json_t *findings_json(const struct doctor *doctor) {
    json_t *array = json_array();
    for (size_t i = 0; i < doctor->count; i++) {
        const struct finding *finding = &doctor->findings[i];
        json_array_append_new(array, json_pack("{s:s, s:s, s:o, s:o}", "what", finding->what,
                                               "state", STATES[finding->state], "found",
                                               json_text(finding->found), "mend",
                                               json_text(finding->mend[0] ? finding->mend : NULL)));
    }
    return array;
}

bool doctor_report_json(const struct doctor *doctor, FILE *file, struct error *error) {
    return json_write(json_pack("{s:s, s:o}", "verb", "doctor", "findings", findings_json(doctor)),
                      file, error);
}
