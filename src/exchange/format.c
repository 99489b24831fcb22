/* The table of formats. */
#include "exchange/format.h"

#include <string.h>

#include "util/text.h"

const struct exchange_row exchange_formats[EXCHANGE_FORMATS] = {
    [EXCHANGE_PPROF] = {"pprof", "go tool pprof -top", export_pprof, import_pprof,
                        .ending = ".pb.gz", .columns = true},
    [EXCHANGE_PERF_SCRIPT] = {"perf-script", "stackcollapse-perf.pl", export_perf_script,
                              import_perf_script},
    [EXCHANGE_FOLDED] = {"folded", "flamegraph.pl", export_folded, NULL, ".folded"},
    [EXCHANGE_CALLGRIND] = {"callgrind", "callgrind_annotate --inclusive=yes", export_callgrind,
                            NULL},
    [EXCHANGE_CACHEGRIND] = {"cachegrind", "cg_annotate", export_cachegrind, NULL},
    [EXCHANGE_FIREFOX] = {"firefox", "samply load", export_firefox, NULL},
    [EXCHANGE_OTLP] = {"otlp", "protoc --decode_raw <", export_otlp, NULL, ".otlp.pb", true},
    [EXCHANGE_CSV] = {"csv", "column -t -s,", export_csv, NULL, ".csv"},
};

const char *exchange_format_name(enum exchange_format format) {
    return format < EXCHANGE_FORMATS ? exchange_formats[format].name : "";
}

const char *exchange_format_viewer(enum exchange_format format) {
    return exchange_formats[format].viewer;
}

bool exchange_format_has_columns(enum exchange_format format) {
    return exchange_formats[format].columns;
}

bool exchange_format_is_read(enum exchange_format format) {
    return exchange_formats[format].read;
}

bool exchange_format_find(const char *name, enum exchange_format *format) {
    for (*format = 0; *format < EXCHANGE_FORMATS; ++*format)
        if (!strcmp(name, exchange_formats[*format].name))
            return true;
    return false;
}

bool exchange_format_of_file(const char *path, enum exchange_format *format) {
    for (*format = 0; *format < EXCHANGE_FORMATS; ++*format)
        if (exchange_formats[*format].ending &&
            text_ends_with(path, exchange_formats[*format].ending))
            return true;
    return false;
}
