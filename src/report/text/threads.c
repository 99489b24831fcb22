/* Threads that were simulated together: what limits them, in the head; where cores, threads and the
 * critical path spent the time, and for what threads waited. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/table.h"
#include "report/threads_report.h"
#include "util/array.h"
#include "util/file_name.h"
#include "util/order.h"
#include "util/text.h"

enum { NAME_BYTES = 512 };
#define LEAST_SHOWN 0.0005

static double ratio(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

/* ---- head ---- */

/* The wait of a kind that took most, of events also by spinning; SIZE_MAX: there is none. */
static size_t longest(const struct threads_report *threads, enum together_reason reason) {
    const size_t wait = index_where(
        i, threads->wait_count,
        threads->waits[i].sum.reason == reason ||
            (reason == WAIT_FOR_EVENT && threads->waits[i].sum.reason == WAIT_SPINNING));
    return wait < threads->wait_count ? wait : SIZE_MAX;
}

/* "; most at work_locked (critical.c:41), held by work_locked (critical.c:41)" */
static void where_text(const struct threads_report *threads, enum together_reason reason,
                       const char *how, char *text, size_t size) {
    char waiter[NAME_BYTES], other[NAME_BYTES];
    const size_t wait = longest(threads, reason);
    text[0] = 0;
    if (wait == SIZE_MAX || !threads->waits[wait].waiter.known)
        return;
    thread_place_text(&threads->waits[wait].waiter, waiter, sizeof waiter);
    thread_place_text(&threads->waits[wait].other, other, sizeof other);
    if (how[0] && threads->waits[wait].other.known)
        snprintf(text, size, "; most at %s, %s %s", waiter, how, other);
    else
        snprintf(text, size, "; most at %s", waiter);
}

static void print_first(const struct threads_report *threads, const struct page *page) {
    static const struct {
        const char *what, *how;
        enum together_reason reason;
    } WAITS[CAUSES] = {
        [CAUSE_LOCK] = {"waiting for locks", "held from", WAIT_FOR_LOCK},
        [CAUSE_BARRIER] = {"waiting at barriers", "the last came from", WAIT_AT_BARRIER},
        [CAUSE_EVENT] = {"waiting for other threads", "woken from", WAIT_FOR_EVENT},
        [CAUSE_JOIN] = {"waiting for the end of other threads", "", WAIT_FOR_END},
        [CAUSE_COHERENCE] = {.what = "coherence, waiting for lines that other cores had"},
        [CAUSE_MEMORY] = {.what = "waiting for memory, whose bandwidth is shared"},
        [CAUSE_SERIAL] = {.what = "serial parts, with fewer threads than cores"},
        [CAUSE_SLEEP] = {.what = "sleeping, until a time that a thread asked for"}};
    const uint32_t cores = threads->speedup.cores;
    char where[4 * NAME_BYTES] = "", place[NAME_BYTES], all[48];
    if (threads->first == CAUSE_NONE) {
        page_print(page, "no cause among threads costs 5 %% of the time");
        return;
    }
    if (WAITS[threads->first].how)
        where_text(threads, WAITS[threads->first].reason, WAITS[threads->first].how, where,
                   sizeof where);
    if (threads->first == CAUSE_COHERENCE) {
        thread_place_text(&threads->shared, place, sizeof place);
        snprintf(where, sizeof where, "; most in %s", place);
    } else if (threads->first == CAUSE_MEMORY) {
        snprintf(where, sizeof where, "; its bus is busy for %s %% of the time",
                 text_percent(threads->bus, 1).s);
    }
    snprintf(all, sizeof all,
             cores == 1 ? "the time" : "the time of the %" PRIu32 " cores that it can use", cores);
    page_print(page, "%s%s%s: %s %% of %s%s", page->bold, WAITS[threads->first].what, page->plain,
               text_percent(threads->cost, 1).s, all, where);
}

