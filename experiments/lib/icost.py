"""What the interaction-cost experiments share: the machines of the paper's tables, programs, and
breakdowns as `culprit icost` gives them."""
from lib import programs, run, svg

CATEGORIES = ["dl1", "win", "bw", "bmisp", "dmiss", "shalu", "lgalu", "imiss"]  # as in Table III
WINDOW = ["core.rob", "queue.window.entries", "core.load_queue", "core.store_queue"]
NAMES = ["awk", "bc", "bzip2", "gcc", "gzip", "hashjoin", "interpreter", "perl", "python3", "sort",
         "sqlite3", "xz"]
FAST_L1 = []                                  # Table VII
SLOW_L1 = ["--set", "l1d.latency=4"]          # Table III a
SLOW_WAKEUP = ["--set", "core.issue_wakeup=2"]  # b
SLOW_BRANCH = ["--set", "core.redirect=3"]    # c: 15 cycles from branch to branch


# A colour per category; a pair has that of its partner, paler.
COLOURS = dict(zip(CATEGORIES, svg.COLOURS[:7] + ["#7F3C8D"]))


def colour(focus, members):
    if len(members) == 1:
        return COLOURS[next(iter(members))]
    partner = COLOURS[next(iter(members - {focus}))]
    return "#" + "".join(f"{(int(partner[i:i + 2], 16) + 255) // 2:02X}" for i in (1, 3, 5))


LIMIT = "5M"


def chosen():
    """The programs, of each so many instructions that hundreds of simulations take minutes."""
    return [program._replace(options=[LIMIT if word == programs.LIMIT else word
                                      for word in program.options])
            for program in programs.programs() if program.name in NAMES]


def window(entries):
    return [word for key in WINDOW for word in ("--set", f"{key}={entries}")]


def breakdown(program, machine, *options):
    return run.report("icost", ["--machine", "fields2004", "--multisim=none", *machine, *options,
                                 *program.options],
                      program.command)


def shares(way):
    """Costs of single causes and icosts of sets, in percent of the time, by members."""
    return {frozenset(s["members"]): s["icost"]["percent"] for s in way["sets"]}


def rows(focus):
    """Sets of a table: single causes, the focus first in its pairs."""
    order = [focus] + [name for name in CATEGORIES if name != focus]
    return [(name, frozenset([name])) for name in order] + [
        (f"{focus} + {name}", frozenset([focus, name])) for name in order[1:]]
