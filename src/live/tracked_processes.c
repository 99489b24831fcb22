/* All processes of one number stand in one chain of the index: a sample finds its own by exec and
 * start, or adopts the one that was found in /proc, whose start is the same but for rounding. */
#include "live/tracked_processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/jitdump.h"
#include "util/array.h"
#include "util/file_name.h"

void tracked_processes_free(struct tracked_processes *processes) {
    free(processes->items);
    hash_index_free(&processes->index);
    names_free(&processes->names);
    *processes = (struct tracked_processes){0};
}

static uint32_t add(struct tracked_processes *processes, const struct tracked_process *process) {
    if (!array_room(processes->items, processes->capacity, processes->count + 1) ||
        !hash_index_add(&processes->index, hash_number(process->key.pid),
                        (uint32_t)processes->count))
        return UINT32_MAX;
    processes->items[processes->count] = *process;
    return (uint32_t)processes->count++;
}

static bool same_start(const struct tracked_process *process, uint64_t start_ns) {
    return process->scanned
               ? proc_same_start(start_ns, process->key.start_ns)
               : !start_ns || !process->key.start_ns || process->key.start_ns == start_ns;
}

/* The process itself, or the one to adopt; UINT32_MAX: neither. *kin: the newest other life of the
 * same process, before or after an exec. */
static uint32_t find(const struct tracked_processes *processes, const struct live_process_key *key,
                     uint32_t *kin) {
    const uint64_t hash = hash_number(key->pid);
    uint32_t adopted = UINT32_MAX;
    size_t at;
    *kin = UINT32_MAX;
    for (uint32_t number = hash_index_first(&processes->index, hash, &at);
         number != HASH_INDEX_NONE; number = hash_index_next(&processes->index, hash, &at)) {
        const struct tracked_process *process = &processes->items[number];
        if (process->key.pid != key->pid || !same_start(process, key->start_ns))
            continue;
        if (process->scanned)
            adopted = number;
        else if (process->key.exec == key->exec)
            return number;
        if (*kin == UINT32_MAX || *kin < number)
            *kin = number;
    }
    return adopted;
}

/* What /proc tells of a process that is still the one we mean, in the same program. */
static bool look_up(struct tracked_processes *processes, const struct live_roots *roots,
                    struct tracked_process *process) {
    struct proc_process found;
    if (!process->key.pid || !proc_process_read(roots, process->key.pid, &found) ||
        !proc_same_start(process->key.start_ns, found.start_ns))
        return true;
    process->user = found.user;
    process->inner_pid = found.inner_pid;
    if (!process->parent)
        process->parent = found.parent;
    if (process->command[0] && strcmp(process->command, found.command) != 0)
        return true;
    memcpy(process->command, found.command, sizeof process->command);
    const char *executable = names_add(&processes->names, found.executable);
    if (!executable)
        return false;
    process->executable = executable;
    process->guessed = false;
    return true;
}

static bool look_up_cgroup(struct tracked_processes *processes, const struct live_roots *roots,
                           struct tracked_process *process) {
    char cgroup[PATH_MAX] = "";
    if (processes->cgroups && process->key.pid && !process->cgroup[0])
        proc_cgroup_read(roots, process->key.pid, cgroup);
    return !cgroup[0] || (process->cgroup = names_add(&processes->names, cgroup));
}

/* The newest process of a number; NULL: none. */
static const struct tracked_process *newest(const struct tracked_processes *processes,
                                            uint32_t pid) {
    const uint64_t hash = hash_number(pid);
    uint32_t found = UINT32_MAX;
    size_t at;
    for (uint32_t i = hash_index_first(&processes->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&processes->index, hash, &at))
        if (processes->items[i].key.pid == pid && (found == UINT32_MAX || found < i))
            found = i;
    return found == UINT32_MAX ? NULL : &processes->items[found];
}

/* A fork that has not called exec runs its parent's program. */
static void inherit(const struct tracked_processes *processes, struct tracked_process *process) {
    const struct tracked_process *parent = newest(processes, process->parent);
    if (!parent || !process->parent)
        return;
    if (process->user == (uid_t)-1)
        process->user = parent->user;
    if (!process->cgroup[0])
        process->cgroup = parent->cgroup; /* it ended before it could be asked for */
    if (!process->executable[0] && !strcmp(process->command, parent->command)) {
        process->executable = parent->executable;
        process->guessed = parent->guessed;
    }
}

