/* Names are looked for among the procedures that have values, as `top` lists them, those with most
 * first; places among the images. A row of that list has all builds of its file together: the one
 * is taken that is there and has most. */
#include "query/procedure_choice.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/kernel_code.h"
#include "program/function_name.h"
#include "query/image_name.h"
#include "query/near_names.h"
#include "util/array.h"
#include "util/file_name.h"
#include "util/order.h"
#include "util/text.h"

/* A build of a file, as the store has it. */
struct build {
    const struct store_image *image;
    double total; /* of the event */
};

struct choosing {
    struct procedure_choices *choices;
    const struct profile_set *set;
    const struct profile_event *event;
    const struct procedure_query *query;
    struct program *program;
    struct profile_table *table;
    struct build *builds; /* most values first */
    size_t build_count, build_capacity;
    struct kernel_map kernel;
    bool kernel_read;
    struct error *error;
};

static bool out_of_memory(struct error *error) {
    return error_set(error, "out of memory for the profile");
}

static bool set_note(struct procedure_choices *choices, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool set_note(struct procedure_choices *choices, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&choices->note, format, arguments) < 0)
        choices->note = NULL;
    va_end(arguments);
    return choices->note;
}

/* ---- builds ---- */

static bool wants_none(void *context, const struct store_image *image) {
    (void)context, (void)image;
    return false;
}

static bool add_build(void *context, const struct store_profile *profile) {
    struct choosing *choosing = context;
    const struct procedure_query *query = choosing->query;
    if (!profile_process_is(profile->process, query->process) ||
        (query->image && !profile_path_is(profile->image->path, query->image)))
        return true;
    double total = profile->session->weight * (double)profile->total;
    for (size_t i = 0; i < choosing->build_count; i++)
        if (choosing->builds[i].image->id == profile->image->id) {
            choosing->builds[i].total += total;
            return true;
        }
    return array_push(choosing->builds, choosing->build_capacity, choosing->build_count,
                      (struct build){profile->image, total}) ||
           out_of_memory(choosing->error);
}

ORDER(by_total, struct build,
      descending(a->total, b->total) ?: ascending(a->image->id, b->image->id))

static bool read_builds(struct choosing *choosing) {
    struct store_filter filter = profile_set_filter(choosing->set, choosing->event->name);
    filter.wants_values = wants_none;
    choosing->error->message[0] = 0;
    if (!store_each_profile(choosing->set->store, &filter, add_build, choosing, choosing->error) ||
        choosing->error->message[0])
        return false;
    if (choosing->build_count)
        qsort(choosing->builds, choosing->build_count, sizeof *choosing->builds, by_total);
    return true;
}

/* ---- what can be read ---- */

static uint32_t open_kernel(struct choosing *choosing, const struct store_image *image) {
    static const struct live_roots HERE = {.proc = "/proc", .sys = "/sys", .files = ""};
    const struct live_roots *roots = choosing->query->roots ? choosing->query->roots : &HERE;
    if (!choosing->kernel_read && !kernel_map_read(roots, &choosing->kernel)) {
        out_of_memory(choosing->error);
        return UINT32_MAX;
    }
    choosing->kernel_read = true;
    return kernel_code_add(choosing->program, roots, &choosing->kernel, image->path,
                           image->build_id, image->build_id_size, choosing->error);
}

/* The build's code in `program`; UINT32_MAX, with an error that says why, when its code cannot be
 * had. */
