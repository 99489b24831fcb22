/* Stores on a server of PostgreSQL: how one is set up. */
#pragma once

#include "store/store.h"

struct store_server_made {
    char address[PATH_MAX]; /* as it may be shown */
    int before, version;    /* of the tables; before 0: there were none */
    bool roles;             /* there are culprit_host and culprit_reader, and what they may do is
                               granted; else this login may not make roles */
};

/* Makes the tables, or brings them to today's version, and the roles. False as well: the database
 * is some other program's, or of a newer version. */
bool store_server_init(const char *address, struct store_server_made *made, struct error *error);
