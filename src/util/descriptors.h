/* Descriptors that a child inherits beyond the standard three. */
#ifndef CULPRIT_UTIL_DESCRIPTORS_H
#define CULPRIT_UTIL_DESCRIPTORS_H

/* In a child, before exec: what it would inherit and could write to goes nowhere. Only calls that
 * are safe after fork. */
void descriptors_mute_inherited(void);

#endif
