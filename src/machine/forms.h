/* Inside of the machine room: tables of instruction forms. */
#pragma once

#include "machine/machine.h"

/* Where `forms = NAME` of a machine file in `folder` leads: NAME itself if it is found in a
 * directory that machines are looked for in, else the absolute path of the file beside. "" for "".
 */
bool forms_resolve(const char *name, const char *folder, char resolved[], size_t size,
                   struct error *error);

/* Reads the table that machine->forms_file names, or none, in place of the one it had. */
bool forms_load(struct machine *machine, struct error *error);
