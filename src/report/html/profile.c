/* Functions and instructions are rows of values; frames, of which there may be a million, are
 * columns. What is not known is −1. */
#include "report/html_profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/component.h"
#include "query/function_walk.h"
#include "query/loop_rows.h"
#include "query/rows.h"
#include "report/html/sources.h"
#include "report/json_values.h"
#include "report/levels.h"
#include "util/array.h"
#include "util/intern.h"

enum {
    MOST_FUNCTIONS = 400, /* whose instructions are shown */
    MOST_INSNS = 20000,   /* of them all */
    MOST_LEVEL_ROWS = 50  /* functions with levels */
};
static const double ENOUGH = 0.99; /* of all cycles, in those functions */

struct writer {
    const struct html_profile *profile;
    FILE *file;
    struct intern texts;
    struct html_sources *sources;
    uint32_t events[PSV_COMBINATIONS]; /* 1 + number of the combination in the list; 0: none yet */
    uint32_t event_psv[PSV_COMBINATIONS], event_count;
    bool failed;
};

/* −1: not known. */
static int64_t text_number(struct writer *writer, const char *text) {
    if (!text)
        return -1;
    const uint32_t number = intern_add(&writer->texts, text, strlen(text));
    writer->failed |= number == INTERN_NONE;
    return number;
}

static uint32_t event_number(struct writer *writer, uint32_t psv) {
    psv %= PSV_COMBINATIONS;
    if (!writer->events[psv]) {
        writer->event_psv[writer->event_count] = psv;
        writer->events[psv] = ++writer->event_count;
    }
    return writer->events[psv] - 1;
}

static void put_stack(struct writer *writer, const struct stack_part *parts, uint32_t count) {
    fputc('[', writer->file);
    for (uint32_t i = 0; i < count; i++)
        fprintf(writer->file, "%s%" PRIu32 ",%" PRIu64, i ? "," : "",
                event_number(writer, parts[i].psv), parts[i].units);
    fputc(']', writer->file);
}

/* ---- functions ---- */

static void put_function(struct writer *writer, const struct report_row *row) {
    fprintf(writer->file,
            "[%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRIu32 ",%" PRIu64
            ",%" PRIu64 ",",
            text_number(writer, row->function), text_number(writer, row->image), row->offset,
            row->function_size, text_number(writer, row->file), row->line, row->executions,
            row->units);
    put_stack(writer, row->stack.parts, row->stack.count);
    fputc(']', writer->file);
}

static void put_functions(struct writer *writer, const struct report_rows *functions) {
    struct report_row row;
    fputs("\"functions\":[", writer->file);
    for (uint32_t i = 0; i < functions->count && !ferror(writer->file); i++) {
        rows_get(functions, i, &row);
        fputs(i ? ",\n" : "\n", writer->file);
        put_function(writer, &row);
    }
    fputs("]", writer->file);
}

/* ---- instructions ---- */

static void put_insn(struct writer *writer, const struct report_rows *rows, uint32_t number) {
    const struct html_profile *profile = writer->profile;
    const struct simulation *simulation = profile->simulation;
    const struct static_insn *insn = &profile->code->insns[number];
    const uint32_t known = rows->images[insn->image];
    const uint64_t address = rows_address(rows, insn->image, insn->offset);
    const bool direct = insn->branch == BRANCH_CONDITIONAL || insn->branch == BRANCH_JUMP;
    char text[ROW_TEXT_BYTES];
    static_insn_text(profile->code->isa, insn, address, text, sizeof text);
    struct location location = {0};
    if (code_image_is_file(profile->code, insn->image))
        program_locate(profile->program, known, insn->offset, &location);
    if (location.file && location.line)
        writer->failed |= !html_sources_use(writer->sources, location.file, location.line);
    uint64_t count;
    const struct pics_cell *cells =
        insn_cells(simulation->cells, simulation->cell_count, number, &count);
    fprintf(writer->file,
            "[%" PRIu64 ",%u,%" PRId64 ",%u,%" PRId64 ",%" PRId64 ",%" PRIu32 ",%" PRId64
            ",%" PRIu64 ",[",
            address, insn->length, text_number(writer, text), insn->branch,
            direct ? (int64_t)address + insn->target_displacement : -1,
            text_number(writer, location.file), location.line,
            text_number(writer, location.inline_count ? location.inlined[0].function : NULL),
            number < simulation->execution_count ? simulation->executions[number] : 0);
    for (uint64_t i = 0; i < count; i++)
        fprintf(writer->file, "%s%" PRIu32 ",%" PRIu64, i ? "," : "",
                event_number(writer, cells[i].psv), cells[i].units);
    fputs("]]", writer->file);
}