/* Where others wait, one thread may be what they wait for all the time; or they are of a pool that
 * has nothing for them to do. */
static void print_busiest(const struct threads_report *threads, const struct page *page) {
    enum { MOST = 90 }; /* per cent of the critical path */
    const struct together_result *together = threads->together;
    const uint64_t all = together->cycles;
    if (threads->first != CAUSE_EVENT && threads->first != CAUSE_BARRIER &&
        threads->first != CAUSE_JOIN && threads->first != CAUSE_SERIAL)
        return;
    for (uint32_t i = 0; i < together->thread_count; i++) {
        const uint64_t ran = together->courses[i].critical[COURSE_RUNNING];
        if (all && (double)ran * 100 >= (double)all * MOST)
            page_print(page,
                       "  thread %" PRIu32 " runs on %s %% of the critical path: the others wait "
                       "for it, or have nothing to do",
                       together->threads[i].thread,
                       text_percent(ratio((double)ran, (double)all), 1).s);
    }
}

void threads_text_head(const struct threads_report *threads, const struct page *page) {
    const struct together_result *together = threads->together;
    char interval[40] = "";
    if (!together)
        return;
    print_first(threads, page);
    print_busiest(threads, page);
    if (together->regions && together->interval >= 0)
        snprintf(interval, sizeof interval, " ± %s", text_count((uint64_t)together->interval).s);
    page_print(
        page, "elapsed %s%s cycles (%s at %s GHz) of %" PRIu32 " thread%s on %" PRIu32 " core%s%s",
        text_count(together->cycles).s, interval,
        text_duration(threads->ghz > 0 ? (double)together->cycles / (threads->ghz * 1e9) : -1).s,
        text_quantity(threads->ghz).s, threads->known, text_plural(threads->known), together->cores,
        text_plural(together->cores), together->placed ? ", placed as asked" : "");
}

/* ---- speedup stack ---- */

