/* The daemon's status as text. */
#include "report/daemon_status.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "report/page.h"
#include "store/store.h"
#include "util/text.h"

static void wrapped(FILE *file, const char *name, const char *text) {
    const struct page page = page_of(file, false);
    char clean[4400], first[16];
    snprintf(first, sizeof first, "%-11s", name);
    page_wrap(&page, text_clean(clean, sizeof clean, text), NULL, first, "           ");
}

static void line(FILE *file, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void line(FILE *file, const char *name, const char *format, ...) {
    char text[4400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    wrapped(file, name, text);
}

static void print_samples(const struct daemon_status *status, FILE *file) {
    double mean = status->uptime > 0 ? (double)status->samples / status->uptime : 0;
    line(file, "samples", "%s, %s a second in the mean; asked for %s per busy processor",
         text_grouped(status->samples).s, text_quantity(mean).s, text_quantity(status->rate).s);
    const uint64_t stacks = status->stacks_whole + status->stacks_truncated + status->stacks_failed;
    if (stacks)
        line(file, "stacks", "%s %% whole, %s truncated, %s failed",
             text_percent((double)status->stacks_whole, (double)stacks).s,
             text_grouped(status->stacks_truncated).s, text_grouped(status->stacks_failed).s);
    else
        line(file, "table", "%s %% of samples found their entry; %s entries evicted",
             text_percent((double)status->hits, (double)status->samples).s,
             text_grouped(status->evicted).s);
    if (status->python_samples)
        line(file, "Python", "of %s samples %s %% with all functions, %s %% with some",
             text_grouped(status->python_samples).s,
             text_percent((double)status->python_whole, (double)status->python_samples).s,
             text_percent((double)status->python_partial, (double)status->python_samples).s);
    line(file, "lost", "%s dropped; of %s drained %s unknown (%.3f %%), %s %% kernel",
         text_grouped(status->dropped).s, text_grouped(status->attributed).s,
         text_grouped(status->unknown).s,
         status->attributed ? 100.0 * (double)status->unknown / (double)status->attributed : 0,
         text_percent((double)status->kernel, (double)status->attributed).s);
}

static void print_merges(const struct daemon_status *status, FILE *file) {
    char when[64] = "none yet", problem[1100];
    if (status->last_merge >= 0)
        snprintf(when, sizeof when, "the last %s ago", text_duration(status->last_merge).s);
    line(file, "merges", "%llu, %s; %llu drain%s; %s places wait to be merged",
         (unsigned long long)status->merges, when, (unsigned long long)status->drains,
         text_plural(status->drains), text_grouped(status->entries).s);
    if (!status->problem[0])
        return;
    snprintf(problem, sizeof problem, "cannot merge (%llu time%s): %s",
             (unsigned long long)status->failed_merges, text_plural(status->failed_merges),
             status->problem);
    wrapped(file, "problem", problem);
}

static void print_push(const struct daemon_status *status, FILE *file) {
    char when[64] = "none yet", sent[4400];
    if (!status->push[0])
        return;
    if (status->last_push >= 0)
        snprintf(when, sizeof when, "the last %s ago", text_duration(status->last_push).s);
    snprintf(sent, sizeof sent, "%s: %s epoch%s sent, %s; %s wait%s, %s", status->push,
             text_grouped(status->push_sent).s, text_plural(status->push_sent), when,
             text_grouped(status->push_waiting).s, status->push_waiting == 1 ? "s" : "",
             text_bytes(status->push_waiting_bytes).s);
    wrapped(file, "push", sent);
    if (status->push_given_up)
        line(file, "", "%s found no room among those that wait, and will not be sent",
             text_grouped(status->push_given_up).s);
    if (status->push_problem[0])
        wrapped(file, "problem", status->push_problem);
}

static void print_budget(const struct daemon_status *status, FILE *file) {
    char cost[128] = "not known yet";
    if (status->budget <= 0)
        return;
    if (status->cost >= 0)
        snprintf(cost, sizeof cost, "it cost %.2g %%, with %s for each interrupt",
                 100 * status->cost, text_duration(status->interrupt_seconds).s);
    line(file, "budget", "%.3g %% of the time that processors work; %s", 100 * status->budget,
         cost);
}

static void print_cost(const struct daemon_status *status, FILE *file) {
    double share = status->uptime > 0 ? status->processor_seconds / status->uptime : 0;
    line(file, "cost", "the daemon takes %.3f %% of one processor", 100 * share);
    if (status->program_seconds >= 0 && status->samples)
        line(file, "", "its program in the kernel %s a sample",
             text_duration(status->program_seconds / (double)status->samples).s);
    else
        line(file, "",
             "its program in the kernel is not timed (to have it: sysctl "
             "kernel.bpf_stats_enabled=1)");
    line(file, "memory", "%s, in the kernel %s; store %s", text_bytes(status->resident_bytes).s,
         text_bytes(status->kernel_bytes).s, text_bytes(status->store_bytes).s);
}

/* Where it collects into another store than is read without --store, that is named. */
static void print_next(const struct daemon_status *status, FILE *file) {
    char read[PATH_MAX];
    struct error error;
    const bool named =
        !store_default_path(read, STORE_READ, &error) || strcmp(read, status->store) != 0;
    fputs("next: culprit daemon --flush && culprit top", file);
    text_put_option(file, "store", named ? status->store : NULL);
    fputc('\n', file);
}

void daemon_status_text(const struct daemon_status *status, FILE *file) {
    char epoch[32] = "not merged yet";
    line(file, "daemon", "process %d, %u processor%s, for %s", (int)status->pid, status->processors,
         text_plural(status->processors), text_duration(status->uptime).s);
    wrapped(file, "sampling", status->sampling);
    if (status->epoch)
        snprintf(epoch, sizeof epoch, "epoch %lld", (long long)status->epoch);
    line(file, "store", "%s: %s, for %s", status->store, epoch,
         text_duration(status->epoch_seconds).s);
    print_samples(status, file);
    print_merges(status, file);
    print_push(status, file);
    print_budget(status, file);
    print_cost(status, file);
    print_next(status, file);
}
