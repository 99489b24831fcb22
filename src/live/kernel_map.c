/* /proc/kallsyms: "ADDRESS TYPE NAME[\t[MODULE]]"; /proc/modules: "NAME SIZE USERS BY STATE
 * ADDRESS". Code that the kernel makes (BPF programs, trampolines) has a module's name in brackets
 * but is no module: its image reaches over its symbols. */
#include "live/kernel_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/order.h"

enum {
    SYMBOLS_MAX = 2 << 20,
    IMAGES_MAX = 4096,
    LAST_SYMBOL_BYTES = 64 << 10, /* at most, where no end of the image is known */
};

static FILE *open_in(const char *folder, const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, "re");
}

static struct kernel_image *add_image(struct kernel_map *map, const char *name, size_t length) {
    char bracketed[80];
    snprintf(bracketed, sizeof bracketed, "[%.*s]", (int)length, name);
    char *copy = arena_copy(&map->names, bracketed, strlen(bracketed));
    if (!copy || !array_room(map->images, map->image_capacity, map->image_count + 1))
        return NULL;
    struct kernel_image *image = &map->images[map->image_count++];
    *image = (struct kernel_image){.name = copy};
    return image;
}

/* By its name without brackets; the newest first, as symbols of one module follow each other. */
static struct kernel_image *find_image(const struct kernel_map *map, const char *name,
                                       size_t length) {
    for (size_t i = map->image_count; i-- > 1;)
        if (strlen(map->images[i].name) == length + 2 &&
            !strncmp(map->images[i].name + 1, name, length))
            return &map->images[i];
    return NULL;
}

/* A name of a module that can stand in a path. */
static bool is_plain(const char *name) {
    return *name && *name != '.' && !strchr(name, '/');
}

static bool read_modules(const struct live_roots *roots, struct kernel_map *map) {
    FILE *file = open_in(roots->proc, "modules");
    if (!file)
        return true;
    char *line = NULL;
    size_t size = 0;
    bool good = true;
    while (good && map->image_count < IMAGES_MAX && getline(&line, &size, file) > 0) {
        char name[64];
        uint64_t bytes, start;
        if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &bytes, &start) != 3 ||
            !is_plain(name) || !start || !bytes || start + bytes < start)
            continue;
        struct kernel_image *image = add_image(map, name, strlen(name));
        if (!(good = image))
            break;
        image->start = start;
        image->end = start + bytes;
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/module/%s/notes/.note.gnu.build-id", roots->sys, name);
        build_id_of_notes_file(path, &image->build_id);
    }
    free(line);
    fclose(file);
    return good;
}

struct kallsym {
    uint64_t address;
    char type;
    const char *name, *module;
    size_t name_length, module_length; /* module_length 0: of the kernel itself */
};

static bool parse_symbol(const char *line, struct kallsym *symbol) {
    char *end;
    errno = 0;
    symbol->address = strtoull(line, &end, 16);
    if (end == line || errno || *end != ' ' || !end[1] || end[2] != ' ')
        return false;
    symbol->type = end[1];
    symbol->name = end + 3;
    symbol->name_length = strcspn(symbol->name, " \t\n");
    const char *rest = symbol->name + symbol->name_length;
    rest += strspn(rest, " \t");
    symbol->module = rest + 1;
    symbol->module_length = *rest == '[' ? strcspn(rest + 1, "]\n") : 0;
    return symbol->name_length > 0;
}

static bool is_called(const struct kallsym *symbol, const char *name) {
    return symbol->name_length == strlen(name) && !strncmp(symbol->name, name, strlen(name));
}

static bool add_symbol(struct kernel_map *map, const struct kallsym *symbol) {
    uint32_t number = 0;
    if (symbol->module_length) {
        struct kernel_image *image = find_image(map, symbol->module, symbol->module_length);
        if (!image && map->image_count == IMAGES_MAX)
            return true;
        if (!image && !(image = add_image(map, symbol->module, symbol->module_length)))
            return false;
        number = (uint32_t)(image - map->images);
    }
    char *name = arena_copy(&map->names, symbol->name, symbol->name_length);
    if (!name || !array_room(map->symbols, map->capacity, map->count + 1))
        return false;
    map->symbols[map->count++] = (struct kernel_symbol){symbol->address, 0, number, name};
    return true;
}

static bool take_symbol(struct kernel_map *map, const struct kallsym *symbol) {
    struct kernel_image *kernel = &map->images[0];
    if (!symbol->module_length && is_called(symbol, "_stext"))
        kernel->start = symbol->address;
    /* Not every kernel shows _end, which is no function. */
    if (!symbol->module_length && symbol->address > kernel->end &&
        (is_called(symbol, "_etext") || is_called(symbol, "_end")))
        kernel->end = symbol->address;
    if (!symbol->address || !strchr("tTwW", symbol->type) || map->count >= SYMBOLS_MAX)
        return true;
    return add_symbol(map, symbol);
}

/* Types say nothing of what comes first at one address: names of functions before those of labels.
 */
static int by_address(const void *one, const void *other) {
    const struct kernel_symbol *a = one, *b = other;
    bool a_label = a->name[0] == '_' && a->name[1] != '_',
         b_label = b->name[0] == '_' && b->name[1] != '_';
    return ascending(a->address, b->address) ?: ascending(a_label, b_label) ?:
           strcmp(a->name, b->name);
}

