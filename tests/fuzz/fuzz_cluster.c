/* What --cluster says, what the commands of Slurm say, files of tasks and logs: the first byte
 * chooses which. */
#include <string.h>

#include "cluster/cluster_options.h"
#include "cluster/slurm.h"
#include "cluster/submission.h"
#include "cluster/task_file.h"
#include "input.h"

static bool visit(void *context, const struct task_file *file, uint32_t number, const json_t *task,
                  struct error *error) {
    uint32_t *next = context;
    (void)error;
    require(json_is_object(task) && number < file->count && number >= *next);
    *next = number + 1;
    return true;
}

static void read_tasks(const uint8_t *data, size_t size) {
    struct memory_file memory = memory_file(data, size);
    for (uint32_t element = 0; element < 3; element++) {
        struct task_file file;
        struct error error = {0};
        uint32_t next = 0;
        const struct task_visitor visitor = {visit, &next};
        require(task_file_read(memory.path, element, &file, &visitor, &error) || error.message[0]);
        task_file_free(&file);
    }
    close(memory.fd);
}

static void read_list(const char *text) {
    struct slurm_list list = {0};
    require(slurm_read_list(text, &list));
    for (size_t i = 0; i < list.count && i < 100; i++) {
        const struct slurm_element *element = &list.elements[i];
        const struct slurm_element *found = slurm_find(&list, element->array, element->index);
        require(found && found->array == element->array && found->index == element->index);
    }
    slurm_list_free(&list);
}

static void read_options(const char *text) {
    struct cluster_options options;
    struct error error = {0};
    require(cluster_options_parse(&options, text, &error) || error.message[0]);
    for (size_t i = 0; i < options.passed_count; i++)
        require(!strncmp(options.passed[i], "--", 2));
    cluster_options_free(&options);
}

static void read_log(const char *text, size_t size) {
    char line[64];
    bool of_task;
    submission_said(text, size, 1, &of_task, line, sizeof line);
    require(strlen(line) < sizeof line && !strchr(line, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size)
        return 0;
    char *text = strndup((const char *)data + 1, size - 1);
    uint64_t number;
    uint32_t largest;
    require(text != NULL);
    switch (data[0] % 5) {
    case 0:
        read_tasks(data + 1, size - 1);
        break;
    case 1:
        read_list(text);
        break;
    case 2:
        read_options(text);
        break;
    case 3:
        read_log((const char *)data + 1, size - 1);
        break;
    default:
        slurm_read_number(text, &number);
        slurm_read_config(text, &largest);
    }
    free(text);
    return 0;
}
