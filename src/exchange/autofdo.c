/* The text of LLVM's sample profiles:
 *
 *     function:total:entries
 *      line[.discriminator]: times [called:times ...]
 *      line[.discriminator]: inlined:total
 *       line[.discriminator]: times
 *
 * Lines are behind the declaration of their function. Where a line has several instructions it was
 * executed as often as the one executed most, times the copies that the compiler made of it; a
 * line of an executed function that was not executed has 0. The total of a function is how many
 * instructions of it were executed, with what is inlined in it (Chen, Li and Moseley 2016 §3). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/compiler_input.h"
#include "util/array.h"
#include "util/hash_index.h"
#include "util/intern.h"
#include "util/order.h"

static const uint32_t NONE = UINT32_MAX;

/* What has line numbers in the program. */
static const char *const LINES_BY[LANGUAGES] = {
    [LANGUAGE_OTHER] = "compile it with -g1 -fdebug-info-for-profiling",
    [LANGUAGE_RUST] = "compile it with -C debuginfo=1 -Z debug-info-for-profiling",
    [LANGUAGE_GO] = "link it without -s and -w",
};

struct node { /* a function, or a call of one that was inlined in its parent */
    uint32_t parent, symbol;
    uint32_t line, discriminator; /* of the call */
    uint64_t total, entries;
    size_t first_line, first_call, first_child; /* and as many as until the next has them */
};

struct piece {
    uint64_t start, end;
    uint64_t entry;
    uint32_t node, line, discriminator;
};

struct line {
    uint32_t node, line, discriminator;
    uint64_t times;
};

struct call {
    uint32_t node, line, discriminator;
    uint32_t symbol; /* called */
    uint64_t times;
};

struct child {
    uint32_t parent, line, discriminator;
    const char *symbol;
    uint32_t node;
};

struct entry {
    uint64_t address;
    uint32_t node;
};

struct samples {
    struct compiler_input *input;
    struct intern symbols;
    struct node *nodes; /* a parent before its children */
    size_t node_count, node_capacity;
    struct hash_index index;
    struct piece *pieces;
    size_t piece_count, piece_capacity;
    struct line *lines;
    size_t line_count, line_capacity;
    struct call *calls;
    size_t call_count, call_capacity;
    struct entry *entries; /* of functions */
    size_t entry_count, entry_capacity;
    struct child *children;
    size_t child_count; /* the functions last */
};

/* ---- from pieces to nodes ---- */

static uint32_t node_at(struct samples *samples, const struct node *key) {
    const uint64_t hash =
        hash_pair(hash_pair(key->parent, key->symbol), hash_pair(key->line, key->discriminator));
    size_t at;
    for (uint32_t i = hash_index_first(&samples->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&samples->index, hash, &at)) {
        const struct node *node = &samples->nodes[i];
        if (node->parent == key->parent && node->symbol == key->symbol && node->line == key->line &&
            node->discriminator == key->discriminator)
            return i;
    }
    const uint32_t number = (uint32_t)samples->node_count;
    if (number == NONE ||
        !array_push(samples->nodes, samples->node_capacity, samples->node_count, *key) ||
        !hash_index_add(&samples->index, hash, number))
        return NONE;
    return number;
}

static bool touched(void *context, uint64_t start, uint64_t end) {
    const struct compiler_input *input = ((struct samples *)context)->input;
    const size_t i = first_where(k, input->insn_count, input->insns[k].address >= start);
    return i < input->insn_count && input->insns[i].address < end;
}

static bool take_piece(void *context, const struct program_piece *given) {
    struct samples *samples = context;
    const struct program_frame *last = &given->frames[given->frame_count - 1];
    struct piece piece = {.start = given->start,
                          .end = given->end,
                          .entry = given->entry,
                          .node = NONE,
                          .line = last->line,
                          .discriminator = last->discriminator};
    const struct counted_times times =
        compiler_input_times(samples->input, given->start, given->end);
    uint32_t function = NONE;
    if (!given->has_line && !times.all)
        return true;
    for (uint32_t i = 0; i < given->frame_count; i++) {
        const struct program_frame *frame = &given->frames[i];
        struct node key = {.parent = piece.node};
        key.symbol = intern_add(&samples->symbols, frame->symbol, strlen(frame->symbol));
        if (i) {
            key.line = frame[-1].line;
            key.discriminator = frame[-1].discriminator;
        }
        if (key.symbol == INTERN_NONE || (piece.node = node_at(samples, &key)) == NONE)
            return false;
        function = i ? function : piece.node;
    }
    samples->nodes[piece.node].total += times.all;
    return (given->start != given->entry ||
            array_push(samples->entries, samples->entry_capacity, samples->entry_count,
                       (struct entry){given->entry, function})) &&
           (!given->has_line ||
            array_push(samples->lines, samples->line_capacity, samples->line_count,
                       (struct line){piece.node, piece.line, piece.discriminator,
                                     times.most * given->copies})) &&
           (!given->has_line ||
            array_push(samples->pieces, samples->piece_capacity, samples->piece_count, piece));
}

