/* Paths are put together in buffers of PATH_MAX; what does not fit is not there. */
#include "live/proc_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "util/file_name.h"

static const char DELETED[] = " (deleted)";

static bool path_of(char path[PATH_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool path_of(char path[PATH_MAX], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(path, PATH_MAX, format, arguments);
    va_end(arguments);
    return length > 0 && length < PATH_MAX;
}

/* True when there was such an ending. */
static bool drop_deleted(char *path) {
    size_t length = strlen(path), ending = sizeof DELETED - 1;
    if (length <= ending || strcmp(path + length - ending, DELETED) != 0)
        return false;
    path[length - ending] = 0;
    return true;
}

static bool read_text(const char *path, char *text, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t got = read(file, text, size - 1);
    close(file);
    text[got > 0 ? got : 0] = 0;
    return got > 0;
}

/* "PID (COMMAND) STATE PPID ...": the command may hold anything, so its end is the last bracket. */
static bool parse_stat(const char *text, struct proc_process *process) {
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open)
        return false;
    size_t length = (size_t)(close - open - 1);
    if (length >= sizeof process->command)
        length = sizeof process->command - 1;
    memcpy(process->command, open + 1, length);
    process->command[length] = 0;
    /* Fields from the third on: state, parent (4), flags (9), start (22). */
    unsigned long long start, flags;
    if (sscanf(close + 1,
               " %*c %" SCNu32 " %*s %*s %*s %*s %llu %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
               "%*s %*s %llu",
               &process->parent, &flags, &start) != 3)
        return false;
    const unsigned long long kernel_thread = 0x00200000; /* PF_KTHREAD */
    process->kernel_thread = flags & kernel_thread;
    uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    return !__builtin_mul_overflow((uint64_t)start, tick_ns, &process->start_ns);
}

static void parse_status(const char *text, struct proc_process *process) {
    unsigned user;
    const char *line = strstr(text, "\nUid:");
    if (line && sscanf(line + 5, "%*u %u", &user) == 1)
        process->user = user;
    line = strstr(text, "\nNSpid:");
    if (!line)
        return;
    const char *end = strchr(line + 1, '\n');
    const char *last = line + 7;
    for (const char *at = last; at < (end ? end : at + strlen(at)) && *at; at++)
        if (isspace((unsigned char)at[0]) && isdigit((unsigned char)at[1]))
            last = at + 1;
    process->inner_pid = (uint32_t)strtoul(last, NULL, 10);
}

/* Lines "HIERARCHY:CONTROLLERS:PATH"; "0::PATH" of version 2. */
void proc_cgroup_read(const struct live_roots *roots, uint32_t pid, char cgroup[PATH_MAX]) {
    char path[PATH_MAX], text[PATH_MAX], *rest = text;
    cgroup[0] = 0;
    if (!path_of(path, "%s/%" PRIu32 "/cgroup", roots->proc, pid) ||
        !read_text(path, text, sizeof text))
        return;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        char *controllers = strchr(line, ':');
        const char *found = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!found || found[1] != '/' || (found[2] == 0 && cgroup[0]))
            continue;
        const bool second = !strncmp(line, "0::", 3);
        if (!cgroup[0] || !cgroup[1] || second)
            snprintf(cgroup, PATH_MAX, "%s", found + 1);
    }
}

bool proc_process_read(const struct live_roots *roots, uint32_t pid, struct proc_process *process) {
    char path[PATH_MAX], text[4096];
    memset(process, 0, offsetof(struct proc_process, executable));
    process->executable[0] = 0;
    process->inner_pid = pid;
    process->user = (uid_t)-1;
    if (!path_of(path, "%s/%" PRIu32 "/stat", roots->proc, pid) ||
        !read_text(path, text, sizeof text) || !parse_stat(text, process))
        return false;
    if (path_of(path, "%s/%" PRIu32 "/status", roots->proc, pid) &&
        read_text(path, text, sizeof text))
        parse_status(text, process);
    ssize_t length = -1;
    if (path_of(path, "%s/%" PRIu32 "/exe", roots->proc, pid))
        length = readlink(path, process->executable, PATH_MAX - 1);
    process->executable[length > 0 ? length : 0] = 0;
    drop_deleted(process->executable);
    return true;
}

bool proc_mapping_parse(const char *line, struct proc_mapping *mapping) {
    char rights[5];
    unsigned major_number, minor_number;
    int name = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
               &mapping->start, &mapping->end, rights, &mapping->offset, &major_number,
               &minor_number, &mapping->inode, &name) != 7 ||
        mapping->start >= mapping->end)
        return false;
    mapping->executable = strlen(rights) == 4 && rights[2] == 'x';
    mapping->device = (uint64_t)major_number << 32 | minor_number;
    const char *path = line + name;
    size_t length = strcspn(path, "\n");
    if (length >= PATH_MAX)
        length = 0;
    memcpy(mapping->path, path, length);
    mapping->path[length] = 0;
    file_name_from_maps(mapping->path);
    mapping->deleted = mapping->inode && drop_deleted(mapping->path);
    return true;
}

