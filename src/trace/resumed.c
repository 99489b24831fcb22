/* The end of the file is not the end of the run: it is left out, and the rest, or the end that the
 * rest has had, follows. */
#include "trace/resumed.h"

#include <stdlib.h>

struct resumed {
    struct item_source kept, rest;
    bool in_rest, drained, ended;
    struct trace_exit exit;
};

static int resumed_next(void *context, struct item *item, struct error *error) {
    struct resumed *resumed = context;
    if (!resumed->in_rest) {
        int status = resumed->kept.next(resumed->kept.context, item, error);
        if (status < 0 || (status > 0 && item->kind != ITEM_CUT && item->kind != ITEM_END))
            return status;
        resumed->in_rest = true;
    }
    if (!resumed->drained)
        return resumed->rest.next(resumed->rest.context, item, error);
    if (resumed->ended)
        return 0;
    resumed->ended = true;
    *item = (struct item){.kind = ITEM_END, .end = resumed->exit};
    return 1;
}

/* The kept file is temporary: nobody can look at it. */
static void resumed_where(void *context, char *text, size_t text_size) {
    const struct resumed *resumed = context;
    if (text_size)
        *text = 0;
    if (resumed->in_rest && resumed->rest.where)
        resumed->rest.where(resumed->rest.context, text, text_size);
}

static void resumed_interrupt(void *context) {
    const struct resumed *resumed = context;
    if (resumed->rest.interrupt)
        resumed->rest.interrupt(resumed->rest.context);
}

static void resumed_close(void *context) {
    struct resumed *resumed = context;
    resumed->kept.close(resumed->kept.context);
    resumed->rest.close(resumed->rest.context);
    free(resumed);
}

bool resumed_source_open(const char *path, const struct item_source *rest, bool drained,
                         struct trace_exit exit, struct item_source *source, struct error *error) {
    struct resumed *resumed = calloc(1, sizeof *resumed);
    if (!resumed)
        return error_set(error, "out of memory for a trace");
    if (!file_source_open(path, &resumed->kept, error)) {
        free(resumed);
        return false;
    }
    resumed->rest = *rest;
    resumed->drained = drained;
    resumed->exit = exit;
    *source = (struct item_source){.next = resumed_next,
                                   .where = resumed_where,
                                   .interrupt = resumed_interrupt,
                                   .close = resumed_close,
                                   .context = resumed};
    return true;
}
