/* Cycles by call stack, as folded stacks for flame graphs: "thread 0;main;work;memcpy 1234". Names
 * are looked up at the end; until then the file is empty. */
#include <stdio.h>
#include <stdlib.h>

#include "attribute/attribute.h"
#include "attribute/call_stacks.h"
#include "attribute/tracers.h"
#include "program/program.h"
#include "util/array.h"
#include "util/file_name.h"

struct calls {
    struct stream stream;
    struct call_stacks stacks;
};

struct lane {
    struct call_thread thread;
};

static void *open_calls(const struct tracer_options *options, struct error *error) {
    struct calls *calls = calloc(1, sizeof *calls);
    if (!calls || !call_stacks_init(&calls->stacks, options->places)) {
        free(calls);
        return error_null(error, "out of memory");
    }
    if (stream_open(&calls->stream, options->path, error))
        return calls;
    call_stacks_end(&calls->stacks);
    free(calls);
    return NULL;
}

static void *begin(void *tracer, struct tap_source source, struct error *error) {
    struct calls *calls = tracer;
    struct lane *lane = malloc(sizeof *lane);
    if (lane && call_thread_init(&lane->thread, &calls->stacks, source.thread))
        return lane;
    free(lane);
    return error_null(error, "out of memory for call stacks");
}

static bool end(void *context, struct error *error) {
    struct lane *lane = context;
    (void)error;
    call_thread_end(&lane->thread);
    free(lane);
    return true;
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct lane *lane = context;
    return call_thread_consume(&lane->thread, buffer, error);
}

/* ---- the file ---- */

struct names {
    struct program *program;
    uint32_t *images; /* of the code, in the program */
    char **names;     /* by static instruction; NULL: not asked for so far */
    size_t count;
};

static void names_end(struct names *names) {
    array_free_each(names->names, names->count);
    free(names->images);
    if (names->program)
        program_free(names->program);
}

static bool names_init(struct names *names, const struct code *code) {
    *names = (struct names){.program = program_new(),
                            .images = calloc(code->image_count + 1, sizeof *names->images),
                            .names = calloc(code->insn_count + 1, sizeof *names->names),
                            .count = code->insn_count};
    if (!names->program || !names->images || !names->names)
        return false;
    for (uint32_t i = 0; i < code->image_count; i++) {
        const struct code_image *image = &code->images[i];
        names->images[i] = image->kind == CODE_IMAGE_FILE
                               ? program_add_image(names->program, image->path, image->build_id,
                                                   image->build_id_size)
                               : UINT32_MAX;
    }
    return true;
}

/* Replaces semicolons, which separate frames. */
static void clean(char *name) {
    for (; *name; name++)
        if (*name == ';' || *name == '\n')
            *name = ':';
}

/* The name of the function that begins with (or holds) the instruction: image+offset if it has
 * none. NULL: out of memory. */
static const char *name_of(struct names *names, const struct code *code, uint32_t insn) {
    if (names->names[insn])
        return names->names[insn];
    const struct static_insn *at = &code->insns[insn];
    struct location location = {0};
    program_locate(names->program, names->images[at->image], at->offset, &location);
    const char *path = code->images[at->image].path;
    int length =
        location.function
            ? asprintf(&names->names[insn], "%s", location.function)
            : asprintf(&names->names[insn], "%s+0x%llx", file_base_name(path),
                       (unsigned long long)(location.function_size ? location.function_offset
                                                                   : at->offset));
    if (length < 0)
        return names->names[insn] = NULL;
    clean(names->names[insn]);
    return names->names[insn];
}

static bool write_stack(struct calls *calls, struct names *names, const struct code *code,
                        uint32_t leaf, struct error *error) {
    const struct call_node *nodes = calls->stacks.nodes;
    uint32_t path[CALL_MAX_DEPTH + 1], depth = nodes[leaf].depth;
    for (uint32_t node = leaf, i = depth; i > 0; node = nodes[node].parent, i--)
        path[i] = nodes[node].insn;
    uint32_t root = leaf;
    while (nodes[root].depth)
        root = nodes[root].parent;
    char text[32], *to = put_decimal(put_text(text, "thread "), nodes[root].insn);
    bool good = stream_write(&calls->stream, text, (size_t)(to - text), error);
    for (uint32_t i = 1; i <= depth && good; i++) {
        const char *name = name_of(names, code, path[i]);
        if (!name)
            return error_set(error, "out of memory for the names of functions");
        good = stream_write(&calls->stream, ";", 1, error) &&
               stream_write(&calls->stream, name, strlen(name), error);
    }
    text[0] = ' ';
    to = put_decimal(text + 1, (nodes[leaf].units + CYCLE_UNITS / 2) / CYCLE_UNITS);
    *to++ = '\n';
    return good && stream_write(&calls->stream, text, (size_t)(to - text), error);
}

static bool write_stacks(struct calls *calls, const struct code *code, struct error *error) {
    struct names names;
    bool good = names_init(&names, code) || error_set(error, "out of memory for names");
    for (uint32_t i = 0; i < calls->stacks.node_count && good; i++)
        if (calls->stacks.nodes[i].units >= CYCLE_UNITS / 2)
            good = write_stack(calls, &names, code, i, error);
    names_end(&names);
    return good;
}

static bool close_calls(void *tracer, const struct code *code, struct error *error) {
    struct calls *calls = tracer;
    struct error late;
    bool good = !code || write_stacks(calls, code, error);
    good &= stream_close(&calls->stream, good ? error : &late);
    call_stacks_end(&calls->stacks);
    free(calls);
    return good;
}

const struct tracer_kind calls_tracer = {.name = "calls",
                                         .description = "cycles by call stack, folded",
                                         .open = open_calls,
                                         .begin = begin,
                                         .consume = consume,
                                         .end = end,
                                         .close = close_calls};
