/* A line of the file at a time: its first field says what it is. Costs of what is summed up are
 * what is left of a function when its lines, and of a run when its functions are taken away. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/component.h"
#include "query/compared_summary.h"
#include "report/baseline.h"
#include "report/baseline_field.h"
#include "util/array.h"

enum {
    MAX_FIELDS = BASELINE_WORDS + 8,
    MAX_ENTRIES = 1000,
    MAX_LIBRARIES = 1000,
    MAX_PLACES = 10000 /* of an entry: functions and lines */
};
#define MAX_COUNT UINT64_C(1000000000000000000)

struct reader {
    const char *path;
    struct baseline *baseline;
    unsigned line;
    char *fields[MAX_FIELDS];
    size_t count; /* of fields */
    uint64_t version;
    bool ended; /* the last line was read */
    struct error *error;

    struct baseline_entry *entry; /* being read; NULL: none yet */
    struct compared_cost rest;    /* of it, without the functions that were read */
    bool counted;                 /* it has its costs */
    /* The function being read; its sum NULL: none. */
    struct compared_place function;
    struct compared_sum *sum;
    struct compared_cost function_rest; /* without its lines that were read */
    const char *file; /* of the lines that follow, NULL: they are offsets; and where they begin */
    uint64_t base;
    bool based;
};

static bool wrong(const struct reader *reader, const char *what) {
    return error_set(reader->error, "%s:%u: %s (no baseline that culprit gate wrote)", reader->path,
                     reader->line, what);
}

static bool no_memory(const struct reader *reader) {
    return error_set(reader->error, "%s: out of memory", reader->path);
}

/* ---- costs ---- */

static bool split(struct reader *reader, char *line) {
    reader->count = 0;
    for (char *next = line; next;) {
        char *field = next;
        next = strchr(field, '\t');
        if (next)
            *next++ = 0;
        if (reader->count == MAX_FIELDS)
            return wrong(reader, "too many fields");
        if (!field_unescape(field))
            return wrong(reader, "a backslash that means nothing");
        reader->fields[reader->count++] = field;
    }
    return true;
}

static int cause_of(const char *field, const char **value) {
    for (int i = 0; i < COMPONENT_COUNT; i++)
        if ((*value = field_value(field, component_key(i))))
            return i;
    return -1;
}

/* From that field on; *next is the field behind it. */
static bool read_cost(const struct reader *reader, size_t at, struct compared_cost *cost,
                      size_t *next) {
    const char *value;
    uint64_t sum = 0, units;
    int cause;
    *cost = (struct compared_cost){0};
    if (at + 2 > reader->count ||
        !field_read_count(reader->fields[at], MAX_COUNT, &cost->executions) ||
        !field_read_cycles(reader->fields[at + 1], &cost->units))
        return wrong(reader, "no instructions and cycles");
    for (at += 2; at < reader->count && (cause = cause_of(reader->fields[at], &value)) >= 0; at++) {
        if (!field_read_cycles(value, &units) || cost->causes[cause])
            return wrong(reader, "cycles of an event that are none");
        cost->causes[cause] = units;
        sum += units;
    }
    *next = at;
    return sum == cost->units || wrong(reader, "cycles by event are not all cycles");
}

/* Takes a part away; false: there is less. */
static bool take_away(struct compared_cost *cost, const struct compared_cost *part) {
    if (cost->executions < part->executions || cost->units < part->units)
        return false;
    for (int i = 0; i < COMPARED_CAUSES; i++) {
        if (cost->causes[i] < part->causes[i])
            return false;
        cost->causes[i] -= part->causes[i];
    }
    cost->executions -= part->executions;
    cost->units -= part->units;
    return true;
}

/* "less=cycles", the last field, of a cost; 0: there is none. */
static bool read_most(const struct reader *reader, size_t at, uint64_t *units) {
    const char *value = at < reader->count ? field_value(reader->fields[at], "less") : NULL;
    *units = 0;
    return at == reader->count ||
           (at + 1 == reader->count && value && field_read_cycles(value, units)) ||
           wrong(reader, "a field that means nothing");
}

