#include "attribute/path_functions.h"

#include <stdlib.h>
#include <string.h>

#include "program/allocator_routines.h"
#include "program/python_layout.h"
#include "trace/code_union.h"
#include "util/array.h"

void path_functions_free(struct path_functions *functions) {
    free(functions->items);
    hash_index_free(&functions->index);
    free(functions->of);
    free(functions->image_of);
    intern_free(&functions->names);
    free(functions->scopes);
    hash_index_free(&functions->scope_index);
    free(functions->scope_of);
}

uint32_t path_image_ask(struct path_functions *functions, const struct code *code, uint32_t image) {
    const struct code *base = functions->base;
    if (!array_zeroed_room(functions->image_of, functions->image_of_capacity, (size_t)image + 1))
        return UINT32_MAX;
    const size_t known = index_where(
        i, base->image_count, code_images_compare(&base->images[i], &code->images[image]) == 0);
    const size_t number =
        known < base->image_count ? known : base->image_count + functions->image_count++;
    functions->image_of[image] = (uint32_t)number + 1;
    return (uint32_t)number;
}

static uint32_t find(const struct path_functions *functions, uint32_t image, uint64_t offset) {
    const uint64_t hash = hash_pair(image, offset);
    size_t at;
    for (uint32_t i = hash_index_first(&functions->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&functions->index, hash, &at))
        if (functions->items[i].image == image && functions->items[i].offset == offset)
            return i;
    return FUNCTION_NONE;
}

static uint32_t add(struct path_functions *functions, const struct path_function *function) {
    const uint32_t number = (uint32_t)functions->count;
    const uint32_t known = find(functions, function->image, function->offset);
    if (known != FUNCTION_NONE)
        return known;
    return array_push(functions->items, functions->capacity, functions->count, *function) &&
                   hash_index_add(&functions->index, hash_pair(function->image, function->offset),
                                  number)
               ? number
               : FUNCTION_NONE;
}

static uint32_t look_up(struct path_functions *functions, const struct code *code, uint32_t insn) {
    const struct static_insn *at = &code->insns[insn];
    struct path_extent extent = {0};
    if (!functions->extents.locate(functions->extents.context, &code->images[at->image], at->offset,
                                   &extent))
        return FUNCTION_NONE;
    const struct path_function function = {.image = path_image(functions, code, at->image),
                                           .offset = extent.start,
                                           .insn = insn,
                                           .named = extent.named,
                                           .sized = true,
                                           .linkage = extent.linkage,
                                           .loop = extent.loop,
                                           .resolver = extent.resolver,
                                           .allocates = extent.allocates};
    return add(functions, &function);
}

uint32_t path_function_ask(struct path_functions *functions, const struct code *code,
                           uint32_t insn) {
    if (!array_zeroed_room(functions->of, functions->of_capacity, (size_t)insn + 1))
        return FUNCTION_NONE;
    if (!functions->of[insn])
        functions->of[insn] = look_up(functions, code, insn) + 2; /* none: UINT32_MAX + 2 = 1 */
    return functions->of[insn] - 2;
}

uint32_t path_function_at(struct path_functions *functions, const struct code *code,
                          uint32_t insn) {
    const uint32_t known = path_function_of(functions, code, insn);
    if (known != FUNCTION_NONE)
        return known;
    const struct static_insn *at = &code->insns[insn];
    return add(functions, &(struct path_function){.image = path_image(functions, code, at->image),
                                                  .offset = at->offset,
                                                  .insn = insn});
}

bool path_function_begins(struct path_functions *functions, const struct code *code,
                          uint32_t insn) {
    const struct static_insn *at = &code->insns[insn];
    const uint32_t known = path_function_of(functions, code, insn);
    return known != FUNCTION_NONE ? functions->items[known].offset == at->offset
                                  : find(functions, path_image(functions, code, at->image),
                                         at->offset) != FUNCTION_NONE;
}

bool path_function_holds(struct path_functions *functions, const struct code *code,
                         uint32_t function, uint32_t insn) {
    const uint32_t known = path_function_of(functions, code, insn);
    if (known != FUNCTION_NONE || function == FUNCTION_NONE)
        return known == function;
    const struct path_function *nameless = &functions->items[function];
    return !nameless->sized &&
           nameless->image == path_image(functions, code, code->insns[insn].image);
}

/* ---- inlined functions ---- */

enum { INLINED = UINT32_C(1) << 31 }; /* in the image of a function: its offset numbers a name */

