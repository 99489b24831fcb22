/* The text that llvm-bolt reads (fdata): a line for each branch,
 *
 *     1 function offset 1 function offset mispredicted times
 *
 * with offsets in hexadecimal; what lies in another file is `0 [unknown] 0`. Of a conditional
 * branch that is not taken the line leads to the instruction behind it. Other ways to go on are no
 * branches: llvm-bolt concludes them. Returns it has no use for, and of a function that calls
 * itself it would take them for a branch within.
 *
 * Names of local symbols are not unique in a file. llvm-bolt numbers them from 1 by address, those
 * of one source file by themselves: name/file/number. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/compiler_input.h"
#include "util/array.h"
#include "util/intern.h"
#include "util/order.h"

struct bolt_function {
    uint64_t start, end;
    uint32_t name;   /* in `names`, without the number */
    uint32_t number; /* from 1; 0: global, its name says which it is */
    bool told;
};

struct bolt {
    struct compiler_input *input;
    struct intern names;
    uint32_t *numbers; /* given so far, by name */
    size_t number_capacity;
    struct bolt_function *functions; /* by address, one of each */
    size_t count, capacity;
};

/* Spaces and backslashes of a name are escaped. The interned name; INTERN_NONE: out of memory. */
static uint32_t intern_name(struct bolt *bolt, const struct program_symbol *symbol) {
    const char *parts[] = {symbol->name, symbol->local ? "/" : "", symbol->file ? symbol->file : "",
                           symbol->file ? "/" : ""};
    size_t size = 0, at = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        size += 2 * strlen(parts[i]);
    char *text = malloc(size + 1);
    if (!text)
        return INTERN_NONE;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (const char *c = parts[i]; *c; c++) {
            if (*c == ' ' || *c == '\\')
                text[at++] = '\\';
            text[at++] = *c;
        }
    const uint32_t name = intern_add(&bolt->names, text, at);
    free(text);
    return name;
}

/* Of several names of one address a global one, or the first. */
static bool take_symbol(void *context, const struct program_symbol *symbol) {
    struct bolt *bolt = context;
    struct bolt_function function = {.start = symbol->address,
                                     .end = symbol->address + symbol->size,
                                     .name = intern_name(bolt, symbol)};
    if (function.name == INTERN_NONE ||
        !array_zeroed_room(bolt->numbers, bolt->number_capacity, (size_t)function.name + 1))
        return false;
    if (symbol->local)
        function.number = ++bolt->numbers[function.name];
    if (!bolt->count || bolt->functions[bolt->count - 1].start != function.start)
        return array_push(bolt->functions, bolt->capacity, bolt->count, function);
    struct bolt_function *last = &bolt->functions[bolt->count - 1];
    if (last->number && !function.number) {
        last->name = function.name;
        last->number = 0;
    }
    if (function.end > last->end)
        last->end = function.end;
    return true;
}

static struct bolt_function *function_at(struct bolt *bolt, uint64_t address) {
    const size_t behind = first_where(i, bolt->count, bolt->functions[i].start > address);
    struct bolt_function *function = behind ? &bolt->functions[behind - 1] : NULL;
    return function && address != COUNTED_ELSEWHERE && address < function->end ? function : NULL;
}

static void put_end(struct bolt *bolt, struct bolt_function *function, uint64_t address) {
    FILE *file = bolt->input->profile->file;
    if (!function) {
        fputs("0 [unknown] 0 ", file);
        return;
    }
    bolt->input->functions += !function->told;
    function->told = true;
    fprintf(file, "1 %s", intern_text(&bolt->names, function->name));
    if (function->number)
        fprintf(file, "%" PRIu32, function->number);
    fprintf(file, " %" PRIx64 " ", address - function->start);
}

/* Whether llvm-bolt has a use for the edge. */
static bool is_wanted(const struct counted_edge *edge, const struct bolt_function *from,
                      const struct bolt_function *to) {
    if (!from) /* called from elsewhere */
        return to && edge->to == to->start && edge->kind != EDGE_FALL_THROUGH;
    if (edge->kind == EDGE_FALL_THROUGH)
        return edge->branch == BRANCH_CONDITIONAL && from == to;
    return edge->kind != EDGE_SIGNAL && edge->branch != BRANCH_RETURN;
}

static void put_edge(struct bolt *bolt, const struct counted_edge *edge) {
    struct bolt_function *from = function_at(bolt, edge->from), *to = function_at(bolt, edge->to);
    if (!is_wanted(edge, from, to))
        return;
    put_end(bolt, from, edge->from);
    put_end(bolt, to, edge->to);
    fprintf(bolt->input->profile->file, "0 %" PRIu64 "\n", edge->times);
}

bool bolt_write(struct compiler_input *input, struct error *error) {
    struct bolt bolt = {.input = input};
    const struct compiler_profile *profile = input->profile;
    const char *path = program_image_path(profile->program, profile->image);
    const bool good = program_each_symbol(profile->program, profile->image, take_symbol, &bolt) ||
                      error_set(error, "%s: out of memory for its symbols", path);
    for (size_t i = 0; good && i < input->edge_count; i++)
        put_edge(&bolt, &input->edges[i]);
    intern_free(&bolt.names);
    free(bolt.numbers);
    free(bolt.functions);
    return good &&
           (input->functions ||
            error_set(error,
                      "%s: no functions are known that it executes (llvm-bolt needs a program that "
                      "is not stripped, best linked with -Wl,-q)",
                      path));
}
