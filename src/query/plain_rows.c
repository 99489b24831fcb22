/* Rows that are of no code: by process, by slice of its samples, by epoch. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "query/profile_table_parts.h"
#include "util/array.h"
#include "util/file_name.h"

bool profile_by_is_plain(enum profile_by by) {
    return by >= PROFILE_BY_PROCESS;
}

/* What rows of this grain are told apart by; "" of what they are not. */
struct plain_key {
    uint32_t pid, thread, processor;
    int64_t epoch;
    const char *command, *cgroup;
    char build[2 * BUILD_ID_MAX + 1];
};

static struct plain_key key_of(enum profile_by by, const struct store_profile *profile) {
    const struct store_process *process = profile->process;
    const struct store_slice *slice = &process->slice;
    struct plain_key key = {.command = "", .cgroup = ""};
    switch (by) {
    case PROFILE_BY_PID:
        key.pid = slice->pid;
        key.command = process->command;
        break;
    case PROFILE_BY_THREAD:
        key.pid = slice->pid;
        key.thread = slice->thread;
        key.command = process->command;
        break;
    case PROFILE_BY_CPU:
        key.processor = slice->processor;
        break;
    case PROFILE_BY_CGROUP:
        key.cgroup = slice->cgroup;
        break;
    case PROFILE_BY_HOST:
        key.cgroup = profile->session->host;
        break;
    case PROFILE_BY_BUILD:
        key.command = profile->image->path;
        for (size_t i = 0; i < profile->image->build_id_size; i++)
            snprintf(key.build + 2 * i, 3, "%02x", profile->image->build_id[i]);
        break;
    case PROFILE_BY_EPOCH:
        key.epoch = profile->session->id;
        break;
    default:
        key.command = process->command;
    }
    return key;
}

/* Its process's name; of what is no process, what it is called. */
static const char *name_of(struct profile_table *table, const struct plain_key *key) {
    char text[32] = "[not told apart]", build[NAME_MAX + 16];
    const char *name = key->command;
    if (table->options.by == PROFILE_BY_CPU) {
        if (key->processor)
            snprintf(text, sizeof text, "cpu %" PRIu32, key->processor - 1);
        name = text;
    } else if (table->options.by == PROFILE_BY_CGROUP) {
        name = *key->cgroup ? key->cgroup : text;
    } else if (table->options.by == PROFILE_BY_HOST) {
        name = *key->cgroup ? key->cgroup : "[no host]";
    } else if (table->options.by == PROFILE_BY_BUILD && *key->build) {
        snprintf(build, sizeof build, "%s@%.12s", file_base_name(key->command), key->build);
        name = build;
    }
    return arena_copy(&table->arena, name, strlen(name));
}

static uint32_t number_of(struct profile_table *table, const struct plain_key *key) {
    char bytes[PATH_MAX + 128];
    const int size = snprintf(
        bytes, sizeof bytes, "%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRId64 " %s %s %s", key->pid,
        key->thread, key->processor, key->epoch, key->build, key->command, key->cgroup);
    return intern_add(&table->plain, bytes,
                      size < (int)sizeof bytes ? (size_t)size : sizeof bytes - 1);
}

struct row *table_plain_row(struct profile_table *table, const struct store_profile *profile) {
    const enum profile_by by = table->options.by;
    const struct plain_key key = key_of(by, profile);
    const uint32_t number = number_of(table, &key);
    if (number == INTERN_NONE)
        return NULL;
    const char *executable = by == PROFILE_BY_BUILD ? key.command
                             : *key.command         ? profile->process->executable
                                                    : "";
    if (number < table->row_count) {
        struct row *row = &table->rows[number];
        if (*executable && strcmp(row->shown.image, executable) != 0) /* programs of one name */
            row->shown.image = *row->shown.image
                                   ? "[several]"
                                   : arena_copy(&table->arena, executable, strlen(executable));
        if (!row->shown.image)
            return NULL;
        return row;
    }
    struct row row = {
        .shown = {.image = arena_copy(&table->arena, executable, strlen(executable)),
                  .process = by == PROFILE_BY_EPOCH ? NULL : name_of(table, &key),
                  .build = by == PROFILE_BY_BUILD
                               ? arena_copy(&table->arena, key.build, strlen(key.build))
                               : NULL,
                  .epoch = key.epoch,
                  .pid = key.pid,
                  .thread = key.thread,
                  .processor = key.processor,
                  .told = key.pid || key.thread || key.processor || *key.cgroup},
        .values = table_values(table)};
    row.shown.values = row.values;
    if (!row.values || !row.shown.image || (by != PROFILE_BY_EPOCH && !row.shown.process) ||
        !array_push(table->rows, table->row_capacity, table->row_count, row))
        return NULL;
    return &table->rows[number];
}
