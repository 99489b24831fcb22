/* One self-contained page for a browser: the object that --json writes, with what draws it. Nothing
 * in it names a remote source, and its policy lets no script run but its own.
 *
 *     html_begin() ──► html_data("report") ──► a JSON object ──► html_data("profile") ──► ... ──►
 *     html_end()
 *
 * Scripts and style are html/NAME.js and style.css, with D3 before them (docs/html.md). */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

struct html {
    FILE *file;
    FILE *data;   /* what is written there becomes the data that was begun last; NULL: none was */
    bool written; /* something was */
    bool text;    /* it becomes a text in JSON */
    int failed;   /* why the file could not be written, as errno; 0: it could */
};

/* `file` stays the caller's. */
void html_begin(struct html *html, FILE *file);
/* Begins data of that name, after what was begun before. False: out of memory. */
bool html_data(struct html *html, const char *name, struct error *error);
/* Likewise of data that is one text, such as a picture: what is written to `data` is in it. */
bool html_text(struct html *html, const char *name, struct error *error);
/* False: the page cannot be written, or has no data. */
bool html_end(struct html *html, struct error *error);
/* Without the rest of the page; may follow html_end(). */
void html_discard(struct html *html);
