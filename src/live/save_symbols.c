/* Symbols of code that has no file here, or whose file may go: those that cover a sample or a call
 * are saved with the image. */
#include <stdlib.h>

#include "live/resolver_save.h"
#include "program/perf_map.h"
#include "util/array.h"
#include "util/order.h"

static int by_value(const void *one, const void *other) {
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return ascending(a, b);
}

struct offsets {
    uint64_t *items;
    size_t count, capacity;
    bool good;
};

static void add_offset(struct offsets *offsets, uint64_t offset) {
    offsets->good =
        offsets->good && array_push(offsets->items, offsets->capacity, offsets->count, offset);
}

/* The offsets of an image that have samples or calls, sorted. To be freed. */
static struct offsets offsets_of(const struct save *save, uint32_t image) {
    struct offsets offsets = {.good = true};
    for (size_t i = 0; i < save->entry_count; i++)
        if (save->entries[i].image == image)
            add_offset(&offsets, save->entries[i].offset);
    for (size_t i = 0; i < save->tree_count; i++)
        for (size_t k = 0; k < save->trees[i].count; k++)
            if (save->trees[i].calls[k].image == 1 + (int64_t)image)
                add_offset(&offsets, save->trees[i].calls[k].offset);
    if (offsets.items)
        qsort(offsets.items, offsets.count, sizeof *offsets.items, by_value);
    return offsets;
}

static bool find_symbols(const struct save *save, const struct saved_image *image,
                         struct symbol_cover *cover) {
    if (image->names)
        return sampled_names_cover(image->names, cover);
    if (image->kernel_image != KERNEL_MAP_NONE)
        return kernel_map_cover(&save->kernel, (uint32_t)image->kernel_image, cover);
    const struct tracked_process *process = &save->resolver->processes.items[image->process];
    int map = perf_map_open(save->resolver->roots.proc, save->resolver->roots.files,
                            process->key.pid, process->inner_pid, process->user);
    return map < 0 || perf_map_read(map, cover);
}

/* What was saved before stays, where nothing newer is in its place. */
static bool merge_symbols(struct save *save, int64_t image, struct symbol_cover *found,
                          struct error *error) {
    struct code_symbol *before = NULL;
    size_t before_count = 0;
    struct symbol_cover all = {0};
    if (!store_get_symbols(save->store, image, &before, &before_count, error))
        return false;
    size_t room = before_count + found->count;
    bool good = array_room(all.symbols, all.capacity, room) || save_no_memory(error);
    if (good && all.symbols) {
        for (size_t i = 0; i < before_count; i++)
            all.symbols[all.count++] = before[i];
        for (size_t i = 0; i < found->count; i++)
            all.symbols[all.count++] = found->symbols[i];
        symbol_cover_settle(&all);
        good = store_set_symbols(save->store, image, all.symbols, all.count, error);
    }
    symbol_cover_free(&all);
    store_free_symbols(before, before_count);
    return good;
}

/* Whether the store has all the names of an image; an image that was pruned has none any more. */
static bool is_named(struct save *save, const struct saved_image *image, bool *named,
                     struct error *error) {
    struct code_symbol *symbols;
    size_t count;
    *named = false;
    if (!image->names || image->names->unsaved)
        return true;
    if (!store_get_symbols(save->store, image->id, &symbols, &count, error))
        return false;
    *named = count;
    store_free_symbols(symbols, count);
    return true;
}

bool save_symbols(struct save *save, uint32_t image, struct error *error) {
    const struct saved_image *saved = &save->images[image];
    bool named;
    if (!is_named(save, saved, &named, error) || named)
        return named;
    struct offsets offsets = offsets_of(save, image);
    struct symbol_cover cover = {.offsets = offsets.items, .offset_count = offsets.count};
    bool good = (offsets.good && find_symbols(save, saved, &cover)) || save_no_memory(error);
    if (good && cover.count) {
        symbol_cover_settle(&cover);
        good = merge_symbols(save, saved->id, &cover, error);
    }
    symbol_cover_free(&cover);
    free(offsets.items);
    return good;
}
