#include "cluster/task_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/output.h"

enum { FORMAT = 1, MOST_TASKS = 1000000, MOST_LINE = 1 << 16 };

bool task_file_write(const char *path, const struct task_file *file, char *const *lines,
                     struct error *error) {
    struct output output = {0};
    json_t *head = json_pack("{s:i, s:s, s:s, s:s, s:i, s:i}", "format", FORMAT, "verb", file->verb,
                             "version", file->version, "folder", file->folder, "each",
                             (int)file->each, "count", (int)file->count);
    for (uint32_t i = 0; i < file->count; i++)
        if (strlen(lines[i]) > MOST_LINE - 2) {
            json_decref(head);
            return error_set(error, "task %u is told in more than %d bytes", i, MOST_LINE - 2);
        }
    if (!head)
        return error_set(error, "%.200s: its name is no UTF-8, which tasks cannot tell to nodes",
                         file->folder);
    bool good = output_open(&output, "--cluster", path, NULL, error);
    if (good) {
        json_dumpf(head, output.file, JSON_COMPACT);
        fputc('\n', output.file);
        for (uint32_t i = 0; i < file->count; i++)
            fprintf(output.file, "%s\n", lines[i]);
        output.durable = true;
        good = output_close(&output, error);
    }
    output_discard(&output);
    json_decref(head);
    return good;
}

static bool take_head(const char *line, size_t size, struct task_file *file) {
    json_t *head = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
    json_int_t format, each, count;
    const char *verb, *version, *folder;
    const bool good =
        head &&
        json_unpack(head, "{s:I, s:s, s:s, s:s, s:I, s:I}", "format", &format, "verb", &verb,
                    "version", &version, "folder", &folder, "each", &each, "count", &count) == 0 &&
        format == FORMAT && each >= 1 && each <= MOST_TASKS && count >= 0 && count <= MOST_TASKS &&
        folder[0] == '/';
    if (good) {
        file->verb = strdup(verb);
        file->version = strdup(version);
        file->folder = strdup(folder);
        file->each = (uint32_t)each;
        file->count = (uint32_t)count;
    }
    json_decref(head);
    return good && file->verb && file->version && file->folder;
}

/* Its end, or a line longer than any that is written: false. */
static bool next_line(FILE *in, char *line, size_t *size) {
    if (!fgets(line, MOST_LINE, in))
        return false;
    *size = strlen(line);
    return *size && line[*size - 1] == '\n';
}

static bool read_tasks(FILE *in, char *line, const char *path, uint32_t element,
                       struct task_file *file, const struct task_visitor *visitor,
                       struct error *error) {
    const uint64_t first = (uint64_t)element * file->each, behind = first + file->each;
    size_t size;
    if (first >= file->count)
        return error_set(error, "%.300s: there is no element %u in it", path, element);
    for (uint32_t number = 0; number < file->count && number < behind; number++) {
        if (!next_line(in, line, &size))
            return error_set(error, "%.300s: it ends before task %u", path, number);
        if (number < first)
            continue;
        json_t *task = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
        bool good = json_is_object(task) ||
                    error_set(error, "%.300s: task %u in it is no JSON object", path, number);
        good = good && visitor->visit(visitor->context, file, number, task, error);
        json_decref(task);
        if (!good)
            return false;
    }
    return true;
}

bool task_file_read(const char *path, uint32_t element, struct task_file *file,
                    const struct task_visitor *visitor, struct error *error) {
    size_t size;
    *file = (struct task_file){0};
    FILE *in = fopen(path, "re");
    if (!in)
        return error_errno(error, "%.300s", path);
    char *line = malloc(MOST_LINE);
    bool good = line || error_set(error, "out of memory for tasks");
    good = good && ((next_line(in, line, &size) && take_head(line, size, file)) ||
                    error_set(error,
                              "%.300s: this is no file of tasks (those of --cluster are in "
                              "the folder jobs/ of the one of --keep)",
                              path));
    good = good && read_tasks(in, line, path, element, file, visitor, error);
    free(line);
    fclose(in);
    return good;
}

void task_file_free(struct task_file *file) {
    free(file->verb);
    free(file->version);
    free(file->folder);
    *file = (struct task_file){0};
}
