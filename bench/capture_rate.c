/* Captures a command, drops every item, and prints what came: the cost of capture alone.
 *
 *   build/bench/capture_rate [-b] [-f] [-k] [-r] [-s SKIP] [-l LIMIT] [-t THREAD] [-F SYMBOL]
 *                            [-v] COMMAND...
 *
 * -b blocks only, -f follow, -k kill at the limit, -r repeatable, -v print every item but DATA. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "trace/event.h"
#include "trace/item.h"
#include "util/clock.h"

static double processor_seconds(const struct rusage *usage) {
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

static void print_item(const struct item *item) {
    switch (item->kind) {
    case ITEM_HEADER:
        fprintf(stderr, "header isa %d addresses %d host \"%s\" command \"%s\"\n", item->header.isa,
                item->header.addresses, item->header.host, item->header.command);
        break;
    case ITEM_PROCESS:
        fprintf(stderr, "process %u pid %u parent %d generation %u traced %d %s: %s (%s)\n",
                item->process.process, item->process.pid, (int)item->process.parent,
                item->process.generation, item->process.traced,
                item->process.untraced_reason ? item->process.untraced_reason : "",
                item->process.command, item->process.executable);
        break;
    case ITEM_IMAGE:
        fprintf(stderr, "image %u process %u %" PRIx64 "-%" PRIx64 " at %" PRIx64 " %s build %d ",
                item->image.image, item->image.process, item->image.start, item->image.end,
                item->image.file_offset, item->image.path, item->image.kind);
        for (int i = 0; i < item->image.build_id_size; i++)
            fprintf(stderr, "%02x", item->image.build_id[i]);
        fputc('\n', stderr);
        break;
    case ITEM_THREAD_END:
        fprintf(stderr, "thread %u ended\n", item->thread_ended);
        break;
    case ITEM_NOTE:
        fprintf(stderr, "note %s\n", item->note);
        break;
    case ITEM_END:
        fprintf(stderr, "end known %d signaled %d status %d\n", item->end.known, item->end.signaled,
                item->end.status);
        break;
    default:
        break;
    }
}

int main(int argc, char **argv) {
    struct capture_options options = {.addresses = true, .thread = -1, .seed = 1};
    bool verbose = false;
    for (int option; (option = getopt(argc, argv, "+bfkrvs:l:t:F:")) != -1;) {
        switch (option) {
        case 'b':
            options.addresses = false;
            break;
        case 'f':
            options.follow = true;
            break;
        case 'k':
            options.stop_at_limit = true;
            break;
        case 'r':
            options.repeatable = true;
            break;
        case 'v':
            verbose = true;
            break;
        case 's':
            options.skip = strtoull(optarg, NULL, 0);
            break;
        case 'l':
            options.limit = strtoull(optarg, NULL, 0);
            break;
        case 't':
            options.thread = atoi(optarg);
            break;
        case 'F':
            options.from_symbol = optarg;
            break;
        default:
            return 2;
        }
    }
    options.command = argv + optind;
    struct item_source source;
    struct error error;
    int status, got;
    double start = clock_monotonic();
    if (!capture_start(&options, &source, &status, &error)) {
        fprintf(stderr, "capture_rate: %s\n", error.message);
        return status;
    }
    uint64_t items[ITEM_END + 1] = {0}, insns = 0, events = 0, kinds[4] = {0}, first = 0;
    struct item item;
    struct trace_exit end = {0};
    while ((got = source.next(source.context, &item, &error)) > 0) {
        items[item.kind]++;
        if (verbose)
            print_item(&item);
        if (item.kind == ITEM_DATA) {
            if (items[ITEM_DATA] == 1)
                first = item.data.first_insn;
            insns += item.data.insn_count;
            events += item.data.event_count;
            if (verbose)
                for (uint32_t i = 0; i < item.data.event_count; i++)
                    kinds[event_kind(item.data.events[i])]++;
        }
        if (item.kind == ITEM_END)
            end = item.end;
    }
    double seconds = clock_monotonic() - start;
    if (got < 0)
        fprintf(stderr, "capture_rate: %s\n", error.message);
    source.close(source.context);
    struct rusage guest, own;
    getrusage(RUSAGE_CHILDREN, &guest);
    getrusage(RUSAGE_SELF, &own);
    fprintf(stderr,
            "%" PRIu64 " instructions (first %" PRIu64 "), %" PRIu64 " events, %" PRIu64
            " blocks defined, %" PRIu64 " chunks, %" PRIu64
            " processes, %.3f s, %.0f M insn/s, processor time: program %.3f s, culprit %.3f s; "
            "exit %d%s\n",
            insns, first, events, items[ITEM_CODE], items[ITEM_DATA], items[ITEM_PROCESS], seconds,
            (double)insns / seconds * 1e-6, processor_seconds(&guest), processor_seconds(&own),
            end.status, end.signaled ? " (signal)" : "");
    if (verbose)
        fprintf(stderr,
                "%" PRIu64 " block, %" PRIu64 " load, %" PRIu64 " store, %" PRIu64 " mark events\n",
                kinds[0], kinds[1], kinds[2], kinds[3]);
    return got < 0 ? 1 : end.signaled ? 128 + end.status : end.status;
}
