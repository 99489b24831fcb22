/* The few members of the kernel's structures that the BPF program reads. Their offsets, sizes and
 * presence are filled in from the running kernel's BTF when the program is loaded. */
#pragma once

#include <linux/types.h>

#define KERNEL_TYPE __attribute__((preserve_access_index))

struct inode;
struct file;
struct mm_struct;
struct vfsmount;

struct qstr {
    const unsigned char *name;
} KERNEL_TYPE;

struct dentry {
    struct dentry *d_parent;
    struct qstr d_name;
    struct inode *d_inode;
} KERNEL_TYPE;

struct path {
    struct vfsmount *mnt;
    struct dentry *dentry;
} KERNEL_TYPE;

struct vfsmount {
    struct dentry *mnt_root;
} KERNEL_TYPE;

struct mount {
    struct mount *mnt_parent;
    struct dentry *mnt_mountpoint;
    struct vfsmount mnt;
} KERNEL_TYPE;

struct super_block {
    __u32 s_dev;
} KERNEL_TYPE;

struct inode {
    struct super_block *i_sb;
    unsigned long i_ino;
    __u32 i_generation;
} KERNEL_TYPE;

struct file {
    struct inode *f_inode;
    struct path f_path;
    unsigned int f_mode;
} KERNEL_TYPE;

/* What stands behind a file of an overlay file system, since Linux 6.8. */
struct backing_file {
    struct path user_path;
} KERNEL_TYPE;

struct vm_area_struct {
    unsigned long vm_start;
    unsigned long vm_end;
    struct mm_struct *vm_mm;
    unsigned long vm_pgoff;
    struct file *vm_file;
} KERNEL_TYPE;

enum maple_type { maple_dense, maple_leaf_64, maple_range_64, maple_arange_64 };

struct maple_range_64 {
    unsigned long pivot[15];
    void *slot[16];
} KERNEL_TYPE;

struct maple_arange_64 {
    unsigned long pivot[9];
    void *slot[10];
} KERNEL_TYPE;

struct maple_tree {
    void *ma_root;
} KERNEL_TYPE;

typedef struct {
    void *vdso;
} KERNEL_TYPE mm_context_t;

struct mm_struct {
    struct maple_tree mm_mt;
    unsigned long exec_vm; /* pages mapped executable */
    struct file *exe_file;
    mm_context_t context;
} KERNEL_TYPE;

/* Counts changes of the mappings: since Linux 6.4 an integer, since 6.14 a sequence counter, which
 * is odd during a change. */
struct mm_struct___number {
    int mm_lock_seq;
} KERNEL_TYPE;

struct seqcount {
    unsigned int sequence;
} KERNEL_TYPE;

struct mm_struct___counter {
    struct seqcount mm_lock_seq;
} KERNEL_TYPE;

struct fs_struct {
    struct path root;
} KERNEL_TYPE;

struct upid {
    int nr;
} KERNEL_TYPE;

struct pid {
    unsigned int level;
    struct upid numbers[1];
} KERNEL_TYPE;

struct task_struct {
    struct mm_struct *mm;
    unsigned int flags;
    struct pid *thread_pid;
    int tgid;
    struct task_struct *real_parent;
    struct task_struct *group_leader;
    __u64 start_boottime;
    char comm[16];
    struct fs_struct *fs;
    __u64 self_exec_id;
} KERNEL_TYPE;

struct perf_event {
    struct perf_event *parent; /* of an inherited one: that which was opened */
    __u64 id;
} KERNEL_TYPE;

struct bpf_perf_event_data_kern {
    struct perf_event *event;
} KERNEL_TYPE;
