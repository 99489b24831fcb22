/* Which function instructions belong to, asked for in the order of their places. Looking a place up
 * in the debug information is dear: a function is looked up once and then holds up to its end, or
 * to a function inside it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/program.h"
#include "query/code_pieces.h"
#include "trace/dynamic.h"
#include "util/error.h"

/* Numbers in `program` of the images of the code, which it adds; UINT32_MAX of what is no file. To
 * be freed; NULL: out of memory. */
uint32_t *code_images_add(const struct code *code, struct program *program);
bool code_image_is_file(const struct code *code, uint32_t image);
/* A library or program of the system, by where its file lies. */
bool code_image_is_system(const struct code *code, uint32_t image);
/* The dynamic loader, by its name: ld-linux-x86-64.so.2, ld-2.31.so. */
bool code_image_is_loader(const struct code *code, uint32_t image);
/* Its file's base name, "[vdso]", "[anon]". */
const char *code_image_name(const struct code *code, uint32_t image);

/* A function, a piece of anonymous code, or all code of a file that no function covers. */
struct walked_function {
    const char *name; /* NULL: no symbol; owned by the program */
    uint64_t offset;  /* of its first byte in the image's file; 0 of uncovered code */
    uint32_t image;   /* into code->images, as its instructions have it */
};

struct function_walk {
    const struct code *code;
    struct program *program;
    uint32_t *images; /* number in `program` of each image of the code */
    struct code_pieces pieces;
    struct walked_function *functions;
    size_t count, capacity;
    uint32_t image;   /* where the walk is */
    uint64_t end;     /* up to where the present function reaches without a gap */
    size_t first;     /* function of this image */
    size_t present;   /* function */
    size_t uncovered; /* SIZE_MAX: none yet in this image */
};

/* False when memory is out; function_walk_end() either way. */
bool function_walk_begin(struct function_walk *walk, const struct code *code,
                         struct program *program);
void function_walk_end(struct function_walk *walk);

/* The place in the debug information; false and empty when nothing is known. */
bool function_walk_locate(const struct function_walk *walk, uint32_t image, uint64_t offset,
                          struct location *location);

/* The number of the function of a place, which must not lie before the last one asked for (images
 * in any order, each at once). SIZE_MAX when memory is out. */
size_t function_walk_step(struct function_walk *walk, uint32_t image, uint64_t offset);
