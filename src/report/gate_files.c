/* What systems that build and test read: JUnit's XML, and lines of annotations. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "report/gate_report.h"

/* ---- JUnit ---- */

static void put_xml(const char *text, FILE *file) {
    const size_t size = 4 * strlen(text) + 1;
    char *clean = malloc(size);
    for (const char *at = clean ? text_clean(clean, size, text) : ""; *at; at++)
        switch (*at) {
        case '&':
            fputs("&amp;", file);
            break;
        case '<':
            fputs("&lt;", file);
            break;
        case '>':
            fputs("&gt;", file);
            break;
        case '"':
            fputs("&quot;", file);
            break;
        default:
            fputc(*at, file);
        }
    free(clean);
}

static bool put_case(const struct gate_report *report, const struct gate_entry *entry, FILE *file) {
    char *sentence = gate_sentence(report, entry);
    if (!sentence)
        return false;
    fputs("    <testcase classname=\"", file);
    put_xml(report->path, file);
    fputs("\" name=\"", file);
    put_xml(entry->name, file);
    fputs("\">\n", file);
    const char *element = entry->verdict == GATE_SLOWER    ? "failure"
                          : entry->verdict == GATE_UNKNOWN ? "error"
                                                           : "system-out";
    fprintf(file, "      <%s", element);
    if (strcmp(element, "system-out") != 0) {
        fputs(" message=\"", file);
        put_xml(sentence, file);
        fprintf(file, "\" type=\"%s\"", gate_word(entry->verdict));
    }
    fputc('>', file);
    put_xml(sentence, file);
    fprintf(file, "</%s>\n    </testcase>\n", element);
    free(sentence);
    return true;
}

bool gate_report_junit(const struct gate_report *report, FILE *file) {
    bool good = true;
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
            "  <testsuite name=\"culprit gate\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
            report->count, gate_count(report, GATE_SLOWER), gate_count(report, GATE_UNKNOWN));
    for (size_t i = 0; good && i < report->count; i++)
        good = put_case(report, &report->entries[i], file);
    fputs("  </testsuite>\n</testsuites>\n", file);
    return good;
}

/* ---- annotations ---- */

/* What would end a line, or in a property the property, is written as its number. */
static void put_escaped(const char *text, bool property, FILE *file) {
    for (; *text; text++)
        if (*text == '%' || (unsigned char)*text < ' ' || (property && strchr(":,", *text)))
            fprintf(file, "%%%02X", (unsigned char)*text);
        else
            fputc(*text, file);
}

static void put_annotation(const char *kind, const struct gate_entry *entry, const char *path,
                           uint32_t line, const char *text, FILE *file) {
    fprintf(file, "::%s ", kind);
    if (path) {
        fputs("file=", file);
        put_escaped(path, true, file);
        fprintf(file, ",line=%u,", line);
    }
    fputs("title=", file);
    put_escaped(entry->name, true, file);
    fprintf(file, "%%3A %s::", gate_word(entry->verdict));
    put_escaped(text, false, file);
    fputc('\n', file);
}

/* At each line that made most of the change, that function's; the first says it all. */
static void annotate_slower(const struct gate_entry *entry, const char *sentence, FILE *file) {
    char path[PATH_MAX];
    uint32_t line;
    bool told = false;
    for (unsigned i = 0; i < entry->compare.told_count; i++) {
        const struct compared_change *change = entry->compare.told[i];
        struct text_printer printer;
        FILE *text = told ? text_printer_begin(&printer) : NULL;
        if (text)
            compare_put_change(&entry->compare, change, text);
        char *own = text ? text_printer_end(&printer) : NULL;
        if (gate_source(change, path, &line)) {
            put_annotation("error", entry, path, line, own ? own : sentence, file);
            told = true;
        }
        free(own);
    }
    if (!told)
        put_annotation("error", entry, NULL, 0, sentence, file);
}

void gate_report_annotations(const struct gate_report *report, FILE *file) {
    for (size_t i = 0; i < report->count; i++) {
        const struct gate_entry *entry = &report->entries[i];
        char *sentence = gate_sentence(report, entry);
        if (!sentence)
            continue;
        if (entry->verdict == GATE_SLOWER)
            annotate_slower(entry, sentence, file);
        else if (entry->verdict == GATE_UNKNOWN)
            put_annotation("error", entry, NULL, 0, sentence, file);
        else if (entry->verdict == GATE_PASSED && entry->compared &&
                 entry->compare.verdict == COMPARE_FASTER &&
                 -entry->compare.percent > report->limit)
            put_annotation("notice", entry, NULL, 0, sentence, file);
        free(sentence);
    }
}
