/* Changes are kept until none can come before them, then taken in order of their cycles: between
 * two of them the threads that run share the cycles, by a clock that goes the slower the more they
 * are.
 *
 * Whatever keeps a thread from running is a step of it, with who ended it. The critical path goes
 * backwards over a thread's steps: in front of a step it ran; at one that another ended, the path
 * goes on with that. A step is found by its end and, of several in one cycle, the number in which
 * they were told; both get less along the path, so that it ends. The path begins with the thread
 * that ended the program: one that sleeps then, like a monitor that looks from time to time, ends
 * last only because it is woken to die. */
#include "simulate/thread_course.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/order.h"
#include "util/time_buckets.h"

struct change {
    uint64_t cycle, number;
    uint32_t thread;
    uint8_t from, to; /* enum course_activity */
};

struct step {
    uint64_t begin, end, number;
    uint32_t thread, ender, wait;
    uint8_t activity;
};

struct course_life {
    enum course_activity activity;
    enum course_activity before; /* the last that took time */
    uint64_t since;
    uint32_t ender, wait; /* of what it does now */
    uint32_t creator;
    uint64_t begin, number; /* number: of steps before it began */
    double clock;           /* shared, when it began to run */
    double height;
    uint64_t active;
    uint64_t ran_from;
    struct time_buckets *doing; /* by activity; NULL: not watched */
    uint64_t doing_from;
};

struct thread_course {
    bool failed; /* out of memory: nothing more is kept */
    struct course_life *lives;
    uint32_t thread_count;

    struct change *changes;
    size_t change_count, change_capacity, enough;
    uint64_t change_number;

    struct step *steps; /* a ring, once it has `most` */
    size_t step_capacity, most;
    uint64_t step_number;
    uint64_t horizon; /* the last end of a forgotten one */

    bool exited;
    uint32_t exit_thread;
    uint64_t exit_cycle, exit_number; /* number: of steps before it */

    /* Up to the cycle `now`: */
    uint64_t now, active;
    double clock; /* cycles by the number of threads that run */
    uint32_t doing[COURSE_ACTIVITIES];
    struct course_counts counts;
};

enum { CHANGES = 4096 };

struct thread_course *course_new(uint32_t threads, size_t most_steps) {
    struct thread_course *course = calloc(1, sizeof *course);
    if (!course || !(course->lives = calloc((size_t)threads + 1, sizeof *course->lives))) {
        free(course);
        return NULL;
    }
    course->thread_count = threads;
    course->most = most_steps ? most_steps : COURSE_STEPS;
    course->enough = CHANGES;
    for (uint32_t i = 0; i < threads; i++)
        course->lives[i] = (struct course_life){
            .activity = COURSE_ABSENT, .ender = COURSE_NOBODY, .creator = COURSE_NOBODY};
    return course;
}

void course_free(struct thread_course *course) {
    if (!course)
        return;
    free(course->lives);
    free(course->changes);
    free(course->steps);
    free(course);
}

void course_from(struct thread_course *course, uint64_t cycle) {
    course->now = cycle;
}

void course_watch(struct thread_course *course, uint32_t thread, struct time_buckets *doing) {
    course->lives[thread].doing = doing;
}

/* ---- what is told ---- */

static bool add_step(struct thread_course *course, uint32_t thread, uint64_t end) {
    const struct course_life *life = &course->lives[thread];
    const uint64_t number = course->step_number;
    if (number < course->most && !array_room(course->steps, course->step_capacity, number + 1))
        return false;
    struct step *step = &course->steps[number % course->most];
    if (number >= course->most && step->end > course->horizon)
        course->horizon = step->end;
    *step = (struct step){.begin = life->since,
                          .end = end,
                          .number = course->step_number++,
                          .thread = thread,
                          .ender = life->ender,
                          .wait = life->wait,
                          .activity = (uint8_t)life->activity};
    return true;
}

void course_change(struct thread_course *course, uint32_t thread, enum course_activity activity,
                   uint64_t cycle) {
    struct course_life *life = &course->lives[thread];
    const enum course_activity from = life->activity;
    if (course->failed)
        return;
    if (from != COURSE_RUNNING && from != COURSE_ABSENT && cycle > life->since)
        course->failed |= !add_step(course, thread, cycle);
    if (cycle > life->since)
        life->before = from;
    life->activity = activity;
    life->since = cycle;
    life->ender = COURSE_NOBODY;
    course->failed |= !array_push(course->changes, course->change_capacity, course->change_count,
                                  (struct change){.cycle = cycle,
                                                  .number = course->change_number++,
                                                  .thread = thread,
                                                  .from = (uint8_t)from,
                                                  .to = (uint8_t)activity});
}

