/* Each line of a table stands by itself:
 *
 *     FORM  LATENCY  THROUGHPUT  PORTS  [µOPS]   ; from where
 *
 * A file is read whole, 1 MiB at most, and line by line; the table is kept in the order of the
 * forms' numbers, so that one that comes twice is found as it is entered. */
#include "machine/forms.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/find.h"
#include "machine/ports.h"
#include "util/array.h"
#include "util/file_name.h"

enum { MAX_FILE = 1 << 20, MAX_LINE = 400, MOST_CYCLES = 1000 };

/* ---- one line ---- */

struct reading {
    struct machine *machine;
    const char *path;
    unsigned line;
    struct error *error;
};

static bool error_at(const struct reading *reading, const char *what, const char *text,
                     const char *allowed) {
    return error_set(reading->error, "%.200s:%u: %s%s%.40s: %s", reading->path, reading->line, what,
                     *text ? " " : "", text, allowed);
}

/* The next word, of white space at its ends; NULL: there is none. */
static char *next_word(char **rest) {
    char *word = *rest + strspn(*rest, " \t");
    if (!*word)
        return NULL;
    *rest = word + strcspn(word, " \t");
    if (**rest)
        *(*rest)++ = 0;
    return word;
}

static bool read_cycles(const char *text, const char **end, uint16_t *cycles) {
    uint32_t value = 0;
    if (*text < '0' || *text > '9')
        return false;
    for (; *text >= '0' && *text <= '9' && value <= MOST_CYCLES; text++)
        value = value * 10 + (uint32_t)(*text - '0');
    *cycles = (uint16_t)value;
    *end = text;
    return value <= MOST_CYCLES;
}

/* "3", "a7", "3,a7,f4" or "-". */
static bool read_latency(const char *text, struct machine_form *form) {
    form->latency = form->address_latency = form->flag_latency = FORM_UNKNOWN;
    if (!strcmp(text, "-"))
        return true;
    for (;;) {
        uint16_t *of = *text == 'a'   ? &form->address_latency
                       : *text == 'f' ? &form->flag_latency
                                      : &form->latency;
        text += of != &form->latency;
        if (*of != FORM_UNKNOWN || !read_cycles(text, &text, of))
            return false;
        if (!*text)
            return true;
        if (*text++ != ',')
            return false;
    }
}

static bool read_throughput(const char *text, struct machine_form *form) {
    form->throughput = -1;
    if (!strcmp(text, "-"))
        return true;
    char *end;
    if (*text < '0' || *text > '9' || text[strspn(text, "0123456789.")])
        return false;
    const double cycles = strtod(text, &end);
    form->throughput = (float)cycles;
    return !*end && cycles > 0 && cycles <= MOST_CYCLES;
}

static bool read_ports(const struct reading *reading, const char *text, struct machine_form *form) {
    struct machine *machine = reading->machine;
    struct machine_ports ports;
    form->ports = 0;
    if (!strcmp(text, "-"))
        return true;
    if (!ports_parse(machine, text, &ports, reading->error))
        return error_prefix(reading->error, "%.200s:%u: ports", reading->path, reading->line);
    const size_t number = index_where(i, machine->form_ports_count,
                                      !memcmp(&machine->form_ports[i], &ports, sizeof ports));
    if (number == MACHINE_MAX_FORM_PORTS)
        return error_set(reading->error, "%.200s:%u: more than %d different sets of ports",
                         reading->path, reading->line, MACHINE_MAX_FORM_PORTS);
    if (number == machine->form_ports_count)
        machine->form_ports[machine->form_ports_count++] = ports;
    form->ports = (uint8_t)(number + 1);
    return true;
}

static bool read_uops(const char *text, struct machine_form *form) {
    uint16_t uops;
    const char *end;
    if (!read_cycles(text, &end, &uops) || *end || !uops || uops > FORM_MOST_UOPS)
        return false;
    form->uops = (uint8_t)uops;
    return true;
}

static bool enter(const struct reading *reading, const struct machine_form *form) {
    struct machine *machine = reading->machine;
    uint32_t at = machine->form_count;
    while (at && machine->forms[at - 1].form > form->form)
        at--;
    if (at && machine->forms[at - 1].form == form->form) {
        char text[FORM_TEXT_SIZE];
        form_text(form->form, text);
        return error_at(reading, "form", text, "given twice");
    }
    if (machine->form_count == MACHINE_MAX_FORMS)
        return error_set(reading->error, "%.200s:%u: more than %d forms", reading->path,
                         reading->line, MACHINE_MAX_FORMS);
    memmove(&machine->forms[at + 1], &machine->forms[at],
            (machine->form_count - at) * sizeof *machine->forms);
    machine->forms[at] = *form;
    machine->form_count++;
    return true;
}

