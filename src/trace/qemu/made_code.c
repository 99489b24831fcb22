/* The guest's process id is its emulator's, so the map has the number that this host uses. Only
 * symbols that cover a block which was translated are kept, so that their number is bounded by the
 * capture's size. */
#include "trace/qemu/made_code.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/jitdump.h"
#include "program/perf_map.h"
#include "util/array.h"
#include "util/order.h"

static int by_value(const void *one, const void *other) {
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return ascending(a, b);
}

/* Where the blocks of anonymous code begin, sorted; NULL: there are none. */
static uint64_t *anonymous_blocks(const struct block_table *blocks, size_t *count) {
    uint64_t *addresses = NULL;
    size_t capacity = 0;
    *count = 0;
    for (; blocks; blocks = blocks->parent)
        for (size_t i = 0; i < blocks->code.count; i++) {
            if (blocks->code.blocks[i].image != UINT32_MAX)
                continue;
            if (!array_room(addresses, capacity, *count + 1))
                break;
            addresses[(*count)++] = blocks->code.blocks[i].address;
        }
    if (addresses)
        qsort(addresses, *count, sizeof *addresses, by_value);
    return addresses;
}

/* Opens the map of this process, unless an earlier process with the same number left it behind. */
static int open_map(const struct traced *process) {
    struct stat status;
    uint32_t pid = (uint32_t)process->pid;
    int file = perf_map_open("/proc", "", pid, pid, geteuid());
    if (file >= 0 && (fstat(file, &status) || status.st_mtim.tv_sec + 1 < process->began)) {
        close(file);
        return -1;
    }
    return file;
}

/* A function that a block was of when it was translated. */
struct dumped {
    uint64_t start, size, time;
    const char *name; /* the dump's, which has each once */
};
ORDER(by_function, struct dumped,
      ascending(a->start, b->start) ?: ascending((uintptr_t)a->name, (uintptr_t)b->name)
                                           ?: ascending(a->time, b->time))
ORDER(by_time, struct dumped, ascending(a->time, b->time))

struct dumped_list {
    struct dumped *items;
    size_t count, capacity;
};

static bool list_dumped(const struct block_table *blocks, const struct jitdump *dump,
                        struct dumped_list *list) {
    struct jitdump_place place;
    for (; blocks; blocks = blocks->parent)
        for (size_t i = 0; i < blocks->code.count; i++) {
            const struct kept_block *block = &blocks->code.blocks[i];
            if (block->image == UINT32_MAX &&
                jitdump_find(dump, block->address, block->time, &place) &&
                !array_push(list->items, list->capacity, list->count,
                            (struct dumped){block->address - place.offset, place.size, block->time,
                                            place.name}))
                return false;
        }
    return true;
}

/* Each once, in the order in which they were met, for the last one has the address. */
static bool add_dumped(struct dumped_list *list, struct symbol_cover *cover) {
    size_t kept = 0;
    if (!list->count)
        return true;
    qsort(list->items, list->count, sizeof *list->items, by_function);
    for (size_t i = 0; i < list->count; i++)
        if (!kept || list->items[i].start != list->items[kept - 1].start ||
            list->items[i].name != list->items[kept - 1].name)
            list->items[kept++] = list->items[i];
    qsort(list->items, kept, sizeof *list->items, by_time);
    return all_where(i, kept,
                     symbol_cover_add(cover, list->items[i].start, list->items[i].size,
                                      list->items[i].name, strlen(list->items[i].name)));
}

/* Of code that its jitdump tells of. */
static bool read_dump(const struct traced *process, struct symbol_cover *cover) {
    struct jitdump *dump = process->dump ? jitdump_open(process->dump, geteuid()) : NULL;
    struct dumped_list list = {0};
    const bool good = !dump || (jitdump_read(dump) && list_dumped(process->blocks, dump, &list) &&
                                add_dumped(&list, cover));
    free(list.items);
    jitdump_free(dump);
    return good;
}

void made_code_name(struct capture *capture, const struct traced *process) {
    struct symbol_cover cover = {0};
    uint64_t *addresses = anonymous_blocks(process->blocks, &cover.offset_count);
    int map = addresses ? open_map(process) : -1;
    cover.offsets = addresses;
    const bool read =
        (map < 0 || perf_map_read(map, &cover)) && (!addresses || read_dump(process, &cover));
    if (read && cover.count) {
        size_t found = cover.count;
        symbol_cover_settle(&cover);
        if (cover.count < found)
            capture_note(capture,
                         "%zu functions made at run time gave their addresses to others: time of "
                         "the former is under the names of the latter",
                         found - cover.count);
        struct queued *item = capture_queue(capture, ITEM_SYMBOLS);
        item->process = process->number;
        item->symbols = cover;
        item->symbols.offsets = NULL;
        cover = (struct symbol_cover){0};
    }
    symbol_cover_free(&cover);
    free(addresses);
}
