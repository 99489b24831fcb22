/* Debian lists the files of each installed package in /var/lib/dpkg/info/PACKAGE.list: they are
 * searched for the paths, each as it is and with /usr taken away or put before it (a file that
 * moved when /bin became /usr/bin is still listed under its old name). Fedora and SUSE keep a
 * database instead: there the shell asks rpm when the command is used. */
#include "program/symbol_package.h"

#include <dirent.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/array.h"
#include "util/file_name.h"

enum { LINE_BYTES = PATH_MAX + 2, NAME_BYTES = 256 };

struct owner { /* the package of a file */
    const char *path;
    char package[NAME_BYTES]; /* "" : none */
};

static FILE *open_below(const struct symbol_system *system, const char *path) {
    char full[PATH_MAX];
    if (snprintf(full, sizeof full, "%s%s", system->root, path) >= (int)sizeof full)
        return NULL;
    return fopen(full, "re");
}

static bool exists_below(const struct symbol_system *system, const char *path) {
    char full[PATH_MAX];
    return snprintf(full, sizeof full, "%s%s", system->root, path) < (int)sizeof full &&
           access(full, R_OK) == 0;
}

struct symbol_system symbol_system_here(void) {
    return (struct symbol_system){.root = ""};
}

/* ---- the distribution ---- */

struct distribution {
    char id[NAME_BYTES], like[NAME_BYTES], codename[NAME_BYTES];
};

/* Takes a value of os-release, without its quotes, if the line has the key. Only plain names are
 * taken, since it becomes a part of a command. */
static void take_value(const char *line, const char *key, char value[NAME_BYTES]) {
    size_t length = strlen(key);
    if (strncmp(line, key, length) || line[length] != '=')
        return;
    const char *from = line + length + 1;
    size_t used = 0;
    for (; *from && *from != '\n' && used < NAME_BYTES - 1; from++)
        if (*from != '"' && *from != '\'')
            value[used++] = *from;
    value[used] = 0;
    if (strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._- ") != used)
        value[0] = 0;
}

static void read_distribution(const struct symbol_system *system,
                              struct distribution *distribution) {
    char line[LINE_BYTES];
    *distribution = (struct distribution){0};
    FILE *file = open_below(system, "/etc/os-release");
    if (!file)
        file = open_below(system, "/usr/lib/os-release");
    while (file && fgets(line, sizeof line, file)) {
        take_value(line, "ID", distribution->id);
        take_value(line, "ID_LIKE", distribution->like);
        take_value(line, "VERSION_CODENAME", distribution->codename);
    }
    if (file)
        fclose(file);
}

static bool is_or_is_like(const struct distribution *distribution, const char *name) {
    return strstr(distribution->id, name) || strstr(distribution->like, name);
}

/* ---- Debian: whose file it is ---- */

static const char *without_usr(const char *path) {
    return strncmp(path, "/usr/", 5) ? path : path + 4;
}

/* Marks the files that the package of this list has. */
static void search_list(FILE *list, const char *package, size_t package_length,
                        struct owner *owners, size_t count) {
    char line[LINE_BYTES];
    while (fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = 0;
        for (size_t i = 0; i < count; i++)
            if (!owners[i].package[0] && !strcmp(without_usr(line), without_usr(owners[i].path)))
                snprintf(owners[i].package, NAME_BYTES, "%.*s", (int)package_length, package);
    }
}

/* Package names are lower case letters, digits, and + - . (Debian Policy 5.6.7). */
static bool is_package_name(const char *name, size_t length) {
    return length && length < NAME_BYTES && name[0] != '-' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789+-.") >= length;
}

static void find_owners(const struct symbol_system *system, struct owner *owners, size_t count) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/var/lib/dpkg/info", system->root);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        const char *end = strrchr(entry->d_name, '.');
        size_t length = strcspn(entry->d_name, ":");
        if (!end || strcmp(end, ".list"))
            continue;
        if (length > (size_t)(end - entry->d_name))
            length = (size_t)(end - entry->d_name);
        snprintf(path, sizeof path, "/var/lib/dpkg/info/%s", entry->d_name);
        FILE *list = is_package_name(entry->d_name, length) ? open_below(system, path) : NULL;
        if (!list)
            continue;
        search_list(list, entry->d_name, length, owners, count);
        fclose(list);
    }
    if (directory)
        closedir(directory);
}

/* ---- Debian: where its symbols are ---- */

