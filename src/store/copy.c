#include "store/copy.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum { PIECE = 1 << 18, OID_INT8 = 20 };

static PGconn *connection_of(const struct copy *copy) {
    return postgres_of(copy->store)->connection;
}

static void put(struct copy *copy, const void *bytes, size_t size) {
    if (copy->failed || !array_room(copy->bytes, copy->capacity, copy->size + size)) {
        copy->failed = true;
        return;
    }
    if (size)
        memcpy(copy->bytes + copy->size, bytes, size);
    copy->size += size;
}

static void put16(struct copy *copy, int value) {
    const uint16_t big = htobe16((uint16_t)value);
    put(copy, &big, sizeof big);
}

static void put32(struct copy *copy, uint32_t value) {
    const uint32_t big = htobe32(value);
    put(copy, &big, sizeof big);
}

static void put64(struct copy *copy, int64_t value) {
    const uint64_t big = htobe64((uint64_t)value);
    put(copy, &big, sizeof big);
}

static void flush(struct copy *copy) {
    if (!copy->failed && copy->size &&
        libpq_of(copy->store)
                ->PQputCopyData(connection_of(copy), (const char *)copy->bytes, (int)copy->size) !=
            1)
        copy->failed = true;
    copy->size = 0;
}

bool copy_begin(struct copy *copy, struct store *store, const char *what, struct error *error) {
    static const char HEAD[] = "PGCOPY\n\377\r\n";
    char sql[256];
    *copy = (struct copy){.store = store};
    snprintf(sql, sizeof sql, "COPY %s FROM STDIN (FORMAT binary)", what);
    PGresult *result = libpq_of(store)->PQexec(connection_of(copy), sql);
    const bool good = libpq_of(store)->PQresultStatus(result) == PGRES_COPY_IN ||
                      postgres_fail(store, result, error);
    libpq_of(store)->PQclear(result);
    put(copy, HEAD, sizeof HEAD);
    put32(copy, 0);
    put32(copy, 0);
    return good;
}

void copy_row(struct copy *copy, int fields) {
    if (copy->size >= PIECE)
        flush(copy);
    put16(copy, fields);
}

void copy_day(struct copy *copy, int32_t day) {
    put32(copy, sizeof day);
    put32(copy, (uint32_t)day);
}

void copy_integer(struct copy *copy, int64_t value) {
    put32(copy, sizeof value);
    put64(copy, value);
}

void copy_bytes(struct copy *copy, const void *bytes, size_t size) {
    put32(copy, (uint32_t)size);
    put(copy, bytes, size);
}

/* An array of one dimension, which begins at 1. */
void copy_integers(struct copy *copy, const int64_t *values, size_t count) {
    put32(copy, (uint32_t)((count ? 20 : 12) + 12 * count));
    put32(copy, count != 0);
    put32(copy, 0);
    put32(copy, OID_INT8);
    if (count) {
        put32(copy, (uint32_t)count);
        put32(copy, 1);
    }
    for (size_t i = 0; i < count; i++)
        copy_integer(copy, values[i]);
}

bool copy_end(struct copy *copy, bool good, struct error *error) {
    const struct libpq *libpq = libpq_of(copy->store);
    put16(copy, -1);
    if (good)
        flush(copy);
    const bool whole = good && !copy->failed;
    bool taken = false, told = false;
    PGresult *result;
    libpq->PQputCopyEnd(connection_of(copy), whole ? NULL : "given up");
    while ((result = libpq->PQgetResult(connection_of(copy)))) {
        taken = libpq->PQresultStatus(result) == PGRES_COMMAND_OK;
        if (good && !taken && !told)
            told = !postgres_fail(copy->store, result, error);
        libpq->PQclear(result);
    }
    free(copy->bytes);
    copy->bytes = NULL;
    if (good && !taken && !told)
        postgres_fail(copy->store, NULL, error);
    return whole && taken;
}
