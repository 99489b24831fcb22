/* Saving: every entry becomes (row of its process, image, event, offset, count); sorted, each run
 * of the first three is a profile. Of the code that has no file its symbols are saved as well,
 * those that cover a sample. */
#include "live/resolver_save.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/order.h"

/* ---- processes ---- */

static uint32_t find_row(const struct save *save, int64_t id) {
    const uint64_t hash = hash_number((uint64_t)id);
    size_t at;
    uint32_t row = hash_index_first(&save->row_index, hash, &at);
    while (row != HASH_INDEX_NONE && save->row_ids[row] != id)
        row = hash_index_next(&save->row_index, hash, &at);
    return row;
}

static bool add_row(struct save *save, int64_t id, uint32_t *row, struct error *error) {
    *row = find_row(save, id);
    if (*row != HASH_INDEX_NONE)
        return true;
    *row = (uint32_t)save->row_count;
    if (!array_push(save->row_ids, save->row_capacity, save->row_count, id) ||
        !hash_index_add(&save->row_index, hash_number((uint64_t)id), *row))
        return save_no_memory(error);
    return true;
}

bool save_row(struct save *save, uint32_t number, uint32_t *row, struct error *error) {
    if (save->process_rows[number]) {
        *row = save->process_rows[number] - 1;
        return true;
    }
    const struct slices *slices = &save->resolver->slices;
    const struct sample_slice *slice = &slices->items[number];
    const struct tracked_process *process = &save->resolver->processes.items[slice->process];
    struct store_process saved = {.command = process->command[0] ? process->command : "[unknown]",
                                  .executable = process->executable,
                                  .slice = {.thread = slice->thread,
                                            .processor = slice->processor,
                                            .begin = slice->begin,
                                            .end = slice->end}};
    if (slices->by.pid && !slice->coarse)
        saved.slice.pid = process->key.pid;
    if (slices->by.cgroup)
        saved.slice.cgroup = process->cgroup;
    int64_t id;
    if (!store_process(save->store, save->session, &saved, &id, error) ||
        !add_row(save, id, row, error))
        return false;
    /* Numbers of rows grow: it was not there before. */
    if (id > save->newest_row) {
        save->newest_row = id;
        save->new_rows++;
    }
    save->process_rows[number] = *row + 1;
    return true;
}

/* The number of the process of a slice. */
static uint32_t save_process(const struct save *save, uint32_t slice) {
    return save->resolver->slices.items[slice].process;
}

/* ---- entries ---- */

/* Of waits, which are no samples, none are. */
static void count_unknown(struct save *save, const struct sample_entry *entry) {
    if (!save->resolver->lasting[entry->event])
        save->unknown += entry->count;
}

bool save_place(struct save *save, const struct sample_entry *entry, struct saved_entry *saved,
                struct error *error) {
    uint32_t *slot = &save->unknown_image;
    int kernel = KERNEL_MAP_NONE;
    bool good;
    switch (entry->place) {
    case PLACE_NUMBER_VDSO:
        good = save_vdso_image(save, &slot, error);
        break;
    case PLACE_NUMBER_ANONYMOUS:
        good = save_jit_image(save, save_process(save, entry->slice), &slot, error);
        /* Without names addresses say nothing, and every process has others. */
        if (good && !save->images[*slot - 1].has_symbols)
            saved->offset = 0;
        break;
    case PLACE_NUMBER_KERNEL:
        kernel = save->kernel.hidden ? 0 : kernel_map_find(&save->kernel, entry->offset);
        if (kernel == KERNEL_MAP_NONE || !save->kernel.images) {
            count_unknown(save, entry);
            good = save_unknown_image(save, &slot, error);
            break;
        }
        saved->offset -= save->kernel.images[kernel].start;
        good = save_kernel_image(save, kernel, &slot, error);
        break;
    case PLACE_NUMBER_UNKNOWN:
        good = save_unknown_image(save, &slot, error);
        break;
    default:
        if (tracked_file_is_known(&save->resolver->files.items[entry->place])) {
            good = save_file_image(save, entry->place, &slot, error);
            break;
        }
        count_unknown(save, entry);
        good = save_unknown_image(save, &slot, error);
    }
    if (good)
        saved->image = *slot - 1;
    return good;
}

static bool place_entries(struct save *save, struct error *error) {
    const struct sample_table *table = &save->resolver->table;
    for (size_t i = 0; i < table->capacity; i++) {
        const struct sample_entry *entry = &table->slots[i];
        if (!entry->count)
            continue;
        struct saved_entry *saved = &save->entries[save->entry_count++];
        *saved = (struct saved_entry){
            .event = entry->event, .offset = entry->offset, .count = entry->count};
        if (!save_row(save, entry->slice, &saved->process, error) ||
            !save_place(save, entry, saved, error))
            return false;
    }
    return true;
}

ORDER(by_profile, struct saved_entry, ascending(a->process, b->process) ?: ascending(a->image, b->image) ?:
           ascending(a->event, b->event) ?: ascending(a->offset, b->offset))

static bool same_profile(const struct saved_entry *one, const struct saved_entry *other) {
    return one->process == other->process && one->image == other->image &&
           one->event == other->event;
}

