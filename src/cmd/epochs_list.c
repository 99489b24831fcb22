/* culprit epochs list */
#include <stdlib.h>

#include "cmd/epochs.h"
#include "cmd/output.h"
#include "report/epoch_list.h"

bool epochs_list(const struct epochs_request *request, struct error *error) {
    struct epoch_list list = {.name_store = request->store.store_count,
                              .json = request->output.json};
    struct output output;
    int64_t *epochs = NULL;
    if (!output_open(&output, "--output", request->output.output, stdout, error))
        return false;
    bool good = (list.store = epochs_open(request, STORE_READ, error)) != NULL;
    if (good && request->store.epoch_count)
        good = store_options_choose_all(list.store, &request->store, &epochs, &list.epoch_count,
                                        error);
    list.epochs = epochs;
    good = good && epoch_list_print(&list, output.file, error) && output_close(&output, error);
    output_discard(&output);
    free(epochs);
    store_close(list.store);
    return good;
}
