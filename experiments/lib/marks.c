/* marks TRACE MOST COUNT: up to COUNT branches whose executions, MOST in all at most, divide the run
 * of the first thread most evenly. A line for each: its file, its offset there and how often it is
 * executed; then one of how many instructions there are, into how many slices they are divided, and
 * how long the slice of an instruction is in the mean.
 *
 * Each is the one that lessens the sum of the squares of the slices' lengths most, after those
 * before it. Branches, as the kernel can put a probe on these without a single step. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"
#include "util/array.h"
#include "util/order.h"

/* A branch. */
struct place {
    uint64_t times;
    uint64_t
        sum;   /* of where it is executed: of two that are always executed together much the same */
    bool kept; /* its executions are */
    double gain;     /* by which it lessens the sum of squares */
    size_t slice;    /* in which it was executed last; SIZE_MAX: in none yet */
    uint64_t before; /* instructions before that execution */
};

struct execution {
    uint64_t at; /* instructions before it */
    uint32_t place;
};

struct marks {
    const char *path;
    struct place *places; /* by static instruction */
    size_t place_count;
    struct execution *executions; /* of those that are kept, in their order */
    size_t execution_count, execution_capacity;
    uint64_t *ends; /* of slices */
    size_t slice_count, slice_capacity;
    uint64_t insns;
};

enum { EXECUTIONS = 300000000 }; /* kept, at most */

static void fail(const char *text) {
    fprintf(stderr, "marks: %s\n", text);
    exit(1);
}

static void *checked(void *memory) {
    if (!memory)
        fail("out of memory");
    return memory;
}

static void know_places(struct marks *marks, size_t count) {
    if (count <= marks->place_count)
        return;
    marks->places = checked(realloc(marks->places, 2 * count * sizeof *marks->places));
    memset(marks->places + marks->place_count, 0,
           (2 * count - marks->place_count) * sizeof *marks->places);
    marks->place_count = 2 * count;
}

static bool has_direct_branch(const struct static_insn *insn) {
    return insn->branch == BRANCH_CONDITIONAL || insn->branch == BRANCH_JUMP ||
           insn->branch == BRANCH_CALL;
}

static void count_execution(struct marks *marks, uint32_t insn) {
    marks->places[insn].times++;
    marks->places[insn].sum += marks->insns >> 10;
}

static void keep_execution(struct marks *marks, uint32_t insn) {
    if (marks->places[insn].kept &&
        !array_push(marks->executions, marks->execution_capacity, marks->execution_count,
                    (struct execution){marks->insns, insn}))
        fail("out of memory");
}

/* Every execution of a branch. */
static struct trace *read_trace(struct marks *marks,
                                void (*execution)(struct marks *marks, uint32_t insn)) {
    struct error error;
    struct trace *trace = trace_open(marks->path, &error);
    struct trace_batch batch;
    int status;
    if (!trace)
        fail(error.message);
    trace_only(trace, 0);
    marks->insns = 0;
    while ((status = trace_next(trace, &batch, &error)) > 0) {
        const struct code *code = trace_code(trace);
        know_places(marks, code->insn_count);
        for (uint32_t i = 0; i < batch.insn_count; i++, marks->insns++)
            if (has_direct_branch(&code->insns[batch.insns[i].insn]))
                execution(marks, batch.insns[i].insn);
    }
    if (status < 0)
        fail(error.message);
    return trace;
}

/* ---- of those that are always executed together, one is kept ---- */

struct candidate {
    uint64_t times, sum;
    uint32_t place;
};

ORDER(by_executions, struct candidate,
      ascending(a->times, b->times) ?: ascending(a->sum, b->sum)
                                           ?: ascending(a->place, b->place))

static void keep_places(struct marks *marks, uint64_t most) {
    struct candidate *all = checked(malloc(marks->place_count * sizeof *all));
    uint64_t room = EXECUTIONS;
    size_t count = 0;
    for (uint32_t i = 0; i < marks->place_count; i++)
        if (marks->places[i].times && marks->places[i].times <= most)
            all[count++] = (struct candidate){marks->places[i].times, marks->places[i].sum, i};
    qsort(all, count, sizeof *all, by_executions);
    for (size_t i = 0; i < count; i++) {
        const bool again = i && all[i].times == all[i - 1].times && all[i].sum == all[i - 1].sum;
        if (again || room < all[i].times)
            continue;
        marks->places[all[i].place].kept = true;
        room -= all[i].times;
    }
    free(all);
}

