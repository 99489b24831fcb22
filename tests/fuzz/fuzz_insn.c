/* Any bytes as instructions of both architectures: what decodes obeys the promises of insn.h,
 * cracks into µops and prints; the text of its form is read back as that form. */
#include <assert.h>
#include <string.h>

#include "isa/form.h"
#include "isa/insn.h"

static void check_form(enum isa isa, const uint8_t *bytes, size_t size, bool decoded) {
    const insn_form form = insn_form_of(isa, bytes, size);
    assert((form != FORM_NONE) == (decoded && isa == ISA_X86_64));
    char text[FORM_TEXT_SIZE];
    const char *end;
    form_text(form, text);
    assert(form == FORM_NONE || (form_parse(text, &end) == form && !*end));
}

static void check_registers(const uint8_t *registers, unsigned count, unsigned most) {
    assert(count <= most);
    for (unsigned i = 0; i < count; i++)
        assert(registers[i] < REG_COUNT);
}

static void check(enum isa isa, const uint8_t *bytes, size_t size) {
    char text[64];
    size_t length = insn_text(isa, bytes, size, 0x401000, text, sizeof text);
    assert(strlen(text) == (length < sizeof text ? length : sizeof text - 1));
    struct insn insn;
    const bool decoded = insn_decode(isa, bytes, size, &insn);
    check_form(isa, bytes, size, decoded);
    if (!decoded)
        return;
    assert(insn.length > 0 && insn.length <= size && insn.length <= INSN_MAX_LENGTH);
    assert(insn.operation < OP_COUNT && insn.branch <= BRANCH_RETURN);
    assert(insn.memory_count <= INSN_MAX_MEMORY);
    check_registers(insn.source, insn.source_count, INSN_MAX_SOURCES);
    check_registers(insn.destination, insn.destination_count, INSN_MAX_DESTINATIONS);

    struct uop uops[INSN_MAX_UOPS];
    int count = insn_crack(&insn, uops);
    assert(count >= 1 && count <= INSN_MAX_UOPS);
    for (int i = 0; i < count; i++) {
        assert(uops[i].operation < OP_COUNT);
        assert(uops[i].memory == 255 || uops[i].memory < insn.memory_count);
        assert(!(uops[i].flags & UOP_LAST) == (i != count - 1));
        check_registers(uops[i].source, uops[i].source_count, UOP_MAX_SOURCES);
        check_registers(uops[i].destination, uops[i].destination_count, UOP_MAX_DESTINATIONS);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    for (size_t at = 0; at < size && at < 64; at++) {
        check(ISA_X86_64, bytes + at, size - at);
        check(ISA_RISCV64, bytes + at, size - at);
    }
    return 0;
}
