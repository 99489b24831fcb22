#include "report/gate_report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t gate_count(const struct gate_report *report, enum gate_verdict verdict) {
    size_t count = 0;
    for (size_t i = 0; i < report->count; i++)
        count += report->entries[i].verdict == verdict;
    return count;
}

const char *gate_word(enum gate_verdict verdict) {
    static const char *const WORDS[] = {[GATE_UNKNOWN] = "unknown",
                                        [GATE_PASSED] = "passed",
                                        [GATE_SLOWER] = "slower",
                                        [GATE_WRITTEN] = "written"};
    return WORDS[verdict];
}

char *gate_sentence(const struct gate_report *report, const struct gate_entry *entry) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return NULL;
    const struct compared_run *now = &entry->compare.runs[1];
    if (entry->verdict == GATE_UNKNOWN)
        fputs(entry->error.message, file);
    else if (entry->verdict == GATE_WRITTEN) {
        fprintf(file, "%s cycles, %s instructions", text_grouped(now->elapsed).s,
                text_grouped(now->all.executions).s);
        if (now->half_interval > 0)
            fprintf(file, "; a second run took %s cycles more or fewer",
                    text_grouped((uint64_t)now->half_interval).s);
        fprintf(file, " (%s)", text_bytes(entry->bytes).s);
    }
    if (entry->compared)
        fprintf(file, "%s%s", entry->verdict == GATE_WRITTEN ? "; " : "", entry->compare.sentence);
    if (entry->verdict == GATE_SLOWER)
        fprintf(file, " (at most %g %%)", report->limit);
    return text_printer_end(&printer);
}

/* ---- source files ---- */

/* The part of `path` that is below the working directory; NULL: it is not. */
static const char *below(const char *path, const char *directory) {
    const size_t length = strlen(directory);
    if (strncmp(path, directory, length) != 0)
        return NULL;
    if (length && directory[length - 1] == '/')
        return path + length;
    return path[length] == '/' && path[length + 1] ? path + length + 1 : NULL;
}

/* The longest end of a path, from a '/' on, that there is below the working directory: the file was
 * compiled in another folder. */
static const char *find_end(const char *path) {
    for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
        if (at[1] && at[1] != '/' && access(at + 1, R_OK) == 0)
            return at + 1;
    return NULL;
}

bool gate_source(const struct compared_change *change, char path[PATH_MAX], uint32_t *line) {
    const struct compared_line *now = change->lines[1];
    char real[PATH_MAX], directory[PATH_MAX];
    if (!now || !now->place->file || !now->place->line || !realpath(".", directory))
        return false;
    const char *file = now->place->file;
    const char *found = realpath(file, real) ? below(real, directory) : find_end(file);
    if (!found)
        return false;
    *line = now->place->line;
    return snprintf(path, PATH_MAX, "%s", found) < PATH_MAX;
}
