/* A side's ratio is R = Σ x / Σ n over its hosts, n being all values of a host, or its seconds. Its
 * error is about Σ e with e = (x − R n) / Σ n, and that of a change the sum over all hosts of e
 * after less e before, which are independent from host to host. */
#include <math.h>
#include <string.h>

#include "query/host_spread.h"
#include "util/student.h"

struct walked {
    const struct host_side *side;
    uint32_t row;
    double ratio, whole;
    size_t at; /* host */
};

static double whole_of(const struct walked *walked, const struct matrix_host *host) {
    return walked->side->per_second ? host->seconds : host->total;
}

static struct walked begin_side(const struct host_side *side, const struct profile_row *row) {
    const struct host_matrix *matrix = side->matrix;
    struct walked walked = {.side = side, .row = host_matrix_row(matrix, row)};
    for (size_t i = 0; i < matrix->host_count; i++)
        walked.whole += matrix->hosts[i].counted ? whole_of(&walked, &matrix->hosts[i]) : 0;
    const double sum = walked.row != UINT32_MAX ? matrix->rows[walked.row].total : 0;
    walked.ratio = walked.whole > 0 ? sum / walked.whole : 0;
    return walked;
}

/* The error of the next host, if it has this name; then it is behind. */
static double step(struct walked *walked, const char *name, bool *has) {
    const struct host_matrix *matrix = walked->side->matrix;
    if (walked->at == matrix->host_count || strcmp(matrix->hosts[walked->at].name, name) != 0)
        return 0;
    const struct matrix_host *host = &matrix->hosts[walked->at++];
    if (!host->counted)
        return 0;
    const double value = walked->row != UINT32_MAX ? host_matrix_value(host, walked->row) : 0;
    *has = true;
    return walked->whole > 0 ? (value - walked->ratio * whole_of(walked, host)) / walked->whole : 0;
}

/* Hosts come by name on both sides; NULL: there are no more. */
static const char *next_name(const struct walked sides[2]) {
    const char *names[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        const struct host_matrix *matrix = sides[i].side->matrix;
        if (sides[i].at < matrix->host_count)
            names[i] = matrix->hosts[sides[i].at].name;
    }
    if (!names[0] || !names[1])
        return names[0] ? names[0] : names[1];
    return strcmp(names[0], names[1]) < 0 ? names[0] : names[1];
}

struct host_change host_change_of(const struct host_side sides[2], const struct profile_row *row) {
    struct walked walked[2] = {begin_side(&sides[0], row), begin_side(&sides[1], row)};
    struct host_change change = {.change = walked[1].ratio - walked[0].ratio, .interval = NAN};
    double squares = 0;
    const char *name;
    while ((name = next_name(walked))) {
        bool before = false, after = false;
        const double error = -step(&walked[0], name, &before);
        const double both = error + step(&walked[1], name, &after);
        squares += both * both;
        change.hosts += before || after;
        change.paired += before && after;
    }
    const double hosts = (double)change.hosts;
    if (change.hosts > 1)
        change.interval = student_t95(hosts - 1) * sqrt(squares * hosts / (hosts - 1));
    return change;
}
