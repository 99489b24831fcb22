/* --slack for people: how many executions had how much, and what the instructions executed most
 * often had. */
#include <inttypes.h>

#include "report/inspection_report.h"
#include "util/text.h"

enum { WIDTH = 100, FIGURES = 37 };

static const char BAR[] = "##################################################";

/* "0", "2 to 3", "2^30 or more" */
static void name_bin(unsigned bin, char *name, size_t size) {
    uint64_t least = bin ? UINT64_C(1) << (bin - 1) : 0;
    if (bin < 2)
        snprintf(name, size, "%u", bin);
    else if (bin + 1 < SLACK_BINS)
        snprintf(name, size, "%" PRIu64 " to %" PRIu64, least, 2 * least - 1);
    else
        snprintf(name, size, "%" PRIu64 " or more", least);
}

static void print_histogram(const struct slack *slack, FILE *file) {
    unsigned last = SLACK_BINS - 1;
    while (last > 0 && !slack->bins[last])
        last--;
    for (unsigned bin = 0; bin <= last; bin++) {
        char name[64];
        double share = slack->executions ? (double)slack->bins[bin] / (double)slack->executions : 0;
        int length = (int)(share * (double)(sizeof BAR - 1) + 0.5);
        name_bin(bin, name, sizeof name);
        fprintf(file, " %-24s%8s%s%.*s\n", name, text_percent(share, 1).s, length ? "  " : "",
                length, BAR);
    }
}

static void print_instructions(const struct inspection_report *report, FILE *file) {
    const struct slack *slack = &report->inspection->slack;
    for (uint32_t i = 0; i < report->slack.count; i++) {
        const struct slack_insn *row = &slack->insns[report->slack.insns[i]];
        fprintf(file, "%11s%11s%12s   ", text_count(row->executions).s, text_count(row->least).s,
                text_quantity((double)row->sum / (double)row->executions).s);
        inspection_print_place(report, report->slack.insns[i], WIDTH - FIGURES, file);
    }
}

void slack_text(const struct inspection_report *report, bool colour, FILE *file) {
    const char *bold = colour ? "\033[1m" : "", *plain = colour ? "\033[0m" : "";
    fprintf(file,
            "\n%sslack%s: by how much an instruction's result could be later with no loss\n"
            "%s cycles                   %% of executions%s\n",
            bold, plain, bold, plain);
    print_histogram(&report->inspection->slack, file);
    fprintf(file, "\n%s executions      least        mean   ", bold);
    inspection_print_heading(WIDTH - FIGURES, file);
    fputs(plain, file);
    print_instructions(report, file);
    if (report->slack.total > report->slack.count)
        fprintf(file, "            %" PRIu32 " more (--top 0 shows all)\n",
                report->slack.total - report->slack.count);
}
