/* A line is kept from its first transfer on. What a thread did to others is remembered in a table
 * of fixed size, so that the first transfer can be told, too, unless the place was needed. */
#include "simulate/line_traffic.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/hash_index.h"

enum { RECENT_SHIFT = 18, FILTER_BITS = 1 << 20, MOST_LINES_OF_ACCESS = 1 << 12 };

/* What a thread did to a line that has not moved yet. */
struct recent {
    uint64_t line;
    uint32_t process, thread_plus_one;
    uint64_t read, written;
    uint32_t reader, writer; /* the last static instructions */
    uint32_t read_bytes, written_bytes;
};

struct line_traffic {
    uint32_t line_bytes, part_bytes;
    struct moved_line *lines;
    size_t count, capacity, sides;
    struct hash_index index; /* by line and process */
    uint64_t *filter;        /* lines that may be among them */
    struct recent *recents;
    uint64_t *pieces; /* by thread: how many */
    struct line_stack *stacks;
    size_t piece_capacity, stack_count, stack_capacity;
    uint64_t moves, cycles, dropped_lines, dropped_moves;
    bool failed;
};

struct line_traffic *line_traffic_new(uint32_t line_bytes, struct error *error) {
    struct line_traffic *traffic = calloc(1, sizeof *traffic);
    if (traffic) {
        traffic->line_bytes = line_bytes;
        traffic->part_bytes = line_bytes > LINE_PARTS ? line_bytes / LINE_PARTS : 1;
        traffic->filter = calloc(FILTER_BITS / 64, sizeof *traffic->filter);
        traffic->recents = calloc((size_t)1 << RECENT_SHIFT, sizeof *traffic->recents);
    }
    if (traffic && traffic->filter && traffic->recents)
        return traffic;
    line_traffic_free(traffic);
    return error_null(error, "out of memory for lines");
}

static void free_line(struct moved_line *line) {
    free(line->sides);
    free(line->threads);
}

void line_traffic_free(struct line_traffic *traffic) {
    if (!traffic)
        return;
    for (size_t i = 0; i < traffic->count; i++)
        free_line(&traffic->lines[i]);
    free(traffic->lines);
    hash_index_free(&traffic->index);
    free(traffic->filter);
    free(traffic->recents);
    free(traffic->pieces);
    free(traffic->stacks);
    free(traffic);
}

bool line_traffic_failed(const struct line_traffic *traffic) {
    return traffic->failed;
}

/* ---- lines ---- */

static uint64_t hash_of(uint64_t line, uint32_t process) {
    return hash_pair(line, process);
}

static struct moved_line *find_line(const struct line_traffic *traffic, uint64_t address,
                                    uint32_t process, uint64_t hash) {
    const unsigned bit = (unsigned)(hash >> 32) & (FILTER_BITS - 1);
    size_t at;
    if (!(traffic->filter[bit / 64] >> bit % 64 & 1))
        return NULL;
    for (uint32_t i = hash_index_first(&traffic->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&traffic->index, hash, &at))
        if (traffic->lines[i].address == address && traffic->lines[i].process == process)
            return &traffic->lines[i];
    return NULL;
}

static bool enter(struct line_traffic *traffic, uint32_t number) {
    const struct moved_line *line = &traffic->lines[number];
    const uint64_t hash = hash_of(line->address, line->process);
    const unsigned bit = (unsigned)(hash >> 32) & (FILTER_BITS - 1);
    traffic->filter[bit / 64] |= UINT64_C(1) << bit % 64;
    return hash_index_add(&traffic->index, hash, number);
}

static uint64_t moves_of(const struct moved_line *line) {
    return line->transfers + line->upgrades;
}

