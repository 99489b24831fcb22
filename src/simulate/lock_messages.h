/* What threads hand to each other under locks of the C library that several of them take. Who has a
 * lock is decided in simulated time, so a consumer may come to it before the producer that filled
 * the queue in the captured run; then it would take what is not there yet.
 *
 * A message is a word that a thread wrote while it had such a lock, without reading it first, and
 * that another read while it had one: an item in a queue, a flag. Words that are read and then
 * written, such as counters, are none: they would bind the order of a lock to the captured one for
 * nothing, but where a thread does something by what it has counted (lock_counters.h). A thread
 * that takes a lock to read a message waits for who writes it; one that takes it to write the next
 * message to the same word waits for who reads the one before first.
 *
 * A lock that one thread alone takes is like none. It is often held for long, as an interpreter's
 * is by its only thread: what is handed over within, under another lock, is waited for there, not
 * where the long one was taken. */
#pragma once

#include "simulate/together_state.h"

/* Reads the trace of the process under way once, in an order in which its threads could have run,
 * and gives each guest its messages. What does not fit into bounded memory is left out. */
bool lock_messages_find(struct chip_run *chip, struct error *error);