/* Of the costliest functions, until they have nearly all. */
static void put_code(struct writer *writer, const struct report_rows *functions) {
    const double all = (double)writer->profile->simulation->cycles * CYCLE_UNITS;
    double sum = 0;
    uint32_t insns = 0;
    fputs("\"code\":[", writer->file);
    for (uint32_t i = 0; i < functions->count && i < MOST_FUNCTIONS && sum < all * ENOUGH; i++) {
        const struct group *group = &functions->groups[i];
        sum += (double)group->units;
        if (insns && insns + group->insn_count > MOST_INSNS)
            break;
        insns += group->insn_count;
        fprintf(writer->file, "%s{\"function\":%" PRIu32 ",\"insns\":[", i ? ",\n" : "\n", i);
        for (uint32_t k = 0; k < group->insn_count && !ferror(writer->file); k++) {
            fputs(k ? ",\n" : "\n", writer->file);
            put_insn(writer, functions, functions->members[group->first + k]);
        }
        fputs("]}", writer->file);
    }
    fputs("]", writer->file);
}

/* ---- loops ---- */

static bool put_loops(struct writer *writer, const struct report_rows *functions,
                      struct error *error) {
    struct loop_rows loops;
    const bool good = loop_rows_build_costly(functions, 0, &loops, error);
    fputs("\"loops\":[", writer->file);
    for (uint32_t i = 0; good && i < loops.count; i++) {
        const struct loop_row *loop = &loops.rows[i];
        fprintf(writer->file,
                "%s[%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRIu32
                ",%" PRId64 ",%" PRIu32 ",%" PRIu64 ",%.10g,%" PRIu64 ",%" PRIu64 ",%.10g,",
                i ? ",\n" : "\n", text_number(writer, loop->function),
                text_number(writer, loop->image), loop->function_offset, loop->offset,
                text_number(writer, loop->file), loop->line,
                loop->outer == LOOP_NONE ? -1 : (int64_t)loop->outer, loop->depth, loop->rounds,
                loop->entries, loop->instructions, loop->self_units,
                loop->called_units < 0 ? -1 : loop->called_units);
        put_stack(writer, loop->stack.parts, loop->stack.count);
        fputc(']', writer->file);
    }
    fputs("]", writer->file);
    loop_rows_free(&loops);
    return good;
}

/* ---- frames ---- */

static void put_column(struct writer *writer, const char *name) {
    fprintf(writer->file, "%s\"%s\":[", strcmp(name, "parent") ? "],\n" : "", name);
}

static void put_cycles(FILE *file, size_t i, double cycles) {
    fprintf(file, i ? ",%.10g" : "%.10g", cycles);
}

static void put_cells(struct writer *writer, const struct call_profile *calls) {
    put_column(writer, "cell_frame");
    for (size_t i = 0; i < calls->cell_count; i++)
        fprintf(writer->file, i ? ",%" PRIu32 : "%" PRIu32, calls->cells[i].frame);
    put_column(writer, "cell_event");
    for (size_t i = 0; i < calls->cell_count; i++)
        fprintf(writer->file, i ? ",%" PRIu32 : "%" PRIu32,
                event_number(writer, calls->cells[i].psv));
    put_column(writer, "cell_cycles");
    for (size_t i = 0; i < calls->cell_count; i++)
        put_cycles(writer->file, i, calls->cells[i].value);
}