static bool add_profiles(struct save *save, struct error *error) {
    qsort(save->entries, save->entry_count, sizeof *save->entries, by_profile);
    for (size_t first = 0, next; first < save->entry_count; first = next) {
        const struct saved_entry *head = &save->entries[first];
        size_t count = 0;
        for (next = first; next < save->entry_count && same_profile(head, &save->entries[next]);
             next++) {
            const struct saved_entry *entry = &save->entries[next];
            if (count && save->values[count - 1].offset == entry->offset)
                save->values[count - 1].value += entry->count;
            else
                save->values[count++] =
                    (struct store_value){.offset = entry->offset, .value = entry->count};
        }
        if (!store_add_values(save->store, save->session, save->row_ids[head->process],
                              save->images[head->image].id, save->event_ids[head->event],
                              save->values, count, error))
            return false;
    }
    return true;
}

/* Samples that found no room in the table, of no process. */
static bool add_overflow(struct save *save, struct error *error) {
    struct resolver *resolver = save->resolver;
    int64_t row;
    for (size_t event = 0; event < resolver->event_count; event++) {
        uint32_t *slot;
        struct store_process nobody = {.command = "[unknown]", .executable = ""};
        struct store_value value = {.value = resolver->overflow[event]};
        if (value.value &&
            (!save_unknown_image(save, &slot, error) ||
             !store_process(save->store, save->session, &nobody, &row, error) ||
             !store_add_values(save->store, save->session, row, save->images[*slot - 1].id,
                               save->event_ids[event], &value, 1, error)))
            return false;
    }
    return true;
}

/* ---- all of it ---- */

static bool prepare(struct save *save, struct error *error) {
    struct resolver *resolver = save->resolver;
    size_t processes = resolver->processes.count, files = resolver->files.count;
    size_t entries = resolver->table.count;
    save->process_rows = calloc(resolver->slices.count + 1, sizeof *save->process_rows);
    save->jit_images = calloc(processes + 1, sizeof *save->jit_images);
    save->file_images = calloc(files + 1, sizeof *save->file_images);
    save->entries = malloc((entries + 1) * sizeof *save->entries);
    save->values = malloc((entries + 1) * sizeof *save->values);
    if (!save->process_rows || !save->jit_images || !save->file_images || !save->entries ||
        !save->values ||
        (resolver->has_kernel && !kernel_map_read(&resolver->roots, &save->kernel)))
        return save_no_memory(error);
    save->kernel_images = calloc(save->kernel.image_count + 1, sizeof *save->kernel_images);
    return save->kernel_images || save_no_memory(error);
}

static void release(struct save *save) {
    free(save->process_rows);
    free(save->row_ids);
    hash_index_free(&save->row_index);
    free(save->jit_images);
    free(save->file_images);
    free(save->kernel_images);
    free(save->images);
    free(save->entries);
    free(save->values);
    for (size_t i = 0; i < save->tree_count; i++)
        call_tree_free(&save->trees[i]);
    free(save->trees);
    kernel_map_free(&save->kernel);
}

static bool write_all(struct save *save, struct error *error) {
    if (!place_entries(save, error) || !add_profiles(save, error) || !add_overflow(save, error) ||
        !save_place_calls(save, error))
        return false;
    return !any_where(i, save->image_count,
                      (save->images[i].has_symbols ||
                       (save->images[i].kernel_image != KERNEL_MAP_NONE && !save->kernel.hidden)) &&
                          !save_symbols(save, i, error)) &&
           save_calls(save, error);
}

/* What has been saved is forgotten, whether or not there is memory to tidy up. */
static void forget(struct resolver *resolver) {
    slices_clear(&resolver->slices);
    sample_table_clear(&resolver->table);
    call_tree_clear(&resolver->tree);
    memset(resolver->known_stacks, 0, KNOWN_STACKS * sizeof *resolver->known_stacks);
    memset(resolver->overflow, 0, sizeof resolver->overflow);
    resolver->has_kernel = false;
    resolver->vdso_names.unsaved = false;
    for (size_t i = 0; i < resolver->files.count; i++)
        resolver->files.items[i].names.unsaved = false;
    tracked_processes_forget(&resolver->processes, &resolver->roots);
    tracked_files_forget(&resolver->files);
}

bool resolver_save(struct resolver *resolver, struct store *store, int64_t session,
                   const int64_t *event_ids, struct error *error) {
    struct save save = {.resolver = resolver,
                        .store = store,
                        .session = session,
                        .event_ids = event_ids,
                        .newest_row = resolver->newest_row};
    if (!tracked_files_search(&resolver->files, &resolver->roots))
        return save_no_memory(error);
    if (!resolver_name_compiled(resolver, error) || !resolver_collect_names(resolver, error))
        return false;
    bool good = prepare(&save, error);
    if (good && (good = store_begin(store, error)) &&
        !(good = write_all(&save, error) && store_commit(store, error)))
        store_rollback(store);
    if (good) {
        resolver->unknown += save.unknown;
        resolver->newest_row = save.newest_row;
        resolver->slices.saved += save.new_rows;
        if (resolver->has_kernel)
            resolver->hidden = save.kernel.hidden;
        forget(resolver);
    }
    release(&save);
    return good;
}
