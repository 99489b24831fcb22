#include "report/bbv_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/json_values.h"
#include "report/page.h"
#include "util/text.h"

bool bbv_report_json(const struct bbv_report *report, FILE *file, struct error *error) {
    const struct bbv_profile_result *result = report->result;
    char *table = bbv_slices_path(report->path);
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:i, s:i, s:f, s:b, s:o}", "vectors",
        json_text(report->path), "slices", json_text(table ? table : report->path), "counts",
        json_text(report->counts), "slice_size", (json_int_t)report->slice_size, "slice_count",
        (json_int_t)result->slices, "instructions", (json_int_t)result->instructions, "blocks",
        (json_int_t)result->blocks, "threads", (int)result->threads, "processes",
        (int)result->processes, "seconds", result->seconds, "partial", !result->complete, "notes",
        json_texts((const char *const *)result->notes, result->note_count));
    free(table);
    return json_write(object, file, error);
}

void bbv_report_text(const struct bbv_report *report, FILE *file) {
    const struct bbv_profile_result *result = report->result;
    const struct page page = page_of(file, false);
    char path[4096];
    page_print(&page,
               "%s: %" PRIu64 " slice%s of %s instructions, %s in all, %" PRIu64 " blocks, %" PRIu32
               " thread%s of %" PRIu32 " process%s, in %s%s",
               text_clean(path, sizeof path, report->path), result->slices,
               text_plural(result->slices), text_count(report->slice_size).s,
               text_count(result->instructions).s, result->blocks, result->threads,
               text_plural(result->threads), result->processes, result->processes == 1 ? "" : "es",
               text_duration(result->seconds).s, result->complete ? "" : " (partial)");
    for (size_t i = 0; i < result->note_count; i++)
        page_wrap(&page, result->notes[i], NULL, "note: ", "  ");
    fputs("next: culprit regions ", file);
    text_put_word(file, report->path);
    fputc('\n', file);
}
