#include "live/unwinder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/own_vdso.h"
#include "util/array.h"
#include "util/hash_index.h"

enum {
    FILE_BYTES_MAX = 1 << 30,
    ROWS_MAX = 1 << 23, /* of all tables; more, and all are made anew when they are needed */
    STEPS_MAX =
        2 * LIVE_FRAMES_MAX /* what a signal interrupted may lie anywhere, also in a circle */
};

struct mapped_file {
    struct live_file_key key;
    char *path;
    struct build_id build_id;
    uint32_t seen_in; /* a process */
    bool read;        /* `table` is what could be read */
    struct unwind_table table;
    bool shared, told; /* it was tried; `rows` are, there was room for them */
    struct walk_rows rows;
};

struct unwinder {
    struct live_roots roots;
    struct sample_probe *probe; /* NULL: stacks are walked here alone */
    struct mapped_file *files;
    size_t count, capacity;
    struct hash_index index; /* by key */
    struct unwind_table vdso;
    size_t rows;
};

/* ---- files ---- */

static void *read_all(int file, size_t *size) {
    struct stat status;
    if (fstat(file, &status) != 0 || status.st_size <= 0 || status.st_size > FILE_BYTES_MAX)
        return NULL;
    char *bytes = malloc((size_t)status.st_size);
    for (*size = 0; bytes && *size < (size_t)status.st_size;) {
        ssize_t got = pread(file, bytes + *size, (size_t)status.st_size - *size, (off_t)*size);
        if (got <= 0)
            break;
        *size += (size_t)got;
    }
    return bytes;
}

/* A table of the bytes, which are freed. What is no ELF file has none. False: out of memory. */
static bool read_table(void *bytes, size_t size, struct unwind_table *table) {
    struct elf_image image = {0};
    struct error not_elf;
    *table = (struct unwind_table){0};
    bool good = !bytes || !elf_image_open_memory(&image, bytes, size, "", &not_elf) ||
                unwind_table_build(table, &image);
    elf_image_close(&image);
    return good;
}

/* The image that the kernel maps into every process, this one too: as it is in memory. */
static bool read_vdso(struct unwind_table *table) {
    size_t size;
    const void *begin = own_vdso(&size);
    if (!begin)
        return true;
    void *copy = malloc(size);
    if (!copy)
        return false;
    memcpy(copy, begin, size);
    return read_table(copy, size, table);
}

static uint64_t hash_of(const struct live_file_key *key) {
    return hash_pair(hash_pair(key->device, key->inode), key->generation);
}

static struct mapped_file *find_file(const struct unwinder *unwinder,
                                     const struct live_file_key *key) {
    const uint64_t hash = hash_of(key);
    size_t at;
    for (uint32_t i = hash_index_first(&unwinder->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&unwinder->index, hash, &at)) {
        struct mapped_file *file = &unwinder->files[i];
        if (file->key.inode == key->inode && file->key.device == key->device &&
            file->key.generation == key->generation)
            return file;
    }
    return NULL;
}

static void forget_tables(struct unwinder *unwinder) {
    for (size_t i = 0; i < unwinder->count; i++) {
        unwind_table_free(&unwinder->files[i].table);
        unwinder->files[i].read = false;
    }
    unwinder->rows = 0;
}

static bool read_file(struct unwinder *unwinder, struct mapped_file *file) {
    char root[PROC_ROOT_BYTES];
    size_t size = 0;
    int descriptor;
    if (!proc_find_file(&unwinder->roots, file->seen_in, file->path, &file->key, &file->build_id,
                        root, &descriptor))
        descriptor = proc_open_mapped(&unwinder->roots, file->seen_in, file->path, &file->key,
                                      &file->build_id);
    void *bytes = descriptor >= 0 ? read_all(descriptor, &size) : NULL;
    if (descriptor >= 0)
        close(descriptor);
    if (unwinder->rows > ROWS_MAX)
        forget_tables(unwinder);
    file->read = true;
    bool good = read_table(bytes, size, &file->table);
    unwinder->rows += file->table.count;
    return good;
}

struct unwinder *unwinder_new(const struct live_roots *roots) {
    struct unwinder *unwinder = calloc(1, sizeof *unwinder);
    if (!unwinder)
        return NULL;
    unwinder->roots = *roots;
    if (read_vdso(&unwinder->vdso))
        return unwinder;
    unwinder_free(unwinder);
    return NULL;
}

void unwinder_free(struct unwinder *unwinder) {
    if (!unwinder)
        return;
    for (size_t i = 0; i < unwinder->count; i++) {
        free(unwinder->files[i].path);
        unwind_table_free(&unwinder->files[i].table);
    }
    free(unwinder->files);
    hash_index_free(&unwinder->index);
    unwind_table_free(&unwinder->vdso);
    free(unwinder);
}

bool unwinder_announce(struct unwinder *unwinder, const struct live_file *file) {
    struct mapped_file *known = find_file(unwinder, &file->key);
    if (known) {
        known->seen_in = file->seen_in;
        return true;
    }
    struct mapped_file added = {
        .key = file->key, .path = strdup(file->path), .seen_in = file->seen_in};
    if (!added.path || !array_room(unwinder->files, unwinder->capacity, unwinder->count + 1) ||
        !hash_index_add(&unwinder->index, hash_of(&file->key), (uint32_t)unwinder->count)) {
        free(added.path);
        return false;
    }
    added.build_id.size = file->build_id_size;
    memcpy(added.build_id.bytes, file->build_id, file->build_id_size);
    unwinder->files[unwinder->count++] = added;
    return true;
}

size_t unwinder_bytes(const struct unwinder *unwinder) {
    return unwinder->rows * sizeof(struct unwind_row) +
           unwinder->capacity * sizeof *unwinder->files + hash_index_bytes(&unwinder->index);
}

