/* Names the form of each instruction: lines of its bytes, in hexadecimal, become lines of its form;
 * empty ones where there is none. */
#include <stdio.h>

#include "isa/form.h"

int main(void) {
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        uint8_t bytes[16];
        size_t size = 0;
        char text[FORM_TEXT_SIZE];
        for (unsigned byte; size < sizeof bytes && sscanf(line + 2 * size, "%2x", &byte) == 1;)
            bytes[size++] = (uint8_t)byte;
        form_text(insn_form_of(ISA_X86_64, bytes, size), text);
        puts(text);
    }
    return 0;
}
