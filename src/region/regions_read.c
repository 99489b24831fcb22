/* The file is read in one pass: what stands in comments in front, the line of column names, then a
 * region from each line. Overlaps are looked for afterwards, in order of place. */
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "region/region_columns.h"
#include "region/regions.h"
#include "util/array.h"
#include "util/csv.h"
#include "util/order.h"

/* Instructions of a run: so many that a double holds each number, and no count of theirs overflows.
 */
#define RUN_MOST (UINT64_C(1) << 53)

struct reader {
    struct csv csv;
    struct region_list *list;
    bool named, has_isa, has_instructions, has_slices; /* of what stands in comments */
};

/* The value behind "# key: "; NULL when the comment is another. */
static const char *value_of(const char *comment, const char *key) {
    size_t length = strlen(key);
    return comment[0] == ' ' && !strncmp(comment + 1, key, length) && comment[length + 1] == ':' &&
                   comment[length + 2] == ' '
               ? comment + length + 3
               : NULL;
}

static bool take_count(struct reader *reader, const char *text, const char *name, uint64_t most,
                       uint64_t *value, struct error *error) {
    char *field = (char *)text, **fields = reader->csv.fields;
    reader->csv.fields = &field;
    bool good = csv_decimal(&reader->csv, 0, name, most, value, error);
    reader->csv.fields = fields;
    return good;
}

static bool take_text(struct reader *reader, const char *text, char **value, struct error *error) {
    if (*value)
        return csv_error(&reader->csv, error, "said a second time");
    return (*value = strdup(text)) || csv_error(&reader->csv, error, "out of memory");
}

static bool take_isa(struct reader *reader, const char *text, struct error *error) {
    bool x86 = !strcmp(text, "x86_64");
    if (!x86 && strcmp(text, "riscv64") != 0)
        return csv_error(&reader->csv, error, "an isa that is neither x86_64 nor riscv64");
    reader->list->isa = x86 ? ISA_X86_64 : ISA_RISCV64;
    return reader->has_isa = true;
}

/* "12 rest" */
static bool take_word(const char **text, uint32_t *value) {
    char *end;
    unsigned long number = **text >= '0' && **text <= '9' ? strtoul(*text, &end, 10) : ULONG_MAX;
    if (number > UINT32_MAX || (*end && *end != ' '))
        return false;
    *value = (uint32_t)number;
    *text = *end ? end + 1 : end;
    return true;
}

/* As the command in front is written: without what would end the line. */
static bool take_process(struct reader *reader, const char *text, struct error *error) {
    struct region_list *list = reader->list;
    struct slice_process process = {.forker = UINT32_MAX};
    uint32_t number;
    bool good = take_word(&text, &number) && number == list->process_count;
    if (good && strncmp(text, "- ", 2) == 0)
        text += 2;
    else
        good = good && take_word(&text, &process.forker);
    if (!good || !take_word(&text, &process.fork) || !take_word(&text, &process.generation))
        return csv_error(
            &reader->csv, error,
            "not '# process: NUMBER FORKER FORK EXECS EXECUTABLE' with the next number");
    if (!array_room(list->processes, list->process_capacity, list->process_count + 1) ||
        !(process.executable = strdup(text)))
        return csv_error(&reader->csv, error, "out of memory");
    list->processes[list->process_count++] = process;
    return true;
}

static bool take_process_command(struct reader *reader, const char *text, struct error *error) {
    struct region_list *list = reader->list;
    uint32_t number;
    if (!take_word(&text, &number) || number + 1 != list->process_count)
        return csv_error(&reader->csv, error, "not of the process before it");
    return take_text(reader, text, &list->processes[number].command, error);
}

static bool take_thread(struct reader *reader, const char *text, struct error *error) {
    struct region_list *list = reader->list;
    struct slice_thread thread;
    if (!take_word(&text, &thread.thread) || !take_word(&text, &thread.process) ||
        !take_word(&text, &thread.ordinal) || thread.process >= list->process_count)
        return csv_error(&reader->csv, error,
                         "not '# thread: NUMBER PROCESS ORDINAL' with a process named before");
    return array_push(list->threads, list->thread_capacity, list->thread_count, thread) ||
           csv_error(&reader->csv, error, "out of memory");
}

