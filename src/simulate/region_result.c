#include "simulate/region_result.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/top_down.h"
#include "tap/tap.h"
#include "util/array.h"
#include "util/little_endian.h"
#include "util/output.h"
#include "util/record_reader.h"

enum { PIECE = 8192, ITEM_BYTES = 16, VERSION = 1 };

static const struct record_format FORMAT = {"\x89"
                                            "CRR\r\n\x1a\n",
                                            VERSION, "region result", "the result of a region", 0};

enum record_type {
    RECORD_TOTALS = 1,
    RECORD_CELLS,      /* items of instruction, signature (32 bits), units */
    RECORD_SLOTS,      /* of instruction, class (32), units */
    RECORD_EXECUTIONS, /* a number for each instruction, from the first */
    RECORD_NAMES,      /* of categories, BREAKDOWN_NAME_BYTES each */
    RECORD_TIMES,      /* a double for each set of them */
    RECORD_END
};

struct region_code_extent region_code_extent(const struct code *code) {
    return (struct region_code_extent){code->insn_count, code->image_count, code->python_count,
                                       code->mapping_count};
}

struct code region_code_at(const struct code *code, const struct region_code_extent *extent) {
    struct code then = *code;
    then.insn_count = extent->insns;
    then.image_count = extent->images;
    then.python_count = extent->python;
    then.mapping_count = extent->mappings;
    return then;
}

/* ---- totals: the same numbers, written and read ---- */

enum { COUNTERS = sizeof(struct core_statistics) / sizeof(uint64_t) };
enum { MEMBERS = 6 + STATE_COUNT + COUNTERS, OTHERS = 10, TOTALS = MEMBERS + OTHERS };

/* Pointers to the numbers that are members, in the order of the file. */
static void members(struct simulation *simulation, uint64_t *totals[MEMBERS]) {
    size_t count = 0;
    uint64_t *const firsts[] = {&simulation->executed, &simulation->simulated,
                                &simulation->warmed,   &simulation->instructions,
                                &simulation->uops,     &simulation->cycles};
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
        totals[count++] = firsts[i];
    for (int i = 0; i < STATE_COUNT; i++)
        totals[count++] = &simulation->states[i];
    for (size_t i = 0; i < COUNTERS; i++)
        totals[count++] = (uint64_t *)&simulation->counted + i;
}

/* ---- writing ---- */

static bool put_record(FILE *file, enum record_type type, uint8_t *record, size_t size) {
    record_seal(record, type, (uint32_t)size);
    return fwrite(record, 1, RECORD_HEAD_BYTES + size, file) == RECORD_HEAD_BYTES + size;
}

static bool put_prologue(FILE *file) {
    uint8_t prologue[RECORD_PROLOGUE_BYTES] = {0};
    memcpy(prologue, FORMAT.magic, 8);
    put_u32(prologue + 8, FORMAT.version);
    return fwrite(prologue, 1, sizeof prologue, file) == sizeof prologue;
}

static bool put_totals(FILE *file, uint8_t *record, const struct simulation *simulation,
                       const struct code *code) {
    uint64_t *totals[MEMBERS];
    uint8_t *at = record + RECORD_HEAD_BYTES;
    struct simulation copy = *simulation;
    const struct region_code_extent extent = region_code_extent(code);
    members(&copy, totals);
    for (int i = 0; i < MEMBERS; i++, at += 8)
        put_u64(at, *totals[i]);
    const bool measured = simulation->breakdown.cycles != NULL;
    const uint64_t others[OTHERS] = {extent.insns,
                                     extent.images,
                                     extent.python,
                                     extent.mappings,
                                     simulation->thread_count && simulation->threads[0].goes_on,
                                     simulation->levels,
                                     simulation->slots != NULL,
                                     simulation->execution_count,
                                     measured ? simulation->breakdown.count : 0,
                                     measured ? simulation->breakdown.instructions : 0};
    for (int i = 0; i < OTHERS; i++, at += 8)
        put_u64(at, others[i]);
    return put_record(file, RECORD_TOTALS, record, TOTALS * 8);
}

