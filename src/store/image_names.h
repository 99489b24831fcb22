/* Names of what profiles count: from an image of the store and an offset in it to procedure, source
 * line and inlined calls. The image's file tells, if it is there with the same build id; where it
 * names no procedure, and for all that is no file, the symbols that the store keeps do: of the
 * kernel, of modules, of JIT code, of what was imported from another machine. */
#pragma once

#include "program/program.h"
#include "store/store.h"

struct image_names;

/* Both outlive it; images are added to `program` when first asked for. NULL: out of memory. */
struct image_names *image_names_new(struct store *store, struct program *program,
                                    struct error *error);
void image_names_free(struct image_names *names);

/* Fills *location, all zero and NULL where nothing is known; names live as long as `names` and its
 * program. False: the store cannot be read, or memory is out. */
bool image_names_locate(struct image_names *names, const struct store_image *image, uint64_t offset,
                        struct location *location, struct error *error);

/* The same for the procedure alone: without source lines, which are the dear part. */
bool image_names_locate_procedure(struct image_names *names, const struct store_image *image,
                                  uint64_t offset, struct location *location, struct error *error);

/* The number in the program of an image's file; UINT32_MAX: it has none, or the store's symbols
 * name its code. */
uint32_t image_names_file(struct image_names *names, const struct store_image *image);

/* Why an image that was asked for has no names, as one line; NULL: all well, or there is nothing
 * to say. */
const char *image_names_note(struct image_names *names, const struct store_image *image);