static bool take_merged(struct reader *reader, const char *text, struct error *error) {
    struct region_list *list = reader->list;
    return (take_word(&text, &list->run) && take_word(&text, &list->runs) && list->runs > 1 &&
            list->run < list->runs &&
            take_count(reader, text, "merged instructions", RUN_MOST, &list->all_instructions,
                       error) &&
            list->all_instructions) ||
           csv_error(&reader->csv, error, "not '# merged: RUN RUNS INSTRUCTIONS'");
}

/* What a comment says; those of other words say nothing. */
static bool take_comment(struct reader *reader, struct error *error) {
    const char *comment = reader->csv.fields[0], *value;
    struct region_list *list = reader->list;
    if (!reader->named) {
        if (strcmp(comment, " culprit-regions 1") != 0)
            return csv_error(&reader->csv, error, "no list of regions ('# culprit-regions 1')");
        return reader->named = true;
    }
    if ((value = value_of(comment, "isa")))
        return take_isa(reader, value, error);
    if ((value = value_of(comment, "command")))
        return take_text(reader, value, &list->command, error);
    if ((value = value_of(comment, "process")))
        return take_process(reader, value, error);
    if ((value = value_of(comment, "process-command")))
        return take_process_command(reader, value, error);
    if ((value = value_of(comment, "thread")))
        return take_thread(reader, value, error);
    if ((value = value_of(comment, "method")))
        return take_text(reader, value, &list->method, error);
    if ((value = value_of(comment, "instructions")))
        return reader->has_instructions =
                   take_count(reader, value, "instructions", RUN_MOST, &list->instructions, error);
    if ((value = value_of(comment, "merged")))
        return take_merged(reader, value, error);
    if ((value = value_of(comment, "slices")))
        return reader->has_slices =
                   take_count(reader, value, "slices", UINT64_MAX, &list->slice_count, error);
    return true;
}

/* The line of column names, before which everything else must have been said. */
static bool take_columns(struct reader *reader, struct error *error) {
    const struct region_list *list = reader->list;
    if (!reader->named)
        return csv_error(&reader->csv, error, "no list of regions ('# culprit-regions 1')");
    if (!reader->has_isa || !list->command || !list->method || !reader->has_instructions ||
        !reader->has_slices)
        return csv_error(
            &reader->csv, error,
            "isa, command, instructions, slices and method are to be said before this");
    uint32_t count = reader->csv.field_count;
    if (count != CHOSEN_COLUMNS && count != COLUMNS)
        return csv_error(&reader->csv, error, "not the columns of a list of regions");
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(reader->csv.fields[i], region_columns[i]) != 0)
            return csv_error(&reader->csv, error, "column %u is not '%s'", i + 1,
                             region_columns[i]);
    return true;
}

static bool take_u32(struct reader *reader, enum region_column column, uint32_t *value,
                     struct error *error) {
    uint64_t number;
    if (!csv_decimal(&reader->csv, column, region_columns[column], UINT32_MAX, &number, error))
        return false;
    *value = (uint32_t)number;
    return true;
}

static bool take_u64(struct reader *reader, enum region_column column, uint64_t *value,
                     struct error *error) {
    return csv_decimal(&reader->csv, column, region_columns[column], UINT64_MAX, value, error);
}

static int nibble(char digit) {
    static const char digits[] = "0123456789abcdef";
    const char *at = digit ? strchr(digits, digit) : NULL;
    return at ? (int)(at - digits) : -1;
}

static bool take_build_id(struct reader *reader, const char *text, struct region_image *image,
                          struct error *error) {
    size_t length = strlen(text);
    bool good = length % 2 == 0 && length / 2 <= sizeof image->build_id;
    for (size_t i = 0; i < length && good; i += 2) {
        int high = nibble(text[i]), low = nibble(text[i + 1]);
        good = high >= 0 && low >= 0;
        image->build_id[i / 2] = (uint8_t)((unsigned)high << 4 | (unsigned)low);
    }
    image->build_id_size = (uint8_t)(length / 2);
    return good ||
           csv_error(&reader->csv, error, "a build id that is not of up to 40 hexadecimal digits");
}

