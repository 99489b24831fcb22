/* Inside of report/html: the lines of source files that a page shows. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct html_sources;
struct html_sources *html_sources_new(void); /* NULL: out of memory */
void html_sources_free(struct html_sources *sources);

/* A line of a file, which outlives the sources, will be shown. False: out of memory. */
bool html_sources_use(struct html_sources *sources, const char *file, uint32_t line);
/* An array of objects: `file`, number of the `first` line, `lines`; of lines used and some around
 * them, of files that can be read now. False: out of memory. */
bool html_sources_write(struct html_sources *sources, FILE *file);
