/* A function's graph is made of its code in the file; instructions that were executed are found in
 * it by their offsets. How often a loop is begun follows from how often blocks were executed, where
 * what flows into each and out of it leaves one edge open at a time. */
#include "query/loop_rows.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/cfg.h"
#include "isa/work.h"
#include "query/function_code.h"
#include "query/function_walk.h"
#include "util/array.h"
#include "util/order.h"

enum { PASSES_MOST = 64 };

struct block_sums {
    uint64_t executions, instructions, units; /* the first: of its first instruction */
};

struct finding {
    const struct report_rows *functions;
    struct loop_rows *loops;
    size_t capacity;
    uint32_t *loop_of; /* by static instruction: row of its innermost loop; LOOP_NONE */
};

/* One function. */
struct body {
    const struct group *group;
    const struct procedure_code *code;
    struct cfg cfg;
    struct block_sums *blocks;
    uint32_t *rows;   /* by block that is a head */
    double *edges;    /* executions; negative: not known */
    uint64_t *events; /* of each row of this function, by signature */
    uint32_t first;   /* of its rows */
};

/* ---- the graph ---- */

static uint32_t insn_of(const struct body *body, const struct static_insn *insn) {
    return cfg_insn_at(&body->cfg, (uint32_t)(insn->offset - body->group->offset));
}

static void sum_blocks(const struct finding *finding, struct body *body) {
    const struct report_rows *rows = finding->functions;
    for (uint32_t i = 0; i < body->group->insn_count; i++) {
        const uint32_t number = rows->members[body->group->first + i];
        const uint32_t at = insn_of(body, &rows->code->insns[number]);
        if (at == CFG_NONE)
            continue;
        const uint32_t block = body->cfg.insns[at].block;
        struct block_sums *sums = &body->blocks[block];
        const uint64_t executed =
            number < rows->simulation->execution_count ? rows->simulation->executions[number] : 0;
        sums->instructions += executed;
        if (body->cfg.blocks[block].first_insn == at)
            sums->executions += executed;
        sums->units += insn_units(rows->simulation->cells, rows->simulation->cell_count, number);
    }
}

/* ---- how often edges were taken ---- */

/* Of edges that sum to `whole`, the one that is not known, if it is the only one. */
static bool solve(double *edges, const uint32_t *numbers, uint32_t first, uint32_t count,
                  double whole) {
    uint32_t open = CFG_NONE;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t edge = numbers ? numbers[first + i] : first + i;
        if (edges[edge] >= 0)
            whole -= edges[edge];
        else if (open != CFG_NONE)
            return false;
        else
            open = edge;
    }
    if (open == CFG_NONE)
        return false;
    edges[open] = whole > 0 ? whole : 0;
    return true;
}

static void solve_edges(struct body *body) {
    const struct cfg *cfg = &body->cfg;
    bool more = !(cfg->flags & (CFG_MISSING_EDGES | CFG_OVERLAPPING | CFG_UNDECODABLE));
    for (uint32_t i = 0; i < cfg->edge_count; i++)
        body->edges[i] = -1;
    for (unsigned pass = 0; more && pass < PASSES_MOST; pass++) {
        more = false;
        for (uint32_t i = 0; i < cfg->block_count; i++) {
            const struct cfg_block *block = &cfg->blocks[i];
            const double executions = (double)body->blocks[i].executions;
            more |= solve(body->edges, NULL, block->first_out, block->out_count, executions);
            more |= solve(body->edges, cfg->in_edges, block->first_in, block->in_count, executions);
        }
    }
}

static bool is_within(const struct cfg *cfg, uint32_t block, uint32_t head) {
    uint32_t loop = block == CFG_NONE ? CFG_NONE : cfg->blocks[block].loop;
    while (loop != CFG_NONE && loop != head)
        loop = cfg->blocks[loop].outer_loop;
    return loop == head;
}

/* The entering edges, or what the edges that close the loop leave of its rounds. */
static double entries_of(const struct body *body, uint32_t head) {
    const struct cfg *cfg = &body->cfg;
    const struct cfg_block *block = &cfg->blocks[head];
    double entering = 0, closing = 0;
    bool entering_known = true, closing_known = true;
    for (uint32_t i = 0; i < block->in_count; i++) {
        const uint32_t edge = cfg->in_edges[block->first_in + i];
        const bool closes = is_within(cfg, cfg->edges[edge].from, head);
        *(closes ? &closing_known : &entering_known) &= body->edges[edge] >= 0;
        *(closes ? &closing : &entering) += body->edges[edge];
    }
    const double rounds = (double)body->blocks[head].executions;
    return entering_known ? entering : closing_known && closing <= rounds ? rounds - closing : -1;
}

