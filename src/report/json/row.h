/* Only the files of this folder include this: rows of tables as JSON. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "attribute/component.h"
#include "query/rows.h"

/* Writes a row as json_dump() would its object, two steps of two spaces deep. `total_units`: those
 * of the run, of which it tells its share. False: out of memory. */
bool json_put_row(FILE *file, const struct report_row *row, double total_units);
