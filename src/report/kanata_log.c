/* Lines of unknown commands are passed over, as Konata does; what cannot be is an error with the
 * number of its line. */
#include "report/kanata_log.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum { FIELDS = 4, ROW_STAGES_MAX = 256 /* looked back through for what ends */ };

struct reading {
    struct kanata_log *log;
    const char *path;
    uint64_t line, cycle;
    bool begun; /* a cycle was told */
};

void kanata_log_free(struct kanata_log *log) {
    free(log->rows);
    free(log->stages);
    arena_free(&log->arena);
    *log = (struct kanata_log){0};
}

static bool bad(const struct reading *reading, struct error *error, const char *what) {
    return error_set(error, "%s, line %" PRIu64 ": %s", reading->path, reading->line, what);
}

static bool no_memory(const struct reading *reading, struct error *error) {
    return error_set(error, "out of memory reading %s", reading->path);
}

/* Cuts at tabs; the last field has the rest. Returns how many. */
static int cut(char *line, char *fields[FIELDS]) {
    int count = 1;
    fields[0] = line;
    for (char *tab; count < FIELDS && (tab = strchr(fields[count - 1], '\t')); count++) {
        *tab = 0;
        fields[count] = tab + 1;
    }
    return count;
}

static bool take_number(const char *text, uint64_t *number) {
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return isdigit((unsigned char)text[0]) && !*end && !errno;
}

static struct kanata_row *row_of(const struct reading *reading, const char *text,
                                 struct error *error) {
    uint64_t id;
    if (take_number(text, &id) && id < reading->log->count)
        return &reading->log->rows[id];
    bad(reading, error, "of an instruction that was not begun");
    return NULL;
}

static const char *printable(char *text) {
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    return text;
}

static bool add_row(struct reading *reading, char **fields, struct error *error) {
    struct kanata_log *log = reading->log;
    struct kanata_row row = {.label = "", .begin = reading->cycle};
    uint64_t id;
    if (!take_number(fields[1], &id) || !take_number(fields[2], &row.number) ||
        !take_number(fields[3], &row.thread))
        return bad(reading, error, "an instruction without its three numbers");
    if (id != log->count)
        return bad(reading, error, "instructions are out of order");
    return array_push(log->rows, log->capacity, log->count, row) || no_memory(reading, error);
}

/* Labels of the same kind follow each other as one. */
static bool add_label(struct reading *reading, char **fields, struct error *error) {
    struct kanata_row *row = row_of(reading, fields[1], error);
    if (!row || strcmp(fields[2], "0") != 0)
        return row != NULL;
    const size_t had = strlen(row->label), more = strlen(fields[3]);
    enum { LABEL_MAX = 256 };
    const size_t room = had < LABEL_MAX ? LABEL_MAX - had : 0, taken = more < room ? more : room;
    if (!taken)
        return true;
    char *label = arena_alloc(&reading->log->arena, had + taken + 1);
    if (!label)
        return no_memory(reading, error);
    memcpy(label, row->label, had);
    memcpy(label + had, fields[3], taken);
    label[had + taken] = 0;
    row->label = printable(label);
    return true;
}

static bool name_number(struct reading *reading, char *name, uint32_t *number,
                        struct error *error) {
    struct kanata_log *log = reading->log;
    printable(name);
    const size_t i = index_where(k, log->name_count, !strcmp(log->names[k], name));
    *number = (uint32_t)i;
    if (i < log->name_count)
        return true;
    if (log->name_count == KANATA_STAGES_MAX)
        return bad(reading, error, "more than 256 names of stages");
    log->names[log->name_count] = arena_copy(&log->arena, name, strlen(name));
    return log->names[log->name_count] ? (log->name_count++, true) : no_memory(reading, error);
}

/* The row's open stage of a lane, of any name (UINT32_MAX) or of this one. */
static struct kanata_stage *open_stage(const struct kanata_log *log, const struct kanata_row *row,
                                       uint32_t lane, uint32_t name) {
    uint32_t at = row->stages;
    for (int looked = 0; at && looked < ROW_STAGES_MAX; looked++) {
        struct kanata_stage *stage = &log->stages[at - 1];
        if (stage->lane == lane && stage->end == UINT64_MAX &&
            (name == UINT32_MAX || stage->name == name))
            return stage;
        at = stage->before;
    }
    return NULL;
}

static bool stage_fields(struct reading *reading, char **fields, struct kanata_row **row,
                         uint32_t *lane, uint32_t *name, struct error *error) {
    uint64_t number;
    if (!(*row = row_of(reading, fields[1], error)))
        return false;
    if (!take_number(fields[2], &number) || number >= KANATA_LANES_MAX)
        return bad(reading, error, "a stage in no lane");
    *lane = (uint32_t)number;
    return name_number(reading, fields[3], name, error);
}