/* ---- rows ---- */

/* Heads, a loop before those within it. */
static bool add_rows(struct finding *finding, struct body *body) {
    const struct cfg *cfg = &body->cfg;
    struct loop_rows *loops = finding->loops;
    body->first = loops->total;
    for (uint32_t depth = 1, more = 1; more; depth++) {
        more = 0;
        for (uint32_t i = 0; i < cfg->block_count; i++) {
            const struct cfg_block *block = &cfg->blocks[i];
            more |= block->loop == i && block->loop_depth > depth;
            if (block->loop != i || block->loop_depth != depth)
                continue;
            body->rows[i] = loops->total;
            const struct loop_row row = {
                .offset = body->group->offset + cfg->insns[block->first_insn].offset,
                .function_offset = body->group->offset,
                .outer = block->outer_loop == CFG_NONE ? LOOP_NONE : body->rows[block->outer_loop],
                .depth = depth,
                .rounds = body->blocks[i].executions,
                .entries = entries_of(body, i),
                .called_units = -1};
            if (!array_push(loops->rows, finding->capacity, loops->total, row))
                return false;
        }
    }
    return true;
}

static void name_rows(const struct finding *finding, const struct body *body) {
    const struct report_rows *functions = finding->functions;
    for (uint32_t i = body->first; i < finding->loops->total; i++) {
        struct loop_row *row = &finding->loops->rows[i];
        struct location location;
        program_locate(functions->program, functions->images[body->group->image], row->offset,
                       &location);
        row->image = code_image_name(functions->code, body->group->image);
        row->function = location.function;
        row->file = location.file;
        row->line = location.line;
    }
}

static uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static struct loop_work work_of(const struct body *body, uint32_t at, uint64_t executions) {
    const uint32_t offset = body->cfg.insns[at].offset;
    struct insn_work work;
    insn_work_of(body->code->isa, body->code->bytes + offset, body->code->size - offset, &work);
    return (struct loop_work){.fp = work.fp * executions,
                              .integer = work.integer * executions,
                              .loaded = work.loaded * executions,
                              .stored = work.stored * executions,
                              .fp_lanes = executions && work.fp ? work.lanes : 0,
                              .integer_lanes = executions && !work.fp ? work.lanes : 0,
                              .widest = executions ? larger(work.loaded, work.stored) : 0};
}

static void add_work(struct loop_work *sum, const struct loop_work *work) {
    sum->fp += work->fp;
    sum->integer += work->integer;
    sum->loaded += work->loaded;
    sum->stored += work->stored;
    sum->fp_lanes = larger(sum->fp_lanes, work->fp_lanes);
    sum->integer_lanes = larger(sum->integer_lanes, work->integer_lanes);
    sum->widest = larger(sum->widest, work->widest);
}

static void add_insn(const struct finding *finding, struct body *body, uint32_t number) {
    const struct simulation *simulation = finding->functions->simulation;
    const uint32_t at = insn_of(body, &finding->functions->code->insns[number]);
    const uint32_t head =
        at == CFG_NONE ? CFG_NONE : body->cfg.blocks[body->cfg.insns[at].block].loop;
    if (head == CFG_NONE)
        return;
    uint64_t count;
    const struct pics_cell *cells =
        insn_cells(simulation->cells, simulation->cell_count, number, &count);
    struct loop_row *rows = finding->loops->rows;
    const uint64_t executions =
        number < simulation->execution_count ? simulation->executions[number] : 0;
    const struct loop_work work = work_of(body, at, executions);
    finding->loop_of[number] = body->rows[head];
    for (uint32_t row = body->rows[head]; row != LOOP_NONE; row = rows[row].outer) {
        rows[row].instructions += executions;
        add_work(&rows[row].work, &work);
        for (uint64_t k = 0; k < count; k++) {
            body->events[(size_t)(row - body->first) * PSV_COMBINATIONS + cells[k].psv] +=
                cells[k].units;
            rows[row].units += cells[k].units;
            rows[row].self_units += row == body->rows[head] ? cells[k].units : 0;
        }
    }
}

