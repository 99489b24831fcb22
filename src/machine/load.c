/* A file is read whole (64 KiB at most, regular files only), refused if it has NULs or lines that
 * inih would cut, and given to inih line by line without indentation (which inih would take for a
 * continued value). `base` loads the other machine first, into the same draft. The search for it
 * skips files of the chain, known by device and inode; a base given by a path is relative to the
 * file that names it. */
#include <fcntl.h>
#include <ini.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/draft.h"
#include "machine/find.h"
#include "machine/forms.h"
#include "machine/machine.h"
#include "util/file_name.h"

enum {
    MAX_FILE = 64 << 10,  /* bytes */
    MAX_LINE = 190,       /* bytes; inih's own buffer is 200 */
    KEY_FORMS_SIZE = 151, /* bytes of the value of `forms`, with its end */
    MAX_DEPTH = 8,        /* machines in a chain of bases, the first included */
    MAX_KEYS = 512        /* set in one file */
};

struct file {
    const struct file *derived; /* the file whose base this is, NULL for the first */
    int depth;                  /* in the chain, from 1 */
    struct draft *draft;
    struct error *error;
    const char *path;
    dev_t device;
    ino_t inode;
    char *text;
    size_t size, position;
    int line;                     /* being parsed, from 1 */
    int error_line;               /* 0: no error from a key */
    const void *fields[MAX_KEYS]; /* set so far */
    size_t field_count;
    bool named;
};

static bool load_file(int descriptor, const char *path, const struct file *derived,
                      struct draft *draft, struct error *error);

/* ---- base ---- */

/* Whether a file is the one at hand or one it is a base of. */
static bool in_chain(const struct stat *status, void *context) {
    for (const struct file *file = context; file; file = file->derived)
        if (file->device == status->st_dev && file->inode == status->st_ino)
            return true;
    return false;
}

/* Opens a path relative to the folder of the file that names it. */
static int open_base_path(const struct file *file, const char *folder, const char *name,
                          char path[PATH_MAX]) {
    struct stat status;
    const int length = *name == '/' ? snprintf(path, PATH_MAX, "%s", name)
                                    : snprintf(path, PATH_MAX, "%s/%s", folder, name);
    if (length < 0 || length >= PATH_MAX) {
        error_set(file->error, "the path is too long");
        return -1;
    }
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) {
        error_errno(file->error, "%.200s", path);
    } else if (fstat(descriptor, &status) == 0 && in_chain(&status, (void *)file)) {
        close(descriptor);
        error_set(file->error, "the machine would be its own base");
        return -1;
    }
    return descriptor;
}

/* The folder of the file that is read. */
static const char *folder_of(const struct file *file, char directory[PATH_MAX]) {
    snprintf(directory, PATH_MAX, "%s", file->path);
    char *slash = strrchr(directory, '/');
    if (slash)
        *slash = 0;
    return slash ? directory : ".";
}

static bool load_base(struct file *file, const char *name) {
    if (file->field_count)
        return error_set(file->error, "base = %.60s: must come before every other key", name);
    if (file->depth == MAX_DEPTH)
        return error_set(file->error, "base = %.60s: more than %d machines in a chain of bases",
                         name, MAX_DEPTH);
    char path[PATH_MAX], directory[PATH_MAX];
    const char *beside = folder_of(file, directory);
    int descriptor = machine_is_path(name)
                         ? open_base_path(file, beside, name, path)
                         : find_open(name, beside, in_chain, file, path, sizeof path, file->error);
    if (descriptor < 0)
        return error_prefix(file->error, "base = %.60s", name);
    bool loaded = load_file(descriptor, path, file, file->draft, file->error);
    close(descriptor);
    file->draft->machine.checked[0] = 0; /* another machine was */
    return loaded;
}

/* ---- one file ---- */

/* One line without its indentation, as fgets would give it. */
static char *next_line(char *line, int size, void *context) {
    struct file *file = context;
    if (file->position == file->size)
        return NULL;
    const char *start = file->text + file->position;
    const char *newline = memchr(start, '\n', file->size - file->position);
    size_t length = newline ? (size_t)(newline - start) + 1 : file->size - file->position;
    file->position += length;
    file->line++;
    while (length > 1 && (*start == ' ' || *start == '\t')) {
        start++;
        length--;
    }
    if (length > (size_t)size - 1)
        length = (size_t)size - 1;
    memcpy(line, start, length);
    line[length] = 0;
    return line;
}

static bool set_key(struct file *file, const char *section, const char *name, const char *value) {
    if (!*section && !strcmp(name, "base"))
        return load_base(file, value);
    const void *field;
    char directory[PATH_MAX], table[sizeof file->draft->machine.forms_file];
    if (!*section && !strcmp(name, "forms")) {
        if (!forms_resolve(value, folder_of(file, directory), table, KEY_FORMS_SIZE, file->error))
            return false;
        value = table;
    }
    if (!draft_set(file->draft, section, name, value, &field, file->error))
        return false;
    for (size_t i = 0; i < file->field_count; i++)
        if (file->fields[i] == field)
            return error_set(file->error, "%s%.40s%s%.60s: given twice in this file",
                             *section ? "[" : "", section, *section ? "] " : "", name);
    if (file->field_count == MAX_KEYS)
        return error_set(file->error, "more than %d keys", MAX_KEYS);
    file->fields[file->field_count++] = field;
    file->named |= field == file->draft->machine.name;
    return true;
}

static int handle_key(void *context, const char *section, const char *name, const char *value) {
    struct file *file = context;
    if (file->error_line)
        return 0;
    if (set_key(file, section, name, value))
        return 1;
    file->error_line = file->line;
    return 0;
}

