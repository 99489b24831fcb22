/* Descriptors that a child inherits beyond the standard three. */
#pragma once

/* In a child, before exec: what it would inherit and could write to goes nowhere. Only calls that
 * are safe after fork. */
void descriptors_mute_inherited(void);
