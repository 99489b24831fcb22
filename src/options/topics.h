/* The topics of `culprit help TOPIC`: sections of the documents, which the build puts into culprit
 * (scripts/make-topics, from topics.list). */
#pragma once

#include <stddef.h>
#include <stdio.h>

struct topic {
    const char *name, *summary;
    const char *document, *heading; /* where its text is from */
    const char *text;               /* Markdown, links as words */
};
extern const struct topic topics[];
extern const size_t topic_count;

const struct topic *topic_find(const char *name); /* NULL: there is none */
void topic_print(const struct topic *topic, FILE *file);
void topics_list(FILE *file);
