#include <inttypes.h>
#include <math.h>

#include "report/html_calls.h"
#include "report/json_values.h"

/* Name and image of each. */
static bool put_procedures(const struct call_difference *difference, FILE *file) {
    bool good = true;
    fputs("{\"procedures\":[", file);
    for (uint32_t i = 0; good && i < difference->names.count; i++) {
        fputs(i ? ",\n[" : "\n[", file);
        good = json_text_write(intern_text(&difference->names, i), file);
        fputc(',', file);
        good = good &&
               json_text_write(intern_text(&difference->image_names, difference->images[i]), file);
        fputc(']', file);
    }
    fputs("]", file);
    return good;
}

static void put_numbers(const struct call_difference *difference, const char *name, bool parents,
                        FILE *file) {
    fprintf(file, ",\n\"%s\":[", name);
    for (size_t i = 0; i < difference->frame_count; i++) {
        const struct difference_frame *frame = &difference->frames[i];
        fprintf(file, i ? ",%" PRId64 : "%" PRId64,
                i ? (int64_t)(parents ? frame->parent : frame->name) : -1);
    }
    fputs("]", file);
}

bool html_calls_write(struct html *html, const struct call_difference *difference,
                      struct error *error) {
    static const char *const SELF[] = {"before", "after"}, *const CALLS[] = {"calls_before",
                                                                             "calls_after"};
    if (!html->data || !difference->has[0] || !difference->has[1])
        return true;
    if (!html_data(html, "calls", error))
        return false;
    FILE *file = html->data;
    if (!put_procedures(difference, file))
        return error_set(error, "out of memory for the page");
    fputs(",\n\"unit\":", file);
    if (!json_text_write(*difference->unit ? difference->unit : "cycles", file))
        return error_set(error, "out of memory for the page");
    put_numbers(difference, "parent", true, file);
    put_numbers(difference, "procedure", false, file);
    for (unsigned side = 0; side < 2; side++) {
        const double scale = difference->scales[side] > 0 ? difference->scales[side] : 1;
        fprintf(file, ",\n\"%s\":[", SELF[side]);
        for (size_t i = 0; i < difference->frame_count; i++)
            fprintf(file, i ? ",%.10g" : "%.10g", difference->frames[i].self[side] * scale);
        fprintf(file, "],\n\"%s\":[", CALLS[side]);
        for (size_t i = 0; i < difference->frame_count; i++)
            fprintf(file, i ? ",%.10g" : "%.10g", round(difference->frames[i].calls[side]));
        fputs("]", file);
    }
    fputs("}\n", file);
    return true;
}
