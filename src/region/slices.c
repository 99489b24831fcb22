/* The reader takes line by line, splits what it needs at single spaces, and puts it at the end of
 * the table: each number is checked against what came before, so that a table that was read keeps
 * all that the header promises. A last line without its end is one that was being written when the
 * run was cut. */
#include "region/slices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "region/bbv.h"
#include "util/array.h"

enum { FIRST_LINE = 256, MAX_LINE = 1 << 24 /* longer than any command */ };

static const char FORMAT[] = "culprit-slices ";
static const char *const ISAS[ISA_COUNT] = {[ISA_X86_64] = "x86_64", [ISA_RISCV64] = "riscv64"};

/* ---- images and processes ---- */

uint32_t region_images_find(struct region_image **images, size_t *count, size_t *capacity,
                            const struct region_image *image) {
    for (size_t i = 0; i < *count; i++)
        if (region_image_same(&(*images)[i], image))
            return (uint32_t)i;
    char *path = strdup(image->path);
    if (!path || !array_reserve((void **)images, capacity, *count + 1, sizeof **images)) {
        free(path);
        return UINT32_MAX;
    }
    (*images)[*count] = *image;
    (*images)[*count].path = path;
    return (uint32_t)(*count)++;
}

void region_images_free(struct region_image *images, size_t count) {
    for (size_t i = 0; i < count; i++)
        free(images[i].path);
    free(images);
}

void slice_processes_free(struct slice_process *processes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        free(processes[i].executable);
        free(processes[i].command);
    }
    free(processes);
}

/* ---- reading ---- */

struct reading {
    struct slice_table *table;
    const char *path;
    FILE *file;
    char *line; /* without its end */
    size_t size, used;
    uint64_t number;       /* of the line, from 1 */
    uint64_t instructions; /* of the slices so far */
    struct error *error;
};

static bool refuse(const struct reading *reading, const char *what) {
    return error_set(reading->error, "%s: line %" PRIu64 ": %s", reading->path, reading->number,
                     what);
}

enum got { GOT_LINE, GOT_END, GOT_CUT, GOT_ERROR };

/* Not getline(): a file without line ends must not fill memory. */
static enum got read_line(struct reading *reading) {
    int c;
    reading->number++;
    reading->used = 0;
    while ((c = getc_unlocked(reading->file)) != EOF && c != '\n') {
        const char *what = !c                          ? "a byte 0: not a text file"
                           : reading->used == MAX_LINE ? "longer than any line of such a file"
                                                       : NULL;
        if (!what && !array_reserve((void **)&reading->line, &reading->size, reading->used + 2, 1))
            what = "out of memory";
        if (what) {
            refuse(reading, what);
            return GOT_ERROR;
        }
        reading->line[reading->used++] = (char)c;
    }
    reading->line[reading->used] = 0;
    if (ferror(reading->file)) {
        error_errno(reading->error, "cannot read %s", reading->path);
        return GOT_ERROR;
    }
    if (c == EOF)
        return reading->used ? GOT_CUT : GOT_END;
    if (reading->used)
        return GOT_LINE;
    refuse(reading, "empty");
    return GOT_ERROR;
}

/* The word that begins `*rest`, followed by one space and something more. */
static bool take_word(char **rest, char **word) {
    char *space = strchr(*rest, ' ');
    if (!space || space == *rest || !space[1])
        return false;
    *word = *rest;
    *space = 0;
    *rest = space + 1;
    return true;
}

/* A whole number that makes up all of `word`. */
static bool parse_number(const char *word, unsigned base, uint64_t most, uint64_t *number) {
    *number = 0;
    if (!*word)
        return false;
    for (; *word; word++) {
        unsigned digit = *word >= '0' && *word <= '9'   ? (unsigned)(*word - '0')
                         : *word >= 'a' && *word <= 'f' ? (unsigned)(*word - 'a') + 10
                                                        : 16;
        if (digit >= base || digit > most || *number > (most - digit) / base)
            return false;
        *number = *number * base + digit;
    }
    return true;
}

