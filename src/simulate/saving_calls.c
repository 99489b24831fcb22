#include "simulate/saving_calls.h"

#include <stdlib.h>

struct adding {
    struct call_tree *tree;
    const struct call_path_result *result;
    const struct code *code;
    const int64_t *images;
    uint32_t *callers; /* by path: the node that is its function's caller */
    uint64_t cell;     /* the next path's first */
    bool instructions; /* are what counts, not units */
};

/* Inlined functions and lines of Python have no place of their own in an image. */
static bool is_part(const struct call_path *path) {
    return path->kind == PATH_INLINE || path->kind == PATH_PYTHON;
}

/* The path of the function that another is a part of. */
static uint32_t around(const struct adding *adding, uint32_t path) {
    while (is_part(&adding->result->paths[path]))
        path = adding->result->paths[path].parent;
    return path;
}

/* The place of a path's function. */
static bool add_function(const struct adding *adding, uint32_t parent, uint32_t path,
                         uint32_t *node) {
    const struct call_path_function *function =
        &adding->result->functions[adding->result->paths[path].function];
    const uint32_t image = adding->code->insns[function->insn].image;
    return call_tree_node(adding->tree, parent, adding->images[image], function->offset, node);
}

/* The place in the caller where the path's function was entered from: of a site that is not known
 * or not in it, the caller's first byte. */
static bool add_caller(const struct adding *adding, uint32_t path) {
    const struct call_path *entered = &adding->result->paths[path];
    uint32_t *caller = &adding->callers[path];
    *caller = STORE_CALL_TOP;
    if (is_part(entered)) {
        *caller = adding->callers[entered->parent];
        return true;
    }
    if (entered->parent == PATH_NONE || adding->result->paths[entered->parent].parent == PATH_NONE)
        return true;
    const uint32_t above = adding->callers[entered->parent];
    if (entered->site == PATH_NONE || entered->beside)
        return add_function(adding, above, around(adding, entered->parent), caller);
    const struct static_insn *site = &adding->code->insns[entered->site];
    return call_tree_node(adding->tree, above, adding->images[site->image],
                          site->offset + site->length - 1u, caller);
}

/* Units with events go below the function. */
static bool add_cell(const struct adding *adding, uint32_t function, const struct pics_cell *cell) {
    uint32_t node = function;
    if (cell->psv &&
        !call_tree_node(adding->tree, function, 0, STORE_CALL_EVENTS | cell->psv, &node))
        return false;
    adding->tree->calls[node].value += cell->units;
    return true;
}

static bool add_path(struct adding *adding, uint32_t path) {
    const struct call_path_result *result = adding->result;
    const struct pics_cell *cells = result->cells;
    const uint64_t first = adding->cell;
    uint32_t node;
    while (adding->cell < result->cell_count && cells[adding->cell].insn == path)
        adding->cell++;
    if (!add_caller(adding, path))
        return false;
    const uint64_t own =
        adding->instructions ? result->paths[path].instructions : result->paths[path].units;
    if (!own || result->paths[path].function == PATH_NONE)
        return true;
    if (!add_function(adding, adding->callers[path], around(adding, path), &node))
        return false;
    if (adding->instructions) {
        if (node != STORE_CALL_TOP)
            adding->tree->calls[node].value += own;
        return true;
    }
    for (uint64_t i = first; node != STORE_CALL_TOP && i < adding->cell; i++)
        if (!add_cell(adding, node, &cells[i]))
            return false;
    return true;
}

static bool add_paths(struct call_tree *tree, const struct call_path_result *result,
                      const struct code *code, const int64_t *images, bool instructions) {
    struct adding adding = {.tree = tree,
                            .instructions = instructions,
                            .result = result,
                            .code = code,
                            .images = images,
                            .callers = malloc((result->count + 1) * sizeof(uint32_t))};
    bool good = adding.callers;
    for (uint32_t i = 0; good && i < result->count; i++)
        good = add_path(&adding, i);
    free(adding.callers);
    return good;
}

bool saved_calls_add(struct call_tree *tree, const struct call_path_result *result,
                     const struct code *code, const int64_t *images) {
    return add_paths(tree, result, code, images, false);
}

bool saved_calls_add_instructions(struct call_tree *tree, const struct call_path_result *result,
                                  const struct code *code, const int64_t *images) {
    return add_paths(tree, result, code, images, true);
}