static uint32_t open_build(struct choosing *choosing, const struct store_image *image) {
    char path[PATH_MAX];
    switch (image->kind) {
    case IMAGE_FILE:
        break;
    case IMAGE_KERNEL:
    case IMAGE_MODULE:
        return open_kernel(choosing, image);
    case IMAGE_JIT:
        error_set(choosing->error,
                  "%s: code made by a running program is not kept (see 'culprit top' for "
                  "procedures of files)",
                  image->path);
        return UINT32_MAX;
    default:
        error_set(choosing->error, "%s: its code is in no file (see 'culprit top')", image->path);
        return UINT32_MAX;
    }
    int length = snprintf(path, sizeof path, "%s%s", image->root, image->path);
    bool reached = length < (int)sizeof path && access(path, R_OK) == 0;
    uint32_t file = program_add_image(choosing->program, reached ? path : image->path,
                                      image->build_id, image->build_id_size);
    enum isa isa;
    const char *note = program_image_note(choosing->program, file);
    if (program_image_isa(choosing->program, file, &isa))
        return file;
    if (!reached)
        error_set(choosing->error,
                  "%s: the file is gone, and its code with it (record it again, or bring back "
                  "the same build)",
                  image->path);
    else if (note && strstr(note, "build id"))
        error_set(choosing->error,
                  "%s: the file has changed since it was profiled: its code is another now "
                  "(record it again, or bring back the same build)",
                  image->path);
    else
        error_set(choosing->error, "%s", note ? note : image->path);
    return UINT32_MAX;
}

static bool add_choice(struct choosing *choosing, const struct store_image *build, uint32_t file,
                       const char *name, uint64_t offset, uint64_t size) {
    struct procedure_choices *choices = choosing->choices;
    char *copy = NULL;
    if (name)
        copy = strdup(name);
    else if (asprintf(&copy, "%s+0x%" PRIx64, file_base_name(build->path), offset) < 0)
        copy = NULL;
    if (!copy || !array_room(choices->items, choices->capacity, choices->count + 1)) {
        free(copy);
        return out_of_memory(choosing->error);
    }
    choices->items[choices->count++] =
        (struct procedure_choice){copy,
                                  {.path = build->path,
                                   .build = build,
                                   .offset = offset,
                                   .size = size,
                                   .process = choosing->query->process},
                                  file};
    return true;
}

/* The procedure at an offset of a build. */
static bool add_at(struct choosing *choosing, const struct store_image *build, uint32_t file,
                   uint64_t offset) {
    struct location location;
    program_locate_function(choosing->program, file, offset, &location);
    if (!location.function_size)
        return error_set(choosing->error,
                         "%s+0x%" PRIx64 ": no procedure is known there (its file has neither "
                         "symbols nor unwind tables for it)",
                         build->path, offset);
    return add_choice(choosing, build, file, location.function, location.function_offset,
                      location.function_size);
}

/* ---- rows ---- */

/* The row's procedure in the first of its file's builds that is there. */
static bool add_row(struct choosing *choosing, const struct profile_row *row) {
    const size_t builds = sum_over(size_t, i, choosing->build_count,
                                   !strcmp(choosing->builds[i].image->path, row->image));
    error_set(choosing->error, "%s: no such file was profiled", row->image);
    for (size_t i = 0; i < choosing->build_count; i++) {
        const struct store_image *image = choosing->builds[i].image;
        uint64_t offset = row->offset, size;
        uint32_t file;
        if (strcmp(image->path, row->image) != 0 ||
            (file = open_build(choosing, image)) == UINT32_MAX)
            continue;
        if (!row->covered)
            return error_set(choosing->error,
                             "%s: no procedure is known there (its file has neither symbols nor "
                             "unwind tables for it)",
                             row->image);
        if (builds > 1 && row->procedure &&
            !program_find_function(choosing->program, file, row->procedure, &offset, &size))
            continue;
        return add_at(choosing, image, file, offset);
    }
    return false;
}

static bool is_called(const struct profile_row *row, const char *name) {
    return function_is_named(row->procedure, name, strlen(name));
}

static bool note_others(struct choosing *choosing, const char *name, const char *image,
                        const struct profile_row *chosen) {
    const struct profile_row *other = NULL;
    size_t others = 0;
    for (size_t i = profile_table_count(choosing->table); i-- > 0;) {
        const struct profile_row *row = profile_table_row(choosing->table, i);
        if (row != chosen && function_ends_in(row->procedure, name, strlen(name)) &&
            (!image || profile_path_is(row->image, image)))
            other = row, others++;
    }
    if (!others)
        return true;
    return set_note(choosing->choices,
                    "%zu other procedure%s called %s: %s%s (choose by IMAGE:NAME or "
                    "IMAGE+0xOFFSET); this one has most %s",
                    others, others == 1 ? " is" : "s are", name, others > 1 ? "one in " : "in ",
                    other->image, choosing->event->unit) ||
           out_of_memory(choosing->error);
}