static void put_tree(struct writer *writer) {
    const struct call_profile *calls = writer->profile->calls;
    if (!calls) {
        fputs("\"tree\":null", writer->file);
        return;
    }
    const struct call_frames *frames = &calls->frames;
    fputs("\"procedures\":[", writer->file);
    for (size_t i = 0; i < calls->procedure_count; i++)
        fprintf(writer->file, "%s[%" PRId64 ",%" PRId64 "]", i ? "," : "",
                text_number(writer, calls->procedures[i].name),
                text_number(writer, calls->procedures[i].cut ? NULL : calls->procedures[i].image));
    fputs("],\n\"tree\":{", writer->file);
    put_column(writer, "parent");
    for (size_t i = 0; i < frames->count; i++)
        fprintf(writer->file, i ? ",%" PRId64 : "%" PRId64,
                i ? (int64_t)frames->items[i].parent : -1);
    put_column(writer, "procedure");
    for (size_t i = 0; i < frames->count; i++)
        fprintf(writer->file, i ? ",%" PRId64 : "%" PRId64,
                i ? (int64_t)frames->items[i].procedure : -1);
    put_column(writer, "self");
    for (size_t i = 0; i < frames->count; i++)
        put_cycles(writer->file, i, frames->items[i].self);
    put_column(writer, "instructions");
    for (size_t i = 0; i < frames->count; i++)
        put_cycles(writer->file, i, round(frames->items[i].self_instructions));
    put_column(writer, "calls");
    for (size_t i = 0; i < frames->count; i++)
        put_cycles(writer->file, i, round(frames->items[i].calls));
    put_cells(writer, calls);
    fputs("]}", writer->file);
}

/* ---- time ---- */

static void put_region(struct writer *writer, const struct region_sample *sample) {
    bool begun = false;
    fprintf(writer->file,
            "[%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",[",
            sample->thread, sample->first, sample->instructions, sample->cluster, sample->cycles,
            sample->stands_for);
    for (uint32_t psv = 0; psv < PSV_COMBINATIONS; psv++) {
        if (!sample->units[psv])
            continue;
        fprintf(writer->file, "%s%" PRIu32 ",%" PRIu64, begun ? "," : "", event_number(writer, psv),
                sample->units[psv]);
        begun = true;
    }
    fputs("]]", writer->file);
}

/* Phases of the run, and the regions that stand for them. */
static void put_time(struct writer *writer) {
    const struct simulation_regions *regions = &writer->profile->simulation->regions;
    if (!regions->phases || !regions->samples) {
        fputs("\"time\":null", writer->file);
        return;
    }
    fputs("\"time\":{\"phases\":[", writer->file);
    for (size_t i = 0; i < regions->phase_count; i++) {
        const struct phase *phase = &regions->phases[i];
        fprintf(writer->file, "%s[%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 "]", i ? "," : "",
                phase->thread, phase->first, phase->instructions, phase->cluster);
    }
    fputs("],\n\"regions\":[", writer->file);
    for (uint32_t i = 0; i < regions->simulated; i++) {
        fputs(i ? ",\n" : "\n", writer->file);
        put_region(writer, &regions->samples[i]);
    }
    fputs("]}", writer->file);
}

/* ---- the run in time, simulated in full ---- */

static const char *const DOING[] = {"running", "ready",    "lock", "barrier",
                                    "event",   "sleeping", "join"};
static_assert(sizeof DOING / sizeof *DOING == SERIES_DOING, "a name for each activity");

/* A column; its numbers are divided by `by` and rounded. */
static void put_buckets(FILE *file, const char *name, const struct time_buckets *buckets,
                        uint32_t column, uint64_t by) {
    fprintf(file, "\"%s\":[", name);
    for (uint32_t i = 0; i < buckets->count; i++)
        fprintf(file, i ? ",%" PRIu64 : "%" PRIu64,
                (buckets->sums[(size_t)i * buckets->columns + column] + by / 2) / by);
    fputc(']', file);
}

static bool has_any(const struct time_buckets *buckets, uint32_t column) {
    return any_where(i, buckets->count, buckets->sums[(size_t)i * buckets->columns + column]);
}

static void put_series_thread(FILE *file, struct series_thread *thread, uint32_t narrower) {
    struct time_buckets *cycles = &thread->cycles, *doing = &thread->doing;
    time_buckets_widen(cycles, narrower);
    time_buckets_widen(doing, narrower);
    fprintf(file, "{\"process\":%" PRIu32 ",\"thread\":%" PRIu32 ",\"width\":%" PRIu64 ",",
            thread->process, thread->thread, cycles->width);
    put_buckets(file, "instructions", cycles, SERIES_INSTRUCTIONS, 1);
    fputs(",\n\"cycles\":{", file);
    for (unsigned i = 0, put = 0; i < COMPONENT_COUNT; i++)
        if (has_any(cycles, i)) {
            fputs(put++ ? "," : "", file);
            put_buckets(file, component_key((enum component)i), cycles, i, CYCLE_UNITS);
        }
    fprintf(file, "},\n\"doing_width\":%" PRIu64 ",\"doing\":{", doing->width);
    for (unsigned i = 0, put = 0; i < SERIES_DOING; i++)
        if (has_any(doing, i)) {
            fputs(put++ ? "," : "", file);
            put_buckets(file, DOING[i], doing, i, 1);
        }
    fputs("}}", file);
}

