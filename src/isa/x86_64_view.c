/* Decoding by Zydis, and its registers in our numbers. */
#include "isa/x86_64_view.h"

#include "isa/insn.h"

bool x86_64_view(const uint8_t *bytes, size_t size, struct zydis_view *view) {
    ZydisDecoder decoder;
    return ZYAN_SUCCESS(
               ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) &&
           ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &view->insn, view->operand));
}

uint8_t x86_64_register(ZydisRegister reg) {
    switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
        return (uint8_t)ZydisRegisterGetId(
            ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg));
    case ZYDIS_REGCLASS_X87:
    case ZYDIS_REGCLASS_MMX:
        return (uint8_t)(REG_X86_X87 + ZydisRegisterGetId(reg));
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        return (uint8_t)(REG_VECTOR + ZydisRegisterGetId(reg));
    case ZYDIS_REGCLASS_MASK:
        return (uint8_t)(REG_X86_MASK + ZydisRegisterGetId(reg));
    default:
        return REG_NONE;
    }
}