/* ---- what is summed up ---- */

static bool add_place(struct reader *reader, const struct compared_place *place) {
    struct compared_run *run = &reader->entry->run;
    if (run->count == MAX_PLACES)
        return wrong(reader, "more functions and lines than are kept");
    return compared_run_add(run, place, reader->error);
}

static struct compared_sum *new_sum(struct reader *reader) {
    struct compared_sum *sum = arena_alloc(&reader->entry->run.names, sizeof *sum);
    if (sum)
        *sum = (struct compared_sum){0};
    else
        no_memory(reader);
    return sum;
}

static bool end_function(struct reader *reader) {
    if (!reader->sum)
        return true;
    reader->function.cost = reader->function_rest;
    reader->sum = NULL;
    return add_place(reader, &reader->function);
}

static bool end_entry(struct reader *reader) {
    struct baseline_entry *entry = reader->entry;
    if (!entry)
        return true;
    if (!end_function(reader))
        return false;
    if (!entry->words || !entry->setting.culprit || !entry->setting.machine ||
        !entry->run.elapsed || !reader->counted)
        return wrong(reader, "the entry before it is not complete");
    struct compared_run *run = &entry->run;
    run->title = entry->name;
    run->machine =
        arena_copy(&run->names, entry->setting.machine, strcspn(entry->setting.machine, " "));
    if (!run->machine)
        return no_memory(reader);
    if (entry->second)
        run->half_interval = fabs((double)entry->second - (double)run->elapsed);
    const struct compared_cost *rest = &reader->rest;
    if (rest->units && !run->most_left_out)
        return wrong(reader, "cycles of the entry before it that no function has");
    struct compared_sum *sum = new_sum(reader);
    if (!sum)
        return false;
    *sum = (struct compared_sum){.rest = true, .most = run->most_left_out};
    const struct compared_place place = {.image = "",
                                         .function = COMPARED_OTHERS,
                                         .text = "",
                                         .offset = UINT64_MAX,
                                         .sum = sum,
                                         .cost = *rest};
    return (!rest->units && !rest->executions) || add_place(reader, &place);
}

/* ---- lines ---- */

static const char *keep(struct reader *reader, const char *text) {
    return arena_copy(&reader->baseline->names, text, strlen(text));
}

static const char *const NO_OPTIONS[] = {NULL};

static bool read_entry(struct reader *reader) {
    struct baseline *baseline = reader->baseline;
    if (reader->count != 2 || !*reader->fields[1])
        return wrong(reader, "an entry without a name");
    if (!end_entry(reader))
        return false;
    if (baseline->count == MAX_ENTRIES)
        return wrong(reader, "more entries than a baseline has");
    if (baseline_find(baseline, reader->fields[1]))
        return wrong(reader, "two entries of one name");
    const struct baseline_entry entry = {.name = keep(reader, reader->fields[1]),
                                         .setting.options = NO_OPTIONS};
    if (!entry.name || !array_push(baseline->entries, baseline->capacity, baseline->count, entry))
        return no_memory(reader);
    reader->entry = &baseline->entries[baseline->count - 1];
    reader->counted = false;
    reader->rest = (struct compared_cost){0};
    return true;
}

/* The fields behind the first, and NULL. NULL: none, or out of memory. */
static const char **keep_fields(struct reader *reader) {
    const char **texts = arena_alloc(&reader->baseline->names, reader->count * sizeof *texts);
    if (reader->count < 2 || !texts)
        return NULL;
    for (size_t i = 1; i < reader->count; i++)
        if (!(texts[i - 1] = keep(reader, reader->fields[i])))
            return NULL;
    texts[reader->count - 1] = NULL;
    return texts;
}

static bool read_command(struct reader *reader) {
    struct baseline_entry *entry = reader->entry;
    entry->words = keep_fields(reader);
    return (entry->words && *entry->words[0]) || wrong(reader, "no command");
}

static bool read_text(struct reader *reader, const char **text) {
    if (reader->count != 2)
        return wrong(reader, "not one value");
    *text = keep(reader, reader->fields[1]);
    return *text || no_memory(reader);
}