/* Sorted, one symbol for an address, each as long as up to the next. */
static void settle(struct kernel_map *map) {
    qsort(map->symbols, map->count, sizeof *map->symbols, by_address);
    size_t kept = 0;
    for (size_t i = 0; i < map->count; i++)
        if (!kept || map->symbols[kept - 1].address != map->symbols[i].address)
            map->symbols[kept++] = map->symbols[i];
    map->count = kept;
    for (size_t i = 0; i < kept; i++) {
        struct kernel_symbol *symbol = &map->symbols[i];
        struct kernel_image *image = &map->images[symbol->image];
        bool bounded = symbol->address >= image->start && symbol->address < image->end;
        uint64_t rest = bounded ? image->end - symbol->address : LAST_SYMBOL_BYTES;
        if (i + 1 < kept && rest > symbol[1].address - symbol->address)
            rest = symbol[1].address - symbol->address;
        symbol->size = rest;
    }
}

/* Of code that the kernel makes: what it is called has no bounds of its own. */
static void bound_made_code(struct kernel_map *map, size_t modules) {
    for (size_t i = 0; i < map->count; i++) {
        const struct kernel_symbol *symbol = &map->symbols[i];
        struct kernel_image *image = &map->images[symbol->image];
        if (symbol->image < modules)
            continue;
        if (!image->start || symbol->address < image->start)
            image->start = symbol->address;
        if (symbol->address + symbol->size > image->end)
            image->end = symbol->address + symbol->size;
    }
}

static bool read_symbols(const struct live_roots *roots, struct kernel_map *map) {
    FILE *file = open_in(roots->proc, "kallsyms");
    map->hidden = true;
    if (!file)
        return true;
    char *line = NULL;
    size_t size = 0;
    bool good = true;
    struct kallsym symbol;
    while (good && getline(&line, &size, file) > 0)
        if (parse_symbol(line, &symbol))
            good = take_symbol(map, &symbol);
    map->hidden = !map->count;
    free(line);
    fclose(file);
    return good;
}

bool kernel_map_read(const struct live_roots *roots, struct kernel_map *map) {
    char path[PATH_MAX];
    *map = (struct kernel_map){0};
    struct kernel_image *kernel = add_image(map, "kernel", 6);
    if (kernel) {
        snprintf(path, sizeof path, "%s/kernel/notes", roots->sys);
        build_id_of_notes_file(path, &kernel->build_id);
    }
    bool good = kernel && read_modules(roots, map);
    size_t modules = map->image_count;
    if (!good || !read_symbols(roots, map)) {
        kernel_map_free(map);
        return false;
    }
    if (map->count)
        settle(map);
    bound_made_code(map, modules);
    return true;
}

void kernel_map_free(struct kernel_map *map) {
    free(map->images);
    free(map->symbols);
    arena_free(&map->names);
    *map = (struct kernel_map){0};
}

bool kernel_map_is_hidden(const struct live_roots *roots) {
    FILE *file = open_in(roots->proc, "kallsyms");
    if (!file)
        return true;
    char line[512];
    struct kallsym symbol;
    bool hidden = true;
    /* Of per-processor data the first addresses are 0 anyway. */
    while (hidden && fgets(line, sizeof line, file))
        hidden = !parse_symbol(line, &symbol) || !symbol.address || !strchr("tT", symbol.type);
    fclose(file);
    return hidden;
}

void kernel_map_scheduler(const struct live_roots *roots, uint64_t *start, uint64_t *end) {
    FILE *file = open_in(roots->proc, "kallsyms");
    char line[512], name[32];
    *start = *end = 0;
    while (file && (!*start || !*end) && fgets(line, sizeof line, file)) {
        uint64_t address;
        if (sscanf(line, "%" SCNx64 " %*c %31s", &address, name) != 2)
            continue;
        if (!strcmp(name, "__sched_text_start"))
            *start = address;
        else if (!strcmp(name, "__sched_text_end"))
            *end = address;
    }
    if (file)
        fclose(file);
    if (*end < *start)
        *start = *end = 0;
}

int kernel_map_find(const struct kernel_map *map, uint64_t address) {
    /* The last symbol that begins at or before it; most addresses lie in one. */
    size_t low = first_where(i, map->count, map->symbols[i].address > address);
    if (low && address - map->symbols[low - 1].address < map->symbols[low - 1].size)
        return (int)map->symbols[low - 1].image;
    const size_t i = index_where(k, map->image_count,
                                 address >= map->images[k].start && address < map->images[k].end);
    return i < map->image_count ? (int)i : KERNEL_MAP_NONE;
}

bool kernel_map_cover(const struct kernel_map *map, uint32_t image, struct symbol_cover *cover) {
    uint64_t start = map->images[image].start;
    for (size_t i = 0; i < map->count; i++) {
        const struct kernel_symbol *symbol = &map->symbols[i];
        if (symbol->image == image && symbol->address >= start &&
            !symbol_cover_add(cover, symbol->address - start, symbol->size, symbol->name,
                              strlen(symbol->name)))
            return false;
    }
    return true;
}
