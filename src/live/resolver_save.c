/* Saving: every entry becomes (row of its process, image, event, offset, count); sorted, each run
 * of the first three is a profile. Of the code that has no file its symbols are saved as well,
 * those that cover a sample. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/kernel_map.h"
#include "live/own_vdso.h"
#include "live/resolver_internal.h"
#include "program/perf_map.h"
#include "util/array.h"
#include "util/order.h"

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

static bool no_memory(struct error *error) {
    return error_set(error, "out of memory for saving samples");
}

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
        return no_memory(error);
    return true;
}

/* What is alike in all that is told apart shares a row. */
static bool row_of(struct save *save, uint32_t number, uint32_t *row, struct error *error) {
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
static uint32_t process_of(const struct save *save, uint32_t slice) {
    return save->resolver->slices.items[slice].process;
}

/* ---- images ---- */

static bool add_image(struct save *save, const struct store_image *image, uint32_t *slot,
                      struct error *error) {
    struct saved_image saved = {.kind = image->kind, .kernel_image = KERNEL_MAP_NONE};
    if (!array_room(save->images, save->image_capacity, save->image_count + 1))
        return no_memory(error);
    if (!store_image(save->store, image, &saved.id, error))
        return false;
    save->images[save->image_count++] = saved;
    *slot = (uint32_t)save->image_count;
    return true;
}

static void copy_build_id(struct store_image *image, const struct build_id *id) {
    memcpy(image->build_id, id->bytes, id->size);
    image->build_id_size = id->size;
}

/* The image that was added last. */
static void name_by(struct save *save, struct sampled_names *names) {
    save->images[save->image_count - 1].names = names;
    save->images[save->image_count - 1].has_symbols = names->count;
}

static bool file_image(struct save *save, uint32_t number, uint32_t **slot, struct error *error) {
    const struct tracked_file *file = &save->resolver->files.items[number];
    *slot = &save->file_images[number];
    if (**slot)
        return true;
    struct store_image image = {.kind = !tracked_file_is_source(file)       ? IMAGE_FILE
                                        : !strncmp(file->path, "[jit] ", 6) ? IMAGE_JIT
                                                                            : IMAGE_SOURCE,
                                .path = file->path,
                                .root = file->root};
    copy_build_id(&image, &file->build_id);
    if (!add_image(save, &image, *slot, error))
        return false;
    name_by(save, &save->resolver->files.items[number].names);
    return true;
}

/* The library that the kernel maps into every process is the one mapped here. */
static void own_vdso_build_id(struct build_id *id) {
    size_t size;
    const uint8_t *vdso = own_vdso(&size);
    id->size = 0;
    if (!vdso)
        return;
    const GElf_Ehdr *header = (const GElf_Ehdr *)vdso;
    const GElf_Phdr *segments = (const GElf_Phdr *)(vdso + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_NOTE &&
            build_id_of_notes(vdso + segments[i].p_offset, segments[i].p_filesz, id))
            return;
}

static bool vdso_image(struct save *save, uint32_t **slot, struct error *error) {
    struct store_image image = {.kind = IMAGE_VDSO, .path = "[vdso]", .root = ""};
    struct build_id id;
    *slot = &save->vdso_image;
    if (**slot)
        return true;
    own_vdso_build_id(&id);
    copy_build_id(&image, &id);
    if (!add_image(save, &image, *slot, error))
        return false;
    name_by(save, &save->resolver->vdso_names);
    return true;
}

static bool unknown_image(struct save *save, uint32_t **slot, struct error *error) {
    struct store_image image = {.kind = IMAGE_UNKNOWN, .path = "[unknown]", .root = ""};
    *slot = &save->unknown_image;
    return **slot || add_image(save, &image, *slot, error);
}

static bool kernel_image(struct save *save, int number, uint32_t **slot, struct error *error) {
    const struct kernel_image *found = &save->kernel.images[number];
    struct store_image image = {
        .kind = number ? IMAGE_MODULE : IMAGE_KERNEL, .path = found->name, .root = ""};
    *slot = &save->kernel_images[number];
    if (**slot)
        return true;
    /* Addresses where nothing else is known, which mean nothing after the next boot, stay apart. */
    if (found->start)
        copy_build_id(&image, &found->build_id);
    if (!add_image(save, &image, *slot, error))
        return false;
    save->images[save->image_count - 1].kernel_image = number;
    return true;
}

/* A process's own when its runtime names the code; otherwise one of all processes of the name. What
 * tells apart two processes of one number is in place of a build id. */
static bool jit_image(struct save *save, uint32_t number, uint32_t **slot, struct error *error) {
    const struct tracked_process *process = &save->resolver->processes.items[number];
    *slot = &save->jit_images[number];
    if (**slot)
        return true;
    char path[64];
    struct store_image image = {.kind = IMAGE_JIT, .path = path, .root = ""};
    int map = perf_map_open(save->resolver->roots.proc, save->resolver->roots.files,
                            process->key.pid, process->inner_pid, process->user);
    const char *command = process->command[0] ? process->command : "[unknown]";
    if (map < 0) {
        snprintf(path, sizeof path, "[jit] %s", command);
        return add_image(save, &image, *slot, error);
    }
    close(map);
    snprintf(path, sizeof path, "[jit] %s %" PRIu32, command, process->key.pid);
    image.build_id_size = sizeof process->key.start_ns + sizeof process->key.exec;
    memcpy(image.build_id, &process->key.start_ns, sizeof process->key.start_ns);
    memcpy(image.build_id + sizeof process->key.start_ns, &process->key.exec,
           sizeof process->key.exec);
    if (!add_image(save, &image, *slot, error))
        return false;
    save->images[save->image_count - 1].process = number;
    save->images[save->image_count - 1].has_symbols = true;
    return true;
}

/* ---- entries ---- */

/* Of waits, which are no samples, none are. */
static void count_unknown(struct save *save, const struct sample_entry *entry) {
    if (!save->resolver->lasting[entry->event])
        save->unknown += entry->count;
}

static bool place_entry(struct save *save, const struct sample_entry *entry,
                        struct saved_entry *saved, struct error *error) {
    uint32_t *slot = &save->unknown_image;
    int kernel = KERNEL_MAP_NONE;
    bool good;
    switch (entry->place) {
    case PLACE_NUMBER_VDSO:
        good = vdso_image(save, &slot, error);
        break;
    case PLACE_NUMBER_ANONYMOUS:
        good = jit_image(save, process_of(save, entry->slice), &slot, error);
        /* Without names addresses say nothing, and every process has others. */
        if (good && !save->images[*slot - 1].has_symbols)
            saved->offset = 0;
        break;
    case PLACE_NUMBER_KERNEL:
        kernel = save->kernel.hidden ? 0 : kernel_map_find(&save->kernel, entry->offset);
        if (kernel == KERNEL_MAP_NONE || !save->kernel.images) {
            count_unknown(save, entry);
            good = unknown_image(save, &slot, error);
            break;
        }
        saved->offset -= save->kernel.images[kernel].start;
        good = kernel_image(save, kernel, &slot, error);
        break;
    case PLACE_NUMBER_UNKNOWN:
        good = unknown_image(save, &slot, error);
        break;
    default:
        if (tracked_file_is_known(&save->resolver->files.items[entry->place])) {
            good = file_image(save, entry->place, &slot, error);
            break;
        }
        count_unknown(save, entry);
        good = unknown_image(save, &slot, error);
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
        if (!row_of(save, entry->slice, &saved->process, error) ||
            !place_entry(save, entry, saved, error))
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
            (!unknown_image(save, &slot, error) ||
             !store_process(save->store, save->session, &nobody, &row, error) ||
             !store_add_values(save->store, save->session, row, save->images[*slot - 1].id,
                               save->event_ids[event], &value, 1, error)))
            return false;
    }
    return true;
}