static bool read_options(struct reader *reader) {
    reader->entry->setting.options = keep_fields(reader);
    return reader->entry->setting.options || wrong(reader, "no options");
}

static bool read_culprit(struct reader *reader) {
    return read_text(reader, &reader->entry->setting.culprit);
}

static bool read_machine(struct reader *reader) {
    return read_text(reader, &reader->entry->setting.machine);
}

static bool read_library(struct reader *reader) {
    struct compared_run *run = &reader->entry->run;
    uint64_t build;
    if (reader->count != 3 || !*reader->fields[1] || run->library_count == MAX_LIBRARIES ||
        !field_read_hexadecimal(reader->fields[2], 16, &build))
        return wrong(reader, "no library");
    return compared_run_add_library(run, reader->fields[1], build, reader->error);
}

static bool read_elapsed(struct reader *reader) {
    struct baseline_entry *entry = reader->entry;
    return ((reader->count == 2 || reader->count == 3) &&
            field_read_count(reader->fields[1], MAX_CYCLES, &entry->run.elapsed) &&
            entry->run.elapsed &&
            (reader->count == 2 ||
             field_read_count(reader->fields[2], MAX_CYCLES, &entry->second))) ||
           wrong(reader, "no elapsed cycles");
}

static bool read_layout(struct reader *reader) {
    struct baseline_entry *entry = reader->entry;
    uint64_t number, cycles;
    if (reader->count != 3 || !field_read_count(reader->fields[1], BASELINE_LAYOUTS - 1, &number) ||
        !field_read_count(reader->fields[2], MAX_CYCLES, &cycles) || !cycles ||
        number < entry->layout_count)
        return wrong(reader, "no cycles of a layout");
    if (!entry->layouts) {
        const size_t size = BASELINE_LAYOUTS * sizeof *entry->layouts;
        entry->layouts = arena_alloc(&reader->baseline->names, size);
        if (!entry->layouts)
            return no_memory(reader);
        memset(entry->layouts, 0, size);
    }
    entry->layouts[number] = cycles;
    entry->layout_count = (uint32_t)number + 1;
    return true;
}

static bool read_all(struct reader *reader) {
    size_t next;
    if (reader->counted)
        return wrong(reader, "all cycles once more");
    reader->counted = true;
    return read_cost(reader, 1, &reader->rest, &next) &&
           read_most(reader, next, &reader->entry->run.most_left_out);
}

static bool read_function(struct reader *reader) {
    size_t next;
    if (!end_function(reader))
        return false;
    if (reader->count < 3 || !*reader->fields[1] || !*reader->fields[2])
        return wrong(reader, "a function without a name or an image");
    struct compared_sum *sum = new_sum(reader);
    if (!sum)
        return false;
    sum->rest = true;
    reader->function = (struct compared_place){.function = keep(reader, reader->fields[1]),
                                               .image = keep(reader, reader->fields[2]),
                                               .text = "",
                                               .offset = UINT64_MAX,
                                               .sum = sum};
    if (!reader->function.function || !reader->function.image)
        return no_memory(reader);
    reader->sum = sum;
    reader->based = false;
    return read_cost(reader, 3, &reader->function_rest, &next) &&
           read_most(reader, next, &sum->most) &&
           (take_away(&reader->rest, &reader->function_rest) ||
            wrong(reader, "functions have more cycles than all"));
}

static bool read_kinds(struct reader *reader) {
    uint64_t instructions, kind, number;
    struct compared_sum *sum = reader->sum;
    if (!sum || sum->kinds || reader->count != 3 ||
        !field_read_count(reader->fields[1], UINT16_MAX, &instructions) || !instructions)
        return wrong(reader, "no kinds of instructions");
    uint16_t *kinds = arena_alloc(&reader->entry->run.names, COMPARED_KINDS * sizeof *kinds);
    if (!kinds)
        return no_memory(reader);
    memset(kinds, 0, COMPARED_KINDS * sizeof *kinds);
    sum->kinds = kinds;
    uint64_t rest = instructions;
    for (const char *at = reader->fields[2], *end;; at = end + 1) {
        if (!field_read_digits(at, COMPARED_KINDS - 1, &kind, &end) || *end != ':' ||
            !field_read_digits(end + 1, rest, &number, &end) || kinds[kind])
            return wrong(reader, "no kinds of instructions");
        kinds[kind] = (uint16_t)number;
        rest -= number;
        if (*end != ' ')
            break;
    }
    sum->instructions = (uint32_t)instructions;
    return !rest || wrong(reader, "kinds of instructions that are not all");
}