/* FUNCTION_NONE: out of memory. */
static uint32_t add_inlined(struct path_functions *functions, uint32_t image, uint32_t insn,
                            const char *name) {
    const uint32_t number = intern_add(&functions->names, name, strlen(name));
    if (number == INTERN_NONE)
        return FUNCTION_NONE;
    const uint32_t known = find(functions, image | INLINED, number);
    if (known != FUNCTION_NONE)
        return known;
    return add(functions, &(struct path_function){.image = image | INLINED,
                                                  .offset = number,
                                                  .insn = insn,
                                                  .sized = true,
                                                  .inlined = name});
}

uint32_t path_python_from(const struct code *from, const struct code *code, uint32_t python) {
    if (!python || python > from->python_count)
        return 0;
    const struct python_source *source = &from->python[python - 1];
    const size_t found = index_where(i, code->python_count,
                                     code->python[i].first_line == source->first_line &&
                                         !strcmp(code->python[i].name, source->name) &&
                                         !strcmp(code->python[i].path, source->path));
    return found < code->python_count ? (uint32_t)found + 1 : 0;
}

uint32_t path_function_from(struct path_functions *functions, const struct code *code,
                            const struct path_functions *from, uint32_t function) {
    struct path_function taken = from->items[function];
    if (taken.is_python)
        return path_python_line(
            functions,
            functions->base ? path_python_from(functions->base, code, taken.python) : taken.python,
            taken.line);
    taken.insn |= PATH_BASE_INSN;
    return taken.inlined ? add_inlined(functions, taken.image & ~INLINED, taken.insn, taken.inlined)
                         : add(functions, &taken);
}

static uint32_t add_scope(struct path_functions *functions, const struct path_scope *scope) {
    uint64_t hash = scope->count;
    size_t at;
    for (uint32_t i = 0; i < scope->count; i++)
        hash = hash_pair(hash, scope->functions[i]);
    for (uint32_t i = hash_index_first(&functions->scope_index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&functions->scope_index, hash, &at))
        if (!memcmp(&functions->scopes[i], scope, sizeof *scope))
            return i;
    const uint32_t number = (uint32_t)functions->scope_count;
    return array_push(functions->scopes, functions->scope_capacity, functions->scope_count,
                      *scope) &&
                   hash_index_add(&functions->scope_index, hash, number)
               ? number
               : UINT32_MAX;
}

uint32_t path_scope_ask(struct path_functions *functions, const struct code *code, uint32_t insn) {
    const struct static_insn *at = &code->insns[insn];
    const char *names[PATH_INLINED_MOST];
    struct path_scope scope = {.count = 0};
    if (!array_zeroed_room(functions->scope_of, functions->scope_of_capacity, (size_t)insn + 1) ||
        (!functions->scope_count && add_scope(functions, &scope) == UINT32_MAX))
        return UINT32_MAX;
    const uint32_t count = functions->extents.inlined(functions->extents.context,
                                                      &code->images[at->image], at->offset, names);
    for (; scope.count < count; scope.count++)
        if ((scope.functions[scope.count] =
                 add_inlined(functions, path_image(functions, code, at->image), insn,
                             names[scope.count])) == FUNCTION_NONE)
            return UINT32_MAX;
    const uint32_t number = add_scope(functions, &scope);
    if (number != UINT32_MAX)
        functions->scope_of[insn] = number + 1;
    return number;
}

/* ---- Python ---- */

enum { PYTHON = UINT32_C(1) << 30 }; /* the image of lines; their offset: function and line */

uint32_t path_python_line(struct path_functions *functions, uint32_t python, uint32_t line) {
    return add(functions, &(struct path_function){.image = PYTHON,
                                                  .offset = (uint64_t)python << 32 | line,
                                                  .sized = true,
                                                  .is_python = true,
                                                  .python = python,
                                                  .line = line});
}

/* By the names that glibc has besides, too. */
static bool allocates(const char *name) {
    static const char BESIDE[] = "__libc_";
    const size_t length = strlen(BESIDE);
    const enum allocator_action action =
        allocator_action_of(strncmp(name, BESIDE, length) ? name : name + length);
    return action != ALLOCATOR_NONE && action != ALLOCATOR_FREE;
}

void path_extent_name(struct path_extent *extent, const char *name) {
    const size_t length = strlen(name);
    extent->named = true;
    extent->loop = !strcmp(name, PYTHON_LOOP);
    extent->allocates = allocates(name);
    extent->linkage = length > 4 && !strcmp(name + length - 4, "@plt");
    extent->resolver =
        !strncmp(name, "_dl_runtime_resolve", 19) || !strncmp(name, "_dl_runtime_profile", 19);
}