static bool take_image(struct reader *reader, char **fields, uint32_t *number,
                       struct error *error) {
    struct region_image image = {.path = fields[0]};
    *number = MARKER_NO_IMAGE;
    if (!*fields[0])
        return !*fields[1] || csv_error(&reader->csv, error, "a build id without an image");
    if (!take_build_id(reader, fields[1], &image, error))
        return false;
    *number = region_list_image(reader->list, &image);
    if (*number == UINT32_MAX)
        return csv_error(&reader->csv, error, "out of memory");
    return *number < REGIONS_MAX_IMAGES ||
           csv_error(&reader->csv, error, "too many different images");
}

/* Four columns from `first` on; all empty: none. */
static bool take_marker(struct reader *reader, enum region_column first,
                        struct region_marker *marker, struct error *error) {
    char **fields = reader->csv.fields + first;
    *marker = (struct region_marker){.image = MARKER_NO_IMAGE};
    if (!*fields[0] && !*fields[1] && !*fields[2] && !*fields[3])
        return true;
    if (!take_image(reader, fields, &marker->image, error) ||
        !csv_hexadecimal(&reader->csv, first + 2, region_columns[first + 2], &marker->offset,
                         error) ||
        !take_u64(reader, first + 3, &marker->count, error))
        return false;
    return marker->count ||
           csv_error(&reader->csv, error, "a marker with a count of 0: they are from 1");
}

static bool take_skew(struct reader *reader, int64_t *skew, struct error *error) {
    double value;
    if (!csv_number(&reader->csv, SKEW, region_columns[SKEW], -0x1p53, 0x1p53, &value, error))
        return false;
    *skew = (int64_t)value;
    return (double)*skew == value ||
           csv_error(&reader->csv, error, "a skew that is not a whole number");
}

static bool take_trace(struct reader *reader, struct region *region, struct error *error) {
    char **fields = reader->csv.fields;
    if (reader->csv.field_count == CHOSEN_COLUMNS)
        return true;
    if (!*fields[TRACE]) /* this one was not captured */
        return (!*fields[TRACE_START] && !*fields[TRACE_END] && !*fields[SKEW]) ||
               csv_error(&reader->csv, error, "trace-start, trace-end or skew without a trace");
    if (!take_u64(reader, TRACE_START, &region->trace_start, error) ||
        !take_u64(reader, TRACE_END, &region->trace_end, error) ||
        !take_skew(reader, &region->skew, error))
        return false;
    if (region->trace_end < region->trace_start)
        return csv_error(&reader->csv, error, "trace-end before trace-start");
    return (region->trace = strdup(fields[TRACE])) ||
           csv_error(&reader->csv, error, "out of memory");
}

/* The numbers that say where the region is. */
static bool take_place(struct reader *reader, struct region *region, struct error *error) {
    uint64_t end;
    if (!take_u32(reader, PROCESS, &region->process, error) ||
        !take_u32(reader, THREAD, &region->thread, error) ||
        !take_u32(reader, ID, &region->id, error) ||
        !take_u32(reader, SLICE, &region->slice, error) ||
        !take_u64(reader, START_ICOUNT, &region->first, error) ||
        !take_u64(reader, END_ICOUNT, &end, error) ||
        !take_u64(reader, LENGTH, &region->instructions, error))
        return false;
    if (region->instructions == 0 || end < region->first ||
        end - region->first != region->instructions)
        return csv_error(&reader->csv, error,
                         "region-length is not from start-icount to end-icount");
    if (region->slice >= reader->list->slice_count)
        return csv_error(&reader->csv, error, "a slice that the run does not have");
    const struct region_list *list = reader->list;
    uint32_t before = list->region_count ? list->regions[list->region_count - 1].id : 0;
    return region->id > before ||
           csv_error(&reader->csv, error, "a region-id that does not grow, from 1 on");
}

static bool take_cluster(struct reader *reader, uint32_t *cluster, struct error *error) {
    const char *comment = reader->csv.fields[COMMENT];
    uint64_t number;
    if (strncmp(comment, "cluster ", 8) != 0)
        return csv_error(&reader->csv, error, "a comment that is not of the form 'cluster 0'");
    if (!take_count(reader, comment + 8, "cluster", UINT64_MAX, &number, error))
        return false;
    *cluster = (uint32_t)number;
    return *cluster == number ||
           csv_error(&reader->csv, error, "a cluster number that is too large");
}