/* What the collector told, which knows best. */
static bool take_executable(struct tracked_processes *processes, const char *path,
                            struct tracked_process *process) {
    if (!path || path[0] != '/')
        return true;
    const char *executable = names_add(&processes->names, path);
    if (!executable)
        return false;
    process->executable = executable;
    process->guessed = false;
    return true;
}

/* told: what was announced; NULL: nothing. */
static uint32_t find_or_add(struct tracked_processes *processes, const struct live_roots *roots,
                            const struct live_process_key *key, const struct live_process *told) {
    uint32_t kin, number = find(processes, key, &kin);
    bool fresh = number == UINT32_MAX || processes->items[number].scanned;
    if (!fresh && (!told || (told->in_exec && processes->items[number].command[0])))
        return number;
    char command[LIVE_COMMAND_BYTES];
    snprintf(command, sizeof command, "%.*s", LIVE_COMMAND_BYTES - 1,
             !key->pid ? "swapper"
             : told    ? told->command
                       : "");
    struct tracked_process process = {.key = *key,
                                      .parent = told ? told->parent : 0,
                                      .inner_pid = key->pid,
                                      .user = (uid_t)-1,
                                      .executable = "",
                                      .cgroup = "",
                                      .dump = ""};
    if (number != UINT32_MAX)
        process = processes->items[number];
    else if (kin != UINT32_MAX) {
        process.user = processes->items[kin].user;
        process.inner_pid = processes->items[kin].inner_pid;
        process.cgroup = processes->items[kin].cgroup;
    }
    process.key = *key;
    process.scanned = false;
    if (command[0] && strncmp(process.command, command, LIVE_COMMAND_BYTES) != 0) {
        /* Found in /proc before it ran another program. */
        if (fresh)
            process.executable = "";
        snprintf(process.command, sizeof process.command, "%s", command);
    }
    if (((!process.executable[0] || process.guessed) && !look_up(processes, roots, &process)) ||
        !look_up_cgroup(processes, roots, &process) ||
        !take_executable(processes, told ? told->executable : NULL, &process))
        return UINT32_MAX;
    inherit(processes, &process);
    if (number == UINT32_MAX)
        return add(processes, &process);
    processes->items[number] = process;
    return number;
}

uint32_t tracked_processes_announce(struct tracked_processes *processes,
                                    const struct live_roots *roots,
                                    const struct live_process *process) {
    return find_or_add(processes, roots, &process->key, process);
}

uint32_t tracked_processes_find(struct tracked_processes *processes, const struct live_roots *roots,
                                const struct live_process_key *key) {
    return find_or_add(processes, roots, key, NULL);
}

bool tracked_processes_scan(struct tracked_processes *processes, const struct live_roots *roots,
                            uint32_t pid) {
    struct proc_process found;
    if (!proc_process_read(roots, pid, &found))
        return true;
    struct live_process_key key = {.pid = pid, .start_ns = found.start_ns};
    uint32_t kin;
    if (find(processes, &key, &kin) != UINT32_MAX || kin != UINT32_MAX)
        return true;
    const char *executable = names_add(&processes->names, found.executable);
    struct tracked_process process = {.key = key,
                                      .parent = found.parent,
                                      .inner_pid = found.inner_pid,
                                      .user = found.user,
                                      .executable = executable,
                                      .cgroup = "",
                                      .dump = "",
                                      .scanned = true};
    memcpy(process.command, found.command, sizeof process.command);
    return executable && look_up_cgroup(processes, roots, &process) &&
           add(processes, &process) != UINT32_MAX;
}

/* As the kernel makes the name of a process from the path of its program. */
static bool names_command(const char *path, const char *command) {
    return !strncmp(file_base_name(path), command, LIVE_COMMAND_BYTES - 1);
}

bool tracked_processes_seen_in(struct tracked_processes *processes, uint32_t number,
                               const char *path) {
    struct tracked_process *process = &processes->items[number];
    bool named = names_command(path, process->command);
    if ((process->executable[0] && !(process->guessed && named)) || path[0] != '/' ||
        (!named && strstr(path, ".so")))
        return true;
    const char *executable = names_add(&processes->names, path);
    if (!executable)
        return false;
    process->executable = executable;
    process->guessed = !named;
    return true;
}

