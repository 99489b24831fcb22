/* A calibration as text. */
#include <math.h>
#include <string.h>

#include "calibrate/machine_file.h"
#include "report/calibration_report.h"
#include "report/page.h"
#include "util/text.h"

enum { COLUMNS = 80, NAMES = 38 };
#define NOTE_MARGIN "      "

/* To four places, so that it fits its column. */
static double rounded(double value) {
    return round(value * 1e4) / 1e4 + 0.0;
}

/* Of what rounds to nothing it says a ten-thousandth. */
static double rounded_spread(double spread) {
    return spread < 1e-3 ? fmax(rounded(spread), 1e-4) : spread;
}

static void put_value(const struct finding *finding, FILE *file) {
    char text[MACHINE_VALUE];
    if (finding->state != FINDING_MEASURED)
        snprintf(text, sizeof text, "%s",
                 finding->state == FINDING_UNKNOWN ? "unknown" : "not there");
    else if (finding->word || !strcmp(finding->unit, "bytes"))
        finding_value(finding, text);
    else
        snprintf(text, sizeof text, finding->value < 10000 ? "%.4g" : "%.0f",
                 rounded(finding->value));
    fprintf(file, "%10s", text);
    if (finding->state == FINDING_MEASURED && finding->spread > 0)
        snprintf(text, sizeof text, finding->spread < 100 ? "+- %.2g" : "+- %.0f",
                 rounded_spread(finding->spread));
    else
        *text = '\0';
    fprintf(file, " %-9s", text);
}

static void put_finding(const struct calibrate_run *run, const struct finding *finding,
                        FILE *file) {
    char published[MACHINE_VALUE];
    fprintf(file, "  %s%*s", finding->what, NAMES - (int)text_columns(finding->what), "");
    put_value(finding, file);
    fprintf(file, " %-9s", finding->state == FINDING_MEASURED ? finding->unit : "");
    if (finding->key && run->published && machine_value(run->published, finding->key, published))
        fprintf(file, "%10s", published);
    else if (finding->key)
        fprintf(file, "%10s", "-");
    fputc('\n', file);
    const struct page page = {.file = file, .columns = COLUMNS};
    if (*finding->note)
        page_wrap(&page, finding->note, NULL, NOTE_MARGIN, NOTE_MARGIN);
}

static void put_title(const struct calibrate_run *run, const struct page *page) {
    const struct machine *simulated = run->simulated_machine;
    char kind[PROCESSOR_KIND];
    processor_kind(&run->processor, kind);
    page_print(page, "culprit calibrate: %s, %s (%u of %u parts, %.1f s)%s",
               simulated ? simulated->name : run->processor.brand, simulated ? "simulated" : kind,
               run->parts_run, run->part_count, run->seconds,
               run->partial ? ", partial: it was interrupted" : "");
    fputc('\n', page->file);
}

void calibration_text(const struct calibrate_run *run, FILE *file) {
    const struct calibration *calibration = &run->calibration;
    const struct page page = {.file = file, .columns = COLUMNS};
    put_title(run, &page);
    fprintf(file, "  %*s%10s %29s\n", NAMES, "", "measured",
            run->published ? run->published->name : "");
    const char *part = "";
    for (size_t i = 0; i < calibration->count; i++) {
        const struct finding *finding = &calibration->findings[i];
        if (strcmp(part, finding->part))
            fprintf(file, "%s: %s\n", finding->part, calibrate_part_find(finding->part)->measures);
        part = finding->part;
        put_finding(run, finding, file);
    }
}