/* Of many threads each has fewer stretches, as the page has no room for more. */
static void put_series(struct writer *writer) {
    enum { MOST_STRETCHES = 8192 };
    struct time_series *series = writer->profile->simulation->series;
    if (!series || !series->thread_count) {
        fputs("\"series\":null", writer->file);
        return;
    }
    const uint32_t all = series->thread_count * SERIES_BUCKETS;
    const uint32_t narrower = (all + MOST_STRETCHES - 1) / MOST_STRETCHES;
    fprintf(writer->file, "\"series\":{\"clock\":\"%s\",\"left_out\":%s,\"threads\":[",
            series->by_cycle ? "cycles" : "instructions", series->left_out ? "true" : "false");
    for (uint32_t i = 0; i < series->thread_count && !ferror(writer->file); i++) {
        fputs(i ? ",\n" : "\n", writer->file);
        put_series_thread(writer->file, series->threads[i], narrower);
    }
    fputs("]}", writer->file);
}

/* ---- levels ---- */

static bool put_levels(struct writer *writer, struct error *error) {
    const struct html_profile *profile = writer->profile;
    fputs("\"top_down\":", writer->file);
    if (!profile->simulation->slots) {
        fputs("null", writer->file);
        return true;
    }
    struct levels levels;
    const bool good =
        levels_build(profile->simulation, profile->width, BY_FUNCTION, MOST_LEVEL_ROWS,
                     profile->code, profile->program, &levels, error);
    json_t *object = good ? levels_json(&levels) : NULL;
    writer->failed |= good && (!object || json_dumpf(object, writer->file, JSON_COMPACT) != 0);
    json_decref(object);
    levels_free(&levels);
    return good;
}

/* ---- what numbers stand for ---- */

static void put_events(struct writer *writer) {
    fputs("\"events\":[", writer->file);
    for (uint32_t i = 0; i < writer->event_count; i++) {
        char name[128];
        psv_format(writer->event_psv[i], name, sizeof name);
        fprintf(writer->file, "%s[\"%s\",\"%s\"]", i ? "," : "", name,
                component_key(component_of(writer->event_psv[i])));
    }
    fputs("]", writer->file);
}

static void put_texts(struct writer *writer) {
    fputs("\"texts\":[", writer->file);
    for (size_t i = 0; i < writer->texts.count && !ferror(writer->file); i++) {
        fputs(i ? ",\n" : "\n", writer->file);
        writer->failed |= !json_text_write(intern_text(&writer->texts, (uint32_t)i), writer->file);
    }
    fputs("]", writer->file);
}

bool html_profile_write(const struct html_profile *profile, FILE *file, struct error *error) {
    struct writer writer = {.profile = profile, .file = file, .sources = html_sources_new()};
    struct report_rows functions;
    bool good = rows_build(BY_FUNCTION, 0, profile->simulation, profile->code, profile->program,
                           &functions, error);
    if (good) {
        writer.failed = !writer.sources;
        fprintf(file, "{\"units_per_cycle\":%d,\n\"functions_total\":%" PRIu32 ",\n", CYCLE_UNITS,
                functions.total);
        put_functions(&writer, &functions);
        fputs(",\n", file);
        if (!writer.failed)
            put_code(&writer, &functions);
        fputs(",\n", file);
        put_tree(&writer);
        fputs(",\n", file);
        put_time(&writer);
        fputs(",\n", file);
        put_series(&writer);
        fputs(",\n", file);
        good = put_loops(&writer, &functions, error);
        fputs(",\n", file);
        good = good && put_levels(&writer, error);
        fputs(",\n", file);
        put_events(&writer);
        fputs(",\n\"sources\":", file);
        writer.failed = writer.failed || !html_sources_write(writer.sources, file);
        fputs(",\n", file);
        put_texts(&writer);
        fputs("}\n", file);
    }
    rows_free(&functions);
    intern_free(&writer.texts);
    html_sources_free(writer.sources);
    return good && (!writer.failed || error_set(error, "out of memory for the page"));
}