static bool fill_stacks(const struct finding *finding, const struct body *body) {
    for (uint32_t i = body->first; i < finding->loops->total; i++) {
        const uint64_t *events = body->events + (size_t)(i - body->first) * PSV_COMBINATIONS;
        struct stack *stack = &finding->loops->rows[i].stack;
        size_t parts = 1;
        for (size_t psv = 0; psv < PSV_COMBINATIONS; psv++)
            parts += events[psv] != 0;
        if (!(stack->parts = calloc(parts, sizeof *stack->parts)))
            return false;
        stack_fill(stack, events);
    }
    return true;
}

static bool find_loops(struct finding *finding, struct body *body) {
    const struct cfg *cfg = &body->cfg;
    body->blocks = calloc(cfg->block_count + (size_t)1, sizeof *body->blocks);
    body->rows = calloc(cfg->block_count + (size_t)1, sizeof *body->rows);
    body->edges = calloc(cfg->edge_count + (size_t)1, sizeof *body->edges);
    if (!body->blocks || !body->rows || !body->edges)
        return false;
    sum_blocks(finding, body);
    solve_edges(body);
    if (!add_rows(finding, body))
        return false;
    const size_t count = finding->loops->total - body->first;
    body->events = calloc(count * PSV_COMBINATIONS + 1, sizeof *body->events);
    if (!body->events)
        return false;
    name_rows(finding, body);
    for (uint32_t i = 0; i < body->group->insn_count; i++)
        add_insn(finding, body, finding->functions->members[body->group->first + i]);
    return fill_stacks(finding, body);
}

/* False: out of memory. A function whose code cannot be had has no loops. */
static bool look_at(struct finding *finding, uint32_t number) {
    struct body body = {.group = &finding->functions->groups[number]};
    struct function_code function;
    struct error ignored;
    bool good = true;
    if (function_code_read(finding->functions, number, &function)) {
        body.code = &function.code;
        if (cfg_build(&body.cfg, &function.code, &ignored))
            good = find_loops(finding, &body);
        cfg_free(&body.cfg);
    }
    free(body.blocks);
    free(body.rows);
    free(body.edges);
    free(body.events);
    function_code_free(&function);
    return good;
}

/* ---- calls from loops ---- */

static bool is_in(const struct loop_rows *loops, uint32_t row, uint32_t loop) {
    while (row != LOOP_NONE && row != loop)
        row = loops->rows[row].outer;
    return row == loop && loop != LOOP_NONE;
}

static uint32_t loop_of_site(const struct finding *finding, const struct call_path *path) {
    return path->parent == PATH_NONE || path->site == PATH_NONE ? LOOP_NONE
                                                                : finding->loop_of[path->site];
}

/* Whether a caller further out was called from the loop, too: then its calls have this one's. */
static bool is_counted(const struct finding *finding, const struct call_path *paths, uint32_t path,
                       uint32_t loop) {
    for (uint32_t at = paths[path].parent; at != PATH_NONE; at = paths[at].parent)
        if (is_in(finding->loops, loop_of_site(finding, &paths[at]), loop))
            return true;
    return false;
}

static bool add_calls(const struct finding *finding) {
    const struct call_path_result *result = &finding->functions->simulation->paths;
    struct loop_row *rows = finding->loops->rows;
    double *totals = calloc(result->count + (size_t)1, sizeof *totals);
    if (!totals)
        return false;
    for (uint32_t i = 0; i < finding->loops->total && result->count; i++)
        rows[i].called_units = 0;
    for (uint32_t i = result->count; i-- > 0;) {
        totals[i] += (double)result->paths[i].units;
        if (result->paths[i].parent != PATH_NONE)
            totals[result->paths[i].parent] += totals[i];
    }
    for (uint32_t i = 0; i < result->count; i++)
        for (uint32_t loop = loop_of_site(finding, &result->paths[i]); loop != LOOP_NONE;
             loop = rows[loop].outer)
            if (!is_counted(finding, result->paths, i, loop))
                rows[loop].called_units += totals[i];
    free(totals);
    return true;
}

/* Loops that were never begun, and so none within them. */
static bool drop_unused(struct loop_rows *loops) {
    uint32_t *numbers = malloc((loops->total + (size_t)1) * sizeof *numbers), kept = 0;
    for (uint32_t i = 0; numbers && i < loops->total; i++) {
        struct loop_row row = loops->rows[i];
        if (!row.rounds && !row.units) {
            free(row.stack.parts);
            continue;
        }
        if (row.outer != LOOP_NONE)
            row.outer = numbers[row.outer];
        numbers[i] = kept;
        loops->rows[kept++] = row;
    }
    const bool good = numbers;
    if (good)
        loops->total = kept;
    free(numbers);
    return good;
}