static bool read_base(struct reader *reader) {
    if (!reader->sum || reader->count != 3 ||
        !field_read_count(reader->fields[2], UINT64_MAX, &reader->base))
        return wrong(reader, "no place where lines begin");
    reader->file = *reader->fields[1] ? keep(reader, reader->fields[1]) : NULL;
    reader->based = true;
    return !*reader->fields[1] || reader->file || no_memory(reader);
}

/* "type=56 row", "inlined=name", "text=mov ...": what follows the cost of a line. */
static bool read_detail(const struct reader *reader, char *field, struct compared_place *place) {
    const char *value;
    unsigned depth = 0;
    while (depth < COMPARED_INLINES && place->inlined[depth])
        depth++;
    if ((value = field_value(field, "type"))) {
        if (!field_read_digits(value, MAX_CYCLES, &place->type_size, &value) || *value != ' ' ||
            !value[1])
            return wrong(reader, "no size and type");
        place->type = value + 1;
    } else if ((value = field_value(field, "inlined")) && *value && depth < COMPARED_INLINES) {
        place->inlined[depth] = value;
    } else if ((value = field_value(field, "text"))) {
        place->text = value;
    } else {
        return wrong(reader, "a field that means nothing");
    }
    return true;
}

/* Where the line is. */
static bool locate(const struct reader *reader, uint64_t distance, struct compared_place *place) {
    uint64_t at;
    if (__builtin_add_overflow(reader->base, distance, &at))
        return false;
    place->file = reader->file;
    if (!reader->file)
        place->offset = at;
    else
        place->line = (uint32_t)at;
    return !reader->file || (at && at <= UINT32_MAX);
}

static bool read_line(struct reader *reader) {
    uint64_t distance;
    size_t next;
    uint64_t shape;
    struct compared_place place = reader->function;
    if (!reader->based || reader->count < 3 ||
        !field_read_count(reader->fields[1], UINT64_MAX, &distance))
        return wrong(reader, "no line of a function");
    if (!field_read_hexadecimal(reader->fields[2], 8, &shape))
        return wrong(reader, "no shape of a line");
    if (!read_cost(reader, 3, &place.cost, &next))
        return false;
    struct compared_sum *sum = new_sum(reader);
    if (!sum)
        return false;
    *sum = (struct compared_sum){.shape = (uint32_t)shape, .distance = distance};
    place.sum = sum;
    place.offset = 0;
    if (!locate(reader, distance, &place))
        return wrong(reader, "a line that no file has");
    while (next < reader->count)
        if (!read_detail(reader, reader->fields[next++], &place))
            return false;
    return (take_away(&reader->function_rest, &place.cost) ||
            wrong(reader, "lines have more cycles than their function")) &&
           add_place(reader, &place);
}

static bool read_end(struct reader *reader) {
    if (reader->count != 1)
        return wrong(reader, "a field that means nothing");
    reader->ended = true;
    const bool good = end_entry(reader);
    reader->entry = NULL;
    return good;
}

static const struct {
    const char *word;
    bool (*read)(struct reader *reader);
} WORDS[] = {{"entry", read_entry},     {"end", read_end},           {"command", read_command},
             {"options", read_options}, {"culprit", read_culprit},   {"machine", read_machine},
             {"elapsed", read_elapsed}, {"library", read_library},   {"layout", read_layout},
             {"all", read_all},         {"function", read_function}, {"kinds", read_kinds},
             {"in", read_base},         {"line", read_line}};
enum { WORD_COUNT = sizeof WORDS / sizeof *WORDS };

