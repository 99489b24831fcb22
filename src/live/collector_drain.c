/* Exactly-once: every processor is told to fill the other half; then no program runs any more that
 * was told otherwise; then the half is read and cleared at leisure. The wait in between is an
 * update of a map of maps, which returns when all BPF programs that ran at its beginning have
 * ended: the kernel promises that for just this use, and it works where membarrier() does not. What
 * the receiver refuses stays where it is and is delivered by the drain after the next. */
#include "live/collector_parts.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/clock.h"

/* One table of a map, in whole pages. */
struct slice {
    void *mapped;
    size_t mapped_bytes;
    void *items;
};

static bool map_slice(struct slice *slice, int map, size_t first, size_t bytes,
                      struct error *error) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), begin = first / page * page;
    slice->mapped_bytes = (first + bytes - begin + page - 1) / page * page;
    slice->mapped =
        mmap(NULL, slice->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map, (off_t)begin);
    if (slice->mapped == MAP_FAILED) {
        error_errno(error, "mapping a table of samples");
        return false;
    }
    slice->items = (char *)slice->mapped + (first - begin);
    return true;
}

static void unmap_slice(const struct slice *slice) {
    munmap(slice->mapped, slice->mapped_bytes);
}

/* When they were taken is not known but for the drains before and after. */
static bool deliver(struct collector *collector, const struct table_place *place, uint64_t count,
                    uint32_t processor) {
    struct live_sample sample = {
        .process = {.pid = place->pid, .exec = place->exec, .start_ns = place->start_ns},
        .at.place = place->kind,
        .at.file = {.device = (uint64_t)(place->device >> 20) << 32 | (place->device & 0xfffff),
                    .inode = place->inode,
                    .generation = place->generation},
        .at.offset = place->offset,
        .event = place->event,
        .count = count,
        .processor = 1 + processor,
        .time = collector->drained + (collector->now - collector->drained) / 2};
    if (sample.at.place != PLACE_FILE)
        sample.at.file = (struct live_file_key){0};
    return collector->sink->sample(collector->sink->context, &sample, collector->error);
}

/* ---- announcements ---- */

/* The names, from the file's own up, as a path. False: it is no such list, or too long. */
static bool join_names(const char *names, size_t size, char path[PATH_NAMES_BYTES + 1]) {
    char *begin = path + PATH_NAMES_BYTES;
    *begin = 0;
    if (!size || size > PATH_NAMES_BYTES || names[size - 1])
        return false;
    for (const char *name = names; name < names + size; name += strlen(name) + 1) {
        size_t length = strlen(name);
        begin -= length + 1;
        *begin = '/';
        memcpy(begin + 1, name, length);
    }
    memmove(path, begin, strlen(begin) + 1);
    return true;
}

static int take_process(struct collector *collector, const struct announced_process *told,
                        size_t names_bytes) {
    char path[PATH_NAMES_BYTES + 1];
    struct live_process process = {
        .key = {.pid = told->pid, .exec = told->exec, .start_ns = told->start_ns},
        .parent = told->parent,
        .in_exec = told->in_exec};
    static_assert(sizeof process.command == sizeof told->command, "as the kernel has it");
    memcpy(process.command, told->command, sizeof process.command);
    process.command[sizeof process.command - 1] = 0;
    if (told->path_size <= names_bytes && join_names(told->names, told->path_size, path))
        process.executable = path;
    return collector->sink->process(collector->sink->context, &process, collector->error) ? 0 : -1;
}

static int take_file(struct collector *collector, const struct announced_file *told,
                     size_t names_bytes) {
    char path[PATH_NAMES_BYTES + 1];
    struct live_file file = {
        .key = {.device = (uint64_t)(told->device >> 20) << 32 | (told->device & 0xfffff),
                .inode = told->inode,
                .generation = told->generation},
        .path = "",
        .seen_in = told->pid};
    if (told->build_id_size <= sizeof told->build_id) {
        file.build_id_size = told->build_id_size;
        memcpy(file.build_id, told->build_id, told->build_id_size);
    }
    if (told->path_size <= names_bytes && join_names(told->names, told->path_size, path))
        file.path = path;
    return collector->sink->file(collector->sink->context, &file, collector->error) ? 0 : -1;
}