static void print_bar(double share, const struct page *page) {
    static const char *const EIGHTHS[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    enum { BAR = 32 };
    const unsigned eighths = (unsigned)(share * 8 * BAR + 0.5);
    if (eighths)
        fputs("  ", page->file);
    for (unsigned i = 0; i < eighths / 8; i++)
        fputs("█", page->file);
    fputs(EIGHTHS[eighths % 8], page->file);
}

static void print_speedup(const struct threads_report *threads, const struct page *page) {
    const struct speedup *speedup = &threads->speedup;
    char rest[128];
    snprintf(rest, sizeof rest, "(of %" PRIu32 " core%s: what each was used, or idle, for)",
             speedup->cores, text_plural(speedup->cores));
    page_heading(page, "speedup stack", rest);
    for (unsigned part = 0; part < SPEEDUP_PARTS; part++) {
        const double share = ratio(speedup->parts[part], speedup->cores);
        if (part != SPEEDUP_RUNNING && share < LEAST_SHOWN)
            continue;
        fprintf(page->file, " %-13s%6.2f %5s %%", speedup_part_name(part), speedup->parts[part],
                text_percent(share, 1).s);
        print_bar(share, page);
        fputc('\n', page->file);
    }
}

/* ---- scaling ---- */

static void print_scales(const struct threads_report *threads, const struct page *page) {
    static const struct table_column COLUMNS[] = {
        {" cores", TABLE_FIGURE, .gap = 0},  {"elapsed", TABLE_FIGURE, .gap = 2},
        {"speedup", TABLE_FIGURE, .gap = 2}, {"running", TABLE_FIGURE, .gap = 2},
        {"lost to", TABLE_WORD, .gap = 2},   {"cores", TABLE_FIGURE, .gap = 2}};
    const struct scale_row *rows = threads->scales;
    if (!threads->scale_count)
        return;
    struct table *table = table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    for (uint32_t i = 0; i < threads->scale_count; i++) {
        const struct speedup *speedup = &rows[i].speedup;
        table_cell(table, text_count(rows[i].cores).s);
        table_cell(table, text_count(rows[i].cycles).s);
        table_figure(table, "%.2f", ratio((double)rows[0].cycles, (double)rows[i].cycles));
        table_figure(table, "%.2f", speedup->parts[SPEEDUP_RUNNING]);
        table_cell(table, speedup->parts[rows[i].loss] >= 0.005 ? speedup_part_name(rows[i].loss)
                                                                : "nothing");
        table_figure(table, "%.2f", speedup->parts[rows[i].loss]);
    }
    page_heading(page, "scaling",
                 "(speedup over the fewest cores; running: cores that did work, of those that the "
                 "program can use; lost to: what takes most of the others)");
    table_end(table);
}

/* ---- threads ---- */

static const struct together_thread **busiest_first(const struct together_result *together) {
    const struct together_thread **rows = calloc(together->thread_count + 1, sizeof *rows);
    uint32_t count = 0;
    for (uint32_t i = 0; rows && i < together->thread_count; i++)
        if (together->threads[i].known)
            rows[count++] = &together->threads[i];
    return rows;
}

typedef const struct together_thread *thread_pointer;
ORDER(by_running, thread_pointer,
      descending((*a)->cycles[THREAD_RUNNING], (*b)->cycles[THREAD_RUNNING])
          ?: ascending((*a)->thread, (*b)->thread))

static void add_thread(struct together_thread *sum, const struct together_thread *thread) {
    sum->instructions += thread->instructions;
    sum->waits += thread->waits;
    for (unsigned state = 0; state < THREAD_STATES; state++)
        sum->cycles[state] += thread->cycles[state];
}

static void thread_cells(struct table *table, const struct threads_report *threads,
                         const char *name, const struct together_thread *thread,
                         const struct course_thread *course) {
    double life = 0;
    for (unsigned state = 0; state < THREAD_STATES; state++)
        life += (double)thread->cycles[state];
    table_cell(table, name);
    table_cell(table, text_count(thread->instructions).s);
    table_cell(table, text_count((uint64_t)life).s);
    for (unsigned state = 0; state < THREAD_STATES; state++)
        table_cell(table, thread->cycles[state]
                              ? text_percent((double)thread->cycles[state], life).s
                              : "·");
    table_cell(table, text_percent(course->height, (double)threads->together->course.active).s);
    table_figure(table, "%.2f", ratio((double)course->active, course->height));
    table_cell(table, text_percent((double)course->critical[COURSE_RUNNING],
                                   (double)threads->together->cycles)
                          .s);
}

static void print_threads(const struct threads_report *threads, const struct page *page) {
    static const struct table_column COLUMNS[] = {
        {" thread", TABLE_WORD, .gap = 0},
        {"instructions", TABLE_FIGURE, .gap = 1, .rank = 2},
        {"  life", TABLE_FIGURE, .gap = 1, .rank = 3},
        {"running", TABLE_FIGURE, .gap = 2},
        {"ready", TABLE_FIGURE, .gap = 1, .rank = 4},
        {" lock", TABLE_FIGURE, .gap = 1},
        {"waiting", TABLE_FIGURE, .gap = 1},
        {"sleep", TABLE_FIGURE, .gap = 1, .rank = 6},
        {" spin", TABLE_FIGURE, .gap = 1, .rank = 6},
        {"share", TABLE_FIGURE, .gap = 2, .rank = 1},
        {"beside", TABLE_FIGURE, .gap = 1, .rank = 5},
        {"path", TABLE_FIGURE, .gap = 1, .rank = 1}};
    const struct together_result *together = threads->together;
    const struct together_thread **rows = busiest_first(together);
    if (!rows)
        return;
    qsort(rows, threads->known, sizeof *rows, by_running);
    const uint32_t shown =
        threads->top && threads->top < threads->known ? threads->top : threads->known;
    struct table *table = table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    struct together_thread others = {.known = true};
    struct course_thread course = {0};
    for (uint32_t i = 0; i < threads->known; i++) {
        const struct course_thread *own = &together->courses[rows[i]->thread];
        if (i < shown) {
            char name[24];
            snprintf(name, sizeof name, "%7" PRIu32, rows[i]->thread);
            thread_cells(table, threads, name, rows[i], own);
            continue;
        }
        add_thread(&others, rows[i]);
        course.height += own->height;
        course.active += own->active;
        course.critical[COURSE_RUNNING] += own->critical[COURSE_RUNNING];
    }
    if (shown < threads->known) {
        char name[40];
        snprintf(name, sizeof name, " %" PRIu32 " more", threads->known - shown);
        thread_cells(table, threads, name, &others, &course);
    }
    page_heading(page, "threads",
                 "(% of each one's life; share: of the run time, each cycle parted among those "
                 "that run; beside: so many ran at once; path: of the critical path)");
    table_end(table);
    free(rows);
}

/* ---- waits ---- */

/* "critical.c:41" */
static void source_of(const struct thread_place *place, char *text, size_t size) {
    if (place->file)
        snprintf(text, size, "%s:%" PRIu32, file_base_name(place->file), place->line);
    else if (place->known)
        snprintf(text, size, "%s+0x%" PRIx64, place->image, place->offset);
    else
        snprintf(text, size, "not known");
}

static void place_cells(struct table *table, const struct thread_place *place) {
    char text[NAME_BYTES];
    source_of(place, text, sizeof text);
    table_cell(table, text);
    table_cell(table, place->function ? place->function : "");
}

/* A thread's end, which is in no code of the program. */
static void other_cells(struct table *table, const struct wait_row *row) {
    if (row->sum.reason != WAIT_FOR_END || row->other.known) {
        place_cells(table, &row->other);
        return;
    }
    table_cell(table, "its end");
    table_cell(table, "");
}

static bool wakes_take_time(const struct threads_report *threads) {
    for (size_t i = 0; i < threads->wait_count; i++)
        if (threads->waits[i].sum.waking)
            return true;
    return false;
}

void threads_text_waits(const struct threads_report *threads, const struct page *page) {
    static const struct table_column COLUMNS[] = {
        {"  share", TABLE_FIGURE, .gap = 0},
        {"cycles", TABLE_FIGURE, .gap = 1, .rank = 2},
        {"times", TABLE_FIGURE, .gap = 1, .rank = 1},
        {"path", TABLE_FIGURE, .gap = 1, .rank = 3},
        {"for", TABLE_WORD, .gap = 2, .rank = 1},
        {"waits at", TABLE_PATH, .gap = 2, .least = 12},
        {"function", TABLE_NAME, .gap = 1, .least = 12, .rank = 4},
        {"because of", TABLE_PATH, .gap = 2, .least = 12},
        {"function", TABLE_NAME, .gap = 1, .least = 12, .rank = 5},
        {"waking", TABLE_FIGURE, .gap = 2, .rank = 1}};
    const struct together_result *together = threads->together;
    const bool waking = wakes_take_time(threads);
    const size_t columns = sizeof COLUMNS / sizeof *COLUMNS - !waking;
    const size_t shown =
        threads->top && threads->top < threads->wait_count ? threads->top : threads->wait_count;
    if (!threads->wait_count)
        return;
    page_heading(page, "locks and waits",
                 waking ? "(share: of the threads' time; path: of the critical path, % that lie in "
                          "them; waking: cycles of them between the wake and running again)"
                        : "(share: of the threads' time; path: of the critical path, % that lie in "
                          "them)");
    struct table *table = table_with(page, COLUMNS, columns);
    for (size_t i = 0; i < shown; i++) {
        const struct together_wait *wait = &threads->waits[i].sum;
        table_figure(table, "%s %%", text_percent((double)wait->cycles, (double)threads->lives).s);
        table_cell(table, text_count(wait->cycles).s);
        table_cell(table, text_count(wait->count).s);
        table_cell(table, text_percent((double)wait->path_cycles, (double)together->cycles).s);
        table_cell(table, wait_reason_name(wait->reason));
        place_cells(table, &threads->waits[i].waiter);
        other_cells(table, &threads->waits[i]);
        if (waking)
            table_cell(table, text_count(wait->waking).s);
    }
    table_more(table, 9, threads->wait_count - shown);
    table_end(table);
}

/* ---- critical path ---- */

struct path_part {
    uint32_t thread;
    uint64_t cycles;
};
ORDER(by_cycles, struct path_part,
      descending(a->cycles, b->cycles) ?: ascending(a->thread, b->thread))

/* "critical path: thread 1 62.0 %, thread 0 38.0 %; ready 0.1 %" */
void threads_text_path(const struct threads_report *threads, const struct page *page) {
    enum { SHOWN = 4 };
    static const char *const DOING[COURSE_ABSENT] = {
        [COURSE_READY] = "no core free",  [COURSE_LOCK] = "at locks",
        [COURSE_BARRIER] = "at barriers", [COURSE_EVENT] = "waiting",
        [COURSE_SLEEPING] = "sleeping",   [COURSE_JOIN] = "waiting for an end"};
    const struct together_result *together = threads->together;
    const double all = (double)together->cycles;
    struct path_part *parts = calloc(together->thread_count + 1, sizeof *parts);
    uint64_t doing[COURSE_ACTIVITIES] = {0};
    struct text_printer printer;
    FILE *out = parts ? text_printer_begin(&printer) : NULL;
    if (!out) {
        free(parts);
        return;
    }
    for (uint32_t i = 0; i < together->thread_count; i++) {
        const struct course_thread *course = &together->courses[i];
        parts[i] = (struct path_part){i, course->critical[COURSE_RUNNING]};
        for (unsigned activity = 0; activity < COURSE_ACTIVITIES; activity++)
            doing[activity] += course->critical[activity];
    }
    qsort(parts, together->thread_count, sizeof *parts, by_cycles);
    const double least = fmax(LEAST_SHOWN * all, 1);
    const char *between = "";
    uint64_t rest = doing[COURSE_RUNNING];
    for (uint32_t i = 0; i < SHOWN && (double)parts[i].cycles >= least; i++) {
        fprintf(out, "%sthread %" PRIu32 " %s %%", between, parts[i].thread,
                text_percent((double)parts[i].cycles, all).s);
        rest -= parts[i].cycles;
        between = ", ";
    }
    if ((double)rest >= least)
        fprintf(out, "%sothers %s %%", between, text_percent((double)rest, all).s);
    for (unsigned activity = COURSE_READY; activity < COURSE_ABSENT; activity++)
        if ((double)doing[activity] >= least)
            fprintf(out, "%s%s %s %%", between, DOING[activity],
                    text_percent((double)doing[activity], all).s);
    if (together->course.unknown)
        fprintf(out, "%snot known %s %%", between,
                text_percent((double)together->course.unknown, all).s);
    char *text = text_printer_end(&printer);
    if (text && text[0]) /* of a run that was cut short there is none */
        page_heading(page, "critical path:", text);
    free(text);
    free(parts);
}

void threads_text(const struct threads_report *threads, const struct page *page) {
    if (!threads->together)
        return;
    print_scales(threads, page);
    print_speedup(threads, page);
    print_threads(threads, page);
    threads_text_waits(threads, page);
    threads_text_path(threads, page);
}

void threads_text_words(const struct page *page) {
    page_heading(page, "speedup stack", "(what cores were used, or idle, for)");
    for (unsigned part = 0; part < SPEEDUP_PARTS; part++) {
        char name[64];
        snprintf(name, sizeof name, " %-24s ", speedup_part_name(part));
        page_wrap(page, speedup_part_description(part), NULL, name, "                          ");
    }
}
