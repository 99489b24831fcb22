/* How a method is called in words. */
#include <string.h>

#include "model/predict.h"

bool predict_method_compensate(struct predict_method *method, const char *name) {
    static const char *const FIXED[] = {"oldest", "1/4", "1/2", "3/4", "youngest"};
    static const char *const NAMES[] = {[COMPENSATE_NONE] = "none",
                                        [COMPENSATE_FIXED] = "1/2",
                                        [COMPENSATE_DISTANCE] = "distance",
                                        [COMPENSATE_WINDOW] = "window"};
    method->fixed = 0.5;
    for (int i = COMPENSATE_NONE; i <= COMPENSATE_WINDOW; i++)
        if (!strcmp(name, NAMES[i])) {
            method->compensation = (enum hybrid_compensation)i;
            return true;
        }
    for (int i = 0; i < 5; i++)
        if (!strcmp(name, FIXED[i])) {
            method->compensation = COMPENSATE_FIXED;
            method->fixed = i / 4.0;
            return true;
        }
    return false;
}

bool predict_method_take_parts(struct predict_method *method, const char *letters) {
    method->parts = 0;
    for (const char *letter = letters; *letter; letter++) {
        if (*letter < 'a' || *letter > 'c')
            return false;
        method->parts |= 1u << (*letter - 'a');
    }
    return true;
}
