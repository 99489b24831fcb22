/* Names of our own stand in a table. What the kernel names is looked up where it tells: tracepoints
 * in tracefs, the fields of a counter's configuration in sysfs ("event" -> "config:0-7,32-35"). */
#include "live/event_name.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

#define CACHE_MISS(cache)                                                                          \
    ((cache) | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

/* A miss is taken to happen at most every 32 cycles: an assumption, which keeps the rate of samples
 * under that of cycles in all but the worst programs. */
enum { CYCLES_PER_MISS = 32 };

#define HARDWARE_ROW(title, other, perf_type, perf_config, cycles, told)                           \
    {                                                                                              \
        {.kind = LIVE_HARDWARE,                                                                    \
         .name = title,                                                                            \
         .type = perf_type,                                                                        \
         .config = {perf_config},                                                                  \
         .cycles_each = cycles},                                                                   \
            other, told                                                                            \
    }
#define SOFTWARE_ROW(title, other, perf_config, kernel_alone, told)                                \
    {                                                                                              \
        {.kind = LIVE_SOFTWARE,                                                                    \
         .name = title,                                                                            \
         .type = PERF_TYPE_SOFTWARE,                                                               \
         .config = {perf_config},                                                                  \
         .in_kernel = kernel_alone},                                                               \
            other, told                                                                            \
    }

static const struct event_row ROWS[] = {
    {{.kind = LIVE_CYCLES,
      .name = "cycles",
      .type = PERF_TYPE_HARDWARE,
      .config = {PERF_COUNT_HW_CPU_CYCLES},
      .cycles_each = 1},
     NULL,
     "cycles of a processor that is not idle"},
    {{.kind = LIVE_CPU_CLOCK,
      .name = "cpu-clock",
      .type = PERF_TYPE_SOFTWARE,
      .config = {PERF_COUNT_SW_CPU_CLOCK},
      .cycles_each = 1},
     NULL,
     "the kernel's timer: processor time"},
    HARDWARE_ROW("imiss", NULL, PERF_TYPE_HW_CACHE, CACHE_MISS(PERF_COUNT_HW_CACHE_L1I),
                 CYCLES_PER_MISS, "misses of the instruction cache"),
    HARDWARE_ROW("dmiss", NULL, PERF_TYPE_HW_CACHE, CACHE_MISS(PERF_COUNT_HW_CACHE_L1D),
                 CYCLES_PER_MISS, "reads that miss the first data cache"),
    HARDWARE_ROW("llcmiss", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, CYCLES_PER_MISS,
                 "misses of the last cache"),
    HARDWARE_ROW("itlbmiss", "itbmiss", PERF_TYPE_HW_CACHE, CACHE_MISS(PERF_COUNT_HW_CACHE_ITLB),
                 CYCLES_PER_MISS, "misses of the instruction TLB"),
    HARDWARE_ROW("dtlbmiss", "dtbmiss", PERF_TYPE_HW_CACHE, CACHE_MISS(PERF_COUNT_HW_CACHE_DTLB),
                 CYCLES_PER_MISS, "reads that miss the data TLB"),
    HARDWARE_ROW("branchmp", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, CYCLES_PER_MISS,
                 "mispredicted branches"),
    SOFTWARE_ROW("page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, false,
                 "page faults of both kinds"),
    SOFTWARE_ROW("minor-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MIN, false,
                 "page faults that need no disk"),
    SOFTWARE_ROW("major-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false,
                 "page faults that wait for a disk"),
    SOFTWARE_ROW("context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, true,
                 "a thread leaves its processor"),
    SOFTWARE_ROW("cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS, true,
                 "a thread goes to another processor"),
    SOFTWARE_ROW("alignment-faults", NULL, PERF_COUNT_SW_ALIGNMENT_FAULTS, false,
                 "unaligned accesses that the kernel mends"),
    SOFTWARE_ROW("emulation-faults", NULL, PERF_COUNT_SW_EMULATION_FAULTS, false,
                 "instructions that the kernel emulates")};
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

bool event_name_row(size_t number, struct event_row *row) {
    if (number < ROW_COUNT)
        *row = ROWS[number];
    return number < ROW_COUNT;
}

/* ---- text ---- */

struct text {
    const char *start;
    size_t length;
};

static bool text_is(struct text text, const char *word) {
    return word && strlen(word) == text.length && !memcmp(text.start, word, text.length);
}

static bool begins_with(struct text text, const char *word) {
    return text.length > strlen(word) && !memcmp(text.start, word, strlen(word));
}

static struct text behind(struct text text, size_t bytes) {
    return (struct text){text.start + bytes, text.length - bytes};
}

/* Up to the first such character; `text` becomes what follows it. */
static struct text cut(struct text *text, char end) {
    const char *found = memchr(text->start, end, text->length);
    struct text before = {text->start, found ? (size_t)(found - text->start) : text->length};
    *text = behind(*text, before.length + (found != NULL));
    return before;
}

/* Digits of `base` and nothing else; with "0x" of base 0 too. */
static bool read_number(struct text text, int base, uint64_t *number) {
    char digits[24], *end;
    if (!text.length || text.length >= sizeof digits || !isalnum((unsigned char)*text.start))
        return false;
    memcpy(digits, text.start, text.length);
    digits[text.length] = 0;
    errno = 0;
    *number = strtoull(digits, &end, base);
    return !*end && !errno;
}

/* A name that may stand in a path. */
static bool is_plain(struct text text) {
    if (!text.length || *text.start == '.')
        return false;
    for (size_t i = 0; i < text.length; i++)
        if (!isalnum((unsigned char)text.start[i]) && !strchr("_-.", text.start[i]))
            return false;
    return true;
}

size_t event_name_length(const char *list) {
    bool inside = false;
    size_t length = 0;
    for (; list[length] && (inside || list[length] != ','); length++)
        inside ^= list[length] == '/';
    return length;
}

/* ---- files ---- */

static bool read_line(const char *path, char *line, size_t size) {
    FILE *file = fopen(path, "re");
    bool good = file && fgets(line, (int)size, file);
    if (file)
        fclose(file);
    if (good)
        line[strcspn(line, "\n")] = 0;
    return good;
}

static const char *const TRACEFS[] = {"kernel/tracing", "kernel/debug/tracing"};

static bool find_tracepoint(const struct live_roots *roots, struct text folder, struct text name,
                            uint64_t *id) {
    char path[PATH_MAX], line[32];
    for (size_t i = 0; i < sizeof TRACEFS / sizeof *TRACEFS; i++) {
        snprintf(path, sizeof path, "%s/%s/events/%.*s/%.*s/id", roots->sys, TRACEFS[i],
                 (int)folder.length, folder.start, (int)name.length, name.start);
        if (read_line(path, line, sizeof line) &&
            read_number((struct text){line, strlen(line)}, 10, id))
            return true;
    }
    return false;
}

static size_t count_folders(const char *path, bool with_id, size_t (*visit)(const char *)) {
    DIR *folder = opendir(path);
    size_t count = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char below[PATH_MAX];
        if (entry->d_name[0] == '.' || entry->d_type != DT_DIR ||
            snprintf(below, sizeof below, "%s/%s", path, entry->d_name) >= (int)sizeof below)
            continue;
        count += with_id ? 1 : visit(below);
    }
    if (folder)
        closedir(folder);
    return count;
}