/* Refuses what inih would misread: NULs, lines longer than its buffer. */
static bool check_lines(const struct file *file) {
    int line = 1;
    size_t length = 0;
    for (size_t i = 0; i < file->size; i++) {
        if (!file->text[i])
            return error_set(file->error, "%.200s:%d: not text: it has a zero byte", file->path,
                             line);
        if (++length > MAX_LINE)
            return error_set(file->error, "%.200s:%d: line longer than %d bytes", file->path, line,
                             MAX_LINE);
        if (file->text[i] == '\n') {
            line++;
            length = 0;
        }
    }
    return true;
}

static bool parse(struct file *file) {
    int line = ini_parse_stream(next_line, file, handle_key, file);
    if (!line)
        return true;
    if (line < 0)
        return error_set(file->error, "%.200s: out of memory", file->path);
    if (file->error_line == line)
        return error_prefix(file->error, "%.200s:%d", file->path, line);
    return error_set(file->error, "%.200s:%d: neither [section], key = value nor ; comment",
                     file->path, line);
}

/* Reads the file into `text`, of MAX_FILE + 1 bytes. */
static bool read_text(int descriptor, struct file *file) {
    struct stat status;
    if (fstat(descriptor, &status))
        return error_errno(file->error, "%.200s", file->path);
    if (!S_ISREG(status.st_mode))
        return error_set(file->error, "%.200s: not a regular file", file->path);
    file->device = status.st_dev;
    file->inode = status.st_ino;
    while (file->size <= MAX_FILE) {
        ssize_t got = read(descriptor, file->text + file->size, MAX_FILE + 1 - file->size);
        if (got < 0)
            return error_errno(file->error, "%.200s", file->path);
        if (!got)
            return true;
        file->size += (size_t)got;
    }
    return error_set(file->error, "%.200s: larger than %d KiB, no machine description", file->path,
                     MAX_FILE >> 10);
}

/* The name of a machine whose file gives none: the file's, without directory and .ini. */
static void name_after_file(struct draft *draft, const char *path) {
    const char *stem = file_base_name(path);
    size_t length = strlen(stem);
    if (length > 4 && !strcmp(stem + length - 4, ".ini"))
        length -= 4;
    char name[sizeof draft->machine.name] = "";
    for (size_t i = 0; i < length && i < sizeof name - 1; i++)
        name[i] = stem[i] > ' ' && stem[i] != ';' && stem[i] != 127 ? stem[i] : '_';
    memcpy(draft->machine.name, name, sizeof name);
}

static bool load_file(int descriptor, const char *path, const struct file *derived,
                      struct draft *draft, struct error *error) {
    struct file *file = calloc(1, sizeof *file);
    char *text = malloc(MAX_FILE + 1);
    bool loaded = false;
    if (!file || !text) {
        error_set(error, "%.200s: out of memory", path);
    } else {
        file->derived = derived;
        file->depth = derived ? derived->depth + 1 : 1;
        file->draft = draft;
        file->error = error;
        file->path = path;
        file->text = text;
        loaded = read_text(descriptor, file) && check_lines(file) && parse(file);
        if (loaded && !file->named)
            name_after_file(draft, path);
    }
    free(text);
    free(file);
    return loaded;
}

/* ---- doors ---- */

/* The message may quote the file: control characters must not reach a terminal. */
static void make_printable(struct error *error) {
    for (char *at = error->message; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?';
}

bool machine_load(const char *name, struct machine *machine, struct error *error) {
    char path[PATH_MAX];
    int descriptor;
    if (machine_is_path(name)) {
        if (!machine_find(name, path, sizeof path, error))
            return false;
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (descriptor < 0)
            return error_errno(error, "%.200s", path);
    } else {
        descriptor = find_open(name, NULL, NULL, NULL, path, sizeof path, error);
        if (descriptor < 0)
            return false;
    }
    struct draft *draft = malloc(sizeof *draft);
    bool loaded = false;
    if (!draft) {
        error_set(error, "%.200s: out of memory", path);
    } else {
        draft_init(draft);
        loaded = load_file(descriptor, path, NULL, draft, error);
        if (loaded) {
            loaded = draft_settle(draft, machine, error) && machine_check(machine, error) &&
                     forms_load(machine, error);
            if (!loaded)
                error_prefix(error, "%.200s", path);
        }
    }
    if (!loaded)
        make_printable(error);
    free(draft);
    close(descriptor);
    return loaded;
}

bool machine_set(struct machine *machine, const char *assignment, struct error *error) {
    char section[64] = "", name[64] = "", value[VALUE_SIZE] = "";
    const char *equals = strchr(assignment, '=');
    if (!equals || strlen(equals + 1) >= sizeof value || equals - assignment >= 64)
        return error_set(error, "%.100s: not SECTION.KEY=VALUE, like core.rob=64", assignment);
    const char *dot = memrchr(assignment, '.', (size_t)(equals - assignment));
    const char *start = dot ? dot + 1 : assignment;
    snprintf(section, sizeof section, "%.*s", dot ? (int)(dot - assignment) : 0, assignment);
    snprintf(name, sizeof name, "%.*s", (int)(equals - start), start);
    strcpy(value, equals + 1);
    struct draft draft;
    draft_from(&draft, machine);
    const void *field;
    const bool forms = !*section && !strcmp(name, "forms");
    char table[sizeof draft.machine.forms_file];
    bool set = (!forms || forms_resolve(value, ".", table, KEY_FORMS_SIZE, error)) &&
               draft_set(&draft, section, name, forms ? table : value, &field, error) &&
               draft_settle(&draft, machine, error) && (!forms || forms_load(machine, error));
    if (!set)
        make_printable(error);
    else if (field != draft.machine.checked)
        machine->checked[0] = 0; /* another machine was */
    return set;
}
