/* What the regions of a list lose to long data misses, each predicted from the trace that was
 * captured of it, made to stand for the whole run. */
#pragma once

#include "model/predict.h"
#include "region/regions.h"

struct predicted_regions {
    uint32_t count, done;
    uint64_t instructions; /* of the regions done, themselves */
};

/* `list` was read from `path`. What comes before a region in its trace, at most `warm`
 * instructions, warms its caches. The options' selection and part are not looked at; progress is of
 * all regions together (region_list_work()). When stopped, the regions that are done stand for all,
 * and prediction->interrupted is set. Fails, naming region and trace, when one has none or ends
 * early. hybrid_prediction_free() either way. */
bool predict_regions(const struct region_list *list, const char *path, uint64_t warm,
                     const struct predict_options *options, struct predicted_regions *regions,
                     struct hybrid_prediction *prediction, struct error *error);
