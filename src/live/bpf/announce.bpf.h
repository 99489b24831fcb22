/* What is told once of a process and of a file: name and parent; path and build id. Everything that
 * can be learned of a short-lived process only while it runs. */
#pragma once

#include "kernel_types.h"
#include "table.h"

enum { ANNOUNCEMENT_BYTES = 1 << 20, WAKE_BYTES = 4096 };

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, ANNOUNCEMENT_BYTES);
} announcements SEC(".maps");

/* Holds a byte when the collector should drain: its descriptor is what is polled. */
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, WAKE_BYTES);
} wake SEC(".maps");

union announcement {
    struct announced_file file;
    struct announced_process process;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, union announcement);
} room SEC(".maps");

static __always_inline void wake_collector(void) {
    char byte = 0;
    if (!bpf_ringbuf_query(&wake, BPF_RB_AVAIL_DATA))
        bpf_ringbuf_output(&wake, &byte, sizeof byte, BPF_RB_FORCE_WAKEUP);
}

static __always_inline bool announce(void *data, __u64 size) {
    bool good = !bpf_ringbuf_output(&announcements, data, size, BPF_RB_NO_WAKEUP);
    if (bpf_ringbuf_query(&announcements, BPF_RB_AVAIL_DATA) > ANNOUNCEMENT_BYTES / 2)
        wake_collector();
    return good;
}

/* ---- the path: from the file's name up, crossing from the root of a file system to where it is
 * mounted, until the root of the process ---- */

struct path_walk {
    char *names;
    struct dentry *dentry, *root;
    struct mount *mount, *root_mount;
    __u32 size;
    __u32 done;
};

static __always_inline struct mount *mount_of(struct vfsmount *mounted) {
    return (void *)mounted - bpf_core_field_offset(struct mount, mnt);
}

static long walk_name(__u32 index, struct path_walk *walk) {
    struct dentry *dentry = walk->dentry;
    struct mount *mount = walk->mount;
    (void)index;
    if (dentry == walk->root && mount == walk->root_mount)
        goto done;
    if (dentry == BPF_CORE_READ(mount, mnt.mnt_root)) {
        struct mount *parent = BPF_CORE_READ(mount, mnt_parent);
        if (parent == mount)
            goto done;
        walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
        walk->mount = parent;
        return 0;
    }
    __u32 at = walk->size;
    if (at > PATH_NAMES_BYTES - PATH_NAME_BYTES)
        return 1; /* too long */
    long size = bpf_probe_read_kernel_str(walk->names + at, PATH_NAME_BYTES,
                                          BPF_CORE_READ(dentry, d_name.name));
    if (size <= 1)
        return 1;
    walk->size = at + size;
    walk->dentry = BPF_CORE_READ(dentry, d_parent);
    if (walk->dentry != dentry)
        return 0;
    /* A file that lies in no folder: memory with a name. */
done:
    walk->done = 1;
    return 1;
}

extern int LINUX_KERNEL_VERSION __kconfig;
enum { FILE_MODE_UNCOUNTED = 1 << 29 }; /* of files that the kernel opens for itself */

static __always_inline bool is_backing(struct file *file) {
    __u32 mode = BPF_CORE_READ(file, f_mode);
    /* The bit moved in Linux 6.14. */
    __u32 backing = LINUX_KERNEL_VERSION >= (6 << 16 | 14 << 8) ? 1 << 24 : 1 << 25;
    return bpf_core_field_exists(struct backing_file, user_path) && mode & backing &&
           mode & FILE_MODE_UNCOUNTED;
}

/* The path that the process opened: of a file in an overlay not that of what lies behind. */
static __always_inline void path_of(struct file *file, struct path *path) {
    if (is_backing(file)) {
        struct backing_file *backing = (void *)file;
        path->mnt = BPF_CORE_READ(backing, user_path.mnt);
        path->dentry = BPF_CORE_READ(backing, user_path.dentry);
    } else {
        path->mnt = BPF_CORE_READ(file, f_path.mnt);
        path->dentry = BPF_CORE_READ(file, f_path.dentry);
    }
}

