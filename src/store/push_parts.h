/* Inside of this room: what the files that send an epoch share. */
#pragma once

#include "store/libpq.h"
#include "store/push.h"

/* Numbers that the server has given to rows that have other numbers in the file. */
struct push_numbers {
    int64_t *here, *there; /* `here` ascending */
    size_t count, capacity, there_capacity;
};
/* Adds the next number of the file, greater than those before. False: out of memory. */
bool push_numbers_add(struct push_numbers *numbers, int64_t here);
bool push_numbers_find(const struct push_numbers *numbers, int64_t here, int64_t *there);
/* Takes those of the server from a result, which is freed: as many rows as there are numbers. */
bool push_numbers_take(struct push *push, struct push_numbers *numbers, PGresult *result,
                       struct error *error);
void push_numbers_free(struct push_numbers *numbers);

/* Sends the images of a session with the symbols that the server lacks, and numbers them. */
bool push_images(struct push *push, int64_t session, struct push_numbers *images,
                 struct error *error);

/* Sends the symbols of an image, if the server lacks them. */
bool push_symbols(struct push *push, int64_t here, int64_t there, struct error *error);
/* Notes in the file what push_symbols() has sent. */
bool push_note_symbols(struct push *push, struct error *error);
