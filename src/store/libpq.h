/* Inside of this room: libpq, loaded when an address is first opened: a third of all its libraries
 * would else be loaded by every run of culprit. */
#pragma once

#include <postgresql/libpq-fe.h>
#include <stdbool.h>

#include "util/error.h"

#define LIBPQ_FUNCTIONS(F)                                                                         \
    F(PQconnectdbParams)                                                                           \
    F(PQfinish)                                                                                    \
    F(PQstatus)                                                                                    \
    F(PQerrorMessage)                                                                              \
    F(PQserverVersion)                                                                             \
    F(PQconninfoParse)                                                                             \
    F(PQconninfoFree)                                                                              \
    F(PQexec)                                                                                      \
    F(PQexecParams)                                                                                \
    F(PQprepare)                                                                                   \
    F(PQexecPrepared)                                                                              \
    F(PQresultStatus)                                                                              \
    F(PQresultErrorField)                                                                          \
    F(PQclear)                                                                                     \
    F(PQntuples)                                                                                   \
    F(PQgetvalue)                                                                                  \
    F(PQgetlength)                                                                                 \
    F(PQgetisnull)                                                                                 \
    F(PQcmdTuples)                                                                                 \
    F(PQtransactionStatus)                                                                         \
    F(PQputCopyData)                                                                               \
    F(PQputCopyEnd)                                                                                \
    F(PQgetResult)                                                                                 \
    F(PQsetNoticeProcessor) F(PQsocket)

/* Its functions under their own names. */
struct libpq {
#define LIBPQ_MEMBER(name) __typeof__(name) *name;
    LIBPQ_FUNCTIONS(LIBPQ_MEMBER)
#undef LIBPQ_MEMBER
};

/* It stays loaded. False: it is not installed. */
bool libpq_load(struct libpq *libpq, struct error *error);
