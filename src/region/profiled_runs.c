/* Vectors are projected slice by slice as they are read; the table is read before, so that each
 * slice can be checked against it. */
#include "region/profiled_runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"

void profiled_runs_init(struct profiled_runs *profile, uint32_t dimensions, uint64_t seed,
                        bool unify) {
    *profile = (struct profiled_runs){.unify = unify};
    projection_init(&profile->points, dimensions, seed);
}

static void free_run(struct profiled_run *run) {
    free(run->path);
    free(run->ids);
    slice_table_free(&run->table);
}

void profiled_runs_free(struct profiled_runs *profile) {
    for (size_t i = 0; i < profile->run_count; i++)
        free_run(&profile->runs[i]);
    free(profile->runs);
    free(profile->slices);
    block_ids_free(&profile->blocks);
    projection_free(&profile->points);
    *profile = (struct profiled_runs){0};
}

uint64_t profiled_runs_instructions(const struct profiled_runs *profile) {
    return sum_over(uint64_t, i, profile->run_count, profile->runs[i].instructions);
}

/* ---- a run ---- */

struct addition {
    struct profiled_runs *profile;
    struct profiled_run *run;
    const char *path;
};

static bool read_table(struct addition *addition, struct error *error) {
    struct profiled_run *run = addition->run;
    char *path;
    if (asprintf(&path, "%s.slices", addition->path) < 0)
        return error_set(error, "%s: out of memory", addition->path);
    run->has_table = access(path, F_OK) == 0;
    bool good = !run->has_table || slice_table_read(&run->table, path, error);
    if (!run->has_table && addition->profile->unify)
        good = error_set(error, "%s: is not there: without it runs cannot be merged", path);
    const struct profiled_run *first = addition->profile->runs;
    if (good && addition->profile->unify && addition->profile->run_count &&
        run->table.isa != first->table.isa)
        good = error_set(error, "%s: is of another architecture than %s: no runs of one program",
                         addition->path, first->path);
    free(path);
    if (!good || !addition->profile->unify)
        return good;
    run->ids = malloc((run->table.block_count + 1) * sizeof *run->ids);
    if (!run->ids)
        return error_set(error, "%s: out of memory for its blocks", addition->path);
    return block_ids_add(&addition->profile->blocks, &run->table, run->ids, error);
}

/* The blocks of slice `slice` of the run's file. */
static bool rename_blocks(const struct profiled_run *run, size_t slice, struct bbv_set *set,
                          struct error *error) {
    size_t first = set->slices[set->slice_count - 1].first;
    for (size_t i = first; i < set->entry_count && run->ids; i++) {
        if (set->blocks[i] > run->table.block_count)
            return error_set(error,
                             "%s: slice %zu has block %" PRIu32
                             ", %s.slices does not: not of the same run",
                             run->path, slice, set->blocks[i], run->path);
        set->blocks[i] = run->ids[set->blocks[i] - 1];
    }
    return true;
}

/* Where in the run the slice is that is read now. */
static bool place_slice(const struct addition *addition, uint64_t instructions,
                        struct run_slice *slice, struct error *error) {
    const struct profiled_run *run = addition->run;
    *slice = (struct run_slice){.run = (uint32_t)(addition->profile->run_count),
                                .first_slice = (uint32_t)run->count,
                                .slice_count = 1,
                                .first = run->instructions,
                                .instructions = instructions};
    if (!run->has_table)
        return true;
    const struct slice_place *place = &run->table.slices[run->count];
    slice->process = place->process;
    slice->thread = place->thread;
    slice->first = place->first;
    return place->instructions == instructions ||
           error_set(error,
                     "%s: slice %zu is of %" PRIu64 " instructions, in %s.slices of %" PRIu64
                     ": not of the same run",
                     addition->path, run->count, instructions, addition->path, place->instructions);
}

static bool add_slice(struct addition *addition, struct bbv_set *set, struct error *error) {
    struct profiled_runs *profile = addition->profile;
    struct profiled_run *run = addition->run;
    size_t count = profile->points.count;
    if (!array_room(profile->slices, profile->slice_capacity, count + 1))
        return error_set(error, "out of memory for %zu slices", count + 1);
    uint64_t instructions = set->slices[0].instructions;
    if (!place_slice(addition, instructions, &profile->slices[count], error) ||
        !rename_blocks(run, run->count, set, error) ||
        !projection_add(&profile->points, set, 0, error))
        return false;
    run->count++;
    run->instructions += instructions;
    return true;
}

static bool other_number(const struct addition *addition, const char *fewer_or_more,
                         struct error *error) {
    return error_set(error, "%s has %s slices than the %zu of %s.slices: not of the same run",
                     addition->path, fewer_or_more, addition->run->table.slice_count,
                     addition->path);
}

