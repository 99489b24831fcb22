#include "report/epochs_report.h"

#include <inttypes.h>

#include "util/text.h"

void server_made_text(const struct store_server_made *made, FILE *file) {
    if (made->before == made->version)
        fprintf(file, "%s: is a store of version %d\n", made->address, made->version);
    else if (made->before)
        fprintf(file, "%s: of version %d before, is now of version %d\n", made->address,
                made->before, made->version);
    else
        fprintf(file, "%s: made, version %d\n", made->address, made->version);
    if (!made->roles)
        fprintf(file,
                "this login may not make roles: whoever may runs 'CREATE ROLE culprit_host; CREATE "
                "ROLE culprit_reader', and then you run this again\n");
    else if (!made->before) {
        fputs("\nnext: culprit epochs", file);
        text_put_option(file, "store", made->address);
        putc('\n', file);
    }
}

void sums_made_text(const struct day_sums_made *made, bool interrupted, FILE *file) {
    fprintf(file, "made %zu sum%s of days from %s epochs; %zu were there, %zu removed\n",
            made->made, text_plural(made->made), text_grouped(made->epochs).s, made->kept,
            made->removed);
    if (interrupted)
        fputs("interrupted: the same command goes on where it was\n", file);
    else if (!made->days)
        fputs("no day is over yet that has epochs (days are those of UTC)\n", file);
}

bool sums_made_all(const struct day_sums_made *made, struct error *error) {
    return !made->left_out ||
           error_set(error, "%zu day%s of hosts %s no sum, and these days none of all hosts: %s",
                     made->left_out, text_plural(made->left_out),
                     made->left_out == 1 ? "has" : "have", made->why);
}

void pruned_text(const struct store_upkeep_pruned *pruned, FILE *file) {
    if (pruned->waiting)
        fprintf(file, "%zu epoch%s to be sent, and stay%s ('culprit epochs remove' removes any)\n",
                pruned->waiting, pruned->waiting == 1 ? " waits" : "s wait",
                pruned->waiting == 1 ? "s" : "");
    fprintf(file, "removed %" PRIu64 " epoch%s\n", pruned->removed, text_plural(pruned->removed));
    if (pruned->ongoing.session)
        fprintf(file,
                "epoch %" PRId64 " stays: it goes on, and process %d collects "
                "('culprit epochs new' ends it)\n",
                pruned->ongoing.session, (int)pruned->ongoing.daemon);
}

void unused_text(struct store *store, bool named, FILE *file) {
    uint64_t bytes, unused;
    struct error error;
    if (!store_size(store, &bytes, &unused, &error) || !unused)
        return;
    fprintf(file, "of %s, %s are unused\n\nnext: culprit epochs compact", text_bytes(bytes).s,
            text_bytes(unused).s);
    if (named)
        text_put_option(file, "store", store_path(store));
    putc('\n', file);
}

void pushed_text(const struct push *push, const struct pushed *sent, bool good, FILE *file) {
    if (good || sent->sent + sent->present) {
        fprintf(file, "sent %zu epoch%s to %s", sent->sent, text_plural(sent->sent),
                store_path(push->server));
        if (sent->present)
            fprintf(file, "; %zu %s there already", sent->present,
                    sent->present == 1 ? "was" : "were");
        putc('\n', file);
    }
    if (good && push->others)
        fprintf(file,
                "host name %s is in use by %s other machine%s as well: their epochs stand under "
                "one name\n",
                push->host, text_grouped(push->others).s, text_plural(push->others));
}

void exported_text(size_t epochs, enum exchange_format format, const char *path, FILE *file) {
    fprintf(file, "exported %zu epoch%s to %s\n", epochs, text_plural(epochs), path);
    if (format == EXCHANGE_FORMATS)
        return;
    fprintf(file, "\nnext: %s ", exchange_format_viewer(format));
    text_put_word(file, path);
    putc('\n', file);
}

void imported_text(const struct exchange_imported *imported, const struct store *store, bool named,
                   FILE *file) {
    fprintf(file,
            "imported %s record%s as epoch %" PRId64 " into %s: %zu process%s, %zu image%s, "
            "%zu event%s\n",
            text_grouped(imported->records).s, text_plural(imported->records), imported->session,
            store_path(store), imported->processes, imported->processes == 1 ? "" : "es",
            imported->images, text_plural(imported->images), imported->events,
            text_plural(imported->events));
    if (imported->unplaced)
        fprintf(file,
                "%s sample%s known by an address alone, which names nothing: import what 'perf "
                "script --show-mmap-events --show-task-events' prints\n",
                text_grouped(imported->unplaced).s, imported->unplaced == 1 ? " is" : "s are");
    fprintf(file, "\nnext: culprit top --epoch %" PRId64, imported->session);
    if (named)
        text_put_option(file, "store", store_path(store));
    putc('\n', file);
}