static bool take_region(struct reader *reader, uint32_t columns, struct error *error) {
    struct region_list *list = reader->list;
    struct region region = {0};
    if (reader->csv.field_count != columns)
        return csv_error(&reader->csv, error, "not as many fields as columns");
    if (list->region_count == REGIONS_MAX)
        return csv_error(&reader->csv, error, "too many regions");
    if (!array_room(list->regions, list->region_capacity, list->region_count + 1))
        return csv_error(&reader->csv, error, "out of memory");
    bool good =
        take_place(reader, &region, error) && take_cluster(reader, &region.cluster, error) &&
        take_marker(reader, START_MARKER, &region.start, error) &&
        take_marker(reader, END_MARKER, &region.end, error) &&
        csv_number(&reader->csv, WEIGHT, region_columns[WEIGHT], 0, 1, &region.weight, error) &&
        csv_number(&reader->csv, MULTIPLIER, region_columns[MULTIPLIER], 0, DBL_MAX,
                   &region.multiplier, error) &&
        take_trace(reader, &region, error);
    if (good)
        list->regions[list->region_count++] = region;
    return good;
}

static bool take_all(struct reader *reader, struct error *error) {
    uint32_t columns = 0;
    for (;;) {
        int got = csv_next(&reader->csv, error);
        if (got <= 0)
            return got == 0 &&
                   (columns || error_set(error, "%s: no list of regions ('# culprit-regions 1')",
                                         reader->csv.path));
        bool good = reader->csv.comment ? take_comment(reader, error)
                    : columns           ? take_region(reader, columns, error)
                                        : take_columns(reader, error);
        if (!good)
            return false;
        if (!reader->csv.comment && !columns)
            columns = reader->csv.field_count;
    }
}

static int by_place(const void *a, const void *b) {
    const struct region *x = *(const struct region *const *)a,
                        *y = *(const struct region *const *)b;
    return ascending(x->process, y->process) ?: ascending(x->thread, y->thread) ?:
           ascending(x->first, y->first);
}

static bool check_overlap(const struct region_list *list, const char *path, struct error *error) {
    const struct region **order = malloc(list->region_count * sizeof(struct region *));
    if (!order)
        return error_set(error, "%s: out of memory", path);
    for (size_t i = 0; i < list->region_count; i++)
        order[i] = &list->regions[i];
    qsort(order, list->region_count, sizeof *order, by_place);
    bool good = true;
    for (size_t i = 1; i < list->region_count && good; i++) {
        const struct region *a = order[i - 1], *b = order[i];
        if (a->process == b->process && a->thread == b->thread &&
            b->first - a->first < a->instructions)
            good = error_set(error, "%s: regions %" PRIu32 " and %" PRIu32 " overlap", path, a->id,
                             b->id);
    }
    free(order);
    return good;
}

static bool check_weights(const struct region_list *list, const char *path, struct error *error) {
    const double sum = region_list_weights(list);
    if (list->runs &&
        (sum > 1 + REGIONS_WEIGHTS_OFF || list->instructions > list->all_instructions))
        return error_set(error, "%s: more than all of the merged runs", path);
    return list->runs || fabs(sum - 1) <= REGIONS_WEIGHTS_OFF ||
           error_set(error, "%s: the weights sum to %g, not to 1", path, sum);
}

bool region_list_read(struct region_list *list, const char *path, struct error *error) {
    if (!region_list_read_merged(list, path, error))
        return false;
    const double sum = region_list_weights(list);
    return !list->runs || fabs(sum - 1) <= REGIONS_WEIGHTS_OFF ||
           error_set(error,
                     "%s: its regions stand for %.1f %% of %" PRIu32 " merged runs, not for one "
                     "run ('culprit sim --regions' combines the lists of all)",
                     path, 100 * sum, list->runs);
}

bool region_list_read_merged(struct region_list *list, const char *path, struct error *error) {
    struct reader reader = {.list = list};
    *list = (struct region_list){0};
    bool good = csv_open(&reader.csv, path, error) && take_all(&reader, error);
    csv_close(&reader.csv);
    if (good && list->region_count == 0)
        good = error_set(error, "%s: no regions in it", path);
    if (good && list->instructions == 0)
        good = error_set(error, "%s: regions of a run of 0 instructions", path);
    return good && check_overlap(list, path, error) && check_weights(list, path, error);
}