static int costliest_first(const void *left, const void *right) {
    const struct moved_line *a = left, *b = right;
    if (a->cycles != b->cycles)
        return a->cycles > b->cycles ? -1 : 1;
    if (moves_of(a) != moves_of(b))
        return moves_of(a) > moves_of(b) ? -1 : 1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

static void sort_lines(struct line_traffic *traffic) {
    if (traffic->count)
        qsort(traffic->lines, traffic->count, sizeof *traffic->lines, costliest_first);
}

/* The half that waited least is dropped. */
static bool drop_half(struct line_traffic *traffic) {
    sort_lines(traffic);
    const size_t kept = traffic->count / 2;
    for (size_t i = kept; i < traffic->count; i++) {
        traffic->dropped_lines++;
        traffic->dropped_moves += moves_of(&traffic->lines[i]);
        traffic->sides -= traffic->lines[i].side_count;
        free_line(&traffic->lines[i]);
    }
    traffic->count = kept;
    hash_index_free(&traffic->index);
    memset(traffic->filter, 0, FILTER_BITS / 8);
    for (uint32_t i = 0; i < kept; i++)
        if (!enter(traffic, i))
            return false;
    return true;
}

/* ---- threads and instructions of a line ---- */

static struct line_thread *find_thread(const struct moved_line *line, uint32_t thread) {
    for (size_t i = 0; i < line->thread_count; i++)
        if (line->threads[i].thread == thread)
            return &line->threads[i];
    return NULL;
}

static uint64_t written_by_others(const struct moved_line *line, uint32_t thread) {
    uint64_t written = 0;
    for (size_t i = 0; i < line->thread_count; i++)
        written |= line->threads[i].thread != thread ? line->threads[i].written : 0;
    return written;
}

/* The thread does not hold the line any more: what it asked for is judged. */
static void end_tenure(struct moved_line *line, struct line_thread *of) {
    const bool real = of->touched & of->at_stake;
    if (of->known) {
        *(real ? &line->true_moves : &line->false_moves) += of->moves;
        *(real ? &line->true_cycles : &line->false_cycles) += of->cycles;
    }
    of->moves = of->cycles = of->at_stake = 0;
    of->known = false;
}

/* Of more than LINE_THREADS threads, one is forgotten. */
static struct line_thread *thread_of(struct line_traffic *traffic, struct moved_line *line,
                                     uint32_t thread) {
    struct line_thread *found = find_thread(line, thread);
    if (found)
        return found;
    if (line->thread_count == LINE_THREADS) {
        found = &line->threads[thread % LINE_THREADS];
        end_tenure(line, found);
    } else if (array_room(line->threads, line->thread_capacity, line->thread_count + 1)) {
        found = &line->threads[line->thread_count++];
    } else {
        traffic->failed = true;
        return NULL;
    }
    *found = (struct line_thread){.thread = thread};
    found->foreign = written_by_others(line, thread);
    return found;
}

static struct line_side *find_side(const struct moved_line *line, struct line_thread *of,
                                   uint32_t insn) {
    const uint32_t thread = of->thread;
    if (of->hint < line->side_count && line->sides[of->hint].insn == insn &&
        line->sides[of->hint].thread == thread)
        return &line->sides[of->hint];
    for (uint32_t i = 0; i < line->side_count; i++)
        if (line->sides[i].insn == insn && line->sides[i].thread == thread) {
            of->hint = i;
            return &line->sides[i];
        }
    return NULL;
}

/* Every instruction that touches the line is among its sides. */
static bool keeps_all(const struct moved_line *line) {
    return !line->dropped;
}

static struct line_side *side_of(struct line_traffic *traffic, struct moved_line *line,
                                 struct line_thread *of, uint32_t insn) {
    struct line_side *found = find_side(line, of, insn);
    if (found)
        return found;
    if (line->side_count == LINE_SIDES || traffic->sides == LINE_TRAFFIC_SIDES) {
        line->dropped++;
        return NULL;
    }
    if (!array_room(line->sides, line->side_capacity, line->side_count + 1)) {
        traffic->failed = true;
        return NULL;
    }
    traffic->sides++;
    found = &line->sides[line->side_count++];
    *found = (struct line_side){.thread = of->thread, .insn = insn};
    return found;
}

/* ---- accesses ---- */

static uint64_t parts_of(const struct line_traffic *traffic, uint64_t offset, uint64_t bytes) {
    const uint64_t first = offset / traffic->part_bytes;
    const uint64_t last = (offset + bytes - 1) / traffic->part_bytes;
    const uint64_t up_to = last >= LINE_PARTS - 1 ? UINT64_MAX : (UINT64_C(1) << (last + 1)) - 1;
    return up_to & ~((UINT64_C(1) << first) - 1);
}

void line_traffic_piece(struct line_traffic *traffic, uint32_t thread) {
    if (array_zeroed_room(traffic->pieces, traffic->piece_capacity, (size_t)thread + 1))
        traffic->pieces[thread]++;
    else
        traffic->failed = true;
}

static uint64_t piece_of(const struct line_traffic *traffic, uint32_t thread) {
    return thread < traffic->piece_capacity ? traffic->pieces[thread] : 0;
}

/* What the thread did in its last two pieces, which may not have been simulated yet. */
static struct line_masks lately(const struct line_traffic *traffic, const struct line_thread *of) {
    const uint64_t ago = piece_of(traffic, of->thread) - of->piece;
    if (ago > 1)
        return (struct line_masks){0, 0};
    struct line_masks masks = of->now;
    if (ago == 0) {
        masks.touched |= of->before.touched;
        masks.written |= of->before.written;
    }
    return masks;
}

static void note_access(struct line_traffic *traffic, struct moved_line *line, uint32_t thread,
                        uint32_t insn, uint64_t parts, bool store, uint32_t bytes) {
    struct line_thread *of = thread_of(traffic, line, thread);
    if (!of)
        return;
    const uint64_t piece = piece_of(traffic, thread);
    if (of->piece != piece) {
        of->before = of->piece + 1 == piece ? of->now : (struct line_masks){0, 0};
        of->now = (struct line_masks){0, 0};
        of->piece = piece;
    }
    of->now.touched |= parts;
    of->touched |= parts;
    if (store) {
        of->written |= parts;
        of->now.written |= parts;
        for (size_t i = 0; i < line->thread_count; i++)
            line->threads[i].foreign |= line->threads[i].thread != thread ? parts : 0;
    } else {
        of->read |= parts;
    }
    struct line_side *side = side_of(traffic, line, of, insn);
    if (!side)
        return;
    *(store ? &side->written : &side->read) |= parts;
    *(store ? &side->writes : &side->reads) += 1;
    side->bytes = bytes;
}

static struct recent *recent_of(const struct line_traffic *traffic, uint64_t line, uint32_t process,
                                uint32_t thread) {
    const uint64_t hash = hash_pair(line, (uint64_t)process << 32 | thread);
    return &traffic->recents[hash >> (64 - RECENT_SHIFT)];
}

static bool is_of(const struct recent *recent, uint64_t line, uint32_t process, uint32_t thread) {
    return recent->line == line && recent->process == process &&
           recent->thread_plus_one == thread + 1;
}

static void note_recent(const struct line_traffic *traffic, uint64_t line, uint32_t process,
                        uint32_t thread, uint32_t insn, uint64_t parts, bool store,
                        uint32_t bytes) {
    struct recent *recent = recent_of(traffic, line, process, thread);
    if (!is_of(recent, line, process, thread))
        *recent = (struct recent){.line = line, .process = process, .thread_plus_one = thread + 1};
    if (store) {
        recent->written |= parts;
        recent->writer = insn;
        recent->written_bytes = bytes;
    } else {
        recent->read |= parts;
        recent->reader = insn;
        recent->read_bytes = bytes;
    }
}

void line_traffic_access(struct line_traffic *traffic, uint32_t process, uint32_t thread,
                         uint32_t insn, const struct memory_access *access) {
    const uint64_t mask = traffic->line_bytes - 1;
    uint64_t address = access->address, left = access->size_bytes;
    for (uint32_t n = 0; left && n < MOST_LINES_OF_ACCESS; n++) {
        const uint64_t offset = address & mask, line_address = address - offset;
        const uint64_t rest = mask + 1 - offset, bytes = left < rest ? left : rest;
        const uint64_t parts = parts_of(traffic, offset, bytes);
        struct moved_line *line =
            find_line(traffic, line_address, process, hash_of(line_address, process));
        if (line)
            note_access(traffic, line, thread, insn, parts, access->is_store, (uint32_t)bytes);
        else
            note_recent(traffic, line_address, process, thread, insn, parts, access->is_store,
                        (uint32_t)bytes);
        address += bytes;
        left -= bytes;
    }
}

/* ---- transfers ---- */

/* What is remembered of a thread, for a line that is new. */
static void recall(struct line_traffic *traffic, struct moved_line *line, uint32_t thread) {
    const struct recent *recent = recent_of(traffic, line->address, line->process, thread);
    if (!is_of(recent, line->address, line->process, thread))
        return;
    if (recent->read)
        note_access(traffic, line, thread, recent->reader, recent->read, false, recent->read_bytes);
    if (recent->written)
        note_access(traffic, line, thread, recent->writer, recent->written, true,
                    recent->written_bytes);
}

static struct moved_line *new_line(struct line_traffic *traffic, uint64_t address,
                                   const struct line_move *move) {
    if (traffic->count == LINE_TRAFFIC_LINES && !drop_half(traffic))
        return NULL;
    if (!array_room(traffic->lines, traffic->capacity, traffic->count + 1) ||
        !hash_index_reserve(&traffic->index, traffic->count + 1))
        return NULL;
    struct moved_line *line = &traffic->lines[traffic->count];
    *line = (struct moved_line){.address = address, .process = move->process};
    if (!enter(traffic, (uint32_t)traffic->count))
        return NULL;
    traffic->count++;
    for (uint64_t left = move->event.from; left; left &= left - 1) {
        const uint32_t loser = move->threads[__builtin_ctzll(left)];
        if (loser != UINT32_MAX && loser != move->thread)
            recall(traffic, line, loser);
    }
    recall(traffic, line, move->thread);
    return line;
}

static struct line_thread *loser_at(const struct moved_line *line, const struct line_thread *of,
                                    const struct line_move *move, uint64_t cores) {
    const uint32_t loser = move->threads[__builtin_ctzll(cores)];
    return loser != of->thread && loser != UINT32_MAX ? find_thread(line, loser) : NULL;
}

/* What others have to do with, as the header says. */
static void add_stake(const struct moved_line *line, struct line_thread *of,
                      const struct line_move *move) {
    of->at_stake |= of->foreign;
    for (uint64_t left = move->event.from; left; left &= left - 1) {
        const struct line_thread *other = loser_at(line, of, move, left);
        of->known |= other != NULL;
        of->at_stake |= other && move->event.own ? other->touched : 0;
    }
}

/* The thread has the line now. */
static void begin_anew(const struct line_traffic *traffic, const struct moved_line *line,
                       struct line_thread *of) {
    of->touched = lately(traffic, of).touched;
    of->foreign = 0;
    for (size_t i = 0; i < line->thread_count; i++)
        if (&line->threads[i] != of)
            of->foreign |= lately(traffic, &line->threads[i]).written;
}

/* The parts that its access is for, as far as they are in the line. 0: not known. */
static uint64_t asked_for(const struct line_traffic *traffic, const struct line_side *side,
                          uint64_t address) {
    const uint64_t offset = address & (traffic->line_bytes - 1);
    const uint64_t rest = traffic->line_bytes - offset;
    const uint64_t parts =
        parts_of(traffic, offset, side->bytes && side->bytes < rest ? side->bytes : rest);
    return parts & (side->read | side->written);
}

static void judge(struct line_traffic *traffic, struct moved_line *line,
                  const struct line_move *move) {
    const uint64_t cycles = move->event.cycles;
    struct line_thread *of = thread_of(traffic, line, move->thread);
    if (!of)
        return;
    for (uint64_t left = move->event.from; left; left &= left - 1) {
        struct line_thread *other = loser_at(line, of, move, left);
        if (other)
            end_tenure(line, other);
    }
    if (move->event.kind != COHERENCE_UPGRADE) /* else it holds the line on */
        end_tenure(line, of);
    struct line_side *side = find_side(line, of, move->event.insn);
    if (side ? !asked_for(traffic, side, move->event.address) : keeps_all(line)) {
        line->prefetched++; /* of an access to another line */
    } else {
        if (side) {
            side->moves++;
            side->cycles += cycles;
        }
        line->cycles += cycles;
        traffic->cycles += cycles;
        of->moves++;
        of->cycles += cycles;
    }
    add_stake(line, of, move);
    begin_anew(traffic, line, of);
}

void line_traffic_move(struct line_traffic *traffic, const struct line_move *move) {
    const uint64_t address = move->event.address & ~(uint64_t)(traffic->line_bytes - 1);
    const uint64_t hash = hash_of(address, move->process);
    if (move->event.insn == UINT32_MAX || move->thread == UINT32_MAX)
        return;
    struct moved_line *line = find_line(traffic, address, move->process, hash);
    if (!line && !(line = new_line(traffic, address, move))) {
        traffic->failed = true;
        return;
    }
    traffic->moves++;
    *(move->event.kind == COHERENCE_UPGRADE ? &line->upgrades : &line->transfers) += 1;
    judge(traffic, line, move);
}

/* ---- as an observer and a watch ---- */

static void note_call(struct line_traffic *traffic, uint32_t process, uint32_t thread,
                      uint64_t address) {
    if (!array_room(traffic->stacks, traffic->stack_capacity, (size_t)thread + 1)) {
        traffic->failed = true;
        return;
    }
    for (; traffic->stack_count <= thread; traffic->stack_count++)
        traffic->stacks[traffic->stack_count] = (struct line_stack){.low = UINT64_MAX};
    struct line_stack *stack = &traffic->stacks[thread];
    stack->process = process;
    stack->low = address < stack->low ? address : stack->low;
    stack->high = address > stack->high ? address : stack->high;
}

static bool see_piece(void *context, void *lane, const struct core *core, const struct code *code,
                      const struct trace_batch *piece, bool follows, struct error *error) {
    struct line_traffic *traffic = context;
    (void)lane, (void)core, (void)follows;
    line_traffic_piece(traffic, piece->thread);
    for (uint32_t i = 0; i < piece->insn_count; i++) {
        const struct dynamic_insn *insn = &piece->insns[i];
        const uint8_t branch = code->insns[insn->insn].branch;
        const bool call = branch == BRANCH_CALL || branch == BRANCH_INDIRECT_CALL;
        const struct memory_access *accesses =
            &piece->accesses[insn->memory - (uint32_t)piece->first_access];
        for (uint32_t k = 0; k < insn->memory_count; k++) {
            line_traffic_access(traffic, piece->process, piece->thread, insn->insn, &accesses[k]);
            if (call && accesses[k].is_store)
                note_call(traffic, piece->process, piece->thread, accesses[k].address);
        }
    }
    return !traffic->failed || error_set(error, "out of memory for lines");
}

/* Nothing is kept by core. */
static bool attach(void *context, void **lane, struct error *error) {
    (void)context, (void)lane, (void)error;
    return true;
}

static bool collect(void *context, void *lane, double weight, struct error *error) {
    (void)context, (void)lane, (void)weight, (void)error;
    return true;
}

static void detach(void *context, void *lane) {
    (void)context, (void)lane;
}

struct instruction_observer line_traffic_observer(struct line_traffic *traffic) {
    return (struct instruction_observer){.attach = attach,
                                         .see = see_piece,
                                         .collect = collect,
                                         .detach = detach,
                                         .context = traffic,
                                         .weight = 1};
}

static void see_move(void *context, const struct line_move *move) {
    line_traffic_move(context, move);
}

struct together_watch line_traffic_watch(struct line_traffic *traffic) {
    return (struct together_watch){.see = see_move, .context = traffic};
}

struct line_traffic_sum line_traffic_sum(struct line_traffic *traffic) {
    sort_lines(traffic);
    for (size_t i = 0; i < traffic->count; i++)
        for (size_t k = 0; k < traffic->lines[i].thread_count; k++)
            end_tenure(&traffic->lines[i], &traffic->lines[i].threads[k]);
    hash_index_free(&traffic->index); /* no line is found any more */
    memset(traffic->filter, 0, FILTER_BITS / 8);
    return (struct line_traffic_sum){.lines = traffic->lines,
                                     .count = traffic->count,
                                     .moves = traffic->moves,
                                     .cycles = traffic->cycles,
                                     .dropped_lines = traffic->dropped_lines,
                                     .dropped_moves = traffic->dropped_moves,
                                     .stacks = traffic->stacks,
                                     .stack_count = traffic->stack_count};
}
