#include "simulate/path_sum.h"

#include <stdlib.h>
#include <string.h>

#include "attribute/pics.h"
#include "simulate/shares.h"
#include "util/array.h"
#include "util/order.h"

/* ---- numbers ---- */

/* Every number of an instruction in a result. */
struct numbers {
    struct call_path_result *result;
    uint32_t path, function;
};

/* The next; NULL: no more. */
static uint32_t *next_number(struct numbers *at) {
    struct call_path_result *result = at->result;
    while (at->path < result->count) {
        struct call_path *path = &result->paths[at->path++];
        if (path->parent != PATH_NONE && path->site != PATH_NONE)
            return &path->site;
    }
    while (at->function < result->function_count) {
        struct call_path_function *function = &result->functions[at->function++];
        if (!function->is_python)
            return &function->insn;
    }
    return NULL;
}

/* Those of the other run's code, each once, as code that the union can take. */
static bool number_base(struct call_path_result *result, struct code_union *all,
                        const struct code *base, uint32_t *numbers, struct error *error) {
    struct code used = {.isa = base->isa, .images = base->images, .image_count = base->image_count};
    struct numbers at = {.result = result};
    size_t capacity = 0, count = 0;
    const uint32_t *number;
    bool room = true;
    while (room && (number = next_number(&at)))
        if (*number & PATH_BASE_INSN && !numbers[*number & ~PATH_BASE_INSN]) {
            room = array_push(used.insns, capacity, count, base->insns[*number & ~PATH_BASE_INSN]);
            numbers[*number & ~PATH_BASE_INSN] = (uint32_t)count; /* 1 + its place */
        }
    used.insn_count = (uint32_t)count;
    uint32_t *in_union = malloc((count + 1) * sizeof *in_union);
    bool good = (room && in_union) || error_set(error, "out of memory for call paths");
    good = good && code_union_add(all, &used, in_union, error);
    for (uint32_t i = 0; good && i < base->insn_count; i++)
        if (numbers[i])
            numbers[i] = in_union[numbers[i] - 1];
    free(in_union);
    free(used.insns);
    return good;
}

static bool number_python(struct call_path_result *result, struct code_union *all,
                          const struct code *code) {
    for (uint32_t i = 0; i < result->function_count; i++) {
        struct call_path_function *function = &result->functions[i];
        if (function->is_python && function->python && function->python <= code->python_count &&
            (function->python = code_union_python(all, &code->python[function->python - 1])) ==
                UINT32_MAX)
            return false;
    }
    return true;
}

bool path_result_renumber(struct call_path_result *result, struct code_union *all,
                          const struct code *code, const uint32_t *numbers, const struct code *base,
                          uint32_t thread, struct error *error) {
    uint32_t *of_base = base ? calloc(base->insn_count + (size_t)1, sizeof *of_base) : NULL;
    struct numbers at = {.result = result};
    uint32_t *number;
    if ((base && !of_base) || !number_python(result, all, code)) {
        free(of_base);
        return error_set(error, "out of memory for call paths");
    }
    const bool good = !of_base || number_base(result, all, base, of_base, error);
    while (good && (number = next_number(&at)))
        *number = of_base && *number & PATH_BASE_INSN ? of_base[*number & ~PATH_BASE_INSN]
                                                      : numbers[*number];
    for (uint32_t i = 0; i < result->count && thread != PATH_NONE; i++)
        if (result->paths[i].parent == PATH_NONE)
            result->paths[i].site = thread;
    free(of_base);
    return good;
}

/* ---- scaling ---- */

void path_result_scale(struct call_path_result *result, const struct path_scale *scale) {
    struct shares units = {.whole = scale->units, .target = scale->to_units};
    struct shares instructions = {.whole = scale->instructions, .target = scale->to_instructions};
    uint64_t kept = 0;
    for (uint32_t i = 0; i < result->count; i++) {
        struct call_path *path = &result->paths[i];
        path->units = 0;
        path->instructions = share(&instructions, path->instructions);
        path->calls = (uint64_t)(((unsigned __int128)path->calls * scale->to_instructions +
                                  scale->instructions / 2) /
                                 scale->instructions);
    }
    for (uint64_t i = 0; i < result->cell_count; i++) {
        struct pics_cell cell = result->cells[i];
        cell.units = share(&units, cell.units);
        result->paths[cell.insn].units += cell.units;
        if (cell.units)
            result->cells[kept++] = cell;
    }
    result->cell_count = kept;
}

/* ---- sums ---- */

struct summed_node {
    uint64_t instructions, calls;
    bool beside;
};

struct path_sum {
    struct path_tree tree;
    struct call_path_function *functions; /* names are its own */
    size_t function_count, function_capacity;
    struct hash_index index; /* of the functions */
    struct summed_node *nodes;
    size_t node_capacity;
    struct pics *cells;
    struct shadow_counts counts;
    uint64_t crowded;
};

struct path_sum *path_sum_new(void) {
    struct path_sum *sum = calloc(1, sizeof *sum);
    if (sum && !(sum->cells = pics_new())) {
        free(sum);
        return NULL;
    }
    if (sum)
        sum->tree.unfolded_max = SIZE_MAX; /* they are folded already */
    return sum;
}

void path_sum_free(struct path_sum *sum) {
    if (!sum)
        return;
    path_tree_free(&sum->tree);
    for (size_t i = 0; i < sum->function_count; i++)
        free(sum->functions[i].inlined);
    free(sum->functions);
    hash_index_free(&sum->index);
    free(sum->nodes);
    pics_free(sum->cells);
    free(sum);
}