void course_begin(struct thread_course *course, uint32_t thread, uint32_t creator, uint64_t cycle) {
    struct course_life *life = &course->lives[thread];
    life->creator = creator;
    life->begin = life->since = cycle;
    life->number = course->step_number;
    course_change(course, thread, COURSE_READY, cycle);
}

void course_ends_wait(struct thread_course *course, uint32_t thread, uint32_t ender,
                      uint32_t wait) {
    course->lives[thread].ender = ender;
    course->lives[thread].wait = wait;
}

void course_exit(struct thread_course *course, uint32_t thread, uint64_t cycle) {
    if (course->exited)
        return;
    course->exited = true;
    course->exit_thread = thread;
    course->exit_cycle = cycle;
    course->exit_number = course->step_number;
}

/* ---- at the same time ---- */

static uint32_t at_most(uint32_t count) {
    return count < COURSE_MOST ? count : COURSE_MOST;
}

static void count_until(struct thread_course *course, uint64_t cycle) {
    const uint64_t cycles = cycle - course->now;
    const uint32_t *doing = course->doing, running = at_most(doing[COURSE_RUNNING]);
    uint32_t waiting = 0;
    course->now = cycle;
    if (!cycles)
        return;
    for (unsigned activity = COURSE_READY; activity < COURSE_JOIN; activity++)
        waiting += doing[activity];
    typeof(course->counts.waiting[0][0]) *cell = &course->counts.waiting[running][at_most(waiting)];
    cell->cycles += cycles;
    for (unsigned activity = COURSE_READY; waiting && activity < COURSE_JOIN; activity++)
        cell->parts[activity] += (double)cycles * doing[activity] / waiting;
    course->counts.joining[at_most(running + at_most(waiting))][at_most(doing[COURSE_JOIN])] +=
        cycles;
    if (running) {
        course->active += cycles;
        course->clock += (double)cycles / running;
    }
}

static void take_change(struct thread_course *course, const struct change *change) {
    struct course_life *life = &course->lives[change->thread];
    count_until(course, change->cycle > course->now ? change->cycle : course->now);
    if (life->doing && change->from != COURSE_ABSENT)
        time_buckets_spread(life->doing, life->doing_from, course->now, change->from);
    life->doing_from = course->now;
    if (change->from == COURSE_RUNNING) {
        life->height += course->clock - life->clock;
        life->active += course->now - life->ran_from;
    }
    if (change->to == COURSE_RUNNING) {
        life->clock = course->clock;
        life->ran_from = course->now;
    }
    if (change->from != COURSE_ABSENT)
        course->doing[change->from]--;
    if (change->to != COURSE_ABSENT)
        course->doing[change->to]++;
}

ORDER(by_cycle, struct change, ascending(a->cycle, b->cycle) ?: ascending(a->number, b->number))

static void take_changes(struct thread_course *course, uint64_t before) {
    size_t taken = 0;
    qsort(course->changes, course->change_count, sizeof *course->changes, by_cycle);
    while (taken < course->change_count && course->changes[taken].cycle < before)
        take_change(course, &course->changes[taken++]);
    course->change_count -= taken;
    memmove(course->changes, course->changes + taken,
            course->change_count * sizeof *course->changes);
    course->enough = 2 * course->change_count + CHANGES;
}

void course_advance(struct thread_course *course, uint64_t cycle) {
    if (course->change_count >= course->enough && !course->failed)
        take_changes(course, cycle);
}

/* ---- critical path ---- */

ORDER(by_thread, struct step,
      ascending(a->thread, b->thread) ?: ascending(a->end, b->end)
                                      ?: ascending(a->number, b->number))

/* Where the path is, and the wait through which it came. */
struct walk {
    const struct thread_course *course;
    const struct course_path *path;
    struct course_thread *threads;
    uint32_t thread;
    uint64_t cycle, number;
    bool has_wait;
    uint32_t wait;
    uint64_t wait_begin, wait_end;
    uint64_t *not_run; /* by step: cycles of its thread's up to it; NULL: not asked for */
};

