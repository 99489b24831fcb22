/* The code of several traces as one, so that what each of them tells of an instruction adds up: the
 * same instruction is that of the same place (image by path and build id, offset) and bytes.
 * Anonymous code goes by address and bytes, whatever process it was in.
 *
 *     uint32_t *numbers = malloc(code->insn_count * sizeof *numbers);
 *     code_union_add(all, code, numbers, &error)       code->insns[i] is insns[numbers[i]] of all
 *     code_union_sort(all, order, &error)              ... and now insns[order[numbers[i]]] */
#pragma once

#include "program/code_symbol.h"
#include "trace/dynamic.h"
#include "util/error.h"

/* < 0, 0, > 0 as an image comes before, is the same as, comes after another, of another trace. */
int code_images_compare(const struct code_image *a, const struct code_image *b);

struct code_union;
struct code_union *code_union_new(enum isa isa);
void code_union_free(struct code_union *all);

/* Adds what is not there yet, and fills `numbers`, one for each instruction of `code`, which need
 * not be kept. Fails when memory is out, or for code of another architecture; what was added so
 * far stays. */
bool code_union_add(struct code_union *all, const struct code *code, uint32_t *numbers,
                    struct error *error);

/* The number of an image, and that of a function of Python, from 1: added if they are not there
 * yet. UINT32_MAX: out of memory. */
uint32_t code_union_image(struct code_union *all, const struct code_image *image);
uint32_t code_union_python(struct code_union *all, const struct python_source *source);

/* Names anonymous code, all of which is of one process (trace/code_symbols.h): functions that are
 * added later by the same names are the same code. */
bool code_union_name(struct code_union *all, const struct code_symbol *symbols, size_t count,
                     struct error *error);

/* Images and instructions, without µops and targets. Valid until the next add or sort. */
const struct code *code_union_code(const struct code_union *all);

/* Puts images in order of their names and instructions in order of their places, so that the code
 * is the same whatever order it was added in. `order`, of insn_count, tells the new numbers. No
 * more may be added. */
bool code_union_sort(struct code_union *all, uint32_t *order, struct error *error);
/* Then: the number that an image has now. */
uint32_t code_union_image_now(const struct code_union *all, uint32_t image);