static bool is_same(const struct code *code, const struct call_path_function *a,
                    const struct call_path_function *b) {
    if (a->is_python || b->is_python)
        return a->is_python == b->is_python && a->python == b->python && a->line == b->line;
    return code->insns[a->insn].image == code->insns[b->insn].image && a->offset == b->offset &&
           !a->inlined == !b->inlined && (!a->inlined || !strcmp(a->inlined, b->inlined));
}

/* FUNCTION_NONE: out of memory. */
static uint32_t function_of(struct path_sum *sum, const struct call_path_function *function,
                            const struct code *code) {
    const uint64_t hash = function->is_python
                              ? hash_pair(function->python, function->line)
                              : hash_pair(code->insns[function->insn].image, function->offset);
    const uint32_t number = (uint32_t)sum->function_count;
    size_t at;
    for (uint32_t i = hash_index_first(&sum->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&sum->index, hash, &at))
        if (is_same(code, &sum->functions[i], function))
            return i;
    if (!array_room(sum->functions, sum->function_capacity, sum->function_count + 1))
        return FUNCTION_NONE;
    struct call_path_function *added = &sum->functions[sum->function_count];
    *added = *function;
    if (function->inlined && !(added->inlined = strdup(function->inlined)))
        return FUNCTION_NONE;
    sum->function_count++;
    return hash_index_add(&sum->index, hash, number) ? number : FUNCTION_NONE;
}

static uint32_t root_of(struct path_sum *sum, uint32_t thread) {
    struct path_tree *tree = &sum->tree;
    const size_t found = index_where(
        i, tree->node_count, tree->nodes[i].parent == PATH_NONE && tree->nodes[i].site == thread);
    return found < tree->node_count
               ? (uint32_t)found
               : path_tree_add(tree, PATH_NONE, PATH_THREAD, thread, FUNCTION_NONE);
}

static uint32_t node_of(struct path_sum *sum, const struct call_path_result *result, uint32_t path,
                        const uint32_t *nodes, const uint32_t *functions) {
    const struct call_path *from = &result->paths[path];
    return from->parent == PATH_NONE
               ? root_of(sum, from->site)
               : path_tree_find_or_add(&sum->tree, nodes[from->parent], (enum path_kind)from->kind,
                                       from->site, functions[from->function]);
}

static bool add_paths(struct path_sum *sum, const struct call_path_result *result,
                      const uint32_t *functions, uint32_t *nodes) {
    for (uint32_t i = 0; i < result->count; i++) {
        nodes[i] = node_of(sum, result, i, nodes, functions);
        if (nodes[i] == PATH_NONE ||
            !array_zeroed_room(sum->nodes, sum->node_capacity, sum->tree.node_count))
            return false;
        struct summed_node *node = &sum->nodes[nodes[i]];
        node->instructions += result->paths[i].instructions;
        node->calls += result->paths[i].calls;
        node->beside |= result->paths[i].beside;
    }
    return all_where(i, result->cell_count,
                     pics_add(sum->cells, nodes[result->cells[i].insn], result->cells[i].psv,
                              result->cells[i].units));
}

/* Paths and functions that a result does not have stay PATH_NONE and FUNCTION_NONE. */
static void place_data(struct data_result *data, const struct call_path_result *result,
                       const uint32_t *functions, const uint32_t *nodes) {
    for (uint32_t i = 0; i < data->object_count; i++) {
        struct memory_object *object = &data->objects[i];
        object->path = object->path < result->count ? nodes[object->path] : PATH_NONE;
        object->function =
            object->function < result->function_count ? functions[object->function] : FUNCTION_NONE;
    }
}

bool path_sum_add(struct path_sum *sum, const struct call_path_result *result,
                  const struct code *code, struct data_result *data) {
    uint32_t *functions = malloc((result->function_count + (size_t)1) * sizeof *functions);
    uint32_t *nodes = malloc((result->count + (size_t)1) * sizeof *nodes);
    bool room = functions && nodes;
    for (uint32_t i = 0; room && i < result->function_count; i++)
        room = (functions[i] = function_of(sum, &result->functions[i], code)) != FUNCTION_NONE;
    room = room && add_paths(sum, result, functions, nodes);
    if (room && data)
        place_data(data, result, functions, nodes);
    shadow_counts_add(&sum->counts, &result->counts);
    sum->crowded += result->crowded;
    free(functions);
    free(nodes);
    return room;
}

bool path_sum_finish(struct path_sum *sum, const uint32_t *order, struct call_path_result *result) {
    const size_t count = sum->tree.node_count;
    *result = (struct call_path_result){.counts = sum->counts,
                                        .crowded = sum->crowded + sum->tree.crowded,
                                        .functions = sum->functions,
                                        .function_count = (uint32_t)sum->function_count};
    sum->functions = NULL;
    sum->function_count = 0;
    result->paths = calloc(count + 1, sizeof *result->paths);
    result->cells = pics_cells(sum->cells, &result->cell_count);
    if (!result->paths || !result->cells)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct path_node *node = &sum->tree.nodes[i];
        result->paths[i] = (struct call_path){.parent = node->parent,
                                              .site = node->site,
                                              .function = node->function,
                                              .kind = node->kind,
                                              .beside = sum->nodes[i].beside,
                                              .instructions = sum->nodes[i].instructions,
                                              .calls = sum->nodes[i].calls};
    }
    result->count = (uint32_t)count;
    for (uint64_t i = 0; i < result->cell_count; i++)
        result->paths[result->cells[i].insn].units += result->cells[i].units;
    struct numbers at = {.result = result};
    for (uint32_t *number; (number = next_number(&at));)
        *number = order[*number];
    return true;
}
