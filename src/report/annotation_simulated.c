/* What a simulation says of the same procedure. */
#include "report/annotation.h"
#include "report/json_values.h"

double annotation_simulated_cycles(const struct annotation *annotation, uint32_t insn) {
    const struct annotation_simulated *simulated = annotation->input.simulated;
    return simulated
               ? simulated->profile->cycles[annotation->input.analysis->cfg.insns[insn].offset]
               : 0;
}

json_t *annotation_simulated_json(const struct annotation *annotation) {
    const struct annotation_simulated *simulated = annotation->input.simulated;
    if (!simulated)
        return json_null();
    return json_pack("{s:o, s:o, s:b, s:f, s:f, s:f}", "command", json_text(simulated->command),
                     "machine", json_text(simulated->machine), "same_command",
                     simulated->same_command, "cycles", simulated->profile->sum_cycles, "share",
                     simulated->cycles > 0 ? simulated->profile->sum_cycles / simulated->cycles : 0,
                     "total_cycles", simulated->cycles);
}
