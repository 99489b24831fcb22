# For a project's Makefile: `include perf.mk`. `make perf` fails when a command of the baseline has become
# slower, and says why; `make perf-accept` takes what it is now. The baseline, once:
#
#     culprit gate --baseline perf.baseline --update --name small -- ./parse small.csv
CULPRIT ?= culprit
PERF_BASELINE ?= perf.baseline
PERF_MAX ?= 1%

perf: all
	$(CULPRIT) gate --baseline $(PERF_BASELINE) --max $(PERF_MAX) $(PERF_OPTIONS)
perf-accept: all
	$(CULPRIT) gate --baseline $(PERF_BASELINE) --update
.PHONY: perf perf-accept