static bool put_cells(FILE *file, uint8_t *record, enum record_type type,
                      const struct pics_cell *cells, uint64_t count) {
    for (uint64_t first = 0; first < count; first += PIECE) {
        const uint64_t left = count - first, size = left < PIECE ? left : PIECE;
        uint8_t *at = record + RECORD_HEAD_BYTES;
        for (uint64_t i = 0; i < size; i++, at += ITEM_BYTES) {
            put_u32(at, cells[first + i].insn);
            put_u32(at + 4, cells[first + i].psv);
            put_u64(at + 8, cells[first + i].units);
        }
        if (!put_record(file, type, record, size * ITEM_BYTES))
            return false;
    }
    return true;
}

static bool put_numbers(FILE *file, uint8_t *record, enum record_type type, const void *numbers,
                        uint64_t count) {
    const uint8_t *from = numbers;
    for (uint64_t first = 0; first < count; first += PIECE) {
        const uint64_t left = count - first, size = left < PIECE ? left : PIECE;
        for (uint64_t i = 0; i < size; i++) {
            uint64_t bits;
            memcpy(&bits, from + 8 * (first + i), sizeof bits);
            put_u64(record + RECORD_HEAD_BYTES + 8 * i, bits);
        }
        if (!put_record(file, type, record, size * 8))
            return false;
    }
    return true;
}

static bool put_breakdown(FILE *file, uint8_t *record, const struct breakdown *breakdown) {
    if (!breakdown->cycles)
        return true;
    memcpy(record + RECORD_HEAD_BYTES, breakdown->names,
           breakdown->count * sizeof *breakdown->names);
    return put_record(file, RECORD_NAMES, record, breakdown->count * sizeof *breakdown->names) &&
           put_numbers(file, record, RECORD_TIMES, breakdown->cycles, breakdown_sets(breakdown));
}

bool region_result_write(const char *path, const struct simulation *simulation,
                         const struct code *code, struct error *error) {
    struct output output = {0};
    uint8_t *record = malloc(RECORD_HEAD_BYTES + RECORD_PAYLOAD_MAX);
    bool good = record || error_set(error, "out of memory for the result of a region");
    good = good && output_open(&output, "result", path, NULL, error);
    if (good) {
        FILE *file = output.file;
        output.durable = true;
        good = (put_prologue(file) && put_totals(file, record, simulation, code) &&
                put_cells(file, record, RECORD_CELLS, simulation->cells, simulation->cell_count) &&
                put_cells(file, record, RECORD_SLOTS, simulation->slots, simulation->slot_count) &&
                put_numbers(file, record, RECORD_EXECUTIONS, simulation->executions,
                            simulation->execution_count) &&
                put_breakdown(file, record, &simulation->breakdown) &&
                put_record(file, RECORD_END, record, 0)) ||
               error_errno(error, "cannot write %.300s", path);
    }
    good = good && output_close(&output, error);
    output_discard(&output);
    free(record);
    return good;
}

/* ---- reading ---- */

struct reading {
    struct record_reader reader;
    struct simulation *simulation;
    struct region_code_extent *extent;
    size_t cell_capacity, slot_capacity, execution_capacity;
    uint32_t executions, categories, sets; /* claimed; sets: read so far */
    bool begun, slots, named, ended;
};

static bool damaged(const struct reading *reading, struct error *error, const char *what) {
    return record_reader_damaged(&reading->reader, error, what);
}