/* A stage ends the one before it in its lane. */
static bool begin_stage(struct reading *reading, char **fields, struct error *error) {
    struct kanata_log *log = reading->log;
    struct kanata_row *row;
    uint32_t lane, name;
    if (!stage_fields(reading, fields, &row, &lane, &name, error))
        return false;
    struct kanata_stage *open = open_stage(log, row, lane, UINT32_MAX);
    if (open)
        open->end = reading->cycle;
    if (log->stage_count == UINT32_MAX - 1 ||
        !array_push(log->stages, log->stage_capacity, log->stage_count,
                    (struct kanata_stage){name, lane, row->stages, reading->cycle, UINT64_MAX}))
        return no_memory(reading, error);
    row->stages = (uint32_t)log->stage_count;
    return true;
}

static bool end_stage(struct reading *reading, char **fields, struct error *error) {
    struct kanata_row *row;
    uint32_t lane, name;
    if (!stage_fields(reading, fields, &row, &lane, &name, error))
        return false;
    struct kanata_stage *open = open_stage(reading->log, row, lane, name);
    if (open)
        open->end = reading->cycle;
    return true;
}

static bool retire(struct reading *reading, char **fields, struct error *error) {
    struct kanata_row *row = row_of(reading, fields[1], error);
    if (!row)
        return false;
    row->end = reading->cycle > row->begin ? reading->cycle : row->begin + 1;
    row->flushed = !strcmp(fields[3], "1");
    row->retired = !row->flushed;
    for (uint32_t lane = 0; lane < KANATA_LANES_MAX; lane++) {
        struct kanata_stage *open = open_stage(reading->log, row, lane, UINT32_MAX);
        if (open)
            open->end = reading->cycle;
    }
    return true;
}

static bool take_cycle(struct reading *reading, const char *text, bool absolute,
                       struct error *error) {
    uint64_t number;
    if (!take_number(text, &number) ||
        __builtin_add_overflow(absolute ? 0 : reading->cycle, number, &number) ||
        number >= UINT64_MAX - 1)
        return bad(reading, error, "no number of cycles");
    if (absolute && reading->begun && number < reading->cycle)
        return bad(reading, error, "cycles go backwards");
    reading->cycle = number;
    if (!reading->begun)
        reading->log->begin = number;
    reading->begun = true;
    return true;
}

static bool take_line(struct reading *reading, char *line, struct error *error) {
    char *fields[FIELDS];
    const int count = cut(line, fields);
    const char *command = fields[0];
    if (!strcmp(command, "C=") || !strcmp(command, "C"))
        return count > 1 ? take_cycle(reading, fields[1], command[1], error)
                         : bad(reading, error, "no number of cycles");
    static const struct {
        const char *command;
        bool (*take)(struct reading *reading, char **fields, struct error *error);
    } COMMANDS[] = {
        {"I", add_row}, {"L", add_label}, {"S", begin_stage}, {"E", end_stage}, {"R", retire}};
    enum { COUNT = sizeof COMMANDS / sizeof *COMMANDS };
    const size_t i = index_where(k, COUNT, !strcmp(command, COMMANDS[k].command));
    if (i == COUNT)
        return true;
    return count == FIELDS ? COMMANDS[i].take(reading, fields, error)
                           : bad(reading, error, "it lacks a field");
}

static bool is_header(const char *line, ssize_t length) {
    return length > 0 && !strcmp(line, "Kanata\t0004");
}

static ssize_t next_line(struct reading *reading, FILE *file, char **line, size_t *room) {
    ssize_t length = getline(line, room, file);
    reading->line++;
    while (length > 0 && ((*line)[length - 1] == '\n' || (*line)[length - 1] == '\r'))
        (*line)[--length] = 0;
    return length;
}

static bool read_lines(struct reading *reading, FILE *file, struct error *error) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length = next_line(reading, file, &line, &room);
    bool good = is_header(line, length) ||
                error_set(error, "%s is no Kanata log of version 0004", reading->path);
    while (good && (length = next_line(reading, file, &line, &room)) >= 0)
        good = length == 0 || take_line(reading, line, error);
    if (good && ferror(file))
        good = error_errno(error, "cannot read %s", reading->path);
    free(line);
    return good;
}

bool kanata_log_read(struct kanata_log *log, const char *path, struct error *error) {
    const bool standard = !strcmp(path, "-");
    struct reading reading = {.log = log, .path = standard ? "standard input" : path};
    *log = (struct kanata_log){0};
    FILE *file = standard ? stdin : fopen(path, "re");
    if (!file)
        return error_errno(error, "cannot open %s", path);
    bool good = read_lines(&reading, file, error);
    if (!standard)
        fclose(file);
    log->end = reading.cycle + 1;
    if (good && !log->count)
        good = error_set(error, "%s tells of no instruction", reading.path);
    return good;
}