ORDER(by_start, struct piece, ascending(a->start, b->start))
ORDER(by_entry, struct entry, ascending(a->address, b->address))

/* ---- what was executed ---- */

static const struct piece *piece_at(const struct samples *samples, uint64_t address) {
    const size_t behind = first_where(i, samples->piece_count, samples->pieces[i].start > address);
    const struct piece *piece = behind ? &samples->pieces[behind - 1] : NULL;
    return piece && address < piece->end ? piece : NULL;
}

/* The function that is entered at an address; NONE: none is. */
static uint32_t function_at(const struct samples *samples, uint64_t address) {
    const size_t i = first_where(k, samples->entry_count, samples->entries[k].address >= address);
    return i < samples->entry_count && samples->entries[i].address == address
               ? samples->entries[i].node
               : NONE;
}

/* An edge to where a function begins enters it, unless it is a loop that begins there, too. */
static bool take_edge(struct samples *samples, const struct counted_edge *edge) {
    const uint32_t function =
        edge->kind == EDGE_FALL_THROUGH ? NONE : function_at(samples, edge->to);
    const struct piece *from = function == NONE ? NULL : piece_at(samples, edge->from);
    if (function == NONE || (from && from->entry == edge->to && !branch_is_call(edge->branch)))
        return true;
    samples->nodes[function].entries += edge->times;
    return !from || edge->kind == EDGE_SIGNAL ||
           array_push(samples->calls, samples->call_capacity, samples->call_count,
                      (struct call){from->node, from->line, from->discriminator,
                                    samples->nodes[function].symbol, edge->times});
}

#define BY_POSITION                                                                                \
    ascending(a->node, b->node) ?: ascending(a->line, b->line) ?:                                  \
        ascending(a->discriminator, b->discriminator)
ORDER(by_position, struct line, BY_POSITION)
ORDER(by_callee, struct call, BY_POSITION ?: ascending(a->symbol, b->symbol))
ORDER(by_call, struct child,
      ascending(a->parent, b->parent) ?: ascending(a->line, b->line) ?:
          ascending(a->discriminator, b->discriminator) ?: strcmp(a->symbol, b->symbol))

static void settle_lines(struct samples *samples) {
    size_t kept = 0;
    if (samples->line_count)
        qsort(samples->lines, samples->line_count, sizeof *samples->lines, by_position);
    for (size_t i = 0; i < samples->line_count; i++) {
        struct line *last = kept ? &samples->lines[kept - 1] : NULL;
        if (!last || by_position(last, &samples->lines[i]))
            samples->lines[kept++] = samples->lines[i];
        else if (samples->lines[i].times > last->times)
            last->times = samples->lines[i].times;
    }
    samples->line_count = kept;
}

static void settle_calls(struct samples *samples) {
    size_t kept = 0;
    if (samples->call_count)
        qsort(samples->calls, samples->call_count, sizeof *samples->calls, by_callee);
    for (size_t i = 0; i < samples->call_count; i++)
        if (kept && !by_callee(&samples->calls[kept - 1], &samples->calls[i]))
            samples->calls[kept - 1].times += samples->calls[i].times;
        else
            samples->calls[kept++] = samples->calls[i];
    samples->call_count = kept;
}

/* Totals, and where each node's lines, calls and children begin. */
static bool settle_nodes(struct samples *samples) {
    size_t line = 0, call = 0, child = 0;
    if (!(samples->children = malloc((samples->node_count + 1) * sizeof *samples->children)))
        return false;
    for (uint32_t i = 0; i < samples->node_count; i++) {
        const struct node *node = &samples->nodes[i];
        samples->children[samples->child_count++] =
            (struct child){node->parent, node->line, node->discriminator,
                           intern_text(&samples->symbols, node->symbol), i};
    }
    qsort(samples->children, samples->child_count, sizeof *samples->children, by_call);
    for (uint32_t i = 0; i < samples->node_count; i++) {
        struct node *node = &samples->nodes[i];
        node->first_line = line;
        node->first_call = call;
        while (child < samples->child_count && samples->children[child].parent < i)
            child++;
        node->first_child = child;
        while (line < samples->line_count && samples->lines[line].node == i)
            line++;
        while (call < samples->call_count && samples->calls[call].node == i)
            call++;
    }
    for (size_t i = samples->node_count; i-- > 0;)
        if (samples->nodes[i].parent != NONE)
            samples->nodes[samples->nodes[i].parent].total += samples->nodes[i].total;
    return true;
}

