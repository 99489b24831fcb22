#include "store/build_choice.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "util/arena.h"
#include "util/array.h"
#include "util/file_name.h"
#include "util/order.h"

enum { DIGITS_LEAST = 4 };

/* The digits of the build id, behind the path. */
static const char *digits_of(const char *text) {
    const char *at = strrchr(text, '@');
    return at ? at + 1 : text;
}

bool build_text_check(const char *text, struct error *error) {
    const char *digits = digits_of(text);
    const size_t length = strlen(digits);
    return (length >= DIGITS_LEAST && length <= 2 * BUILD_ID_MAX && digits != text + 1 &&
            all_where(i, length, isxdigit((unsigned char)digits[i]))) ||
           error_set(error,
                     "--build %s: the first digits of a build id, %d at least, or PATH@DIGITS "
                     "('culprit top --by build' lists builds)",
                     text, DIGITS_LEAST);
}

/* ---- images ---- */

struct finding {
    const char *text;
    struct build_images *images;
    struct arena paths;
    const char **wanted_paths;
    size_t path_count, path_capacity;
    bool several, failed;
};

static void print_id(const struct store_image *image, char *text) {
    for (size_t i = 0; i < image->build_id_size; i++)
        sprintf(text + 2 * i, "%02x", image->build_id[i]);
    text[2 * image->build_id_size] = 0;
}

static bool has_path(const struct finding *finding, const struct store_image *image) {
    const char *at = strrchr(finding->text, '@');
    const size_t length = at ? (size_t)(at - finding->text) : 0;
    const char *base = file_base_name(image->path);
    return !at || (strlen(image->path) == length && !strncmp(image->path, finding->text, length)) ||
           (strlen(base) == length && !strncmp(base, finding->text, length));
}

static bool note_wanted(void *context, const struct store_image *image) {
    struct finding *finding = context;
    struct build_images *images = finding->images;
    const char *digits = digits_of(finding->text);
    char id[2 * BUILD_ID_MAX + 1];
    print_id(image, id);
    if (!image->build_id_size || strncasecmp(id, digits, strlen(digits)) != 0 ||
        !has_path(finding, image))
        return true;
    finding->several |= *images->name && strcmp(images->name, id) != 0;
    strcpy(images->name, id);
    const char *path = arena_copy(&finding->paths, image->path, strlen(image->path));
    finding->failed =
        !path || key_numbers_add(&images->wanted, (uint64_t)image->id) == UINT32_MAX ||
        !array_push(finding->wanted_paths, finding->path_capacity, finding->path_count, path);
    return !finding->failed;
}

static bool note_other(void *context, const struct store_image *image) {
    struct finding *finding = context;
    struct build_images *images = finding->images;
    if (key_numbers_find(&images->wanted, (uint64_t)image->id) != UINT32_MAX ||
        !any_where(i, finding->path_count, !strcmp(finding->wanted_paths[i], image->path)))
        return true;
    finding->failed = key_numbers_add(&images->others, (uint64_t)image->id) == UINT32_MAX;
    return !finding->failed;
}

bool build_images_find(struct build_images *images, struct store *store, const char *text,
                       struct error *error) {
    *images = (struct build_images){0};
    struct finding finding = {.text = text, .images = images};
    bool good = build_text_check(text, error) &&
                store_each_image(store, note_wanted, &finding, error) &&
                store_each_image(store, note_other, &finding, error);
    if (good && finding.failed)
        good = error_set(error, "out of memory for the builds");
    if (good && !images->wanted.count)
        good = error_set(
            error,
            "--build %s: nothing in %s is of such a build ('culprit top --by build' lists "
            "builds)",
            text, store_path(store));
    if (good && finding.several)
        good = error_set(error, "--build %s: several builds begin so: more digits, or PATH@DIGITS",
                         text);
    free(finding.wanted_paths);
    arena_free(&finding.paths);
    return good;
}

void build_images_free(struct build_images *images) {
    key_numbers_free(&images->wanted);
    key_numbers_free(&images->others);
}

/* ---- processes ---- */

struct row {
    int64_t process, session;
    bool wanted, other;
};

struct seeing {
    const struct build_images *images;
    struct key_numbers numbers; /* of processes */
    struct row *rows;           /* by these */
    size_t capacity;
    bool failed;
};

static bool wants_none(void *context, const struct store_image *image) {
    (void)context, (void)image;
    return false;
}

static bool see(void *context, const struct store_profile *profile) {
    struct seeing *seeing = context;
    const uint64_t image = (uint64_t)profile->image->id;
    const bool wanted = key_numbers_find(&seeing->images->wanted, image) != UINT32_MAX;
    const bool other = key_numbers_find(&seeing->images->others, image) != UINT32_MAX;
    if (!wanted && !other)
        return true;
    const size_t before = seeing->numbers.count;
    const uint32_t at = key_numbers_add(&seeing->numbers, (uint64_t)profile->process->id);
    seeing->failed = at == UINT32_MAX || !array_room(seeing->rows, seeing->capacity, at + 1u);
    if (seeing->failed)
        return false;
    if (at == before)
        seeing->rows[at] =
            (struct row){.process = profile->process->id, .session = profile->session->id};
    seeing->rows[at].wanted |= wanted;
    seeing->rows[at].other |= other;
    return true;
}

static bool sort_rows(struct build_processes *processes, const struct seeing *seeing) {
    for (size_t i = 0; i < seeing->numbers.count; i++) {
        const struct row *row = &seeing->rows[i];
        if (!row->wanted)
            continue;
        processes->mixed_rows += row->other;
        if (!row->other &&
            key_numbers_add(&processes->sessions, (uint64_t)row->session) == UINT32_MAX)
            return false;
        if (key_numbers_add(row->other ? &processes->mixed : &processes->pure,
                            (uint64_t)(row->other ? row->session : row->process)) == UINT32_MAX)
            return false;
    }
    return true;
}

bool build_processes_add(struct build_processes *processes, struct store *store,
                         const struct build_images *images, const int64_t *sessions, size_t count,
                         struct error *error) {
    struct seeing seeing = {.images = images};
    const struct store_filter filter = {.sessions = sessions ? sessions : (const int64_t[]){0},
                                        .session_count = count,
                                        .wants_values = wants_none};
    bool good = store_each_profile(store, &filter, see, &seeing, error) &&
                ((!seeing.failed && sort_rows(processes, &seeing)) ||
                 error_set(error, "out of memory for the builds"));
    key_numbers_free(&seeing.numbers);
    free(seeing.rows);
    return good;
}

void build_processes_free(struct build_processes *processes) {
    key_numbers_free(&processes->pure);
    key_numbers_free(&processes->sessions);
    key_numbers_free(&processes->mixed);
}