static bool take_number(char **rest, unsigned base, uint64_t most, uint64_t *number) {
    char *word;
    return take_word(rest, &word) && parse_number(word, base, most, number);
}

static bool take_number32(char **rest, uint32_t *number) {
    uint64_t wide;
    bool good = take_number(rest, 10, UINT32_MAX, &wide);
    *number = good ? (uint32_t)wide : 0;
    return good;
}

/* "-" or the number of an image that is known. */
static bool take_image(const struct slice_table *table, char **rest, uint32_t *image) {
    char *word;
    uint64_t number;
    if (!take_word(rest, &word))
        return false;
    if (strcmp(word, "-") == 0)
        return *image = MARKER_NO_IMAGE, true;
    if (!parse_number(word, 10, UINT32_MAX, &number) || number >= table->image_count)
        return false;
    return *image = (uint32_t)number, true;
}

/* A copy of text that stands at the end of a line. */
static char *copy_text(const struct reading *reading, const char *text) {
    char *copy = malloc(strlen(text) + 1), *to = copy;
    if (!copy) {
        refuse(reading, "out of memory");
        return NULL;
    }
    for (; *text; text++) {
        if (*text == '\\' && text[1] != '\\' && text[1] != 'n') {
            refuse(reading, "a backslash that is neither \\\\ nor \\n");
            free(copy);
            return NULL;
        }
        if (*text == '\\')
            *to++ = *++text == 'n' ? '\n' : '\\';
        else
            *to++ = *text;
    }
    *to = 0;
    return copy;
}

static bool parse_build_id(const char *word, struct region_image *image) {
    size_t length = strlen(word);
    if (strcmp(word, "-") == 0)
        return true;
    if (length % 2 || length > 2 * sizeof image->build_id)
        return false;
    for (size_t i = 0; i < length; i += 2) {
        char byte[3] = {word[i], word[i + 1]};
        uint64_t value;
        if (!parse_number(byte, 16, 255, &value))
            return false;
        image->build_id[i / 2] = (uint8_t)value;
    }
    image->build_id_size = (uint8_t)(length / 2);
    return true;
}

static bool add_image(struct reading *reading, char *rest) {
    struct slice_table *table = reading->table;
    struct region_image image = {0};
    char *build_id;
    uint32_t number;
    if (!take_number32(&rest, &number) || number != table->image_count ||
        number == MARKER_NO_IMAGE || !take_word(&rest, &build_id) ||
        !parse_build_id(build_id, &image))
        return refuse(reading, "not image NUMBER BUILD-ID|- PATH with the next number");
    if (!array_room(table->images, table->image_capacity, table->image_count + 1))
        return refuse(reading, "out of memory");
    image.path = copy_text(reading, rest);
    if (image.path)
        table->images[table->image_count++] = image;
    return image.path != NULL;
}

static bool add_process(struct reading *reading, char *rest) {
    struct slice_table *table = reading->table;
    struct slice_process process = {0};
    uint32_t number;
    if (!take_number32(&rest, &number) || number != table->process_count ||
        !take_number32(&rest, &process.pid))
        return refuse(reading, "not process NUMBER PID EXECUTABLE with the next number");
    if (!array_room(table->processes, table->process_capacity, table->process_count + 1))
        return refuse(reading, "out of memory");
    process.executable = copy_text(reading, rest);
    if (process.executable)
        table->processes[table->process_count++] = process;
    return process.executable != NULL;
}

/* "-" or a number. */
static bool take_forker(char **rest, uint32_t *forker) {
    *forker = UINT32_MAX;
    if (strncmp(*rest, "- ", 2) == 0)
        return *rest += 2, true;
    return take_number32(rest, forker);
}