static bool take_totals(struct reading *reading, struct error *error) {
    struct simulation *simulation = reading->simulation;
    const uint8_t *at = reading->reader.payload;
    uint64_t *totals[MEMBERS], others[OTHERS];
    if (reading->begun || reading->reader.size != TOTALS * 8)
        return damaged(reading, error, "totals of the wrong size");
    members(simulation, totals);
    for (int i = 0; i < MEMBERS; i++, at += 8)
        *totals[i] = get_u64(at);
    for (int i = 0; i < OTHERS; i++, at += 8)
        others[i] = get_u64(at);
    for (int i = 0; i < 4; i++)
        if (others[i] > UINT32_MAX)
            return damaged(reading, error, "totals that make no sense");
    if (others[4] > 1 || others[5] > SAMPLING_MAX_LEVELS || others[6] > 1 ||
        others[7] > others[0] || others[8] > BREAKDOWN_CATEGORIES ||
        simulation->cycles > UINT64_MAX / CYCLE_UNITS)
        return damaged(reading, error, "totals that make no sense");
    *reading->extent = (struct region_code_extent){(uint32_t)others[0], (uint32_t)others[1],
                                                   (uint32_t)others[2], (uint32_t)others[3]};
    simulation->levels = (uint32_t)others[5];
    reading->slots = others[6];
    reading->executions = (uint32_t)others[7];
    reading->categories = (uint32_t)others[8];
    simulation->breakdown.instructions = others[9];
    if (!(simulation->threads = calloc(1, sizeof *simulation->threads)))
        return record_reader_out_of_memory(&reading->reader, error);
    simulation->threads[0] = (struct simulation_thread){.goes_on = others[4],
                                                        .instructions = simulation->instructions,
                                                        .cycles = simulation->cycles};
    simulation->thread_count = 1;
    return reading->begun = true;
}

static bool take_cells(struct reading *reading, struct pics_cell **cells, uint64_t *count,
                       size_t *capacity, uint32_t kinds, struct error *error) {
    const uint8_t *at = reading->reader.payload;
    const uint64_t more = reading->reader.size / ITEM_BYTES, all = *count + more;
    if (!more || reading->reader.size % ITEM_BYTES)
        return damaged(reading, error, "cells of the wrong size");
    if (!array_room(*cells, *capacity, all))
        return record_reader_out_of_memory(&reading->reader, error);
    struct pics_cell *to = *cells;
    assert(to);
    for (; *count < all; at += ITEM_BYTES, ++*count) {
        const struct pics_cell cell = {get_u32(at), get_u32(at + 4), get_u64(at + 8)};
        const struct pics_cell *before = *count ? &to[*count - 1] : NULL;
        if (cell.insn >= reading->extent->insns || cell.psv >= kinds ||
            (before &&
             (before->insn > cell.insn || (before->insn == cell.insn && before->psv >= cell.psv))))
            return damaged(reading, error, "a cell that makes no sense");
        to[*count] = cell;
    }
    return true;
}

static bool take_executions(struct reading *reading, struct error *error) {
    struct simulation *simulation = reading->simulation;
    const uint32_t count = reading->reader.size / 8;
    if (reading->reader.size % 8 || count > reading->executions - simulation->execution_count)
        return damaged(reading, error, "executions of the wrong size");
    if (!array_room(simulation->executions, reading->execution_capacity,
                    (size_t)simulation->execution_count + count))
        return record_reader_out_of_memory(&reading->reader, error);
    for (uint32_t i = 0; i < count; i++)
        simulation->executions[simulation->execution_count++] =
            get_u64(reading->reader.payload + 8 * (size_t)i);
    return true;
}

static bool take_names(struct reading *reading, struct error *error) {
    struct breakdown *breakdown = &reading->simulation->breakdown;
    const uint64_t instructions = breakdown->instructions;
    const char *names[BREAKDOWN_CATEGORIES];
    if (breakdown->cycles || !reading->categories ||
        reading->reader.size != reading->categories * (uint32_t)BREAKDOWN_NAME_BYTES)
        return damaged(reading, error, "names of categories of the wrong size");
    for (uint32_t i = 0; i < reading->categories; i++) {
        names[i] = (const char *)reading->reader.payload + i * (size_t)BREAKDOWN_NAME_BYTES;
        if (!memchr(names[i], 0, BREAKDOWN_NAME_BYTES))
            return damaged(reading, error, "a name without an end");
    }
    if (!breakdown_init(breakdown, reading->categories, names, error))
        return false;
    breakdown->instructions = instructions;
    return true;
}