/* ---- order ---- */

struct nest {
    const struct loop_row *rows;
    uint32_t row, outermost;
    uint64_t units; /* of the outermost */
};

/* By nest; within one, a loop is followed by those within it, the costliest first. */
static int by_nest(const void *left, const void *right) {
    const struct nest *a = left, *b = right;
    if (a->outermost != b->outermost)
        return descending(a->units, b->units) ?: ascending(a->outermost, b->outermost);
    const struct loop_row *rows = a->rows;
    uint32_t one = a->row, other = b->row, below_one = LOOP_NONE, below_other = LOOP_NONE;
    for (; rows[one].depth > rows[other].depth; one = rows[one].outer)
        below_one = one;
    for (; rows[other].depth > rows[one].depth; other = rows[other].outer)
        below_other = other;
    for (; one != other; one = rows[one].outer, other = rows[other].outer) {
        below_one = one;
        below_other = other;
    }
    if (below_one == LOOP_NONE || below_other == LOOP_NONE) /* one is around the other */
        return ascending(rows[a->row].depth, rows[b->row].depth);
    return descending(rows[below_one].units, rows[below_other].units)
               ?: ascending(below_one, below_other);
}

static bool sort(struct loop_rows *loops, uint32_t top) {
    const uint32_t count = loops->total;
    struct nest *nests = calloc(count + (size_t)1, sizeof *nests);
    struct loop_row *sorted = calloc(count + (size_t)1, sizeof *sorted);
    uint32_t *numbers = calloc(count + (size_t)1, sizeof *numbers);
    const bool good = nests && sorted && numbers;
    for (uint32_t i = 0; good && i < count; i++) {
        uint32_t outermost = i;
        while (loops->rows[outermost].outer != LOOP_NONE)
            outermost = loops->rows[outermost].outer;
        nests[i] = (struct nest){loops->rows, i, outermost, loops->rows[outermost].units};
    }
    if (good && count)
        qsort(nests, count, sizeof *nests, by_nest);
    for (uint32_t i = 0, outermost = 0; good && i < count; i++) {
        sorted[i] = loops->rows[nests[i].row];
        numbers[nests[i].row] = i;
        if (sorted[i].outer != LOOP_NONE)
            sorted[i].outer = numbers[sorted[i].outer];
        else if (top && ++outermost > top)
            break;
        loops->count = i + 1;
    }
    for (uint32_t i = loops->count; good && i < count; i++)
        sorted[i] = loops->rows[nests[i].row]; /* to be freed */
    if (good) {
        free(loops->rows);
        loops->rows = sorted;
    } else {
        free(sorted);
    }
    free(nests);
    free(numbers);
    return good;
}

bool loop_rows_build(const struct report_rows *functions, uint32_t top, struct loop_rows *loops,
                     struct error *error) {
    const size_t insns = functions->code->insn_count;
    struct finding finding = {.functions = functions, .loops = loops};
    *loops = (struct loop_rows){0};
    finding.loop_of = malloc((insns + 1) * sizeof *finding.loop_of);
    bool good = finding.loop_of;
    if (good)
        memset(finding.loop_of, 0xff, (insns + 1) * sizeof *finding.loop_of);
    for (uint32_t i = 0; good && i < functions->count; i++)
        good = look_at(&finding, i);
    good = good && add_calls(&finding) && drop_unused(loops) && sort(loops, top);
    free(finding.loop_of);
    return good || error_set(error, "out of memory for the loops");
}

bool loop_rows_build_costly(const struct report_rows *functions, uint32_t top,
                            struct loop_rows *loops, struct error *error) {
    enum { LEAST = 1000 };
    const uint64_t least = functions->simulation->cycles / LEAST * CYCLE_UNITS;
    struct report_rows costly = *functions; /* which come first */
    costly.count = (uint32_t)first_where(i, costly.count, costly.groups[i].units < least);
    return loop_rows_build(&costly, top, loops, error);
}

void loop_rows_free(struct loop_rows *loops) {
    for (uint32_t i = 0; i < loops->total && loops->rows; i++)
        free(loops->rows[i].stack.parts);
    free(loops->rows);
    *loops = (struct loop_rows){0};
}
