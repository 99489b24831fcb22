/* The Erlang distribution: the time until so many events have come that come at any time, one in a
 * unit of time on average. */
#pragma once

/* The time after which a share of all such times is not over yet, from 0 to 1, both excluded.
 * shape: of the events, 1 or more. */
double erlang_quantile(unsigned shape, double left);