int collector_announced(void *context, void *data, size_t size) {
    struct collector *collector = context;
    uint32_t type;
    if (size < sizeof type)
        return 0;
    memcpy(&type, data, sizeof type);
    const size_t of_process = offsetof(struct announced_process, names);
    const size_t of_file = offsetof(struct announced_file, names);
    if (type == ANNOUNCE_PROCESS && size >= of_process)
        return take_process(collector, data, size - of_process);
    if (type == ANNOUNCE_FILE && size >= of_file)
        return take_file(collector, data, size - of_file);
    return 0;
}

/* ---- tables ---- */

static bool drain_table(struct collector *collector, uint32_t table, uint32_t processor) {
    uint32_t count = collector->configuration.buckets;
    size_t bytes = count * sizeof(struct table_bucket);
    size_t place_bytes = (size_t)count * TABLE_WAYS * sizeof(struct table_place);
    struct slice buckets = {0}, places = {0};
    if (!map_slice(&buckets, collector->buckets, table * bytes, bytes, collector->error))
        return false;
    if (!map_slice(&places, collector->places, table * place_bytes, place_bytes,
                   collector->error)) {
        unmap_slice(&buckets);
        return false;
    }
    bool good = true;
    for (uint32_t i = 0; good && i < count; i++) {
        struct table_bucket *bucket = (struct table_bucket *)buckets.items + i;
        const struct table_place *place = (struct table_place *)places.items + i * TABLE_WAYS;
        for (uint32_t way = 0; good && way < TABLE_WAYS; way++) {
            if (!bucket->counts[way])
                continue;
            good = deliver(collector, &place[way], bucket->counts[way], processor);
            if (good)
                bucket->tags[way] = bucket->counts[way] = 0;
        }
    }
    unmap_slice(&buckets);
    unmap_slice(&places);
    return good;
}

/* From its end, so that what remains when the receiver fails still begins at its beginning. */
static bool drain_overflow(struct collector *collector, uint32_t table, uint32_t processor,
                           uint32_t *count) {
    size_t bytes = collector->configuration.overflow * sizeof(struct table_overflow);
    struct slice slice = {0};
    if (!*count)
        return true;
    if (!map_slice(&slice, collector->overflow, table * bytes, bytes, collector->error))
        return false;
    bool good = true;
    const struct table_overflow *entries = slice.items;
    for (; good && *count; *count -= good)
        good = deliver(collector, &entries[*count - 1].place, entries[*count - 1].count, processor);
    unmap_slice(&slice);
    return good;
}

/* Returns the half that is filled no more. */
static bool switch_halves(struct collector *collector, uint32_t *drained, struct error *error) {
    uint32_t zero = 0;
    *drained = collector->half;
    collector->half ^= 1;
    for (uint32_t i = 0; i < collector->configuration.processors; i++)
        __atomic_store_n(&collector->states[i].half, collector->half, __ATOMIC_RELEASE);
    if (bpf_map_update_elem(collector->barrier, &zero, &collector->places, BPF_ANY) != 0)
        return error_errno(error, "waiting for the interrupts that count samples");
    return true;
}

bool collector_drain(struct collector *collector, const struct live_sink *sink,
                     struct error *error) {
    uint32_t half;
    collector->sink = sink;
    collector->error = error;
    collector->now = clock_since_1970();
    if (!collector_follow_processors(collector, error) || !switch_halves(collector, &half, error))
        return false;
    ring_buffer__consume(collector->wakes);
    if (ring_buffer__consume(collector->announcements) < 0)
        return false;
    for (uint32_t i = 0; i < collector->configuration.processors; i++) {
        uint32_t table = half * collector->configuration.processors + i;
        if (!drain_overflow(collector, table, i, &collector->states[i].overflow_counts[half]) ||
            !drain_table(collector, table, i))
            return false;
    }
    collector->drained = collector->now;
    /* Told again from now on: names change, and receivers forget. */
    memset(collector->announced, 0,
           collector->configuration.processors * sizeof *collector->announced);
    return true;
}
