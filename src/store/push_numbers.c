#include <stdlib.h>

#include "store/postgres.h"
#include "store/push_parts.h"
#include "util/array.h"
#include "util/order.h"

void push_numbers_free(struct push_numbers *numbers) {
    free(numbers->here);
    free(numbers->there);
    *numbers = (struct push_numbers){0};
}

bool push_numbers_add(struct push_numbers *numbers, int64_t here) {
    if (!array_room(numbers->here, numbers->capacity, numbers->count + 1) ||
        !array_room(numbers->there, numbers->there_capacity, numbers->count + 1))
        return false;
    numbers->here[numbers->count++] = here;
    return true;
}

bool push_numbers_find(const struct push_numbers *numbers, int64_t here, int64_t *there) {
    const size_t at = first_where(i, numbers->count, numbers->here[i] >= here);
    if (at == numbers->count || numbers->here[at] != here)
        return false;
    *there = numbers->there[at];
    return true;
}

bool push_numbers_take(struct push *push, struct push_numbers *numbers, PGresult *result,
                       struct error *error) {
    if (!result)
        return false;
    const bool good =
        (size_t)libpq_of(push->server)->PQntuples(result) == numbers->count ||
        error_set(error, "%s: it gave no numbers to what is sent: try again", push->server->path);
    for (size_t i = 0; good && i < numbers->count; i++)
        numbers->there[i] = postgres_number(push->server, result, (int)i, 0);
    libpq_of(push->server)->PQclear(result);
    return good;
}