static bool add_origin(struct reading *reading, char *rest) {
    struct slice_table *table = reading->table;
    struct slice_process origin = {0};
    uint32_t number;
    if (!take_number32(&rest, &number) || number >= table->process_count ||
        table->processes[number].command || !take_forker(&rest, &origin.forker) ||
        !take_number32(&rest, &origin.fork) || !take_number32(&rest, &origin.generation))
        return refuse(reading,
                      "not origin PROCESS FORKER|- FORK EXECS COMMAND with a process named "
                      "before");
    struct slice_process *process = &table->processes[number];
    origin.pid = process->pid;
    origin.executable = process->executable;
    if (!(origin.command = copy_text(reading, rest)))
        return false;
    *process = origin;
    return true;
}

static bool add_thread(struct reading *reading, char *rest) {
    struct slice_table *table = reading->table;
    struct slice_thread thread;
    uint64_t ordinal;
    if (!take_number32(&rest, &thread.thread) || !take_number32(&rest, &thread.process) ||
        thread.process >= table->process_count || !parse_number(rest, 10, UINT32_MAX, &ordinal))
        return refuse(reading, "not thread NUMBER PROCESS ORDINAL with a process named before");
    thread.ordinal = (uint32_t)ordinal;
    return array_push(table->threads, table->thread_capacity, table->thread_count, thread) ||
           refuse(reading, "out of memory");
}

static bool add_block(struct reading *reading, char *rest) {
    struct slice_table *table = reading->table;
    struct slice_block block;
    uint32_t id;
    uint64_t insn_count;
    if (!take_number32(&rest, &id) || id != table->block_count + 1 ||
        !take_image(table, &rest, &block.image) ||
        !take_number(&rest, 16, UINT64_MAX, &block.offset) ||
        !parse_number(rest, 10, UINT32_MAX, &insn_count) || insn_count == 0)
        return refuse(reading, "not block ID IMAGE|- OFFSET INSTRUCTIONS with the next id and an "
                               "image named before");
    block.insn_count = (uint32_t)insn_count;
    return array_push(table->blocks, table->block_capacity, table->block_count, block) ||
           refuse(reading, "out of memory");
}

static bool add_slice(struct reading *reading, char *rest) {
    struct slice_table *table = reading->table;
    struct slice_place slice = {0};
    uint64_t end;
    if (!take_number32(&rest, &slice.process) || slice.process >= table->process_count ||
        !take_number32(&rest, &slice.thread) || !take_number(&rest, 10, UINT64_MAX, &slice.first) ||
        !take_number(&rest, 10, UINT64_MAX, &slice.instructions) || slice.instructions == 0 ||
        !take_image(table, &rest, &slice.start.image) ||
        !take_number(&rest, 16, UINT64_MAX, &slice.start.offset) ||
        !parse_number(rest, 10, UINT64_MAX, &slice.start.count) || slice.start.count == 0)
        return refuse(reading, "not slice PROCESS THREAD FIRST INSTRUCTIONS IMAGE|- OFFSET COUNT "
                               "with a process and an image named before");
    if (__builtin_add_overflow(slice.first, slice.instructions, &end) ||
        __builtin_add_overflow(reading->instructions, slice.instructions, &reading->instructions))
        return refuse(reading, "2^64 instructions or more");
    if (table->slice_count > 0) {
        const struct slice_place *last = table->slices + table->slice_count - 1;
        if (slice.thread < last->thread ||
            (slice.thread == last->thread && slice.first < last->first + last->instructions))
            return refuse(reading, "not in order: threads by number, and in each one slice behind "
                                   "the other");
    }
    if (table->slice_count == BBV_MAX_SLICES)
        return refuse(reading, "too many slices: take longer ones");
    return array_push(table->slices, table->slice_capacity, table->slice_count, slice) ||
           refuse(reading, "out of memory");
}

static bool read_end(struct reading *reading, const char *rest) {
    uint64_t sum;
    if (!parse_number(rest, 10, UINT64_MAX, &sum) || sum != reading->instructions)
        return refuse(reading, "not end INSTRUCTIONS with the sum of all slices");
    reading->table->complete = true;
    enum got got = read_line(reading);
    return got == GOT_END || (got != GOT_ERROR && refuse(reading, "something behind the end"));
}