/* *found: there is such a row, whether or not its code can be read. */
static bool choose_called(struct choosing *choosing, const char *name, const char *image,
                          bool *found) {
    for (size_t i = 0; i < profile_table_count(choosing->table); i++) {
        const struct profile_row *row = profile_table_row(choosing->table, i);
        if (!is_called(row, name) || (image && !profile_path_is(row->image, image)))
            continue;
        *found = true;
        return add_row(choosing, row) && note_others(choosing, name, image, row);
    }
    return false;
}

/* As in the symbol table, or another name of the same code. */
static bool choose_mangled(struct choosing *choosing, const char *name, const char *image,
                           bool *found) {
    for (size_t i = 0; i < choosing->build_count; i++) {
        const struct store_image *build = choosing->builds[i].image;
        struct error ignored, *kept = choosing->error;
        uint64_t offset, size;
        if (build->kind != IMAGE_FILE || (image && !profile_path_is(build->path, image)))
            continue;
        choosing->error = &ignored;
        uint32_t file = open_build(choosing, build);
        choosing->error = kept;
        if (file != UINT32_MAX &&
            program_find_function(choosing->program, file, name, &offset, &size)) {
            *found = true;
            return add_at(choosing, build, file, offset);
        }
    }
    return false;
}

/* By the end of its name, when that is the end of one name only. */
static bool choose_ending(struct choosing *choosing, const char *name, const char *image,
                          bool *found) {
    const struct profile_row *chosen = NULL;
    struct name_list names = {0};
    for (size_t i = 0; i < profile_table_count(choosing->table); i++) {
        const struct profile_row *row = profile_table_row(choosing->table, i);
        if (!function_ends_in(row->procedure, name, strlen(name)) ||
            (image && !profile_path_is(row->image, image)) ||
            (chosen && !strcmp(row->procedure, chosen->procedure)))
            continue;
        name_list_add_procedure(&names, row->procedure);
        chosen = chosen ? chosen : row;
    }
    if (!chosen)
        return false;
    *found = true;
    if (names.count > 1)
        return error_set(choosing->error, "%s: which of %zu procedures? %s", name, names.count,
                         names.text);
    return add_row(choosing, chosen);
}

static bool refuse_unknown(struct choosing *choosing, const char *text) {
    struct name_list near = {0};
    near_procedures(&near, choosing->table, text);
    if (near.count)
        return error_set(
            choosing->error,
            "%s: no procedure of this name has %s in %s (see 'culprit top'); near it: %s", text,
            choosing->event->unit, choosing->set->label, near.text);
    return error_set(choosing->error,
                     "%s: no procedure of this name has %s in %s (see 'culprit top')", text,
                     choosing->event->unit, choosing->set->label);
}

/* ---- texts ---- */

static bool read_hexadecimal(const char *text, uint64_t *number) {
    char *end;
    if (strncmp(text, "0x", 2) != 0 || !text[2] ||
        strspn(text + 2, "0123456789abcdefABCDEF") != strlen(text + 2) || strlen(text) > 18)
        return false;
    *number = strtoull(text, &end, 16);
    return true;
}

/* "IMAGE+0xOFFSET", "0xADDRESS" as linked. *found: it is such a text. */
static bool choose_place(struct choosing *choosing, const char *text, bool *found) {
    char image[PATH_MAX] = "";
    const char *plus = strrchr(text, '+');
    uint64_t place;
    bool address = read_hexadecimal(text, &place);
    if (!address &&
        (!plus || plus == text || plus - text >= PATH_MAX || !read_hexadecimal(plus + 1, &place)))
        return false;
    *found = true;
    if (!address)
        memcpy(image, text, (size_t)(plus - text));
    error_set(choosing->error, "%s: no file that has samples has code there (see 'culprit top')",
              text);
    for (size_t i = 0; i < choosing->build_count; i++) {
        const struct store_image *build = choosing->builds[i].image;
        uint64_t offset = place, ignored;
        if (*image && !profile_path_is(build->path, image))
            continue;
        uint32_t file = open_build(choosing, build);
        if (file == UINT32_MAX && *image)
            return false;
        if (file == UINT32_MAX ||
            !(address ? program_address_to_offset(choosing->program, file, place, &offset)
                      : program_offset_to_address(choosing->program, file, place, &ignored)))
            continue;
        return add_at(choosing, build, file, offset);
    }
    return false;
}