static bool take_times(struct reading *reading, struct error *error) {
    struct breakdown *breakdown = &reading->simulation->breakdown;
    const uint32_t count = reading->reader.size / 8;
    if (!breakdown->cycles || reading->reader.size % 8 ||
        count > breakdown_sets(breakdown) - reading->sets)
        return damaged(reading, error, "times that make no sense");
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t bits = get_u64(reading->reader.payload + 8 * (size_t)i);
        memcpy(&breakdown->cycles[reading->sets++], &bits, sizeof bits);
    }
    return true;
}

static bool take_record(struct reading *reading, struct error *error) {
    struct simulation *simulation = reading->simulation;
    if (reading->reader.type != RECORD_TOTALS && !reading->begun)
        return damaged(reading, error, "it does not begin with totals");
    switch (reading->reader.type) {
    case RECORD_TOTALS:
        return take_totals(reading, error);
    case RECORD_CELLS:
        return take_cells(reading, &simulation->cells, &simulation->cell_count,
                          &reading->cell_capacity, PSV_COMBINATIONS, error);
    case RECORD_SLOTS:
        return take_cells(reading, &simulation->slots, &simulation->slot_count,
                          &reading->slot_capacity, SLOT_CLASSES, error);
    case RECORD_EXECUTIONS:
        return take_executions(reading, error);
    case RECORD_NAMES:
        return take_names(reading, error);
    case RECORD_TIMES:
        return take_times(reading, error);
    case RECORD_END:
        return reading->ended = true;
    default:
        return damaged(reading, error, "a record of a kind that there is not");
    }
}

static bool sums_to(const struct pics_cell *cells, uint64_t count, uint64_t sum) {
    uint64_t left = sum;
    for (uint64_t i = 0; i < count; i++) {
        if (cells[i].units > left)
            return false;
        left -= cells[i].units;
    }
    return left == 0;
}

static bool add_up(const uint64_t *numbers, uint64_t count, uint64_t sum) {
    uint64_t left = sum;
    for (uint64_t i = 0; i < count; i++) {
        if (numbers[i] > left)
            return false;
        left -= numbers[i];
    }
    return left == 0;
}

/* What the combination of regions relies on. */
static bool check(struct reading *reading, struct error *error) {
    struct simulation *simulation = reading->simulation;
    if (!reading->ended)
        return damaged(reading, error, "it ends early");
    if (!simulation->instructions || !simulation->cycles ||
        !sums_to(simulation->cells, simulation->cell_count, simulation->cycles * CYCLE_UNITS) ||
        !add_up(simulation->states, STATE_COUNT, simulation->cycles) ||
        simulation->execution_count != reading->executions ||
        !add_up(simulation->executions, simulation->execution_count, simulation->instructions))
        return damaged(reading, error, "its figures do not sum to its cycles and instructions");
    if (reading->categories &&
        (!simulation->breakdown.cycles || reading->sets != breakdown_sets(&simulation->breakdown)))
        return damaged(reading, error, "its breakdown is not complete");
    if (reading->slots && !simulation->slots &&
        !(simulation->slots = calloc(1, sizeof *simulation->slots)))
        return record_reader_out_of_memory(&reading->reader, error);
    return true;
}

bool region_result_read(const char *path, struct simulation *simulation,
                        struct region_code_extent *extent, struct error *error) {
    struct reading *reading = calloc(1, sizeof *reading);
    *simulation = (struct simulation){0};
    if (!reading)
        return error_set(error, "out of memory for the result of a region");
    reading->simulation = simulation;
    reading->extent = extent;
    bool good = record_reader_open(&reading->reader, path, &FORMAT, error);
    int status = 1;
    while (good && !reading->ended && (status = record_reader_next(&reading->reader, error)) > 0)
        good = take_record(reading, error);
    good = good && status >= 0 && check(reading, error);
    record_reader_close(&reading->reader);
    free(reading);
    return good;
}
