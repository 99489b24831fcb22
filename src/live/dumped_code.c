#include "live/dumped_code.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/live_code.h"
#include "program/jitdump.h"
#include "store/source_place.h"
#include "util/array.h"
#include "util/file_name.h"
#include "util/hash_index.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { CODES_MAX = 1 << 16 }; /* with their names, of one dump */

/* A function of a dump: its texts are the dump's. */
struct named {
    const char *name, *file;
    const struct live_code *code;
};

struct dumped_code {
    char command[LIVE_COMMAND_BYTES];
    struct jitdump *dump;
    struct named *codes;
    size_t count, capacity;
    struct hash_index index; /* by the addresses of both texts */
};

static struct jitdump *open_running(const struct live_roots *roots, uint32_t pid, const char *path,
                                    uid_t user) {
    char seen[PATH_MAX];
    const int length = snprintf(seen, sizeof seen, "%s/%" PRIu32 "/root%s", roots->proc, pid, path);
    return length < (int)sizeof seen ? jitdump_open(seen, user) : NULL;
}

static struct jitdump *open_ended(const struct live_roots *roots, uint32_t pid, const char *path,
                                  uid_t user) {
    char own[32], seen[PATH_MAX];
    snprintf(own, sizeof own, "jit-%" PRIu32 ".dump", pid);
    const int length = snprintf(seen, sizeof seen, "%s%s", roots->files, path);
    return length < (int)sizeof seen && !strcmp(file_base_name(path), own)
               ? jitdump_open(seen, user)
               : NULL;
}

struct dumped_code *dumped_code_open(const struct live_roots *roots, uint32_t pid, const char *path,
                                     uid_t user, const char *command) {
    struct proc_process process;
    const bool runs = proc_process_read(roots, pid, &process);
    struct jitdump *dump =
        runs ? open_running(roots, pid, path, process.user) : open_ended(roots, pid, path, user);
    struct dumped_code *dumped = dump ? calloc(1, sizeof *dumped) : NULL;
    if (!dumped) {
        jitdump_free(dump);
        return NULL;
    }
    dumped->dump = dump;
    snprintf(dumped->command, sizeof dumped->command, "%.*s", LIVE_COMMAND_BYTES - 1,
             runs ? process.command : command);
    return dumped;
}

static void free_codes(struct dumped_code *dumped) {
    for (size_t i = 0; i < dumped->count; i++)
        live_code_release(dumped->codes[i].code);
    free(dumped->codes);
    hash_index_free(&dumped->index);
    dumped->codes = NULL;
    dumped->count = dumped->capacity = 0;
}

void dumped_code_free(struct dumped_code *dumped) {
    if (!dumped)
        return;
    free_codes(dumped);
    jitdump_free(dumped->dump);
    free(dumped);
}

bool dumped_code_read(struct dumped_code *dumped) {
    return jitdump_read(dumped->dump);
}

uint64_t dumped_code_time(const struct dumped_code *dumped) {
    return jitdump_time(dumped->dump);
}

static const struct live_code *new_code(const struct dumped_code *dumped,
                                        const struct jitdump_place *place) {
    char path[64];
    snprintf(path, sizeof path, "[jit] %s", dumped->command);
    const uint64_t hash = XXH3_64bits(place->name, strlen(place->name));
    const struct live_code code = {
        .path = place->file ? place->file : path,
        .name = place->name,
        .start = source_function((uint32_t)(hash >> 32) & ((1u << SOURCE_LINE_BITS) - 1), hash),
        .size = source_function_size()};
    return live_code_new(&code);
}

/* NULL: out of memory. */
static const struct live_code *code_of(struct dumped_code *dumped,
                                       const struct jitdump_place *place) {
    const uint64_t hash = hash_pair((uintptr_t)place->name, (uintptr_t)place->file);
    size_t at;
    for (uint32_t i = hash_index_first(&dumped->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&dumped->index, hash, &at))
        if (dumped->codes[i].name == place->name && dumped->codes[i].file == place->file)
            return dumped->codes[i].code;
    if (dumped->count == CODES_MAX)
        free_codes(dumped);
    const struct named named = {place->name, place->file, new_code(dumped, place)};
    if (named.code && array_room(dumped->codes, dumped->capacity, dumped->count + 1) &&
        hash_index_add(&dumped->index, hash, (uint32_t)dumped->count)) {
        dumped->codes[dumped->count++] = named;
        return named.code;
    }
    live_code_release(named.code);
    return NULL;
}

/* Of a source the line is told, else where in the code. */
static bool set_frame(struct dumped_code *dumped, const struct jitdump_place *place,
                      struct live_frame *frame) {
    const struct live_code *code = code_of(dumped, place);
    if (!code)
        return false;
    live_code_hold(code);
    const uint64_t most = code->size - 1, in = place->offset < most ? place->offset : most;
    *frame = (struct live_frame){.place = PLACE_CODE,
                                 .code = code,
                                 .offset = place->file ? source_place(code->start, place->line)
                                                       : code->start + in};
    return true;
}

bool dumped_code_name(struct dumped_code *dumped, uint64_t time, struct live_frame *frame) {
    struct jitdump_place place;
    return frame->place != PLACE_ANONYMOUS ||
           !jitdump_find(dumped->dump, frame->offset, time, &place) ||
           set_frame(dumped, &place, frame);
}

bool dumped_code_name_only(struct dumped_code *dumped, struct live_frame *frame) {
    struct jitdump_place place;
    return frame->place != PLACE_ANONYMOUS ||
           !jitdump_find_only(dumped->dump, frame->offset, &place) ||
           set_frame(dumped, &place, frame);
}
