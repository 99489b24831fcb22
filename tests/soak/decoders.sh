# The decoders against objdump over whole libraries and programs, some million instructions.
. tests/e2e/lib.sh

check "every instruction of whole binaries, as objdump has it" \
    "$CULPRIT_BUILD/tests/test_isa_objdump" 1000000000

finish