bool proc_each_mapping(const struct live_roots *roots, uint32_t pid, proc_mapping_visitor *visit,
                       void *context) {
    char path[PATH_MAX];
    FILE *file = path_of(path, "%s/%" PRIu32 "/maps", roots->proc, pid) ? fopen(path, "re") : NULL;
    if (!file)
        return false;
    char *line = NULL;
    size_t size = 0;
    struct proc_mapping mapping;
    while (getline(&line, &size, file) > 0)
        if (proc_mapping_parse(line, &mapping) && !visit(context, &mapping))
            break;
    free(line);
    fclose(file);
    return true;
}

bool proc_each_pid(const struct live_roots *roots, proc_pid_visitor *visit, void *context) {
    DIR *folder = opendir(roots->proc);
    if (!folder)
        return false;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char *end;
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        errno = 0;
        unsigned long pid = strtoul(entry->d_name, &end, 10);
        if (!*end && !errno && pid && pid <= INT32_MAX && !visit(context, (uint32_t)pid))
            break;
    }
    closedir(folder);
    return true;
}

/* Never opens a device or pipe, which could block or do something. */
static int open_regular(const char *path, struct stat *status) {
    struct stat opened;
    if (stat(path, status) != 0 || !S_ISREG(status->st_mode))
        return -1;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 || (fstat(file, &opened) == 0 && opened.st_ino == status->st_ino &&
                     opened.st_dev == status->st_dev))
        return file;
    close(file);
    status->st_ino = 0; /* replaced meanwhile */
    return -1;
}

static bool same_inode(const struct stat *status, const struct live_file_key *key, bool strict) {
    uint64_t device = (uint64_t)major(status->st_dev) << 32 | minor(status->st_dev);
    return status->st_ino && status->st_ino == key->inode && (!strict || device == key->device);
}

static bool same_build_id(int file, const struct build_id *wanted) {
    struct build_id found;
    return file >= 0 && build_id_of_file(file, &found) && found.size == wanted->size &&
           !memcmp(found.bytes, wanted->bytes, wanted->size);
}

static bool is_same(const char *path, const struct live_file_key *key,
                    const struct build_id *build_id, bool strict, int *file) {
    struct stat status = {0};
    *file = open_regular(path, &status);
    if (key->device == LIVE_DEVICE_NONE ? same_build_id(*file, build_id)
                                        : same_inode(&status, key, strict))
        return true;
    if (*file >= 0)
        close(*file);
    *file = -1;
    return false;
}

bool proc_find_file(const struct live_roots *roots, uint32_t pid, const char *path,
                    const struct live_file_key *key, const struct build_id *build_id,
                    char root[PROC_ROOT_BYTES], int *file) {
    char own[PATH_MAX], theirs[PATH_MAX];
    root[0] = 0;
    *file = -1;
    if (path[0] != '/')
        return false;
    bool has_own = path_of(own, "%s%s", roots->files, path);
    bool has_theirs = path_of(theirs, "%s/%" PRIu32 "/root%s", roots->proc, pid, path);
    /* On file systems that show another device number to stat than to the memory manager (overlays,
     * btrfs) the file's number must do, once nothing fits better. */
    for (int strict = 1; strict >= 0; strict--) {
        if (has_own && is_same(own, key, build_id, strict, file))
            return true;
        if (has_theirs && is_same(theirs, key, build_id, strict, file)) {
            snprintf(root, PROC_ROOT_BYTES, "/proc/%" PRIu32 "/root", pid);
            return true;
        }
    }
    return false;
}

struct range {
    const char *path;
    const struct live_file_key *key;
    uint64_t start, end; /* 0: not found */
    uint64_t inode;
};

static bool find_range(void *context, const struct proc_mapping *mapping) {
    struct range *range = context;
    if (range->key->device == LIVE_DEVICE_NONE
            ? !mapping->executable || strcmp(mapping->path, range->path) != 0
            : mapping->inode != range->key->inode || mapping->device != range->key->device)
        return true;
    range->start = mapping->start;
    range->end = mapping->end;
    range->inode = mapping->inode;
    return false;
}

int proc_open_mapped(const struct live_roots *roots, uint32_t pid, const char *path,
                     const struct live_file_key *key, const struct build_id *build_id) {
    char mapped[PATH_MAX];
    struct range range = {.path = path, .key = key};
    struct stat found;
    if (!proc_each_mapping(roots, pid, find_range, &range) || !range.end ||
        !path_of(mapped, "%s/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, roots->proc, pid,
                 range.start, range.end) ||
        stat(mapped, &found) != 0 || !S_ISREG(found.st_mode) || found.st_ino != range.inode)
        return -1;
    int file = open(mapped, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 || key->device != LIVE_DEVICE_NONE || same_build_id(file, build_id))
        return file;
    close(file);
    return -1;
}