/* The thread's last step that had ended then; NULL: none is known. */
static const struct step *step_before(const struct walk *walk) {
    const struct thread_course *course = walk->course;
    const struct step *steps = course->steps;
    const size_t count = course->step_number < course->most ? course->step_number : course->most;
    const size_t behind =
        first_where(i, count,
                    steps[i].thread > walk->thread ||
                        (steps[i].thread == walk->thread &&
                         (steps[i].end > walk->cycle ||
                          (steps[i].end == walk->cycle && steps[i].number >= walk->number))));
    return behind && steps[behind - 1].thread == walk->thread ? &steps[behind - 1] : NULL;
}

static void leave_thread(struct walk *walk) {
    const uint64_t from = walk->cycle > walk->wait_begin ? walk->cycle : walk->wait_begin;
    if (walk->has_wait && walk->path->pass)
        walk->path->pass(walk->path->context, walk->wait, walk->wait_end - from);
    walk->has_wait = false;
}

/* Down to a cycle in which the thread began to run, or was made. False: that is not known. */
static bool run_down(struct walk *walk, uint64_t cycle) {
    const uint64_t horizon = walk->course->horizon;
    const bool known = cycle >= horizon;
    const uint64_t down = known ? cycle : horizon < walk->cycle ? horizon : walk->cycle;
    walk->threads[walk->thread].critical[COURSE_RUNNING] += walk->cycle - down;
    walk->cycle = down;
    return known;
}

/* The steps are sorted by thread. */
static uint64_t *sum_steps(const struct thread_course *course, size_t count) {
    uint64_t *sums = malloc((count + 1) * sizeof *sums);
    for (size_t i = 0; sums && i < count; i++) {
        const struct step *step = &course->steps[i];
        sums[i] =
            step->end - step->begin + (i && step[-1].thread == step->thread ? sums[i - 1] : 0);
    }
    return sums;
}

/* Up to where the walk is, from a cycle that is not before the step's end. */
static void tell_run(const struct walk *walk, const struct step *step, uint64_t from) {
    const struct thread_course *course = walk->course;
    const uint64_t begin = course->lives[walk->thread].begin;
    if (!walk->not_run || walk->cycle <= from)
        return;
    const uint64_t ran = from - begin - (step ? walk->not_run[step - course->steps] : 0);
    walk->path->run(walk->path->context, walk->thread, ran, ran + walk->cycle - from);
}

/* False: the path ends here. */
static bool walk_step(struct walk *walk) {
    const struct step *step = step_before(walk);
    const struct course_life *life = &walk->course->lives[walk->thread];
    const uint64_t from = step ? step->end : life->begin;
    tell_run(walk, step, from);
    if (!run_down(walk, from))
        return false;
    if (!step) {
        leave_thread(walk);
        walk->thread = life->creator;
        walk->number = life->number;
        return life->creator != COURSE_NOBODY;
    }
    walk->number = step->number;
    if (step->ender == COURSE_NOBODY || step->ender == walk->thread) {
        walk->threads[walk->thread].critical[step->activity] += step->end - step->begin;
        walk->cycle = step->begin;
        return true;
    }
    leave_thread(walk);
    walk->has_wait = true;
    walk->wait = step->wait;
    walk->wait_begin = step->begin;
    walk->wait_end = step->end;
    walk->thread = step->ender;
    return true;
}

/* What the thread did behind the end of its program, whoever ended its waits. False: some of it is
 * not known. */
static bool walk_tail(struct walk *walk, uint64_t exit) {
    while (walk->cycle > exit) {
        const struct step *step = step_before(walk);
        const uint64_t begin = step ? step->end : walk->course->lives[walk->thread].begin;
        const uint64_t from = begin > exit ? begin : exit;
        tell_run(walk, step, from);
        if (!run_down(walk, from) || (!step && from > exit))
            return false;
        if (from > exit) {
            const uint64_t until = step->begin > exit ? step->begin : exit;
            walk->number = step->number;
            walk->threads[walk->thread].critical[step->activity] += walk->cycle - until;
            walk->cycle = until;
        }
    }
    return true;
}

/* Of those that are there to the end, as all are where a region ends, one that runs, else one that
 * is ready to, or sleeps: the others wait for what somebody is to do. */