/* ---- walking ---- */

/* NULL: out of memory. */
static const struct unwind_row *row_at(struct unwinder *unwinder, const struct live_frame *frame) {
    static const struct unwind_row NO_RULE = {.kind = UNWIND_NO_RULE};
    struct mapped_file *file;
    switch (frame->place) {
    case PLACE_VDSO:
        return unwind_table_find(&unwinder->vdso, frame->offset);
    case PLACE_FILE:
        file = find_file(unwinder, &frame->file);
        if (file && !file->read && !read_file(unwinder, file))
            return NULL;
        return file ? unwind_table_find(&file->table, frame->offset) : &NO_RULE;
    default:
        return &NO_RULE;
    }
}

/* False: nothing is mapped there. */
static bool find_place(const struct address_map *map, uint64_t address, struct live_frame *frame) {
    const struct address_range *range = address_map_find(map, address);
    if (!range)
        return false;
    *frame = address_range_place(range, address);
    return true;
}

/* No call returns to the first instruction of a function, with no code before it: there a context
 * begins whose stack somebody made (makecontext() and its __start_context, other libraries of
 * coroutines), and what lies above is no return address, whatever the rules say. `frame` becomes
 * that place. */
static bool begins_context(struct unwinder *unwinder, const struct address_map *map,
                           const struct unwind_row *before, uint64_t address,
                           struct live_frame *frame) {
    struct live_frame first;
    if (before->kind != UNWIND_NO_RULE || !find_place(map, address, &first) ||
        first.place != PLACE_FILE)
        return false;
    const struct unwind_row *row = row_at(unwinder, &first);
    if (!row || row->kind == UNWIND_NO_RULE || row->start != first.offset)
        return false;
    *frame = first;
    return true;
}

static bool finish(struct live_stack *stack, enum live_stack_end end) {
    stack->end = end;
    return true;
}

bool unwinder_walk(struct unwinder *unwinder, const struct address_map *map,
                   const struct unwind_registers *from, bool returned,
                   const struct unwind_memory *memory, struct live_stack *stack) {
    static const enum live_stack_end ENDS[] = {[UNWIND_ENDED] = LIVE_STACK_WHOLE,
                                               [UNWIND_TRUNCATED] = LIVE_STACK_TRUNCATED,
                                               [UNWIND_FAILED] = LIVE_STACK_FAILED};
    struct unwind_registers registers = *from;
    const struct unwind_row *row;
    struct live_frame frame;
    if (!find_place(map, registers.values[UNWIND_RIP] - returned, &frame))
        return finish(stack, LIVE_STACK_FAILED);
    if (!(row = row_at(unwinder, &frame)))
        return false;
    for (unsigned steps = 0; steps < STEPS_MAX; steps++) {
        const bool was_signal = row->kind == UNWIND_SIGNAL;
        /* Code without rules that has no frame pointer either is no beginning of a thread. */
        if (!steps && row->kind == UNWIND_NO_RULE && !registers.values[UNWIND_RBP])
            return finish(stack, LIVE_STACK_FAILED);
        enum unwind_outcome outcome = unwind_step(&registers, row, memory);
        if (outcome != UNWIND_STEPPED)
            return finish(stack, ENDS[outcome]);
        stack->tops[stack->count] = registers.values[UNWIND_RSP];
        /* A call's return address may be the first of another function; what a signal interrupted
         * was about to run. */
        if (!find_place(map, registers.values[UNWIND_RIP] - !was_signal, &frame))
            return finish(stack, LIVE_STACK_FAILED);
        if (!(row = row_at(unwinder, &frame)))
            return false;
        if (row->kind == UNWIND_SIGNAL)
            continue;
        if (stack->count == LIVE_FRAMES_MAX)
            break;
        const bool first =
            !was_signal && begins_context(unwinder, map, row, registers.values[UNWIND_RIP], &frame);
        stack->frames[stack->count++] = frame;
        stack->tops[stack->count] = 0;
        if (first)
            return finish(stack, LIVE_STACK_WHOLE);
    }
    return finish(stack, LIVE_STACK_TRUNCATED);
}

/* ---- stacks that are walked elsewhere ---- */

/* Rows are never taken back: of a table that was forgotten here they stay. False: there is no room.
 */
static bool share(struct sample_probe *probe, const struct unwind_table *table,
                  struct walk_rows *rows) {
    struct unwind_row *to = sample_probe_rows(probe, table->count, &rows->first);
    if (!to)
        return false;
    if (table->count)
        memcpy(to, table->rows, table->count * sizeof *to);
    rows->count = (uint32_t)table->count;
    return true;
}

void unwinder_share(struct unwinder *unwinder, struct sample_probe *probe) {
    struct walk_rows rows;
    unwinder->probe = probe;
    if (share(probe, &unwinder->vdso, &rows))
        sample_probe_tell(probe, &(struct walk_file){0}, &rows);
}

bool unwinder_tell(struct unwinder *unwinder, const struct address_range *range,
                   const struct walk_file *file) {
    const struct walk_rows none = {0};
    struct mapped_file *mapped =
        range->kind == PLACE_FILE ? find_file(unwinder, &range->file) : NULL;
    if (range->kind == PLACE_ANONYMOUS)
        sample_probe_tell(unwinder->probe, file, &none);
    if (!mapped)
        return true;
    if (!mapped->shared) {
        if (!mapped->read && !read_file(unwinder, mapped))
            return false;
        mapped->shared = true;
        mapped->told = share(unwinder->probe, &mapped->table, &mapped->rows);
    }
    if (mapped->told)
        sample_probe_tell(unwinder->probe, file, &mapped->rows);
    return true;
}
