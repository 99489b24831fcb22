/* Programs held against their baselines, for people; and as Markdown. */
#include <stdlib.h>
#include <string.h>

#include "report/gate_report.h"

static void print_entry(const struct gate_report *report, const struct gate_entry *entry,
                        const struct page *page) {
    char *sentence = gate_sentence(report, entry), *text = NULL;
    if (!sentence || asprintf(&text, "%s: %s", entry->name, sentence) < 0)
        text = NULL;
    char first[32];
    snprintf(first, sizeof first, "%s  ", gate_word(entry->verdict));
    fputs(page->bold, page->file);
    page_wrap(page, text ? text : entry->name, NULL, first, "        ");
    fputs(page->plain, page->file);
    free(sentence);
    free(text);
    if (entry->verdict != GATE_SLOWER)
        return;
    fputc('\n', page->file);
    compare_report_tables(&entry->compare, page);
    fputc('\n', page->file);
}

static void print_counts(const struct gate_report *report, const struct page *page) {
    static const enum gate_verdict ORDER[] = {GATE_PASSED, GATE_WRITTEN, GATE_SLOWER, GATE_UNKNOWN};
    const char *between = "";
    for (size_t i = 0; i < sizeof ORDER / sizeof *ORDER; i++) {
        const size_t count = gate_count(report, ORDER[i]);
        if (!count)
            continue;
        fprintf(page->file, "%s%zu %s", between, count, gate_word(ORDER[i]));
        between = ", ";
    }
    fputc('\n', page->file);
}

void gate_report_text(const struct gate_report *report, const struct page *page) {
    for (size_t i = 0; i < report->count; i++)
        if (report->entries[i].verdict != GATE_UNKNOWN) /* told as what is wrong */
            print_entry(report, &report->entries[i], page);
    if (report->count > 1)
        print_counts(report, page);
    if (report->accept && gate_count(report, GATE_SLOWER))
        page_wrap(page, report->accept, report->accept, "if that is meant: ", "  ");
}

/* ---- Markdown ---- */

static void put_markdown(const char *text, FILE *file) {
    char clean[4096];
    for (const char *at = text_clean(clean, sizeof clean, text); *at; at++) {
        if (strchr("|\\`*_<>[]", *at))
            fputc('\\', file);
        fputc(*at, file);
    }
}

void gate_report_markdown(const struct gate_report *report, FILE *file) {
    fputs("| program | verdict | |\n|---|---|---|\n", file);
    for (size_t i = 0; i < report->count; i++) {
        const struct gate_entry *entry = &report->entries[i];
        char *sentence = gate_sentence(report, entry);
        compare_put_cell(entry->name, file);
        fprintf(file, "| %s%s%s | ", entry->verdict == GATE_SLOWER ? "**" : "",
                gate_word(entry->verdict), entry->verdict == GATE_SLOWER ? "**" : "");
        put_markdown(sentence ? sentence : "", file);
        fputs(" |\n", file);
        free(sentence);
    }
    for (size_t i = 0; i < report->count; i++) {
        const struct gate_entry *entry = &report->entries[i];
        if (entry->verdict != GATE_SLOWER)
            continue;
        fputs("\n### ", file);
        put_markdown(entry->name, file);
        fputs("\n\n", file);
        compare_report_markdown_tables(&entry->compare, file);
    }
}