/* ---- calls ---- */

/* The tree that stands below a top; false: out of memory. */
static bool tree_of(struct save *save, uint32_t row, uint32_t event, size_t *tree) {
    *tree = (size_t)row * save->resolver->event_count + event;
    if (!array_zeroed_room(save->trees, save->tree_capacity, *tree + 1))
        return false;
    if (*tree >= save->tree_count)
        save->tree_count = *tree + 1;
    save->trees[*tree].most = STORE_CALLS_MAX;
    return true;
}

/* A node of the tree that samples were gathered in, where it stands in a tree to be saved. */
struct saved_node {
    size_t tree; /* index of save.trees, which grow */
    uint32_t node;
    uint32_t slice; /* number */
};

static bool place_top(struct save *save, const struct store_call *call, struct saved_node *saved,
                      struct error *error) {
    const enum live_stack_end end = tree_top_end(call->offset);
    uint32_t row;
    saved->slice = (uint32_t)(call->image - 1);
    saved->node = STORE_CALL_TOP;
    if (!row_of(save, saved->slice, &row, error))
        return false;
    if (!tree_of(save, row, tree_top_event(call->offset), &saved->tree))
        return no_memory(error);
    const uint64_t cut = end == LIVE_STACK_TRUNCATED ? STORE_TRUNCATED
                         : end == LIVE_STACK_FAILED  ? STORE_FAILED
                                                     : 0;
    return !cut ||
           call_tree_node(&save->trees[saved->tree], STORE_CALL_TOP, 0, cut, &saved->node) ||
           no_memory(error);
}

