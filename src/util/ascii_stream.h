/* For terminals and locales that show ASCII alone: a stream that writes one character of ASCII in
 * place of each sign that culprit draws and writes with, so that columns stay where they are.
 * Names and other text that it was given pass as they are. */
#pragma once

#include <stdio.h>

/* The one that writes to `file`, at once; there is one for each, which stays to the end of the
 * process. `file` itself: out of memory. What cannot be written shows in ferror(file). */
FILE *ascii_stream(FILE *file);

/* `file` itself if it shows those signs (text_use_unicode()), else the above. */
FILE *shown_stream(FILE *file);

/* The file that such a stream writes to; any other itself. */
FILE *ascii_stream_behind(FILE *stream);
