/* What the files that save a resolver's samples share: resolver_save.c (rows of processes, entries,
 * all of it), save_images.c, save_calls.c, save_symbols.c. Inside of the resolver. */
#pragma once

#include "live/kernel_map.h"
#include "live/resolver_internal.h"

struct saved_entry {
    uint32_t process; /* its row: index of save.process_rows */
    uint32_t image;   /* index of save.images */
    uint32_t event;
    uint64_t offset, count;
};

struct saved_image {
    int64_t id;
    bool has_symbols;            /* those found by `find_symbols` are saved */
    struct sampled_names *names; /* of a file, or the vdso; else NULL */
    uint32_t process;            /* of JIT code */
    int kernel_image;            /* of the kernel and modules */
    enum image_kind kind;
};

struct save {
    struct resolver *resolver;
    struct store *store;
    int64_t session;
    const int64_t *event_ids;
    uint32_t *process_rows; /* by number of a slice: index of row_ids + 1 */
    int64_t *row_ids;
    size_t row_count, row_capacity;
    struct hash_index row_index; /* by row_ids */
    int64_t newest_row;
    uint64_t new_rows;
    uint32_t *file_images;              /* by number of a file: index of images + 1 */
    uint32_t *jit_images;               /* by number of a process; likewise */
    uint32_t *kernel_images;            /* by number in the kernel's map; likewise */
    uint32_t vdso_image, unknown_image; /* likewise */
    struct saved_image *images;
    size_t image_count, image_capacity;
    struct kernel_map kernel;
    struct saved_entry *entries;
    size_t entry_count, entry_capacity;
    struct call_tree *trees; /* by row of processes and event; their images are indices of `images`
                                + 1 */
    size_t tree_count, tree_capacity;
    struct store_value *values; /* of one profile */
    size_t value_capacity;
    uint64_t unknown; /* samples found to be in no known image now */
};

/* Always false. */
static inline bool save_no_memory(struct error *error) {
    return error_set(error, "out of memory for saving samples");
}

/* ---- resolver_save.c ---- */

/* The row of a slice. What is alike in all that is told apart shares a row. */
bool save_row(struct save *save, uint32_t number, uint32_t *row, struct error *error);
/* The image that an entry lies in, and its offset there. */
bool save_place(struct save *save, const struct sample_entry *entry, struct saved_entry *saved,
                struct error *error);

/* ---- save_images.c: *slot is where the index of the image in save.images + 1 stands ---- */

bool save_file_image(struct save *save, uint32_t number, uint32_t **slot, struct error *error);
bool save_vdso_image(struct save *save, uint32_t **slot, struct error *error);
bool save_unknown_image(struct save *save, uint32_t **slot, struct error *error);
bool save_kernel_image(struct save *save, int number, uint32_t **slot, struct error *error);
/* A process's own when its runtime names the code; otherwise one of all processes. */
bool save_jit_image(struct save *save, uint32_t number, uint32_t **slot, struct error *error);

/* ---- save_calls.c ---- */

/* Gathered nodes to nodes of trees, by row and event; then, when all images have their numbers,
 * into the store. */
bool save_place_calls(struct save *save, struct error *error);
bool save_calls(struct save *save, struct error *error);

/* ---- save_symbols.c ---- */

/* Of an image, those that cover a sample or a call. */
bool save_symbols(struct save *save, uint32_t image, struct error *error);