/* ---- the next ---- */

static double square(uint64_t length) {
    return (double)length * (double)length;
}

static uint64_t slice_begin(const struct marks *marks, size_t slice) {
    return slice ? marks->ends[slice - 1] : 0;
}

/* The slice of its last execution is over. */
static void leave_slice(const struct marks *marks, struct place *place) {
    if (place->slice == SIZE_MAX)
        return;
    const uint64_t end = marks->ends[place->slice];
    place->gain += square(end - slice_begin(marks, place->slice)) - square(end - place->before);
}

static void find_gains(struct marks *marks) {
    size_t slice = 0;
    for (size_t i = 0; i < marks->place_count; i++) {
        marks->places[i].gain = 0;
        marks->places[i].slice = SIZE_MAX;
    }
    for (size_t i = 0; i < marks->execution_count; i++) {
        const uint64_t at = marks->executions[i].at;
        struct place *place = &marks->places[marks->executions[i].place];
        while (slice + 1 < marks->slice_count && at >= marks->ends[slice])
            slice++;
        if (place->slice != slice) {
            leave_slice(marks, place);
            place->slice = slice;
            place->before = slice_begin(marks, slice);
        }
        place->gain -= square(at - place->before);
        place->before = at;
    }
    for (size_t i = 0; i < marks->place_count; i++)
        leave_slice(marks, &marks->places[i]);
}

static int by_end(const void *a, const void *b) {
    return ascending(*(const uint64_t *)a, *(const uint64_t *)b);
}

static void divide(struct marks *marks, uint32_t place) {
    for (size_t i = 0; i < marks->execution_count; i++)
        if (marks->executions[i].place == place && marks->executions[i].at &&
            !array_push(marks->ends, marks->slice_capacity, marks->slice_count,
                        marks->executions[i].at))
            fail("out of memory");
    qsort(marks->ends, marks->slice_count, sizeof *marks->ends, by_end);
}

static double sum_of_squares(const struct marks *marks) {
    double sum = 0;
    for (size_t i = 0; i < marks->slice_count; i++)
        sum += square(marks->ends[i] - slice_begin(marks, i));
    return sum;
}

/* Executed `most` times or less; UINT32_MAX: none that is worth it. */
static uint32_t best_place(const struct marks *marks, uint64_t most) {
    uint32_t best = UINT32_MAX;
    double gain = 0.01 * sum_of_squares(marks);
    for (uint32_t i = 0; i < marks->place_count; i++) {
        const struct place *place = &marks->places[i];
        if (place->kept && place->times <= most && place->gain > gain) {
            best = i;
            gain = place->gain;
        }
    }
    return best;
}

int main(int count, char **words) {
    if (count != 4)
        fail("TRACE MOST COUNT");
    struct marks marks = {.path = words[1]};
    trace_close(read_trace(&marks, count_execution));
    uint64_t most = strtoull(words[2], NULL, 10);
    keep_places(&marks, most);
    struct trace *trace = read_trace(&marks, keep_execution);
    const struct code *code = trace_code(trace);
    if (!array_push(marks.ends, marks.slice_capacity, marks.slice_count, marks.insns))
        fail("out of memory");
    for (int k = atoi(words[3]); k > 0; k--) {
        find_gains(&marks);
        const uint32_t best = best_place(&marks, most);
        if (best == UINT32_MAX)
            break;
        divide(&marks, best);
        marks.places[best].kept = false;
        most -= marks.places[best].times;
        printf("%s %jx %ju\n", code->images[code->insns[best].image].path,
               (uintmax_t)code->insns[best].offset, (uintmax_t)marks.places[best].times);
    }
    printf("%ju %zu %.0f\n", (uintmax_t)marks.insns, marks.slice_count,
           sum_of_squares(&marks) / (double)marks.insns);
    trace_close(trace);
    return 0;
}
