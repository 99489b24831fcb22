/* An entry as text. Where it is longer than it should be, half as many functions and lines are
 * tried. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/component.h"
#include "query/compared_summary.h"
#include "report/baseline.h"
#include "report/baseline_field.h"
#include "util/file_name.h"
#include "util/text.h"

static const struct compared_limits MOST = {.functions = 96,
                                            .lines = 192,
                                            .kinds = 32,
                                            .function_share = 1e-3,
                                            .line_share = 2e-3,
                                            .kinds_share = 1e-2};
enum { HALVES = 5 };

/* ---- fields ---- */

static void put_field(FILE *file, const char *text) {
    fputc('\t', file);
    field_put_escaped(file, text);
}

/* Instructions, cycles, and these by event. */
static void put_cost(FILE *file, const struct compared_cost *cost) {
    fprintf(file, "\t%" PRIu64 "\t", cost->executions);
    field_put_cycles(file, cost->units);
    for (int i = COMPONENT_COUNT - 1; i >= 0; i--) {
        if (!cost->causes[i])
            continue;
        fprintf(file, "\t%s=", component_key(i));
        field_put_cycles(file, cost->causes[i]);
    }
}

/* ---- functions ---- */

static void put_kinds(FILE *file, const struct compared_sum *sum) {
    if (!sum->instructions)
        return;
    fprintf(file, "kinds\t%" PRIu32, sum->instructions);
    const char *between = "\t";
    for (unsigned i = 0; i < COMPARED_KINDS; i++) {
        if (!sum->kinds[i])
            continue;
        fprintf(file, "%s%u:%u", between, i, sum->kinds[i]);
        between = " ";
    }
    fputc('\n', file);
}

static bool has_line(const struct compared_place *place) {
    return place->file && place->line;
}

/* Where the lines of a function in one file begin: a line, or an offset. */
static uint64_t base_of(const struct compared_place *place) {
    return (has_line(place) ? place->line : place->offset) - place->sum->distance;
}

static bool same_base(const struct compared_place *one, const struct compared_place *other) {
    return base_of(one) == base_of(other) && has_line(one) == has_line(other) &&
           (!has_line(one) || !strcmp(one->file, other->file));
}

static void put_base(FILE *file, const struct compared_place *place) {
    fputs("in", file);
    put_field(file, has_line(place) ? place->file : "");
    fprintf(file, "\t%" PRIu64 "\n", base_of(place));
}

static void put_line(FILE *file, const struct compared_place *place) {
    fprintf(file, "line\t%" PRIu64 "\t%08" PRIx32, place->sum->distance, place->sum->shape);
    put_cost(file, &place->cost);
    if (place->type) {
        fprintf(file, "\ttype=%" PRIu64 " ", place->type_size);
        field_put_escaped(file, place->type);
    }
    for (unsigned i = 0; i < COMPARED_INLINES && place->inlined[i]; i++) {
        fputs("\tinlined=", file);
        field_put_escaped(file, place->inlined[i]);
    }
    if (!has_line(place)) {
        fputs("\ttext=", file);
        field_put_escaped(file, place->text);
    }
    fputc('\n', file);
}

/* The places of one function. */
static void put_function(FILE *file, const struct compared_place *places, size_t count) {
    struct compared_cost all = {0};
    const struct compared_sum *rest = NULL;
    const struct compared_place *last = NULL;
    for (size_t i = 0; i < count; i++) {
        compared_cost_add(&all, &places[i].cost);
        if (places[i].sum->rest)
            rest = places[i].sum;
    }
    fputs("function", file);
    put_field(file, places->function);
    put_field(file, places->image);
    put_cost(file, &all);
    if (rest && rest->most) {
        fputs("\tless=", file);
        field_put_cycles(file, rest->most);
    }
    fputc('\n', file);
    if (rest)
        put_kinds(file, rest);
    for (size_t i = 0; i < count; i++) {
        const struct compared_place *place = &places[i];
        if (place->sum->rest)
            continue;
        if (!last || !same_base(place, last))
            put_base(file, place);
        put_line(file, place);
        last = place;
    }
}

static void put_functions(FILE *file, const struct compared_run *run) {
    for (size_t i = 0, end; i < run->count; i = end) {
        const struct compared_place *place = &run->places[i];
        for (end = i; end < run->count && !strcmp(run->places[end].image, place->image) &&
                      !strcmp(run->places[end].function, place->function);
             end++)
            continue;
        if (*place->image)
            put_function(file, place, end - i);
    }
}

/* ---- an entry ---- */

static void put_head(FILE *file, const struct baseline_entry *entry,
                     const struct compared_run *run) {
    fputs("entry", file);
    put_field(file, entry->name);
    fputs("\ncommand", file);
    for (const char *const *word = entry->words; *word; word++)
        put_field(file, *word);
    if (*entry->setting.options)
        fputs("\noptions", file);
    for (const char *const *option = entry->setting.options; *option; option++)
        put_field(file, *option);
    fputc('\n', file);
    fputs("culprit", file);
    put_field(file, entry->setting.culprit);
    fputs("\nmachine", file);
    put_field(file, entry->setting.machine);
    for (size_t i = 0; i < run->library_count; i++) {
        fputs("\nlibrary", file);
        put_field(file, run->libraries[i].name);
        fprintf(file, "\t%016" PRIx64, run->libraries[i].build);
    }
    fprintf(file, "\nelapsed\t%" PRIu64, run->elapsed);
    if (entry->second)
        fprintf(file, "\t%" PRIu64, entry->second);
    for (uint32_t i = 0; i < entry->layout_count; i++)
        if (entry->layouts[i])
            fprintf(file, "\nlayout\t%" PRIu32 "\t%" PRIu64, i, entry->layouts[i]);
    fputs("\nall", file);
    put_cost(file, &run->all);
    if (run->most_left_out) {
        fputs("\tless=", file);
        field_put_cycles(file, run->most_left_out);
    }
    fputc('\n', file);
}

static char *print(const struct baseline_entry *entry, const struct compared_run *run) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return NULL;
    put_head(file, entry, run);
    put_functions(file, run);
    return text_printer_end(&printer);
}

char *baseline_entry_text(const struct baseline_entry *entry, struct compared_run *run,
                          struct error *error) {
    struct compared_limits limits = MOST;
    char *text = NULL;
    for (unsigned i = 0; i <= HALVES; i++) {
        struct compared_run kept = {0};
        const bool good = compared_summary_make(run, &limits, &kept, error);
        free(text);
        text = good ? print(entry, &kept) : NULL;
        compared_run_free(&kept);
        if (!text)
            return good ? error_null(error, "out of memory for the baseline") : NULL;
        if (strlen(text) <= BASELINE_ENTRY_BYTES)
            break;
        limits.functions /= 2;
        limits.lines /= 2;
        limits.kinds /= 2;
    }
    return text;
}

char *baseline_name(char *const *command) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    for (size_t i = 0; file && command[i]; i++) {
        if (i)
            fputc(' ', file);
        text_put_word(file, i ? command[i] : file_base_name(command[i]));
    }
    return file ? text_printer_end(&printer) : NULL;
}
