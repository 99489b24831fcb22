/* Reads the items of the file once; chunks carry their instruction counts. */
#include "report/trace_info.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/json_values.h"
#include "report/page.h"
#include "trace/event.h"
#include "trace/item.h"
#include "util/array.h"
#include "util/text.h"

enum { SHOWN_THREADS = 40, MOST_THREADS = 1 << 22 /* as many as Linux has */ };

struct counted_thread {
    uint64_t first, instructions;
    uint32_t process;
    bool seen;
};

struct counted {
    char *command, *host;
    enum isa isa;
    bool addresses, ended, checked;
    struct trace_exit exit;
    uint64_t instructions, chunks, blocks, bytes;
    uint64_t events, orders; /* of threads: system calls; reads of what another had written */
    uint64_t python;         /* functions of Python that ran */
    struct counted_thread *threads; /* by number */
    size_t thread_count, thread_capacity;
    uint32_t processes, untraced, images;
    char **paths; /* of images, by number */
    size_t path_capacity;
    json_t *notes;
};

static bool count_image(struct counted *counted, const struct item_image *image) {
    if (image->image < counted->images)
        return true; /* mapped again */
    if (!array_reserve((void **)&counted->paths, &counted->path_capacity,
                       (size_t)counted->images + 1, sizeof *counted->paths))
        return false;
    counted->paths[counted->images] = strdup(image->path);
    return counted->paths[counted->images++] != NULL;
}

static uint64_t orders_in(const struct item_data *data) {
    return sum_over(uint64_t, i, data->event_count,
                    event_kind(data->events[i]) == EVENT_MARK &&
                        event_mark_kind(data->events[i]) == MARK_WRITER);
}

static bool count_data(struct counted *counted, const struct item_data *data, struct error *error) {
    if (data->thread > MOST_THREADS)
        return error_set(error, "thread number %" PRIu32 " is absurd", data->thread);
    if (!array_reserve((void **)&counted->threads, &counted->thread_capacity,
                       (size_t)data->thread + 1, sizeof *counted->threads))
        return error_set(error, "out of memory for what the trace holds");
    while (counted->thread_count <= data->thread)
        counted->threads[counted->thread_count++] = (struct counted_thread){0};
    struct counted_thread *thread = &counted->threads[data->thread];
    if (!thread->seen)
        *thread = (struct counted_thread){
            .first = data->first_insn, .process = data->process, .seen = true};
    thread->instructions += data->insn_count;
    counted->orders += orders_in(data);
    counted->chunks++;
    counted->instructions += data->insn_count;
    return true;
}

static bool count_item(struct counted *counted, const struct item *item, struct error *error) {
    bool room = true;
    switch (item->kind) {
    case ITEM_HEADER:
        if (counted->command || counted->host)
            return error_set(error, "a second header");
        counted->isa = item->header.isa;
        counted->addresses = item->header.addresses;
        counted->command = strdup(item->header.command);
        counted->host = strdup(item->header.host);
        room = counted->command && counted->host;
        break;
    case ITEM_PROCESS:
        counted->processes += item->process.traced;
        counted->untraced += !item->process.traced;
        break;
    case ITEM_IMAGE:
        room = count_image(counted, &item->image);
        break;
    case ITEM_CODE:
        counted->blocks++;
        break;
    case ITEM_DATA:
        return count_data(counted, &item->data, error);
    case ITEM_CUT:
    case ITEM_NOTE:
        room = json_array_append_new(counted->notes, json_text(item->note)) == 0;
        break;
    case ITEM_END:
        counted->ended = true;
        counted->exit = item->end;
        break;
    case ITEM_THREAD_EVENT:
        counted->events++;
        break;
    case ITEM_PYTHON:
        counted->python++;
        break;
    case ITEM_THREAD_END:
    case ITEM_SYMBOLS:
    case ITEM_MARKER:
    case ITEM_EFFECT:
    case ITEM_CHILD:
        break;
    }
    return room || error_set(error, "out of memory for what the trace holds");
}

static void describe_end(const struct counted *counted, char *text, size_t size) {
    if (counted->ended && counted->exit.stopped)
        snprintf(text, size, "not recorded");
    else if (!counted->ended || !counted->exit.known)
        snprintf(text, size, "not known (the capture was cut)");
    else
        snprintf(text, size, counted->exit.signaled ? "killed by signal %d" : "exit status %d",
                 counted->exit.status);
}

static double bytes_each(const struct counted *counted) {
    return counted->instructions ? (double)counted->bytes / (double)counted->instructions : 0;
}

static const char *const ISA_NAMES[ISA_COUNT] = {
    [ISA_X86_64] = "x86-64", [ISA_RISCV64] = "riscv64"};

/* Of one thread that was captured from its beginning there is no more to say. */
static void print_threads(const struct counted *counted, FILE *file) {
    if (counted->thread_count < 2 && !(counted->thread_count && counted->threads[0].first))
        return;
    for (size_t i = 0; i < counted->thread_count && i < SHOWN_THREADS; i++) {
        const struct counted_thread *thread = &counted->threads[i];
        fprintf(file, "  thread %-4zu %s instruction%s", i, text_grouped(thread->instructions).s,
                text_plural(thread->instructions));
        if (thread->first)
            fprintf(file, ", after %s", text_grouped(thread->first).s);
        if (counted->processes > 1)
            fprintf(file, ", of process %" PRIu32, thread->process);
        fputc('\n', file);
    }
    if (counted->thread_count > SHOWN_THREADS)
        fprintf(file, "  ... and %zu more\n", counted->thread_count - SHOWN_THREADS);
}