static bool place_call(struct save *save, const struct store_call *call,
                       const struct saved_node *caller, struct saved_node *saved,
                       struct error *error) {
    /* Where it lies is found as of a sample, of which there is none. */
    const struct sample_entry entry = {
        .slice = caller->slice, .place = (uint32_t)(call->image - 1), .offset = call->offset};
    struct saved_entry found = {.offset = call->offset};
    *saved = *caller;
    return place_entry(save, &entry, &found, error) &&
           (call_tree_node(&save->trees[saved->tree], caller->node, 1 + (int64_t)found.image,
                           found.offset, &saved->node) ||
            no_memory(error));
}

static bool place_calls(struct save *save, struct error *error) {
    const struct call_tree *gathered = &save->resolver->tree;
    struct saved_node *nodes = calloc(gathered->count + 1, sizeof *nodes);
    bool good = nodes || no_memory(error);
    for (size_t i = 0; good && i < gathered->count; i++) {
        const struct store_call *call = &gathered->calls[i];
        good = call->parent == STORE_CALL_TOP
                   ? place_top(save, call, &nodes[i], error)
                   : place_call(save, call, &nodes[call->parent], &nodes[i], error);
        if (good && nodes[i].node != STORE_CALL_TOP)
            save->trees[nodes[i].tree].calls[nodes[i].node].value += call->value;
    }
    free(nodes);
    return good;
}

static bool add_calls(struct save *save, struct error *error) {
    const size_t events = save->resolver->event_count;
    for (size_t i = 0; i < save->tree_count; i++) {
        struct call_tree *tree = &save->trees[i];
        for (size_t k = 0; k < tree->count; k++)
            if (tree->calls[k].image)
                tree->calls[k].image = save->images[tree->calls[k].image - 1].id;
        if (!store_add_calls(save->store, save->session, save->row_ids[i / events],
                             save->event_ids[i % events], tree->calls, tree->count, error))
            return false;
    }
    return true;
}

/* ---- symbols ---- */

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
    bool good = array_room(all.symbols, all.capacity, room) || no_memory(error);
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

static bool add_symbols(struct save *save, uint32_t image, struct error *error) {
    const struct saved_image *saved = &save->images[image];
    bool named;
    if (!is_named(save, saved, &named, error) || named)
        return named;
    struct offsets offsets = offsets_of(save, image);
    struct symbol_cover cover = {.offsets = offsets.items, .offset_count = offsets.count};
    bool good = (offsets.good && find_symbols(save, saved, &cover)) || no_memory(error);
    if (good && cover.count) {
        symbol_cover_settle(&cover);
        good = merge_symbols(save, saved->id, &cover, error);
    }
    symbol_cover_free(&cover);
    free(offsets.items);
    return good;
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
        return no_memory(error);
    save->kernel_images = calloc(save->kernel.image_count + 1, sizeof *save->kernel_images);
    return save->kernel_images || no_memory(error);
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
        !place_calls(save, error))
        return false;
    return !any_where(i, save->image_count,
                      (save->images[i].has_symbols ||
                       (save->images[i].kernel_image != KERNEL_MAP_NONE && !save->kernel.hidden)) &&
                          !add_symbols(save, i, error)) &&
           add_calls(save, error);
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
        return no_memory(error);
    if (!resolver_collect_names(resolver, error))
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