/* The package that has the symbols of another. Sources older than the automatic PACKAGE-dbgsym
 * still make their own, which are in the main archive. */
static void symbol_package(const char *package, char name[2 * NAME_BYTES]) {
    unsigned minor;
    if (!strcmp(package, "libc6") || !strcmp(package, "libc-bin"))
        snprintf(name, 2 * NAME_BYTES, "libc6-dbg");
    else if (sscanf(package, "python3.%u", &minor) == 1 ||
             sscanf(package, "libpython3.%u", &minor) == 1)
        snprintf(name, 2 * NAME_BYTES, "python3.%u-dbg", minor);
    else
        snprintf(name, 2 * NAME_BYTES, "%s-dbgsym", package);
}

static bool is_automatic(const char *name) {
    size_t length = strlen(name);
    return length > 7 && !strcmp(name + length - 7, "-dbgsym");
}

static bool is_installed(const struct symbol_system *system, const char *name) {
    static const char *const patterns[] = {"/var/lib/dpkg/info/%s.list",
                                           "/var/lib/dpkg/info/%s:amd64.list"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, patterns[i], name);
        if (exists_below(system, path))
            return true;
    }
    return false;
}

/* Whether a list of apt's sources names an archive of debug symbols: Debian's is debian-debug, with
 * suites that end in -debug, Ubuntu's is ddebs. */
static bool names_debug_archive(FILE *list) {
    char line[LINE_BYTES];
    bool found = false, enabled = true;
    while (fgets(line, sizeof line, list)) {
        const char *text = line + strspn(line, " \t");
        if (*text == '#')
            continue;
        if (*text == '\n')
            enabled = true; /* the next stanza */
        if (!strncasecmp(text, "Enabled:", 8))
            enabled = !strstr(text, "no");
        found |= enabled && (strstr(text, "debian-debug") || strstr(text, "-debug ") ||
                             strstr(text, "-debug\n") || strstr(text, "//ddebs."));
    }
    return found;
}

static bool has_debug_archive(const struct symbol_system *system) {
    char path[PATH_MAX];
    FILE *list = open_below(system, "/etc/apt/sources.list");
    bool found = list && names_debug_archive(list);
    if (list)
        fclose(list);
    snprintf(path, sizeof path, "%s/etc/apt/sources.list.d", system->root);
    DIR *directory = opendir(path);
    for (struct dirent *entry; !found && directory && (entry = readdir(directory));) {
        const char *end = strrchr(entry->d_name, '.');
        if (!end || (strcmp(end, ".list") && strcmp(end, ".sources")))
            continue;
        snprintf(path, sizeof path, "/etc/apt/sources.list.d/%s", entry->d_name);
        if (!(list = open_below(system, path)))
            continue;
        found = names_debug_archive(list);
        fclose(list);
    }
    if (directory)
        closedir(directory);
    return found;
}

/* Appends the command that adds the archive of debug symbols, and the operator that joins it to the
 * next command. */
static void add_archive(const struct symbol_system *system, const struct distribution *distribution,
                        FILE *out) {
    static const char keyring[] = "/usr/share/keyrings/debian-archive-keyring.gpg";
    char trusted[PATH_MAX];
    glob_t found;
    if (!strcmp(distribution->id, "ubuntu")) {
        fprintf(out,
                "sudo apt install ubuntu-dbgsym-keyring && echo deb http://ddebs.ubuntu.com %s "
                "main universe | sudo tee /etc/apt/sources.list.d/debug.list && sudo apt update "
                "&& ",
                distribution->codename);
        return;
    }
    snprintf(trusted, sizeof trusted, "%s/etc/apt/trusted.gpg.d/debian-archive-*", system->root);
    bool is_trusted = glob(trusted, 0, NULL, &found) == 0;
    globfree(&found);
    fputs("echo deb ", out);
    if (!is_trusted && exists_below(system, keyring))
        fprintf(out, "\\[signed-by=%s\\] ", keyring);
    fprintf(out,
            "http://deb.debian.org/debian-debug %s-debug main | sudo tee "
            "/etc/apt/sources.list.d/debug.list && sudo apt update && ",
            distribution->codename[0] ? distribution->codename : "unstable");
}

/* ---- lists of words ---- */

struct text {
    char *start;
    size_t size;
    FILE *file;
    size_t count; /* words */
};

static bool text_begin(struct text *text) {
    *text = (struct text){0};
    return (text->file = open_memstream(&text->start, &text->size));
}

