/* The roofline of a simulation (Williams, Waterman and Patterson 2009): how many operations a
 * second each loop comes to by how many it has for a byte, below what the machine allows. Bytes are
 * those that the core loads and stores (cache-aware: Ilic, Pratas and Sousa 2014), so that each
 * level of memory has a roof of its own:
 *
 *     L1        load units × the widest access of the program
 *     L2, LLC   lines in flight × bytes of a line / latency
 *     DRAM      likewise, or its bandwidth if that is less
 *
 * A loop is told without the loops within it. Operations are of floating point where one in a
 * hundred is, else integer. */
#pragma once

#include <jansson.h>

#include "machine/machine.h"
#include "query/loop_rows.h"
#include "report/page.h"

struct roof {
    char name[48];
    double rate; /* bytes, or operations, a second */
};
struct roofline_loop {
    uint32_t row;               /* of `loops` */
    uint64_t operations, bytes; /* its own */
    double cycles;              /* likewise */
    double intensity, rate;     /* operations for a byte; a second */
    double bound;  /* the lowest roof that it is not above; infinite: it is above all */
    uint32_t roof; /* that one: of memory, or memory_count + of computing */
};
enum { ROOFLINE_MEMORY = 4, ROOFLINE_COMPUTING = 2, ROOFLINE_LOOPS = 20 };
struct roofline {
    struct loop_rows loops; /* all there are */
    double cycles;          /* of the whole run */
    bool fp;
    struct roof memory[ROOFLINE_MEMORY], computing[ROOFLINE_COMPUTING]; /* the highest first */
    uint32_t memory_count, computing_count;
    struct roofline_loop points[ROOFLINE_LOOPS]; /* by cycles, that have 1 in 200 or more,
                                                    and that compute and access */
    uint32_t count;
};

/* roofline_free() either way. */
bool roofline_build(const struct simulation *simulation, const struct code *code,
                    struct program *program, const struct machine *machine,
                    struct roofline *roofline, struct error *error);
void roofline_free(struct roofline *roofline);

void roofline_text(const struct roofline *roofline, const struct page *page);
void roofline_svg(const struct roofline *roofline, const char *program, FILE *out);
json_t *roofline_json(const struct roofline *roofline);
/* "attract nbody.c:31", or an offset in an image. */
void roofline_name(const struct roofline *roofline, uint32_t point, char *text, size_t size);
/* The roof next above it; "none". */
const char *roofline_bound(const struct roofline *roofline, uint32_t point);