static bool read_words(struct reader *reader) {
    const char *word = reader->fields[0];
    const size_t i = index_where(k, WORD_COUNT, !strcmp(word, WORDS[k].word));
    if (i == WORD_COUNT)
        return wrong(reader, "a line that means nothing");
    if (reader->ended)
        return wrong(reader, "a line behind the end");
    if (WORDS[i].read != read_entry && WORDS[i].read != read_end && !reader->entry)
        return wrong(reader, "no entry before it");
    return WORDS[i].read(reader);
}

/* ---- the file ---- */

/* "culprit-baseline", its version. */
static bool read_first(struct reader *reader) {
    if (reader->count == 2 && strchr(reader->fields[1], '\r'))
        return error_set(reader->error,
                         "%s: its lines end in carriage returns, as an editor or git "
                         "(core.autocrlf) may write them: sed -i 's/\\r$//' %s takes them away",
                         reader->path, reader->path);
    if (reader->count != 2 || strcmp(reader->fields[0], "culprit-baseline") != 0 ||
        !field_read_count(reader->fields[1], UINT32_MAX, &reader->version))
        return error_set(reader->error, "%s: no baseline: its first line is another", reader->path);
    return (reader->version && reader->version <= BASELINE_FORMAT) ||
           error_set(reader->error,
                     "%s: version %" PRIu64 " of the format of baselines; this culprit reads %d",
                     reader->path, reader->version, BASELINE_FORMAT);
}

/* Where an entry begins or the entries end, the text of the one before ends. */
static void end_text(struct reader *reader, const char *at) {
    reader->baseline->end = at;
    if (reader->entry)
        reader->entry->size = (size_t)(at - reader->entry->text);
}

/* `copy` is taken apart, `text` stays. */
static bool read_lines(struct reader *reader, const char *text, char *copy) {
    for (char *line = copy, *end; *line; line = end) {
        const char *at = text + (line - copy);
        end = strchr(line, '\n');
        reader->line++;
        if (!end)
            return wrong(reader, "the file ends within a line");
        *end++ = 0;
        if (reader->line > 1 && (!*line || *line == '#'))
            continue;
        if (!split(reader, line))
            return false;
        const bool entry = !strcmp(reader->fields[0], "entry");
        if (entry || !strcmp(reader->fields[0], "end"))
            end_text(reader, at);
        if (reader->line == 1 ? !read_first(reader) : !read_words(reader))
            return false;
        if (entry && reader->entry)
            reader->entry->text = at;
    }
    reader->line++;
    if (reader->ended)
        return true;
    end_text(reader, text + strlen(text));
    return reader->version > 1 ? wrong(reader, "the file is cut: its last line, 'end', is missing")
                               : end_entry(reader);
}

bool baseline_read(struct baseline *baseline, const char *path, struct error *error) {
    size_t size = 0;
    bool absent = false;
    *baseline = (struct baseline){.text = baseline_load(path, &size, &absent, error)};
    if (!baseline->text)
        return absent;
    if (memchr(baseline->text, 0, size))
        return error_set(error, "%s: no baseline: it has a zero byte", path);
    struct reader *reader = calloc(1, sizeof *reader);
    char *copy = strdup(baseline->text);
    bool good = (reader && copy) || error_set(error, "%s: out of memory", path);
    if (good) {
        reader->path = path;
        reader->baseline = baseline;
        reader->error = error;
        good = size ? read_lines(reader, baseline->text, copy)
                    : error_set(error, "%s: no baseline: it is empty", path);
    }
    free(copy);
    free(reader);
    return good;
}

void baseline_free(struct baseline *baseline) {
    for (size_t i = 0; i < baseline->count; i++)
        compared_run_free(&baseline->entries[i].run);
    free(baseline->entries);
    free(baseline->text);
    arena_free(&baseline->names);
    *baseline = (struct baseline){0};
}

const struct baseline_entry *baseline_find(const struct baseline *baseline, const char *name) {
    const size_t i = index_where(k, baseline->count, !strcmp(baseline->entries[k].name, name));
    return i < baseline->count ? &baseline->entries[i] : NULL;
}