static bool choose_text(struct choosing *choosing, const char *text) {
    bool found = false, good = choose_place(choosing, text, &found);
    static bool (*const WAYS[])(struct choosing *, const char *, const char *,
                                bool *) = {choose_called, choose_ending, choose_mangled};
    for (size_t way = 0; way < sizeof WAYS / sizeof *WAYS && !found; way++) {
        bool (*choose)(struct choosing *, const char *, const char *, bool *) = WAYS[way];
        good = choose(choosing, text, NULL, &found);
        for (struct image_name reading = {.name = NULL}; !found && image_name_next(&reading, text);)
            good = choose(choosing, reading.name, reading.image, &found);
    }
    return found ? good : refuse_unknown(choosing, text);
}

/* ---- those with most ---- */

static bool choose_most(struct choosing *choosing) {
    struct error first = {0};
    char skipped[256] = "";
    size_t unread = 0;
    double all = profile_table_sum(choosing->table, 0), least = choosing->query->least;
    for (size_t i = 0; i < profile_table_count(choosing->table); i++) {
        const struct profile_row *row = profile_table_row(choosing->table, i);
        if (row->values[0] <= 0 || row->values[0] < least * all)
            break;
        if (!add_row(choosing, row)) {
            if (!unread++) {
                first = *choosing->error;
                profile_row_name(row, skipped, sizeof skipped);
            }
        } else if (!least) {
            break;
        }
    }
    bool good = true;
    if (!choosing->choices->count)
        return error_set(choosing->error, "%s",
                         unread ? first.message : "no procedure has so many samples (--least)");
    if (unread)
        good = set_note(choosing->choices,
                        "%zu procedure%s with as many %s or more %s left out, first %s: %s", unread,
                        text_plural(unread), choosing->event->unit, unread == 1 ? "is" : "are",
                        skipped, first.message);
    return good || out_of_memory(choosing->error);
}

static bool make_table(struct choosing *choosing) {
    const struct procedure_query *query = choosing->query;
    const struct profile_table_options options = {
        .by = PROFILE_BY_PROCEDURE, .process = query->process, .image = query->image, .columns = 1};
    enum { LOOKED_AT = 32 }; /* for one that can be read */
    size_t top = query->text ? 0 : query->least > 0 ? (size_t)(1 / query->least) + 1 : LOOKED_AT;
    choosing->table = profile_table_new(&options, choosing->program);
    if (!choosing->table)
        return out_of_memory(choosing->error);
    return profile_table_add_set(choosing->table, choosing->set, choosing->event, 0,
                                 choosing->error) &&
           profile_table_finish(choosing->table, top, choosing->error) &&
           profile_table_any(choosing->table, choosing->set, choosing->error);
}

bool procedure_choose(struct procedure_choices *choices, const struct profile_set *set,
                      const struct profile_event *event, const struct procedure_query *query,
                      struct program *program, struct error *error) {
    *choices = (struct procedure_choices){0};
    struct choosing choosing = {.choices = choices,
                                .set = set,
                                .event = event,
                                .query = query,
                                .program = program,
                                .error = error};
    bool good = read_builds(&choosing) && make_table(&choosing) &&
                (query->text ? choose_text(&choosing, query->text) : choose_most(&choosing));
    if (good)
        error->message[0] = 0; /* of builds that were tried before */
    profile_table_free(choosing.table);
    free(choosing.builds);
    kernel_map_free(&choosing.kernel);
    return good;
}

void procedure_choices_free(struct procedure_choices *choices) {
    for (size_t i = 0; i < choices->count; i++)
        free(choices->items[i].name);
    free(choices->items);
    free(choices->note);
    *choices = (struct procedure_choices){0};
}