/* Returns the bytes of names, of which there is room for PATH_NAMES_BYTES; 0: they are not all. */
static __always_inline __u32 read_path(struct task_struct *task, struct path *path, char *names) {
    struct fs_struct *files = BPF_CORE_READ(task, fs);
    struct path_walk walk = {.names = names,
                             .dentry = path->dentry,
                             .mount = mount_of(path->mnt),
                             .root = BPF_CORE_READ(files, root.dentry),
                             .root_mount = mount_of(BPF_CORE_READ(files, root.mnt))};
    bpf_loop(PATH_NAMES_MAX, walk_name, &walk, 0);
    return walk.done && walk.size <= PATH_NAMES_BYTES ? walk.size : 0;
}

/* From the notes in the file's first page, if that is in memory. */
static __always_inline void read_build_id(void *context, struct announced_file *record) {
    struct bpf_stack_build_id frame = {};
    long size =
        bpf_get_stack(context, &frame, sizeof frame, BPF_F_USER_STACK | BPF_F_USER_BUILD_ID);
    record->build_id_size = 0;
    if (size == sizeof frame && frame.status == BPF_STACK_BUILD_ID_VALID) {
        __builtin_memcpy(record->build_id, frame.build_id, sizeof record->build_id);
        record->build_id_size = sizeof record->build_id;
    }
}

static __always_inline bool announce_file(void *context, struct task_struct *task,
                                          struct path *path, const struct table_place *place) {
    __u32 zero = 0;
    struct announced_file *record = bpf_map_lookup_elem(&room, &zero);
    if (!record)
        return false;
    record->type = ANNOUNCE_FILE;
    record->pid = place->pid;
    record->inode = place->inode;
    record->device = place->device;
    record->generation = place->generation;
    read_build_id(context, record);
    __u32 size = read_path(task, path, record->names);
    record->path_size = size;
    return announce(record, __builtin_offsetof(struct announced_file, names) + size);
}

/* What the process runs; NULL: nothing. */
static __always_inline struct file *executable_of(struct task_struct *task) {
    struct mm_struct *space = BPF_CORE_READ(task, mm);
    return space ? BPF_CORE_READ(space, exe_file) : NULL;
}

/* In the middle of an exec the file is the new one already, then the name, too, and the count of
 * execs still that which it was forked with. */
static __always_inline bool in_exec(struct task_struct *task, struct file *file) {
    struct task_struct *parent = BPF_CORE_READ(task, real_parent);
    struct mm_struct *parents = BPF_CORE_READ(parent, mm);
    return file && parents && BPF_CORE_READ(parent, self_exec_id) == task->self_exec_id &&
           BPF_CORE_READ(parents, exe_file) != file;
}

/* The program is told while it runs: of a process that soon ends nobody finds it later. */
static __always_inline bool announce_process(struct task_struct *task,
                                             const struct table_place *place) {
    __u32 zero = 0;
    struct announced_process *record = bpf_map_lookup_elem(&room, &zero);
    if (!record)
        return false;
    record->type = ANNOUNCE_PROCESS;
    record->pid = place->pid;
    record->exec = place->exec;
    record->parent = BPF_CORE_READ(task, real_parent, tgid);
    record->start_ns = place->start_ns;
    struct task_struct *leader = BPF_CORE_READ(task, group_leader);
    bpf_probe_read_kernel_str(record->command, sizeof record->command, leader->comm);
    __u32 size = 0;
    struct file *file = executable_of(task);
    record->in_exec = in_exec(task, file);
    if (file && !record->in_exec) {
        struct path path = {};
        path_of(file, &path);
        size = read_path(task, &path, record->names);
    }
    record->path_size = size;
    return announce(record, __builtin_offsetof(struct announced_process, names) + size);
}
