/* Any bytes as a baseline. What is read sums up to what it says, is the same as itself, and can be
 * told. */
#include <string.h>

#include "input.h"
#include "report/baseline.h"
#include "report/compare_report.h"

static void compare(struct baseline_entry *before, struct baseline_entry *after) {
    struct compare_report report = {.runs = {before->run, after->run}};
    struct error error = {0};
    uint64_t units = 0;
    require(report.runs[0].elapsed > 0);
    for (size_t i = 0; i < report.runs[0].count; i++)
        units += report.runs[0].places[i].cost.units;
    require(units == report.runs[0].all.units);
    before->run = after->run = (struct compared_run){0};
    require(compare_report_build(&report, &error));
    require(report.verdict == COMPARE_SAME && report.total == 0);
    compare_report_free(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct baseline before, after;
    struct memory_file file = memory_file(data, size);
    if (baseline_read(&before, file.path, &error)) {
        require(baseline_read(&after, file.path, &error) && before.count == after.count);
        size_t bytes = 0;
        for (size_t i = 0; i < before.count; i++) {
            require(baseline_find(&before, before.entries[i].name) == &before.entries[i]);
            bytes += before.entries[i].size;
            compare(&before.entries[i], &after.entries[i]);
        }
        require(bytes <= size);
        baseline_free(&after);
    } else {
        require(error.message[0] && !strchr(error.message, '\n'));
    }
    baseline_free(&before);
    close(file.fd);
    return 0;
}
