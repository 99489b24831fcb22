/* The text that AutoFDO's tools read in place of a file of perf, addresses in hexadecimal:
 *
 *     how many ranges     first-last:times, of the addresses of instructions
 *     how many addresses  (none: what is sampled where ranges are not known)
 *     how many branches   from->to:times, of those taken */
#include <inttypes.h>
#include <stdlib.h>

#include "exchange/compiler_input.h"

/* Where the range that begins with an instruction ends: those behind it were executed as often. */
static size_t range_end(const struct compiler_input *input, size_t first) {
    size_t i = first + 1;
    while (i < input->insn_count && input->insns[i].times == input->insns[first].times &&
           input->insns[i].address == input->insns[i - 1].address + input->insns[i - 1].length)
        i++;
    return i;
}

static bool is_taken(const struct counted_edge *edge) {
    return edge->from != COUNTED_ELSEWHERE && edge->to != COUNTED_ELSEWHERE &&
           (edge->kind == EDGE_TAKEN || edge->kind == EDGE_INDIRECT);
}

bool ranges_write(struct compiler_input *input, struct error *error) {
    FILE *file = input->profile->file;
    size_t count = 0, branches = 0;
    for (size_t i = 0; i < input->insn_count; i = range_end(input, i))
        count++;
    fprintf(file, "%zu\n", count);
    for (size_t i = 0, end; i < input->insn_count; i = end) {
        end = range_end(input, i);
        fprintf(file, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n", input->insns[i].address,
                input->insns[end - 1].address, input->insns[i].times);
    }
    for (size_t i = 0; i < input->edge_count; i++)
        branches += is_taken(&input->edges[i]);
    fprintf(file, "0\n%zu\n", branches);
    for (size_t i = 0; i < input->edge_count; i++)
        if (is_taken(&input->edges[i]))
            fprintf(file, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n", input->edges[i].from,
                    input->edges[i].to, input->edges[i].times);
    return count || error_set(error, "%s: nothing of it was executed",
                              program_image_path(input->profile->program, input->profile->image));
}