/* ---- the text ---- */

static void put_position(FILE *file, unsigned depth, uint32_t line, uint32_t discriminator) {
    fprintf(file, "%*s%" PRIu32, (int)depth, "", line);
    if (discriminator)
        fprintf(file, ".%" PRIu32, discriminator);
    fputs(": ", file);
}

static void put_lines(const struct samples *samples, uint32_t number, unsigned depth) {
    FILE *file = samples->input->profile->file;
    const struct node *node = &samples->nodes[number];
    size_t call = node->first_call;
    for (size_t i = node->first_line; i < samples->line_count; i++) {
        const struct line *line = &samples->lines[i];
        if (line->node != number)
            break;
        put_position(file, depth, line->line, line->discriminator);
        fprintf(file, "%" PRIu64, line->times);
        for (; call < samples->call_count && samples->calls[call].node == number &&
               samples->calls[call].line == line->line &&
               samples->calls[call].discriminator == line->discriminator;
             call++)
            fprintf(file, " %s:%" PRIu64,
                    intern_text(&samples->symbols, samples->calls[call].symbol),
                    samples->calls[call].times);
        fputc('\n', file);
    }
}

/* As deep as frames are: at most PROGRAM_MAX_FRAMES. */
static void put_children(const struct samples *samples, uint32_t number, unsigned depth) {
    FILE *file = samples->input->profile->file;
    for (size_t i = samples->nodes[number].first_child; i < samples->child_count; i++) {
        const struct child *child = &samples->children[i];
        if (child->parent != number)
            break;
        put_position(file, depth, child->line, child->discriminator);
        fprintf(file, "%s:%" PRIu64 "\n", child->symbol, samples->nodes[child->node].total);
        put_lines(samples, child->node, depth + 1);
        put_children(samples, child->node, depth + 1);
    }
}

static int by_total(const void *left, const void *right, void *context) {
    const struct node *nodes = context;
    const struct child *a = left, *b = right;
    return descending(nodes[a->node].total, nodes[b->node].total) ?: strcmp(a->symbol, b->symbol);
}

static void put_functions(struct samples *samples) {
    FILE *file = samples->input->profile->file;
    const size_t first = index_where(i, samples->child_count, samples->children[i].parent == NONE);
    struct child *functions = samples->children + first;
    const size_t count = samples->child_count - first;
    qsort_r(functions, count, sizeof *functions, by_total, samples->nodes);
    for (size_t i = 0; i < count; i++) {
        const struct node *node = &samples->nodes[functions[i].node];
        if (!node->total && !node->entries)
            continue;
        samples->input->functions++;
        fprintf(file, "%s:%" PRIu64 ":%" PRIu64 "\n", functions[i].symbol, node->total,
                node->entries);
        put_lines(samples, functions[i].node, 1);
        put_children(samples, functions[i].node, 1);
    }
}

static bool gather(struct samples *samples, bool *lines) {
    const struct compiler_profile *profile = samples->input->profile;
    if (!program_each_piece(profile->program, profile->image, touched, take_piece, samples, lines))
        return false;
    if (samples->piece_count)
        qsort(samples->pieces, samples->piece_count, sizeof *samples->pieces, by_start);
    if (samples->entry_count)
        qsort(samples->entries, samples->entry_count, sizeof *samples->entries, by_entry);
    for (size_t i = 0; i < samples->input->edge_count; i++)
        if (!take_edge(samples, &samples->input->edges[i]))
            return false;
    settle_lines(samples);
    settle_calls(samples);
    return settle_nodes(samples);
}

bool autofdo_write(struct compiler_input *input, struct error *error) {
    struct samples samples = {.input = input};
    bool lines = false;
    const bool good = gather(&samples, &lines);
    if (good)
        put_functions(&samples);
    intern_free(&samples.symbols);
    hash_index_free(&samples.index);
    free(samples.nodes);
    free(samples.pieces);
    free(samples.lines);
    free(samples.calls);
    free(samples.entries);
    free(samples.children);
    const char *path = program_image_path(input->profile->program, input->profile->image);
    if (good && input->functions)
        return true;
    if (good || !lines)
        return error_set(error, "%s: no line numbers are known of what it executes (%s)", path,
                         LINES_BY[input->profile->language]);
    return error_set(error, "%s: out of memory for the profile", path);
}
