/* The page's own text is two files that the build makes, one for before the data, one for behind
 * it. Within the data every "<" is written as JSON may have it, \u003c, so that no name in it can
 * end the element that holds it. */
#include "report/html.h"

#include <errno.h>

#include <stdint.h>
#include <string.h>

#include "attribute/component.h"

__asm__(".pushsection .rodata\n"
        "page_head:\n"
        ".incbin \"generated/report/page_head.html\"\n"
        "page_tail:\n"
        ".incbin \"generated/report/page_tail.html\"\n"
        "page_end:\n"
        ".popsection\n");

extern const char page_head[], page_tail[], page_end[];

static void put(FILE *file, const char *begin, const char *end) {
    fwrite(begin, 1, (uintptr_t)end - (uintptr_t)begin, file);
}

/* What events count as, the dominant first: key, name, what it is, and its events. */
static void put_components(FILE *file) {
    fputs("<script type=\"application/json\" id=\"components\">[", file);
    for (int i = 0; i < COMPONENT_COUNT; i++)
        fprintf(file, "%s[\"%s\",\"%s\",\"%s\",\"%s\"]", i ? "," : "", component_key(i),
                component_name(i), component_description(i), component_events(i));
    fputs("]</script>\n", file);
}

/* The first one. */
static void note_failure(struct html *html) {
    if (ferror(html->file) && !html->failed)
        html->failed = errno ? errno : EIO;
}

void html_begin(struct html *html, FILE *file) {
    *html = (struct html){.file = file};
    put(file, page_head, page_tail);
    note_failure(html);
    put_components(file);
}

/* Of JSON, whose strings alone have a "<", or of what is to be in one. */
static bool is_special(const struct html *html, char c) {
    return c == '<' || (html->text && (c == '"' || c == '\\' || (unsigned char)c < ' '));
}

static ssize_t escape(void *cookie, const char *bytes, size_t size) {
    struct html *html = cookie;
    FILE *file = html->file;
    html->written |= size > 0;
    const char *end = bytes + size;
    for (const char *at = bytes, *next; at < end; at = next) {
        for (next = at; next < end && !is_special(html, *next); next++)
            ;
        fwrite(at, 1, (size_t)(next - at), file);
        if (next < end)
            fprintf(file, "\\u%04x", (unsigned char)*next++);
    }
    note_failure(html);
    return html->failed ? 0 : (ssize_t)size;
}

static bool close_data(struct html *html) {
    if (!html->data)
        return true;
    const bool good = !ferror(html->data);
    const bool closed = fclose(html->data) == 0;
    html->data = NULL;
    fputs(html->text ? "\"</script>\n" : "</script>\n", html->file);
    html->text = false;
    return good && closed;
}

bool html_data(struct html *html, const char *name, struct error *error) {
    if (!close_data(html))
        return error_errno(error, "writing the page");
    fprintf(html->file, "<script type=\"application/json\" id=\"%s\">", name);
    html->written = false;
    html->data = fopencookie(html, "w", (cookie_io_functions_t){.write = escape});
    return html->data || error_set(error, "out of memory for the page");
}

bool html_text(struct html *html, const char *name, struct error *error) {
    if (!html_data(html, name, error))
        return false;
    fputc('"', html->file);
    return html->text = true;
}

bool html_end(struct html *html, struct error *error) {
    const bool good = close_data(html);
    put(html->file, page_tail, page_end);
    note_failure(html);
    if (good && !html->written)
        return error_set(error, "there is no page of this report");
    return (good && !ferror(html->file)) || error_errno(error, "writing the page");
}

void html_discard(struct html *html) {
    if (html->data)
        fclose(html->data);
    html->data = NULL;
}
