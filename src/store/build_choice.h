/* Builds of a program or library, by which samples are chosen: those of processes that ran the
 * build, in all of their code. Processes of one name that are one row of an epoch, and ran two
 * builds of that file (it was deployed meanwhile), count for neither. */
#pragma once

#include "store/store.h"

/* "4e8c21f0..." (at least 4 digits of a build id), or "PATH@4e8c..." where the path, or the last
 * part of it, is told as well. False with an error: it is not of this form. */
bool build_text_check(const char *text, struct error *error);

/* Images of a store by what they are to a build. */
struct build_images {
    struct key_numbers wanted;       /* numbers of images of the build */
    struct key_numbers others;       /* of other builds of the same paths */
    char name[BUILD_ID_MAX * 2 + 1]; /* the whole build id */
};
/* False with an error: there is no such build in the store, or there are several.
 * build_images_free() either way. */
bool build_images_find(struct build_images *images, struct store *store, const char *text,
                       struct error *error);
void build_images_free(struct build_images *images);

struct build_processes {
    struct key_numbers pure;     /* numbers of rows of processes that ran the build, and no other */
    struct key_numbers sessions; /* that these are of */
    struct key_numbers mixed;    /* sessions with rows that ran another as well */
    size_t mixed_rows;
};
/* Adds those of the sessions. */
bool build_processes_add(struct build_processes *processes, struct store *store,
                         const struct build_images *images, const int64_t *sessions, size_t count,
                         struct error *error);
void build_processes_free(struct build_processes *processes);