static json_t *threads_json(const struct counted *counted) {
    json_t *threads = json_array();
    for (size_t i = 0; i < counted->thread_count; i++) {
        const struct counted_thread *thread = &counted->threads[i];
        json_array_append_new(threads, json_pack("{s:I, s:I, s:I, s:I}", "thread", (json_int_t)i,
                                                 "process", (json_int_t)thread->process, "first",
                                                 (json_int_t)thread->first, "instructions",
                                                 (json_int_t)thread->instructions));
    }
    return threads;
}

static void print_text(const char *path, const struct counted *counted, FILE *file) {
    char clean[4096], end[64];
    describe_end(counted, end, sizeof end);
    fprintf(file, "%s\n", text_clean(clean, sizeof clean, path));
    fprintf(file, "command       %s\n", text_clean(clean, sizeof clean, counted->command));
    fprintf(file, "captured on   %s\n", text_clean(clean, sizeof clean, counted->host));
    fprintf(file, "architecture  %s\n", ISA_NAMES[counted->isa]);
    fprintf(file, "instructions  %s%s\n", text_grouped(counted->instructions).s,
            counted->addresses ? "" : ", without memory addresses");
    fprintf(file, "threads       %zu of %" PRIu32 " process%s", counted->thread_count,
            counted->processes, counted->processes == 1 ? "" : "es");
    fprintf(file, counted->untraced ? ", %" PRIu32 " not captured\n" : "\n", counted->untraced);
    print_threads(counted, file);
    if (counted->events || counted->orders)
        fprintf(file, "among them    %s system call%s, %s read%s of what another had written\n",
                text_grouped(counted->events).s, text_plural(counted->events),
                text_grouped(counted->orders).s, text_plural(counted->orders));
    if (counted->python)
        fprintf(file, "Python        %s function%s\n", text_grouped(counted->python).s,
                text_plural(counted->python));
    fprintf(file, "size          %s, %.3f bytes per instruction\n", text_bytes(counted->bytes).s,
            bytes_each(counted));
    fprintf(file, "end           %s\n", end);
    fprintf(file, "code          %s block%s in %" PRIu32 " image%s\n",
            text_grouped(counted->blocks).s, text_plural(counted->blocks), counted->images,
            text_plural(counted->images));
    for (uint32_t i = 0; i < counted->images; i++)
        fprintf(file, "              %s\n", text_clean(clean, sizeof clean, counted->paths[i]));
    if (counted->checked)
        fprintf(file, "checked       every instruction\n");
    const struct page page = page_of(file, false);
    for (size_t i = 0; i < json_array_size(counted->notes); i++)
        page_wrap(
            &page,
            text_clean(clean, sizeof clean, json_string_value(json_array_get(counted->notes, i))),
            NULL, "note          ", "              ");
    if (counted->addresses) {
        fputs("next: culprit sim ", file);
        text_put_word(file, path);
        fputc('\n', file);
    }
}

static bool print_json(const char *path, const struct counted *counted, FILE *file,
                       struct error *error) {
    bool known = counted->ended && counted->exit.known;
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:s, s:b, s:I, s:I, s:o, s:I, s:I, s:I, s:f, s:I, s:o, s:o, s:o, s:O, "
        "s:I, s:I, s:I, s:b}",
        "trace", json_text(path), "command", json_text(counted->command), "host",
        json_text(counted->host), "isa", ISA_NAMES[counted->isa], "addresses", counted->addresses,
        "instructions", (json_int_t)counted->instructions, "threads",
        (json_int_t)counted->thread_count, "thread_list", threads_json(counted), "processes",
        (json_int_t)counted->processes, "untraced_processes", (json_int_t)counted->untraced,
        "bytes", (json_int_t)counted->bytes, "bytes_per_instruction", bytes_each(counted), "blocks",
        (json_int_t)counted->blocks, "images",
        json_texts((const char *const *)counted->paths, counted->images), "exit_status",
        known && !counted->exit.signaled ? json_integer(counted->exit.status) : json_null(),
        "signal",
        known && counted->exit.signaled ? json_integer(counted->exit.status) : json_null(), "notes",
        counted->notes, "thread_calls", (json_int_t)counted->events, "ordered_reads",
        (json_int_t)counted->orders, "python_functions", (json_int_t)counted->python, "checked",
        counted->checked);
    return json_write(object, file, error);
}

bool trace_info(const char *path, bool checked, bool json, FILE *file, struct error *error) {
    struct item_source source = {0};
    if (!file_source_open(path, &source, error))
        return false;
    struct counted counted = {.notes = json_array(), .checked = checked};
    struct item item;
    int status;
    while ((status = source.next(source.context, &item, error)) > 0)
        if (!count_item(&counted, &item, error)) {
            status = -1;
            break;
        }
    source.close(source.context);
    struct stat file_status;
    if (stat(path, &file_status) == 0)
        counted.bytes = (uint64_t)file_status.st_size;
    bool good = status == 0;
    if (counted.command) {
        if (json)
            good &= print_json(path, &counted, file, error);
        else
            print_text(path, &counted, file);
        if (good && (fflush(file) != 0 || ferror(file)))
            good = error_errno(error, "cannot write what the trace holds");
    } else if (good) {
        good = error_set(error, "%s: not a trace: it does not begin with a header", path);
    }
    free(counted.command);
    free(counted.host);
    array_free_each(counted.paths, counted.images);
    free(counted.threads);
    json_decref(counted.notes);
    return good;
}