static bool read_vectors(struct addition *addition, struct error *error) {
    struct profiled_run *run = addition->run;
    struct bbv_reader *reader = bbv_reader_open(addition->path, error);
    if (!reader)
        return false;
    struct bbv_set set = {0};
    bool good = true;
    int got = 1;
    while (good && (got = bbv_reader_next(reader, &set, error)) > 0) {
        if (run->has_table && run->count == run->table.slice_count) {
            good = !run->table.complete || other_number(addition, "more", error);
            break;
        }
        good = add_slice(addition, &set, error);
        bbv_set_clear(&set);
    }
    good = good && got >= 0;
    if (good && run->has_table && run->table.complete && run->count < run->table.slice_count)
        good = other_number(addition, "fewer", error);
    if (good && run->count == 0)
        good = error_set(error, "%s: the run was cut before its first slice", addition->path);
    bbv_set_free(&set);
    bbv_reader_close(reader);
    return good;
}

bool profiled_runs_add(struct profiled_runs *profile, const char *path, struct error *error) {
    struct profiled_run run = {.first = profile->points.count, .path = strdup(path)};
    struct addition addition = {.profile = profile, .run = &run, .path = path};
    bool good =
        (run.path && array_room(profile->runs, profile->run_capacity, profile->run_count + 1)) ||
        error_set(error, "%s: out of memory", path);
    good = good && read_table(&addition, error) && read_vectors(&addition, error);
    if (good)
        profile->runs[profile->run_count++] = run;
    else
        free_run(&run);
    return good;
}

/* ---- once more ---- */

/* All that the file has of a slice of the profile. */
static bool read_slice_again(const struct profiled_run *run, const struct run_slice *slice,
                             struct bbv_reader *reader, struct bbv_set *set, struct error *error) {
    uint64_t instructions = 0;
    for (uint32_t i = 0; i < slice->slice_count; i++) {
        int got = bbv_reader_next(reader, set, error);
        if (got < 0 || (got && !rename_blocks(run, slice->first_slice + i, set, error)))
            return false;
        if (!got)
            break;
        instructions += set->slices[i].instructions;
    }
    return instructions == slice->instructions ||
           error_set(error, "%s: slice %" PRIu32 " is not what it was when it was first read",
                     run->path, slice->first_slice);
}

static bool read_run_again(const struct profiled_runs *profile, const struct profiled_run *run,
                           bool (*take)(void *context, size_t slice, const struct bbv_set *set,
                                        struct error *error),
                           void *context, struct error *error) {
    struct stat kind;
    if (stat(run->path, &kind) == 0 && !S_ISREG(kind.st_mode))
        return error_set(error, "%s: is no file that can be read again", run->path);
    struct bbv_reader *reader = bbv_reader_open(run->path, error);
    if (!reader)
        return false;
    struct bbv_set set = {0};
    bool good = true;
    for (size_t i = run->first; good && i < run->first + run->count; i++) {
        good = read_slice_again(run, &profile->slices[i], reader, &set, error) &&
               take(context, i, &set, error);
        bbv_set_clear(&set);
    }
    bbv_set_free(&set);
    bbv_reader_close(reader);
    return good;
}

bool profiled_runs_read_again(const struct profiled_runs *profile,
                              bool (*take)(void *context, size_t slice, const struct bbv_set *set,
                                           struct error *error),
                              void *context, struct error *error) {
    return all_where(i, profile->run_count,
                     read_run_again(profile, &profile->runs[i], take, context, error));
}

/* ---- merging ---- */

/* Whether slice b goes on where slice a ends. */
static bool profiled_runs_adjacent(const struct run_slice *a, const struct run_slice *b) {
    return a->run == b->run && a->process == b->process && a->thread == b->thread &&
           a->first + a->instructions == b->first;
}

/* Slices `from` up to `end` become slice `to`. */
static void merge(struct profiled_runs *profile, size_t from, size_t end, size_t to) {
    struct projection *points = &profile->points;
    struct run_slice slice = profile->slices[from];
    uint32_t stride = points->stride;
    double sum[PROJECTION_MAX_DIMENSIONS] = {0};
    slice.slice_count = 0;
    slice.instructions = 0;
    for (size_t i = from; i < end; i++) {
        for (uint32_t d = 0; d < points->dimensions; d++)
            sum[d] += (double)points->instructions[i] * points->coordinates[i * stride + d];
        slice.slice_count += profile->slices[i].slice_count;
        slice.instructions += points->instructions[i];
    }
    for (uint32_t d = 0; d < points->dimensions; d++)
        points->coordinates[to * stride + d] = (float)(sum[d] / (double)slice.instructions);
    points->instructions[to] = slice.instructions;
    profile->slices[to] = slice;
}

void profiled_runs_merge_slices(struct profiled_runs *profile, uint32_t count) {
    size_t to = 0, run = 0;
    for (size_t from = 0, end; from < profile->points.count && count > 1; from = end) {
        for (end = from + 1; end < profile->points.count && end - from < count; end++)
            if (!profiled_runs_adjacent(&profile->slices[end - 1], &profile->slices[end]))
                break;
        for (; run <= profile->slices[from].run; run++) /* its first slice */
            profile->runs[run].first = to;
        merge(profile, from, end, to++);
    }
    if (count > 1)
        profile->points.count = to;
    for (size_t i = 0; i < profile->run_count; i++)
        profile->runs[i].count =
            (i + 1 < profile->run_count ? profile->runs[i + 1].first : profile->points.count) -
            profile->runs[i].first;
}
