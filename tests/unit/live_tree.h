/* A machine made of files, for tests of what reads /proc and /sys. */
#pragma once

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "live/proc_files.h"

struct live_tree {
    char root[64];
    char proc[80], sys[80], files[80];
    struct live_roots roots;
};

static inline void live_tree_make(struct live_tree *tree) {
    snprintf(tree->root, sizeof tree->root, "/tmp/culprit-tree-XXXXXX");
    if (!mkdtemp(tree->root))
        abort();
    snprintf(tree->proc, sizeof tree->proc, "%s/proc", tree->root);
    snprintf(tree->sys, sizeof tree->sys, "%s/sys", tree->root);
    snprintf(tree->files, sizeof tree->files, "%s/files", tree->root);
    mkdir(tree->proc, 0755);
    tree->roots = (struct live_roots){tree->proc, tree->sys, tree->files};
}

/* Its path in a buffer that the next call but three overwrites; its folders are made. */
static inline const char *live_tree_path(const struct live_tree *tree, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline const char *live_tree_path(const struct live_tree *tree, const char *format, ...) {
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];
    int length = snprintf(path, PATH_MAX, "%s/", tree->root);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path + length, PATH_MAX - (size_t)length, format, arguments);
    va_end(arguments);
    for (char *slash = path + length; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(path, 0755);
        *slash = '/';
    }
    return path;
}

static inline void live_tree_write(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "w");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static inline void live_tree_text(const char *path, const char *text) {
    live_tree_write(path, text, strlen(text));
}

/* A process that runs /usr/bin/COMMAND as this user; it started that many ticks after boot. */
static inline void live_tree_process(const struct live_tree *tree, uint32_t pid, uint32_t parent,
                                     const char *command, unsigned ticks, const char *maps) {
    char text[512];
    snprintf(text, sizeof text, "%u (%s) S %u 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 %u 0 0 0\n",
             pid, command, parent, ticks);
    live_tree_text(live_tree_path(tree, "proc/%u/stat", pid), text);
    snprintf(text, sizeof text, "Name:\t%s\nUid:\t%u\t%u\t0\t0\nNSpid:\t%u\t7\n", command, getuid(),
             getuid(), pid);
    live_tree_text(live_tree_path(tree, "proc/%u/status", pid), text);
    live_tree_text(live_tree_path(tree, "proc/%u/maps", pid), maps);
    snprintf(text, sizeof text, "/usr/bin/%s", command);
    if (symlink(text, live_tree_path(tree, "proc/%u/exe", pid)) != 0)
        abort();
}

static inline int live_tree_remove_one(const char *path, const struct stat *status, int type,
                                       struct FTW *where) {
    (void)status, (void)type, (void)where;
    return remove(path);
}
static inline void live_tree_remove(const char *path) {
    nftw(path, live_tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The smallest ELF file with a build id of four bytes. */
static inline void live_tree_elf(const char *path, const char id[5]) {
    struct {
        Elf64_Ehdr header;
        Elf64_Phdr segment;
        Elf64_Nhdr note;
        char name[4], id[4];
    } elf = {.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                        .e_phoff = sizeof(Elf64_Ehdr),
                        .e_phentsize = sizeof(Elf64_Phdr),
                        .e_phnum = 1},
             .segment = {.p_type = PT_NOTE,
                         .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
                         .p_filesz = sizeof(Elf64_Nhdr) + 8},
             .note = {.n_namesz = 4, .n_descsz = 4, .n_type = NT_GNU_BUILD_ID},
             .name = "GNU"};
    memcpy(elf.id, id, 4);
    live_tree_write(path, &elf, sizeof elf);
}

static inline struct live_file_key live_tree_key(const char *path) {
    struct stat found;
    if (stat(path, &found) != 0)
        abort();
    return (struct live_file_key){
        .device = (uint64_t)major(found.st_dev) << 32 | minor(found.st_dev), .inode = found.st_ino};
}