/* The next line has to be "key value". */
static char *read_head_line(struct reading *reading, const char *key) {
    size_t length = strlen(key);
    enum got got = read_line(reading);
    if (got == GOT_LINE && strncmp(reading->line, key, length) == 0)
        return reading->line + length;
    if (got != GOT_ERROR)
        error_set(reading->error, "%s: line %" PRIu64 ": %s \"%s...\"", reading->path,
                  reading->number, got == GOT_LINE ? "not" : "cut off, no", key);
    return NULL;
}

static bool read_head(struct reading *reading) {
    struct slice_table *table = reading->table;
    const char *value = read_head_line(reading, FORMAT);
    if (!value)
        return false;
    if (strcmp(value, "1") != 0)
        return refuse(reading, "another version of this format than 1, which is known here");
    if (!(value = read_head_line(reading, "isa ")))
        return false;
    const size_t isa = index_where(i, ISA_COUNT, !strcmp(value, ISAS[i]));
    if (isa == ISA_COUNT)
        return refuse(reading, "neither isa x86_64 nor riscv64");
    table->isa = (enum isa)isa;
    if (!(value = read_head_line(reading, "command ")) ||
        !(table->command = copy_text(reading, value)) ||
        !(value = read_head_line(reading, "size ")))
        return false;
    return (parse_number(value, 10, UINT64_MAX, &table->size) && table->size > 0) ||
           refuse(reading, "not size INSTRUCTIONS, at least 1");
}

static bool read_body(struct reading *reading) {
    for (;;) {
        char *rest, *what;
        enum got got = read_line(reading);
        if (got != GOT_LINE)
            return got != GOT_ERROR;
        rest = reading->line;
        if (!take_word(&rest, &what))
            return refuse(reading, "neither image, process, block, slice nor end");
        bool good;
        if (strcmp(what, "slice") == 0)
            good = add_slice(reading, rest);
        else if (strcmp(what, "block") == 0)
            good = add_block(reading, rest);
        else if (strcmp(what, "image") == 0)
            good = add_image(reading, rest);
        else if (strcmp(what, "process") == 0)
            good = add_process(reading, rest);
        else if (strcmp(what, "origin") == 0)
            good = add_origin(reading, rest);
        else if (strcmp(what, "thread") == 0)
            good = add_thread(reading, rest);
        else if (strcmp(what, "end") == 0)
            return read_end(reading, rest);
        else
            good = refuse(reading, "neither image, process, block, slice nor end");
        if (!good)
            return false;
    }
}

bool slice_table_read(struct slice_table *table, const char *path, struct error *error) {
    *table = (struct slice_table){0};
    struct reading reading = {.table = table,
                              .path = path,
                              .line = calloc(1, FIRST_LINE),
                              .size = FIRST_LINE,
                              .error = error};
    if (!reading.line)
        return error_set(error, "%s: out of memory", path);
    reading.file = fopen(path, "re");
    bool good = reading.file ? read_head(&reading) && read_body(&reading)
                             : error_errno(error, "cannot read %s", path);
    if (reading.file)
        fclose(reading.file);
    free(reading.line);
    return good;
}

void slice_table_free(struct slice_table *table) {
    region_images_free(table->images, table->image_count);
    slice_processes_free(table->processes, table->process_count);
    free(table->threads);
    free(table->command);
    free(table->blocks);
    free(table->slices);
    *table = (struct slice_table){0};
}

/* ---- writing ---- */

enum { LINE_ROOM = 200 }; /* for a line's words and numbers */

static char *put_number(char *to, uint64_t number) {
    *to++ = ' ';
    return put_decimal(to, number);
}

static char *put_place(char *to, uint32_t image, uint64_t offset) {
    to = image == MARKER_NO_IMAGE ? put_text(to, " -") : put_number(to, image);
    *to++ = ' ';
    return put_hex(to, offset);
}

