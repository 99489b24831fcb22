/* All images of an epoch go in one statement, as four arrays; the server answers with their numbers
 * there, and makes rows of those that it lacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/postgres.h"
#include "store/push_parts.h"

/* Arrays as the server reads them: {1,2}, {"\\x0a","\\xff"}. */
struct literals {
    FILE *files[4];
    char *texts[4];
    size_t sizes[4];
};
enum { KINDS, PATHS, BUILD_IDS, ROOTS, LITERALS };

static void put_bytes(FILE *file, const void *bytes, size_t size) {
    fputs("\"\\\\x", file);
    for (size_t i = 0; i < size; i++)
        fprintf(file, "%02x", ((const uint8_t *)bytes)[i]);
    fputc('"', file);
}

/* Where a file of another mount namespace was seen from means nothing elsewhere, and would make
 * images of one build many. */
static void put_image(struct literals *literals, const struct store_image *image) {
    for (int i = 0; i < LITERALS; i++)
        if (ftell(literals->files[i]) > 1)
            fputc(',', literals->files[i]);
    fprintf(literals->files[KINDS], "%d", image->kind);
    put_bytes(literals->files[PATHS], image->path, strlen(image->path));
    put_bytes(literals->files[BUILD_IDS], image->build_id, image->build_id_size);
    put_bytes(literals->files[ROOTS], image->root, image->build_id_size ? 0 : strlen(image->root));
}

static bool put_images(struct push *push, struct literals *literals,
                       const struct push_numbers *images, struct error *error) {
    bool good = true;
    for (int i = 0; i < LITERALS; i++) {
        literals->files[i] = open_memstream(&literals->texts[i], &literals->sizes[i]);
        good = good && literals->files[i] && fputc('{', literals->files[i]) != EOF;
    }
    if (!good)
        database_out_of_memory(push->file, error);
    for (size_t i = 0; good && i < images->count; i++) {
        const struct store_image *image = store_image_of(push->file, images->here[i], error);
        good = image != NULL;
        if (good)
            put_image(literals, image);
    }
    for (int i = 0; i < LITERALS; i++)
        if (literals->files[i] &&
            (fputc('}', literals->files[i]) == EOF || fclose(literals->files[i]) != 0) && good)
            good = database_out_of_memory(push->file, error);
    return good;
}

bool push_images(struct push *push, int64_t session, struct push_numbers *images,
                 struct error *error) {
    struct statement *statement = BIND(push->file, SESSION_IMAGES, error, INTEGER(session));
    int row = -1;
    while (statement && (row = database_step(push->file, statement, error)) > 0)
        if (!push_numbers_add(images, column_integer(statement, 0))) {
            database_reset(statement);
            return database_out_of_memory(push->file, error);
        }
    if (row < 0 || !images->count)
        return row == 0;
    struct literals literals = {0};
    bool good = put_images(push, &literals, images, error);
    if (good) {
        const struct datum data[] = {BLOB(push->identity, sizeof push->identity),
                                     LITERAL(literals.texts[KINDS]), LITERAL(literals.texts[PATHS]),
                                     LITERAL(literals.texts[BUILD_IDS]),
                                     LITERAL(literals.texts[ROOTS])};
        good = push_numbers_take(
            push, images,
            postgres_query(push->server, "SELECT add_images($1, $2, $3, $4, $5)", data, 5, error),
            error);
    }
    for (int i = 0; i < LITERALS; i++)
        free(literals.texts[i]);
    for (size_t i = 0; good && i < images->count; i++)
        good = push_symbols(push, images->here[i], images->there[i], error);
    return good;
}
