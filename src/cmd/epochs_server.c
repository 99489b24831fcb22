/* Epochs on a server: making its tables. */
#include "cmd/epochs.h"

#include <stdio.h>

#include "store/address.h"
#include "store/server.h"
#include "util/text.h"

bool epochs_init(struct epochs_request *request, struct error *error) {
    char path[PATH_MAX];
    struct store_server_made made;
    const char *given = request->store.store_count ? request->store.stores[0] : path;
    if (given == path && !store_default_path(path, STORE_READ, error))
        return false;
    if (!store_is_address(given))
        return error_set(error, "init makes the tables of a server: --store "
                                "postgresql://USER@HOST/DATABASE (a file is made when it is first "
                                "written)");
    if (!store_server_init(given, &made, error))
        return false;
    if (made.before == made.version)
        printf("%s: is a store of version %d\n", made.address, made.version);
    else if (made.before)
        printf("%s: of version %d before, is now of version %d\n", made.address, made.before,
               made.version);
    else
        printf("%s: made, version %d\n", made.address, made.version);
    if (!made.roles)
        printf("this login may not make roles: whoever may runs 'CREATE ROLE culprit_host; CREATE "
               "ROLE culprit_reader', and then you run this again\n");
    else if (!made.before) {
        printf("\nnext: culprit epochs");
        text_put_option(stdout, "store", made.address);
        putchar('\n');
    }
    return true;
}