/* Ends the line in `line` with a space and text that may hold anything. */
static bool write_text(struct slice_writer *writer, char *line, char *to, const char *text,
                       struct error *error) {
    *to++ = ' ';
    if (!stream_write(&writer->stream, line, (size_t)(to - line), error))
        return false;
    for (;;) {
        size_t plain = strcspn(text, "\\\n");
        if (!stream_write(&writer->stream, text, plain, error))
            return false;
        text += plain;
        if (!*text)
            return stream_write(&writer->stream, "\n", 1, error);
        if (!stream_write(&writer->stream, *text++ == '\n' ? "\\n" : "\\\\", 2, error))
            return false;
    }
}

static bool write_line(struct slice_writer *writer, char *line, char *to, struct error *error) {
    *to++ = '\n';
    return stream_write(&writer->stream, line, (size_t)(to - line), error);
}

bool slice_writer_open(struct slice_writer *writer, const char *path, enum isa isa,
                       const char *command, uint64_t size, struct error *error) {
    char line[LINE_ROOM];
    *writer = (struct slice_writer){0};
    char *to = put_text(line, FORMAT);
    to = put_text(to, "1\nisa ");
    to = put_text(to, ISAS[isa]);
    to = put_text(to, "\ncommand");
    if (!stream_open(&writer->stream, path, error) || !write_text(writer, line, to, command, error))
        return false;
    return write_line(writer, line, put_number(put_text(line, "size"), size), error);
}

bool slice_writer_image(struct slice_writer *writer, uint32_t number,
                        const struct region_image *image, struct error *error) {
    char line[LINE_ROOM], *to = put_number(put_text(line, "image"), number);
    *to++ = ' ';
    for (unsigned i = 0; i < image->build_id_size; i++) {
        *to++ = "0123456789abcdef"[image->build_id[i] >> 4];
        *to++ = "0123456789abcdef"[image->build_id[i] & 15];
    }
    if (!image->build_id_size)
        *to++ = '-';
    return write_text(writer, line, to, *image->path ? image->path : "?", error);
}

bool slice_writer_process(struct slice_writer *writer, uint32_t number,
                          const struct slice_process *process, struct error *error) {
    char line[LINE_ROOM], *to = put_number(put_text(line, "process"), number);
    to = put_number(to, process->pid);
    if (!write_text(writer, line, to, *process->executable ? process->executable : "?", error))
        return false;
    if (!process->command)
        return true;
    to = put_number(put_text(line, "origin"), number);
    to = process->forker == UINT32_MAX ? put_text(to, " -") : put_number(to, process->forker);
    to = put_number(put_number(to, process->fork), process->generation);
    return write_text(writer, line, to, process->command, error);
}

bool slice_writer_thread(struct slice_writer *writer, const struct slice_thread *thread,
                         struct error *error) {
    char line[LINE_ROOM], *to = put_number(put_text(line, "thread"), thread->thread);
    to = put_number(put_number(to, thread->process), thread->ordinal);
    return write_line(writer, line, to, error);
}

bool slice_writer_block(struct slice_writer *writer, uint32_t id, const struct slice_block *block,
                        struct error *error) {
    char line[LINE_ROOM], *to = put_number(put_text(line, "block"), id);
    to = put_place(to, block->image, block->offset);
    return write_line(writer, line, put_number(to, block->insn_count), error);
}

bool slice_writer_slice(struct slice_writer *writer, const struct slice_place *slice,
                        struct error *error) {
    char line[LINE_ROOM], *to = put_number(put_text(line, "slice"), slice->process);
    to = put_number(to, slice->thread);
    to = put_number(to, slice->first);
    to = put_number(to, slice->instructions);
    to = put_place(to, slice->start.image, slice->start.offset);
    writer->instructions += slice->instructions;
    return write_line(writer, line, put_number(to, slice->start.count), error);
}

bool slice_writer_close(struct slice_writer *writer, bool complete, struct error *error) {
    if (!writer->stream.buffer)
        return true;
    char line[LINE_ROOM], *to = put_number(put_text(line, "end"), writer->instructions);
    bool good = !complete || write_line(writer, line, to, error);
    return stream_close(&writer->stream, good ? error : &(struct error){0}) && good;
}
