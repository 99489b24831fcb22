"""Fig. B.9 of TEA: errors of cycle stacks by instruction and by function, into
docs/results/fig-b9.md.    python3 -B experiments/fig-b9.py"""
from lib import page, profilers, svg

GRAINS = ["instruction", "basic_block", "function"]

reports = profilers.of_events()


def mean(name, key, grain):
    return profilers.mean(profilers.row(report, name)[key][grain] for _, report in reports)


measured = "![Errors of cycle stacks by grain](fig-b9.svg)\n\n" + page.table(
    ["mean error, %", *(f"by {grain.replace('_', ' ')}{what}" for what in ("", ", systematic")
                        for grain in GRAINS)],
    [(name, *(page.percent(mean(name, key, grain)) for key in
              ("stack_errors", "systematic_stack_errors") for grain in GRAINS))
     for name in profilers.EVENT_PROFILERS])
page.write("fig-b9", "experiments/fig-b9.py", measured)
svg.figure(page.picture("fig-b9"), [svg.Bars(
    "Mean error of cycle stacks", "% of cycles", profilers.EVENT_PROFILERS,
    [(f"by {grain.replace('_', ' ')}",
      profilers.percents([mean(name, "stack_errors", grain)
                          for name in profilers.EVENT_PROFILERS])) for grain in GRAINS])])
