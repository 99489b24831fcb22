/* Threads are one tree. A tail call is a call. */
#include "query/path_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/call_profile_parts.h"
#include "query/profile_table.h"
#include "util/order.h"

enum { NAME_BYTES = 4096 };

/* A line's function: UINT32_MAX: out of memory. */
static uint32_t name_python(struct call_profile *profile, const struct code *code,
                            const struct call_path_function *function) {
    const struct python_source *source =
        function->python ? &code->python[function->python - 1] : NULL;
    return call_profile_add_procedure(profile, source ? source->path : "",
                                      source ? source->name : "[Python]", 0);
}

/* UINT32_MAX: out of memory. */
static uint32_t name_function(struct call_profile *profile, const struct code *code,
                              const struct call_path_function *function, struct program *program) {
    if (function->is_python)
        return name_python(profile, code, function);
    const struct static_insn *at = &code->insns[function->insn];
    const struct code_image *image = &code->images[at->image];
    struct location location = {.function = NULL};
    char name[NAME_BYTES];
    if (function->inlined)
        return call_profile_add_procedure(profile, image->path, function->inlined, 0);
    if (image->kind == CODE_IMAGE_FILE)
        program_locate_function(
            program, program_add_image(program, image->path, image->build_id, image->build_id_size),
            at->offset, &location);
    else
        location.function = image->symbol;
    const struct profile_row row = {.procedure = location.function,
                                    .image = image->path,
                                    .covered = location.function_size,
                                    .offset = location.function_offset};
    profile_row_name(&row, name, sizeof name);
    const uint32_t number = call_profile_add_procedure(profile, image->path, name, 0);
    if (number != UINT32_MAX)
        profile->procedures[number].nameless = !location.function && !location.function_size;
    return number;
}

static uint32_t *name_functions(struct call_profile *profile, const struct call_path_result *result,
                                const struct code *code, struct program *program) {
    uint32_t *procedures = malloc((result->function_count + 1) * sizeof *procedures);
    for (uint32_t i = 0; procedures && i < result->function_count; i++) {
        procedures[i] = name_function(profile, code, &result->functions[i], program);
        if (procedures[i] == UINT32_MAX) {
            free(procedures);
            return NULL;
        }
    }
    return procedures;
}

/* What calls a path: Python that an interpreter's loop runs stands in its place. */
static uint32_t caller_of(const struct call_path_result *result, const struct call_path *path) {
    const struct call_path *parent = &result->paths[path->parent];
    return path->kind == PATH_PYTHON && parent->function != PATH_NONE &&
                   result->functions[parent->function].loop && parent->parent != PATH_NONE
               ? parent->parent
               : path->parent;
}

static bool find_frames(struct call_profile *profile, const struct call_path_result *result,
                        const uint32_t *procedures, uint32_t *frames) {
    for (uint32_t i = 0; i < result->count; i++) {
        const struct call_path *path = &result->paths[i];
        frames[i] = path->function == PATH_NONE
                        ? 0
                        : call_profile_frame(profile, frames[caller_of(result, path)],
                                             procedures[path->function]);
        if (frames[i] == CALL_NONE_FRAME)
            return false;
    }
    return true;
}

static bool add_frames(struct call_profile *profile, const struct call_path_result *result,
                       const uint32_t *procedures, uint32_t *frames) {
    if (!find_frames(profile, result, procedures, frames))
        return false;
    for (uint32_t i = 0; i < result->count; i++) {
        const struct call_path *path = &result->paths[i];
        struct call_frame *frame = &profile->frames.items[frames[i]];
        frame->self += (double)path->units / CYCLE_UNITS;
        frame->self_instructions += (double)path->instructions;
        frame->calls += (double)path->calls;
    }
    return true;
}

static bool add_cells(struct call_profile *profile, const struct call_path_result *result,
                      const uint32_t *frames) {
    struct call_cell *cells = malloc((result->cell_count + 1) * sizeof *cells);
    if (!cells)
        return false;
    for (uint64_t i = 0; i < result->cell_count; i++)
        cells[i] = (struct call_cell){frames[result->cells[i].insn], result->cells[i].psv,
                                      (double)result->cells[i].units / CYCLE_UNITS};
    profile->cells = cells;
    profile->cell_count = result->cell_count;
    call_profile_sort_cells(profile);
    return true;
}

bool path_profile_read(struct call_profile *profile, const struct simulation *simulation,
                       const struct code *code, struct program *program, struct error *error) {
    const struct call_path_result *result = &simulation->paths;
    uint32_t *frames = malloc((result->count + 1) * sizeof *frames), *procedures = NULL;
    const bool good = call_profile_begin(profile) && frames &&
                      (procedures = name_functions(profile, result, code, program)) &&
                      add_frames(profile, result, procedures, frames) &&
                      add_cells(profile, result, frames) && call_profile_settle(profile);
    profile->simulated = true;
    free(frames);
    free(procedures);
    return good || error_set(error, "out of memory for the calls");
}

/* Names and frames are found again: none is added. */
uint32_t *path_profile_frames(struct call_profile *profile, const struct simulation *simulation,
                              const struct code *code, struct program *program) {
    const struct call_path_result *result = &simulation->paths;
    uint32_t *procedures = name_functions(profile, result, code, program);
    uint32_t *frames = malloc((result->count + (size_t)1) * sizeof *frames);
    const bool found = procedures && frames && find_frames(profile, result, procedures, frames);
    free(procedures);
    if (found)
        return frames;
    free(frames);
    return NULL;
}