static size_t count_events(const char *path) {
    return count_folders(path, true, NULL);
}

size_t event_name_tracepoints(const struct live_roots *roots) {
    char path[PATH_MAX];
    size_t count = 0;
    for (size_t i = 0; !count && i < sizeof TRACEFS / sizeof *TRACEFS; i++) {
        snprintf(path, sizeof path, "%s/%s/events", roots->sys, TRACEFS[i]);
        count = count_folders(path, false, count_events);
    }
    return count;
}

/* ---- counters of a processor: UNIT/TERM,TERM/ ---- */

/* Where a unit's files are. */
static void unit_path(const struct live_roots *roots, struct text unit, const char *file,
                      struct text name, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%s/bus/event_source/devices/%.*s/%s%.*s", roots->sys,
             (int)unit.length, unit.start, file, (int)name.length, name.start);
}

/* Puts the bits of a value where "config1:0-7,32-35" says, the lowest first. */
static bool place_bits(const char *format, uint64_t value, uint64_t config[3]) {
    uint64_t *word = config;
    if (strncmp(format, "config", 6) != 0)
        return false;
    format += 6;
    if (*format == '1' || *format == '2')
        word = &config[*format++ - '0'];
    if (*format++ != ':')
        return false;
    while (isdigit((unsigned char)*format)) {
        char *end;
        unsigned long first = strtoul(format, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (last > 63 || first > last)
            return false;
        for (unsigned long bit = first; bit <= last; bit++, value >>= 1) {
            *word &= ~(UINT64_C(1) << bit);
            *word |= (value & 1) << bit;
        }
        format = end + (*end == ',');
    }
    return !value;
}

struct reading {
    const struct live_roots *roots;
    struct text whole, unit;
    struct live_event *event;
    struct error *error;
};

static bool refuse_term(const struct reading *reading, struct text term, const char *why) {
    return error_set(reading->error, "event \"%.*s\": %.*s: %s", (int)reading->whole.length,
                     reading->whole.start, (int)term.length, term.start, why);
}

/* "event=0xc2" */
static bool take_field(const struct reading *reading, struct text term, struct text name,
                       struct text value) {
    char path[PATH_MAX], format[256];
    uint64_t number, *config = reading->event->config;
    if (!read_number(value, 0, &number))
        return refuse_term(reading, term, "no number");
    for (unsigned i = 0; i < 3; i++) {
        char word[] = {'c', 'o', 'n', 'f', 'i', 'g', i ? (char)('0' + i) : 0, 0};
        if (text_is(name, word)) {
            config[i] = number;
            return true;
        }
    }
    if (is_plain(name))
        unit_path(reading->roots, reading->unit, "format/", name, path);
    if (!is_plain(name) || !read_line(path, format, sizeof format))
        return refuse_term(reading, term, "this counter has no such field");
    return place_bits(format, number, config) ||
           refuse_term(reading, term, "more than the field holds");
}

/* Terms that need values, or, in the outermost list, the names of events that sysfs has. */
static bool take_terms(const struct reading *reading, struct text terms, bool outermost) {
    while (terms.length) {
        struct text term = cut(&terms, ','), value = term, name = cut(&value, '=');
        char path[PATH_MAX], line[256];
        if (name.length < term.length) {
            if (!take_field(reading, term, name, value))
                return false;
            continue;
        }
        if (is_plain(name))
            unit_path(reading->roots, reading->unit, "events/", name, path);
        if (!outermost || !is_plain(name) || !read_line(path, line, sizeof line))
            return refuse_term(reading, term, "this counter has no such event");
        if (!take_terms(reading, (struct text){line, strlen(line)}, false))
            return false;
    }
    return true;
}

static bool read_unit(const struct live_roots *roots, struct text whole, struct text unit,
                      struct text terms, struct live_event *event, struct error *error) {
    char path[PATH_MAX], line[32];
    uint64_t type;
    unit_path(roots, unit, "type", (struct text){"", 0}, path);
    if (!read_line(path, line, sizeof line) ||
        !read_number((struct text){line, strlen(line)}, 10, &type) || type > UINT32_MAX)
        return error_set(error, "%.*s: this machine has no counter \"%.*s\" (%s)",
                         (int)whole.length, whole.start, (int)unit.length, unit.start, path);
    event->kind = LIVE_HARDWARE;
    event->type = (uint32_t)type;
    event->cycles_each = 1;
    const struct reading reading = {roots, whole, unit, event, error};
    return take_terms(&reading, terms, true);
}

/* ---- the whole ---- */

/* Takes "period=N" out of the terms, the others stay in their order. */
static bool take_period(struct text terms, char *rest, size_t size, uint64_t *period) {
    size_t used = 0;
    *rest = 0;
    while (terms.length) {
        struct text term = cut(&terms, ',');
        if (begins_with(term, "period=")) {
            if (!read_number(behind(term, 7), 10, period) || !*period || *period > INT64_MAX)
                return false;
            continue;
        }
        int wrote = snprintf(rest + used, size - used, "%s%.*s", used ? "," : "", (int)term.length,
                             term.start);
        if (wrote < 0 || (size_t)wrote >= size - used)
            return false;
        used += (size_t)wrote;
    }
    return true;
}

static bool find_row(struct text name, struct live_event *event) {
    const size_t i = index_where(
        k, ROW_COUNT, text_is(name, ROWS[k].event.name) || text_is(name, ROWS[k].other_name));
    if (i < ROW_COUNT)
        *event = ROWS[i].event;
    return i < ROW_COUNT;
}

/* "r01c2" and "raw:0x1c2": a configuration as the processor's manual has it. */
static bool read_raw(struct text name, struct live_event *event) {
    uint64_t config;
    if (!(begins_with(name, "raw:") && read_number(behind(name, 4), 0, &config)) &&
        !(*name.start == 'r' && name.length > 1 && read_number(behind(name, 1), 16, &config) &&
          name.start[2] != 'x'))
        return false;
    *event = (struct live_event){
        .kind = LIVE_HARDWARE, .type = PERF_TYPE_RAW, .config = {config}, .cycles_each = 1};
    return true;
}

/* False with an error, or without: it is none. */
static bool read_tracepoint(const struct live_roots *roots, struct text whole,
                            struct live_event *event, struct error *error) {
    struct text name = whole, folder = cut(&name, ':');
    uint64_t id;
    if (folder.length == whole.length || !is_plain(folder) || !is_plain(name))
        return false;
    if (!find_tracepoint(roots, folder, name, &id))
        return error_set(error,
                         event_name_tracepoints(roots)
                             ? "event \"%.*s\": there is no such tracepoint"
                             : "event \"%.*s\": tracepoints cannot be read (they need root, and "
                               "tracefs: mount -t tracefs nodev /sys/kernel/tracing)",
                         (int)whole.length, whole.start);
    *event = (struct live_event){
        .kind = LIVE_TRACEPOINT, .type = PERF_TYPE_TRACEPOINT, .config = {id}, .in_kernel = true};
    return true;
}

static bool refuse_name(struct text whole, struct error *error) {
    char names[400];
    size_t used = 0;
    for (size_t i = 0; i < ROW_COUNT; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s, ", ROWS[i].event.name);
    return error_set(error,
                     "event \"%.*s\": one of %sSUBSYSTEM:TRACEPOINT, rNNN, "
                     "cpu/event=0xNN,umask=0xNN/ (--events list)",
                     (int)(whole.length < 64 ? whole.length : 64), whole.start, names);
}

bool event_name_parse(const struct live_roots *roots, const char *text, size_t length,
                      struct live_event *event, struct error *error) {
    struct text whole = {text, length}, terms = whole, name = cut(&terms, '/');
    char rest[LIVE_EVENT_NAME_BYTES];
    uint64_t period = 0;
    const bool with_terms = name.length < length;
    *event = (struct live_event){0};
    if (length >= sizeof event->name)
        return error_set(error, "event \"%.60s...\": its name is too long", text);
    if (with_terms && (!terms.length || terms.start[--terms.length] != '/' ||
                       memchr(terms.start, '/', terms.length)))
        return error_set(error, "event \"%.*s\": it has to end with the second \"/\"", (int)length,
                         text);
    if (!take_period(terms, rest, sizeof rest, &period))
        return error_set(error, "event \"%.*s\": its period is a number from 1 on", (int)length,
                         text);
    error->message[0] = 0;
    bool good = !*rest && (find_row(name, event) || (name.length && read_raw(name, event)) ||
                           read_tracepoint(roots, name, event, error));
    if (!good && !error->message[0] && with_terms && is_plain(name) && *rest)
        good = read_unit(roots, whole, name, (struct text){rest, strlen(rest)}, event, error);
    if (!good)
        return !error->message[0] ? refuse_name(whole, error) : false;
    if (!event->name[0] && snprintf(event->name, sizeof event->name, *rest ? "%.*s/%s/" : "%.*s",
                                    (int)name.length, name.start, rest) >= (int)sizeof event->name)
        return error_set(error, "event \"%.60s...\": its name is too long", text);
    event->period = period;
    return true;
}
