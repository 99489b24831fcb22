#include "simulate/data_sum.h"

#include <stdlib.h>

#include "attribute/pics.h"
#include "simulate/shares.h"
#include "util/array.h"
#include "util/hash_index.h"
#include "util/order.h"

/* ---- numbers ---- */

static const struct code_image *image_of(const struct code *code, const struct code *base,
                                         uint32_t number) {
    const struct code *of = number & OBJECT_BASE_IMAGE ? base : code;
    const uint32_t index = number & ~OBJECT_BASE_IMAGE;
    return of && index < of->image_count ? &of->images[index] : NULL;
}

bool data_result_renumber(struct data_result *data, struct code_union *all, const struct code *code,
                          const struct code *base, struct error *error) {
    for (uint32_t i = 0; i < data->object_count; i++) {
        struct memory_object *object = &data->objects[i];
        const struct code_image *image = image_of(code, base, object->image);
        if (object->image == UINT32_MAX || !image)
            continue;
        object->image = code_union_image(all, image);
        if (object->image == UINT32_MAX)
            return error_set(error, "out of memory for data objects");
    }
    return true;
}

/* ---- scaling ---- */

void data_result_match(struct data_result *data, const struct pics_cell *cells, uint64_t count) {
    struct shares shares[PSV_COMBINATIONS] = {{.whole = 0}};
    size_t kept = 0;
    for (size_t i = 0; i < data->cell_count; i++)
        shares[data->cells[i].psv % PSV_COMBINATIONS].whole += data->cells[i].units;
    for (uint64_t i = 0; i < count; i++)
        shares[cells[i].psv % PSV_COMBINATIONS].target += cells[i].units;
    for (size_t i = 0; i < data->cell_count; i++) {
        struct data_cell cell = data->cells[i];
        cell.units = share(&shares[cell.psv % PSV_COMBINATIONS], cell.units);
        if (cell.units)
            data->cells[kept++] = cell;
    }
    data->cell_count = kept;
}

/* ---- sums ---- */

struct data_sum {
    struct memory_object *objects; /* [0]: what nothing is known of */
    size_t count, capacity;
    struct hash_index index;
    struct pics *cells; /* by object */
    uint64_t dropped;
    bool told;
};

struct data_sum *data_sum_new(void) {
    struct data_sum *sum = calloc(1, sizeof *sum);
    if (sum && !(sum->cells = pics_new())) {
        free(sum);
        return NULL;
    }
    return sum;
}

void data_sum_free(struct data_sum *sum) {
    if (!sum)
        return;
    free(sum->objects);
    hash_index_free(&sum->index);
    pics_free(sum->cells);
    free(sum);
}

static bool is_same(const struct memory_object *a, const struct memory_object *b) {
    return a->kind == b->kind && a->image == b->image && a->path == b->path &&
           a->function == b->function && a->start == b->start;
}

/* UINT32_MAX: out of memory. */
static uint32_t number_of(struct data_sum *sum, const struct memory_object *object) {
    const uint64_t hash =
        hash_pair((uint64_t)object->image << 32 | object->path,
                  hash_pair((uint64_t)object->function << 8 | object->kind, object->start));
    const uint32_t number = (uint32_t)sum->count;
    size_t at;
    for (uint32_t i = hash_index_first(&sum->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&sum->index, hash, &at))
        if (is_same(&sum->objects[i], object))
            return i;
    return array_push(sum->objects, sum->capacity, sum->count, *object) &&
                   hash_index_add(&sum->index, hash, number)
               ? number
               : UINT32_MAX;
}

bool data_sum_add(struct data_sum *sum, const struct data_result *data) {
    uint32_t *numbers = malloc(((size_t)data->object_count + 1) * sizeof *numbers);
    bool room = numbers;
    for (uint32_t i = 0; room && i < data->object_count; i++)
        room = (numbers[i] = number_of(sum, &data->objects[i])) != UINT32_MAX;
    for (size_t i = 0; room && i < data->cell_count; i++)
        room = pics_add(sum->cells, numbers[data->cells[i].object], data->cells[i].psv,
                        data->cells[i].units);
    sum->dropped = data->dropped > sum->dropped ? data->dropped : sum->dropped;
    sum->told |= data->told;
    free(numbers);
    return room;
}

bool data_sum_finish(struct data_sum *sum, const struct code_union *all,
                     struct data_result *result) {
    uint64_t count;
    struct pics_cell *cells = pics_cells(sum->cells, &count);
    *result = (struct data_result){.objects = sum->objects,
                                   .object_count = (uint32_t)sum->count,
                                   .dropped = sum->dropped,
                                   .told = sum->told};
    sum->objects = NULL;
    sum->count = 0;
    for (uint32_t i = 0; i < result->object_count; i++)
        if (result->objects[i].image != UINT32_MAX)
            result->objects[i].image = code_union_image_now(all, result->objects[i].image);
    if (cells && (result->cells = malloc((count + 1) * sizeof *result->cells)))
        for (; result->cell_count < count; result->cell_count++) {
            const struct pics_cell *cell = &cells[result->cell_count];
            result->cells[result->cell_count] =
                (struct data_cell){cell->insn, cell->psv, cell->units};
        }
    free(cells);
    return result->cells;
}
