/* Whose data an address of a simulated program is: of an object with a symbol, of a section of a
 * file, of a stack, or of memory without a name. */
#pragma once

#include "program/program.h"
#include "simulate/line_traffic.h"
#include "trace/dynamic.h"

enum data_kind {
    DATA_SYMBOL,
    DATA_SECTION, /* of a file, where no symbol is */
    DATA_STACK,   /* between what calls of a thread pushed */
    DATA_MEMORY   /* heap, or otherwise anonymous: no more is known */
};

struct data_object {
    enum data_kind kind;
    const char *name;  /* symbol, or section; the program's */
    const char *image; /* base name of the file; likewise. NULL: in none */
    uint64_t offset;   /* of the address in it; of a stack and of memory 0 */
    uint64_t size;     /* bytes of the object or section; likewise */
    uint32_t thread;   /* whose stack it is */
};

/* Where the files of a program's code are: at the addresses where they were first seen, and in the
 * processes that executed something of them that touched a line of `sum`. Refers to all that it is
 * made from. */
struct data_map {
    const struct code *code;
    struct program *program;
    const uint32_t *images; /* number in `program` of each image of the code */
    const struct line_traffic_sum *sum;
    struct data_image {
        bool known;
        uint64_t bias; /* address, less that as linked */
    } * places;
    uint8_t *loaded; /* by process and image; NULL: too many to tell, all are */
    uint32_t process_count;
};
/* False: out of memory. data_map_free() either way. */
bool data_map_build(struct data_map *map, const struct code *code, struct program *program,
                    const uint32_t *images, const struct line_traffic_sum *sum,
                    uint32_t process_count);
void data_map_free(struct data_map *map);

struct data_object data_object_at(const struct data_map *map, uint32_t process, uint64_t address);