static uint32_t last_thread(const struct thread_course *course, uint64_t end) {
    static const uint8_t RANKS[COURSE_ACTIVITIES] = {
        [COURSE_RUNNING] = 3, [COURSE_READY] = 2, [COURSE_SLEEPING] = 1};
    uint32_t last = COURSE_NOBODY;
    for (uint32_t i = 0; i < course->thread_count; i++) {
        const struct course_life *life = &course->lives[i];
        if (life->since == end && life->activity == COURSE_ABSENT &&
            (last == COURSE_NOBODY || RANKS[life->before] >= RANKS[course->lives[last].before]))
            last = i;
    }
    return last;
}

/* Returns the cycles at its beginning of which nothing is known. */
static uint64_t find_path(struct thread_course *course, const struct course_path *path,
                          struct course_thread *threads, uint64_t end) {
    struct walk walk = {.course = course,
                        .path = path,
                        .threads = threads,
                        .thread = COURSE_NOBODY,
                        .cycle = end,
                        .number = UINT64_MAX};
    if ((walk.thread = last_thread(course, end)) == COURSE_NOBODY)
        return end;
    const size_t count = course->step_number < course->most ? course->step_number : course->most;
    if (count)
        qsort(course->steps, count, sizeof *course->steps, by_thread);
    if (path->run && !course->horizon)
        walk.not_run = sum_steps(course, count);
    if (course->exited && course->exit_cycle <= end) {
        if (!walk_tail(&walk, course->exit_cycle)) {
            free(walk.not_run);
            return walk.cycle;
        }
        walk.thread = course->exit_thread;
        walk.number = course->exit_number;
    }
    while (walk_step(&walk))
        ;
    leave_thread(&walk);
    free(walk.not_run);
    return walk.cycle;
}

/* ---- the whole ---- */

bool course_end(struct thread_course *course, uint64_t end, const struct course_path *path,
                struct course_counts *counts, struct course_thread *threads,
                struct course_sum *sum) {
    if (course->failed)
        return false;
    take_changes(course, UINT64_MAX);
    if (end > course->now)
        count_until(course, end);
    for (unsigned running = 0; running <= COURSE_MOST; running++)
        for (unsigned other = 0; other <= COURSE_MOST; other++) {
            const typeof(counts->waiting[0][0]) *from = &course->counts.waiting[running][other];
            counts->waiting[running][other].cycles += from->cycles;
            for (unsigned activity = 0; activity < COURSE_JOIN; activity++)
                counts->waiting[running][other].parts[activity] += from->parts[activity];
            counts->joining[running][other] += course->counts.joining[running][other];
        }
    for (uint32_t i = 0; i < course->thread_count; i++) {
        threads[i].height += course->lives[i].height;
        threads[i].active += course->lives[i].active;
    }
    sum->active += course->active;
    if (end)
        sum->unknown += find_path(course, path, threads, end);
    return true;
}

struct course_cores course_cores(const struct course_counts *counts, uint32_t cores) {
    struct course_cores sum = {.cores = cores};
    for (unsigned running = 0; running <= COURSE_MOST; running++)
        for (unsigned waiting = 0; waiting <= COURSE_MOST; waiting++) {
            const typeof(counts->waiting[0][0]) *cell = &counts->waiting[running][waiting];
            const unsigned used = running < cores ? running : cores, left = cores - used;
            sum.cycles += cell->cycles;
            sum.running += (double)cell->cycles * used;
            sum.beyond += (double)cell->cycles * (running - used);
            for (unsigned activity = 0; activity < COURSE_JOIN; activity++)
                sum.waiting[activity] += cell->parts[activity] * (waiting < left ? waiting : left);
        }
    for (unsigned others = 0; others <= COURSE_MOST; others++)
        for (unsigned joining = 0; joining <= COURSE_MOST; joining++) {
            const uint64_t cycles = counts->joining[others][joining];
            const unsigned left = others < cores ? cores - others : 0;
            const unsigned joined = joining < left ? joining : left;
            sum.waiting[COURSE_JOIN] += (double)cycles * joined;
            sum.nothing += (double)cycles * (left - joined);
        }
    return sum;
}

uint32_t course_demand(const struct course_counts *counts) {
    uint64_t cycles[COURSE_MOST + 1] = {0}, all = 0, above = 0;
    for (unsigned others = 0; others <= COURSE_MOST; others++)
        for (unsigned joining = 0; joining <= COURSE_MOST; joining++) {
            cycles[others] += counts->joining[others][joining];
            all += counts->joining[others][joining];
        }
    for (uint32_t threads = COURSE_MOST; threads > 1; threads--)
        if ((above += cycles[threads]) * 100 >= all && above)
            return threads;
    return 1;
}