static void text_word(struct text *text, const char *separator, const char *word) {
    fprintf(text->file, "%s%s", text->count++ ? separator : "", word);
}

/* The text, or NULL when it has no word. */
static bool text_end(struct text *text, char **result) {
    bool good = !text->file || fclose(text->file) == 0;
    if (good && text->count) {
        *result = text->start;
        return true;
    }
    free(text->start);
    return good;
}

/* ---- commands ---- */

static void put_quoted(FILE *file, const char *path) {
    if (strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+/@:,") ==
        strlen(path)) {
        fputs(path, file);
        return;
    }
    fputc('\'', file);
    for (; *path; path++)
        if (*path == '\'')
            fputs("'\\''", file);
        else
            fputc(*path, file);
    fputc('\'', file);
}

static bool named_before(const struct owner *owners, size_t index) {
    return any_where(i, index, !strcmp(owners[i].package, owners[index].package));
}

static void advise_debian(const struct symbol_system *system,
                          const struct distribution *distribution, const struct owner *owners,
                          size_t count, struct text *command, struct text *unowned,
                          struct text *present) {
    bool automatic = false;
    struct {
        char name[2 * NAME_BYTES];
    } *wanted = calloc(count, sizeof *wanted);
    size_t wanted_count = 0;
    for (size_t i = 0; wanted && i < count; i++) {
        char name[2 * NAME_BYTES];
        bool known = false;
        if (!owners[i].package[0])
            text_word(unowned, ", ", file_base_name(owners[i].path));
        if (!owners[i].package[0] || named_before(owners, i))
            continue;
        symbol_package(owners[i].package, name);
        for (size_t k = 0; k < wanted_count; k++)
            known |= !strcmp(wanted[k].name, name);
        if (is_installed(system, name))
            text_word(present, ", ", name);
        else if (!known)
            automatic |= is_automatic(strcpy(wanted[wanted_count++].name, name));
    }
    if (wanted_count && automatic && !has_debug_archive(system))
        add_archive(system, distribution, command->file);
    for (size_t i = 0; i < wanted_count; i++) {
        if (i == 0)
            fputs("sudo apt install ", command->file);
        text_word(command, " ", wanted[i].name);
    }
    free(wanted);
}

/* `before` and `after` stand around the paths, whose packages the shell asks for. */
static void advise_rpm(const char *before, const char *after, const char *const *paths,
                       size_t count, struct text *command) {
    text_word(command, "", before);
    for (size_t i = 0; i < count; i++) {
        fputc(' ', command->file);
        put_quoted(command->file, paths[i]);
    }
    fputs(after, command->file);
}

static bool advise(const struct symbol_system *system, const char *const *paths, size_t count,
                   struct text *command, struct text *unowned, struct text *present) {
    struct distribution distribution;
    read_distribution(system, &distribution);
    if (exists_below(system, "/var/lib/dpkg/info")) {
        struct owner *owners = calloc(count, sizeof *owners);
        if (!owners)
            return false;
        for (size_t i = 0; i < count; i++)
            owners[i].path = paths[i];
        find_owners(system, owners, count);
        advise_debian(system, &distribution, owners, count, command, unowned, present);
        free(owners);
    } else if (is_or_is_like(&distribution, "suse")) {
        advise_rpm("sudo zypper --plus-content debug install $(rpm -qf --qf '%{NAME}-debuginfo '",
                   ")", paths, count, command);
    } else if (is_or_is_like(&distribution, "fedora") || is_or_is_like(&distribution, "rhel")) {
        advise_rpm("sudo dnf debuginfo-install $(rpm -qf", ")", paths, count, command);
    }
    return true;
}

bool symbol_advice_find(const struct symbol_system *system, const char *const *paths, size_t count,
                        struct symbol_advice *advice) {
    struct text command, unowned, present;
    *advice = (struct symbol_advice){0};
    bool good = text_begin(&command);
    good &= text_begin(&unowned);
    good &= text_begin(&present);
    good = good && (!count || advise(system, paths, count, &command, &unowned, &present));
    good &= text_end(&command, &advice->command);
    good &= text_end(&unowned, &advice->unowned);
    good &= text_end(&present, &advice->present);
    return good;
}

void symbol_advice_free(struct symbol_advice *advice) {
    free(advice->command);
    free(advice->unowned);
    free(advice->present);
    *advice = (struct symbol_advice){0};
}