bool tracked_processes_maps(struct tracked_processes *processes, uint32_t pid, const char *path) {
    const struct tracked_process *process = newest(processes, pid);
    return !process ||
           tracked_processes_seen_in(processes, (uint32_t)(process - processes->items), path);
}

bool tracked_processes_dumps(struct tracked_processes *processes, uint32_t pid, const char *path,
                             bool *good) {
    if (!jitdump_is_named(path))
        return false;
    const struct tracked_process *process = newest(processes, pid);
    const char *dump = process ? names_add(&processes->names, path) : "";
    if (process && dump)
        processes->items[process - processes->items].dump = dump;
    *good &= dump != NULL;
    return true;
}

struct dump_search {
    struct tracked_processes *processes;
    uint32_t pid;
    bool good;
};

static bool visit_mapping(void *context, const struct proc_mapping *mapping) {
    struct dump_search *search = context;
    if (proc_mapping_is_code(mapping))
        tracked_processes_dumps(search->processes, search->pid, mapping->path, &search->good);
    return search->good;
}

bool tracked_processes_seek_dump(struct tracked_processes *processes,
                                 const struct live_roots *roots, uint32_t number) {
    struct tracked_process *process = &processes->items[number];
    struct dump_search search = {.processes = processes, .pid = process->key.pid, .good = true};
    if (!process->key.pid || process->dump[0] || process->sought)
        return true;
    process->sought = true;
    proc_each_mapping(roots, process->key.pid, visit_mapping, &search);
    return search.good;
}

uint32_t tracked_processes_parent(const struct tracked_processes *processes, uint32_t pid) {
    const struct tracked_process *process = newest(processes, pid);
    return process ? process->parent : 0;
}

static bool has_ended(const struct tracked_processes *processes, const struct live_roots *roots,
                      uint32_t number) {
    const struct live_process_key *key = &processes->items[number].key;
    struct proc_process found;
    uint32_t kin;
    find(processes, key, &kin);
    if (kin != UINT32_MAX && kin > number)
        return true; /* it runs another program now */
    return key->pid && (!proc_process_read(roots, key->pid, &found) ||
                        !proc_same_start(key->start_ns, found.start_ns));
}

void tracked_processes_forget(struct tracked_processes *processes, const struct live_roots *roots) {
    struct names names = {0};
    struct kept_names {
        const char *executable, *cgroup, *dump;
    } *kept_names = malloc((processes->count + 1) * sizeof *kept_names);
    bool good = kept_names;
    for (size_t i = 0; good && i < processes->count; i++) {
        struct tracked_process *process = &processes->items[i];
        process->sought = false;
        process->gone = has_ended(processes, roots, (uint32_t)i) ? process->gone + 1 : 0;
        if (process->gone < 2)
            good = (kept_names[i].executable = names_add(&names, process->executable)) &&
                   (kept_names[i].cgroup = names_add(&names, process->cgroup)) &&
                   (kept_names[i].dump = names_add(&names, process->dump));
    }
    struct hash_index index = {0};
    if (!good || !hash_index_reserve(&index, processes->count)) {
        free(kept_names);
        names_free(&names);
        return;
    }
    size_t kept = 0;
    for (size_t i = 0; i < processes->count; i++)
        if (processes->items[i].gone < 2) {
            processes->items[i].executable = kept_names[i].executable;
            processes->items[i].cgroup = kept_names[i].cgroup;
            processes->items[i].dump = kept_names[i].dump;
            processes->items[kept++] = processes->items[i];
        }
    free(kept_names);
    processes->count = kept;
    names_free(&processes->names);
    processes->names = names;
    hash_index_free(&processes->index);
    processes->index = index;
    for (size_t i = 0; i < kept; i++)
        hash_index_add(&processes->index, hash_number(processes->items[i].key.pid), (uint32_t)i);
}

size_t tracked_processes_bytes(const struct tracked_processes *processes) {
    return processes->capacity * sizeof *processes->items + hash_index_bytes(&processes->index) +
           processes->names.bytes;
}
