"""Fig. B.8 of TEA: errors of cycle stacks over the number of samples, into docs/results/fig-b8.md.
    python3 -B experiments/fig-b8.py"""
from lib import page, profilers, svg

reports = profilers.of_events()


def swept(name, key):
    return [profilers.mean(profilers.row(report, profilers.sampled(name, n))[key]
                           for _, report in reports) for n in profilers.SWEEP]


lines = [(name, swept(name, "stack_error")) for name in profilers.EVENT_PROFILERS]
lines.append(("floor of TEA", swept("TEA", "stack_floor")))
measured = "![Errors of cycle stacks over the number of samples](fig-b8.svg)\n\n" + page.table(
    ["mean error, %", *(f"{n:,}" for n in profilers.SWEEP)],
    [(name, *(page.percent(v, 2) for v in values)) for name, values in lines])
page.write("fig-b8", "experiments/fig-b8.py", measured)
svg.figure(page.picture("fig-b8"), [svg.Lines(
    "Mean error of cycle stacks by instruction over the number of samples", "samples of a run",
    "% of cycles", profilers.SWEEP, [(name, profilers.percents(values)) for name, values in lines],
    logarithmic=True, height=300)])