/* `line` ends in a zero byte, its comment taken away; it is changed. */
static bool read_line(const struct reading *reading, char *line) {
    struct machine_form form;
    const char *end;
    memset(&form, 0, sizeof form);
    if (!line[strspn(line, " \t\r")])
        return true;
    line[strcspn(line, "\r")] = 0;
    form.form = form_parse(line, &end);
    if (form.form == FORM_NONE) {
        char word[41];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(end, " \t"), end);
        return error_at(reading, "not a form of an instruction", word,
                        "a form is a mnemonic and kinds of operands, as add r64, m64");
    }
    char *rest = line + (end - line);
    const char *latency = next_word(&rest), *throughput = next_word(&rest),
               *ports = next_word(&rest), *uops = next_word(&rest), *more = next_word(&rest);
    if (!ports)
        return error_at(reading, "too short", "",
                        "FORM LATENCY THROUGHPUT PORTS [UOPS] are needed");
    if (!read_latency(latency, &form))
        return error_at(reading, "latency", latency,
                        "allowed: cycles from 0 to 1000 to the result, a and cycles from the "
                        "address, f and cycles to the flags, as 1,a6,f2; or -");
    if (!read_throughput(throughput, &form))
        return error_at(reading, "throughput", throughput,
                        "allowed: cycles per instruction, above 0 to 1000, as 0.25; or -");
    if (!read_ports(reading, ports, &form))
        return false;
    if (uops && !read_uops(uops, &form))
        return error_at(reading, "µops", uops, "allowed: 1 to 64");
    if (more)
        return error_at(reading, "one word too many", more,
                        "FORM LATENCY THROUGHPUT PORTS [UOPS] are needed");
    return enter(reading, &form);
}

/* ---- the file ---- */

bool machine_forms_read(struct machine *machine, const char *path, const char *text, size_t size,
                        struct error *error) {
    struct reading reading = {machine, path, 0, error};
    machine->form_count = machine->form_ports_count = 0;
    memset(machine->forms, 0, sizeof machine->forms);
    memset(machine->form_ports, 0, sizeof machine->form_ports);
    for (const char *end = text + size; text < end;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const size_t length = (size_t)((newline ? newline : end) - text);
        char line[MAX_LINE + 1];
        reading.line++;
        if (length > MAX_LINE)
            return error_set(error, "%.200s:%u: line longer than %d bytes", path, reading.line,
                             MAX_LINE);
        memcpy(line, text, length);
        line[length] = 0;
        if (memchr(line, 0, length))
            return error_set(error, "%.200s:%u: not text: it has a zero byte", path, reading.line);
        line[strcspn(line, ";#")] = 0;
        if (!read_line(&reading, line))
            return false;
        text += length + (newline != NULL);
    }
    return true;
}

static bool read_file(int descriptor, struct machine *machine, const char *path,
                      struct error *error) {
    struct stat status;
    size_t size = 0;
    if (fstat(descriptor, &status))
        return error_errno(error, "%.200s", path);
    if (!S_ISREG(status.st_mode))
        return error_set(error, "%.200s: not a regular file", path);
    char *text = malloc(MAX_FILE + 1);
    if (!text)
        return error_set(error, "%.200s: out of memory", path);
    ssize_t got;
    while ((got = read(descriptor, text + size, MAX_FILE + 1 - size)) > 0)
        size += (size_t)got;
    const bool read = got < 0 ? error_errno(error, "%.200s", path)
                      : size > MAX_FILE
                          ? error_set(error, "%.200s: larger than %d KiB, no table of forms", path,
                                      MAX_FILE >> 10)
                          : machine_forms_read(machine, path, text, size, error);
    free(text);
    return read;
}

/* ---- where it lies ---- */

struct search {
    const char *name;
    char *path;
    int file;
};

static int open_table(const char *path) {
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static bool open_in(const char *directory, void *context) {
    struct search *search = context;
    const int length = snprintf(search->path, PATH_MAX, "%s/%s", directory, search->name);
    search->file = length > 0 && length < PATH_MAX ? open_table(search->path) : -1;
    return search->file >= 0;
}

/* Opens a table by name or path; `path`, of PATH_MAX, is where it was found. */
static int find_table(const char *name, char *path, struct error *error) {
    struct search search = {name, path, -1};
    if (strchr(name, '/')) {
        snprintf(path, PATH_MAX, "%s", name);
        search.file = open_table(name);
    } else {
        find_directories(open_in, &search);
    }
    if (search.file < 0)
        error_set(error,
                  "forms = %.100s: no such file beside the machine's, nor where machines are "
                  "looked for",
                  name);
    return search.file;
}

static bool same_file(int descriptor, const char *path) {
    struct stat status;
    return !fstat(descriptor, &status) && file_is_at(&status, path);
}

bool forms_resolve(const char *name, const char *folder, char resolved[], size_t size,
                   struct error *error) {
    char beside[PATH_MAX], path[PATH_MAX], absolute[PATH_MAX];
    const bool full = *name == '/';
    *resolved = 0;
    if (!*name)
        return true;
    const int length = full ? snprintf(beside, sizeof beside, "%s", name)
                            : snprintf(beside, sizeof beside, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof beside)
        return error_set(error, "forms: the path is too long");
    const bool there = realpath(beside, absolute) != NULL;
    if (!strchr(name, '/')) {
        struct search search = {name, path, -1};
        find_directories(open_in, &search);
        const bool searched = search.file >= 0 && (!there || same_file(search.file, absolute));
        if (search.file >= 0)
            close(search.file);
        if (searched) {
            snprintf(resolved, size, "%s", name);
            return true;
        }
    }
    if (!there)
        return error_set(error,
                         "forms = %.100s: no such file beside the machine's, nor where machines "
                         "are looked for",
                         name);
    return (size_t)snprintf(resolved, size, "%s", absolute) < size ||
           error_set(error, "forms = %.100s: its path is longer than %zu bytes", name, size - 1);
}

bool forms_load(struct machine *machine, struct error *error) {
    char path[PATH_MAX];
    if (!machine->forms_file[0])
        return machine_forms_read(machine, "", "", 0, error);
    const int descriptor = find_table(machine->forms_file, path, error);
    if (descriptor < 0)
        return false;
    const bool read = read_file(descriptor, machine, path, error);
    close(descriptor);
    return read;
}
