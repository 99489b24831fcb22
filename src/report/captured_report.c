#include "report/captured_report.h"

#include <inttypes.h>
#include <string.h>

#include "report/json_values.h"
#include "report/page.h"
#include "util/text.h"

static void print_lost(const struct captured_report *report, FILE *file) {
    const struct champsim_lost *lost = report->lost;
    if (report->champsim && lost->records != report->result->instructions)
        fprintf(file, "%s records: elements of repeated string instructions are one each\n",
                text_count(lost->records).s);
    if (lost->accesses)
        fprintf(file, "left out: %s access%s beyond 4 loads and 2 stores of an instruction\n",
                text_count(lost->accesses).s, lost->accesses == 1 ? "" : "es");
    if (lost->others)
        fprintf(file, "left out: %s instruction%s of other threads (--thread N takes another)\n",
                text_count(lost->others).s, text_plural(lost->others));
}

static double bytes_each(const struct capture_result *result) {
    return result->instructions ? (double)result->bytes / (double)result->instructions : 0;
}

bool captured_json(const struct captured_report *report, FILE *file, struct error *error) {
    const struct capture_result *result = report->result;
    return json_write(
        json_pack("{s:o, s:I, s:I, s:f, s:i, s:i, s:f, s:b}", "trace", json_text(report->path),
                  "instructions", (json_int_t)result->instructions, "bytes",
                  (json_int_t)result->bytes, "bytes_per_instruction", bytes_each(result), "threads",
                  (int)result->threads, "processes", (int)result->processes, "seconds",
                  result->seconds, "partial", report->partial),
        file, error);
}

void captured_text(const struct captured_report *report, FILE *file) {
    const struct capture_result *result = report->result;
    const struct page page = page_of(file, false);
    char path[4096];
    page_print(&page,
               "%s: %s instruction%s, %" PRIu32 " thread%s of %" PRIu32 " process%s, in %s%s",
               text_clean(path, sizeof path, report->path), text_count(result->instructions).s,
               text_plural(result->instructions), result->threads, result->threads == 1 ? "" : "s",
               result->processes, result->processes == 1 ? "" : "es",
               text_duration(result->seconds).s, report->partial ? " (partial)" : "");
    fprintf(file, "%s, %.3f bytes per instruction\n", text_bytes(result->bytes).s,
            bytes_each(result));
    print_lost(report, file);
    if (report->good && strcmp(report->path, "-") != 0) {
        fprintf(file, "next: culprit %s ", report->addresses ? "sim" : "trace --info");
        text_put_word(file, report->path);
        fputc('\n', file);
    }
}
