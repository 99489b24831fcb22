/* Which function each static instruction belongs to, so that a jump to another function can be told
 * from one within. Looked up when control first goes there. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/dynamic.h"
#include "util/hash_index.h"
#include "util/intern.h"

#define FUNCTION_NONE UINT32_MAX

struct path_extent {
    uint64_t start, size; /* of the function: file offset, or address of anonymous code; bytes */
    bool named;           /* not by unwind tables alone */
    bool linkage;         /* an entry of the linkage table: it stands for what it jumps to */
    bool loop;            /* of an interpreter of Python */
    bool resolver;        /* of the dynamic linker: goes on to what it has found, as if called */
    bool allocates;       /* malloc() or its kin */
};

enum { PATH_INLINED_MOST = 8 };

/* Where functions are: false: no function is known there. May be called by several threads. */
struct path_extents {
    bool (*locate)(void *context, const struct code_image *image, uint64_t offset,
                   struct path_extent *extent);
    /* The names of the inlined functions that the instruction is of, the outermost first; how many.
     * They live as long as the context. NULL: nobody asks. */
    uint32_t (*inlined)(void *context, const struct code_image *image, uint64_t offset,
                        const char *names[PATH_INLINED_MOST]);
    void *context;
};

struct path_function {
    uint32_t image;  /* as path_image() numbers them */
    uint64_t offset; /* of its first byte */
    uint32_t insn;   /* one of its instructions; with PATH_BASE_INSN: of the code of `base` */
    bool named;      /* not by its extent alone */
    bool sized;      /* its extent is known; else it is what was called there */
    bool linkage, resolver, loop, allocates;
    bool handler;          /* a signal was seen to lead there */
    const char *inlined;   /* its name, if it is inlined where it is; then it has no offset */
    uint32_t python, line; /* a line of a Python function: index + 1 in struct code python, 0: not
                              known; then it has no image, and `is_python` */
    bool is_python;
};

/* Inlined functions around an instruction: numbers of functions, the outermost first. */
struct path_scope {
    uint32_t functions[PATH_INLINED_MOST], count;
};

/* Where functions are of a run that another one began: images are numbered as in that one's code,
 * and those that it does not have behind them. Instructions of its code are told from those of the
 * run by a bit. */
#define PATH_BASE_INSN (UINT32_C(1) << 31)

struct path_functions {
    struct path_extents extents;
    const struct code *base; /* the code of the run that began it; NULL: none did */
    uint32_t *image_of;      /* by image of the run: 1 + its number; 0: not asked for */
    size_t image_of_capacity, image_count;
    struct path_function *items;
    size_t count, capacity;
    struct hash_index index; /* of the items, by image and offset */
    uint32_t *of;            /* by static instruction: 0: not asked for; 1: none; else number + 2 */
    size_t of_capacity;
    struct intern names; /* of inlined functions */
    struct path_scope *scopes;
    size_t scope_count, scope_capacity;
    struct hash_index scope_index;
    uint32_t
        *scope_of; /* by static instruction: 0: not asked for; else number + 1; scope 0: none */
    size_t scope_of_capacity;
};

void path_functions_free(struct path_functions *functions);

/* The number that an image of the run's code has here; UINT32_MAX: out of memory. */
uint32_t path_image_ask(struct path_functions *functions, const struct code *code, uint32_t image);
static inline uint32_t path_image(struct path_functions *functions, const struct code *code,
                                  uint32_t image) {
    if (!functions->base)
        return image;
    return image < functions->image_of_capacity && functions->image_of[image]
               ? functions->image_of[image] - 1
               : path_image_ask(functions, code, image);
}

/* The function whose extent an instruction lies in; FUNCTION_NONE: none is known, or memory is out.
 */
uint32_t path_function_ask(struct path_functions *functions, const struct code *code,
                           uint32_t insn);
static inline uint32_t path_function_of(struct path_functions *functions, const struct code *code,
                                        uint32_t insn) {
    return insn < functions->of_capacity && functions->of[insn]
               ? functions->of[insn] - 2
               : path_function_ask(functions, code, insn);
}
/* The same; where none is known, the one that begins at the instruction. FUNCTION_NONE: out of
 * memory. */
uint32_t path_function_at(struct path_functions *functions, const struct code *code, uint32_t insn);
/* Whether a function begins there: of code without known functions, whether one was called there.
 */
bool path_function_begins(struct path_functions *functions, const struct code *code, uint32_t insn);
/* Whether the instruction is of this function, or may be: neither has an extent. */
bool path_function_holds(struct path_functions *functions, const struct code *code,
                         uint32_t function, uint32_t insn);

/* The scope of an instruction; UINT32_MAX: out of memory. */
uint32_t path_scope_ask(struct path_functions *functions, const struct code *code, uint32_t insn);
static inline uint32_t path_scope_of(struct path_functions *functions, const struct code *code,
                                     uint32_t insn) {
    return insn < functions->scope_of_capacity && functions->scope_of[insn]
               ? functions->scope_of[insn] - 1
               : path_scope_ask(functions, code, insn);
}

/* A line of Python as a function of its own: `python` as in struct path_function. FUNCTION_NONE:
 * out of memory. */
uint32_t path_python_line(struct path_functions *functions, uint32_t python, uint32_t line);

/* A function of Python, numbered as in struct path_function, that the code `from` has, as one of
 * `code`; 0: it is not known there. */
uint32_t path_python_from(const struct code *from, const struct code *code, uint32_t python);
/* A function of the run that began this one, as one of this run, whose code is `code`;
 * FUNCTION_NONE: out of memory. */
uint32_t path_function_from(struct path_functions *functions, const struct code *code,
                            const struct path_functions *from, uint32_t function);

/* What a function is for, by its name. */
void path_extent_name(struct path_extent *extent, const char *name);
