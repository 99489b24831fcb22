/* The first view: what the run took, why, and what to look at next. */

function figures() {
    const half = (report.regions || report.sampling || {}).cpi_half_interval_95;
    /* Of threads on one chip, cycles are of all of them; what went by is less, or more. */
    const elapsed = report.together && report.together.elapsed_cycles;
    const seconds = (elapsed || totalCycles) / (report.clock_ghz * 1e9);
    const list = [
        [elapsed ? 'cycles of all threads' : 'cycles', quantity(report.cycles), whole(report.cycles)],
        ...elapsed ? [['elapsed cycles', quantity(elapsed), whole(elapsed)]] : [],
        ['instructions', quantity(report.instructions), whole(report.instructions)],
        ['CPI', fixed(report.cpi, 3) + (half ? ` ± ${fixed(half, 3)}` : ''), 'cycles per instruction' + (half ? ', with its 95 % interval' : '')],
        ['IPC', fixed(1 / report.cpi, 2), 'instructions per cycle'],
        [elapsed ? 'elapsed time' : 'time', seconds < 1 ? fixed(1000 * seconds, 1) + ' ms' : fixed(seconds, 2) + ' s', `of ${elapsed ? 'elapsed' : 'simulated'} cycles, at ${report.clock_ghz} GHz`],
        ['machine', report.machine, (report.machine_chosen || {}).why || 'as named']
    ];
    return el('dl', {class: 'figures'}, list.map(([name, value, about]) =>
        el('div', {title: about}, el('dt', null, name), el('dd', null, value))));
}

function stackTable(parts, all) {
    return el('table', {class: 'legend'}, el('caption', null, 'Cycles by their dominant event'),
        el('thead', null, el('tr', null, el('th', {scope: 'col'}, 'event'), el('th', {scope: 'col', class: 'number'}, 'share'),
            el('th', {scope: 'col', class: 'number'}, 'cycles'), el('th', {scope: 'col'}, 'what it is'))),
        el('tbody', null, parts.map(([name, cycles]) => {
            const key = el('span', {class: 'key'});
            key.style.background = colourOf(name);
            const about = COMPONENTS.find(component => component[0] === name);
            return el('tr', null, el('th', {scope: 'row'}, key, componentNames.get(name)), el('td', {class: 'number'}, percent(cycles / all)),
                el('td', {class: 'number'}, quantity(cycles)), el('td', null, about ? about[2] : ''));
        })));
}

function adviceList() {
    return report.advice && report.advice.length ? section('What to try',
        note('Each at most; found from exact evidence of this run.'),
        el('ol', {class: 'advice'}, report.advice.map(advice => el('li', null,
            el('strong', null, `${fixed(advice.saving_percent, 1)} %`), ` ${advice.try} `,
            el('span', {class: 'dim'}, `${advice.function || advice.image || ''}${advice.file ? ` ${baseName(advice.file)}:${advice.line}` : ''}: ${fixed(advice.evidence_percent, 1)} % ${advice.evidence}; check with culprit ${advice.check}`))))) : null;
}

function notesList() {
    return report.notes && report.notes.length ? section('What the figures rest on', el('ul', null, report.notes.map(text => el('li', null, text)))) : null;
}

/* What most people ask first, each with where to read on. */
function inShort() {
    const answers = [], hot = profile && lines()[0], costly = hot ? functions[hot.function] : functions[0];
    const link = (text, ...parts) => el('a', {href: '#' + parts.map(encodeURIComponent).join('/')}, text);
    const answer = (question, ...text) => answers.push(el('div', null, el('dt', null, question), el('dd', null, ...text)));
    if (hot)
        answer('The line that costs most', link(`${baseName(hot.file)}:${hot.line}`, 'code', hot.function, 'line', hot.line), ` in ${costly.name}: ${percent(hot.cycles / totalCycles)} of the cycles, mostly ${mostly(stackOf(hot))}.`);
    else if (costly && codeOf.has(costly.index))
        answer('The function that costs most', link(costly.name, 'code', costly.index), `: ${percent(costly.cycles / totalCycles)} of the cycles, mostly ${mostly(stackOf(costly))}.`);
    const callersText = () => {
        const callers = callersOf(costly.index);
        return callers.length ? [callers.slice(0, 3).map((caller, i) => [i ? ', ' : '', caller.index >= 0 && codeOf.has(caller.index) ? link(caller.name, 'code', caller.index) : caller.name,
            ` (${percent(caller.cycles / totalCycles)} of the cycles)`]), callers.length > 3 ? `, and ${callers.length - 3} more.` : '.'] : ['not known'];
    };
    if (costly && calls) {
        const place = el('dd');
        answers.push(el('div', null, el('dt', null, `Who calls ${costly.name}`), place));
        const fill = () => place.append(...callersText().flat(2));
        if (calls.count < MANY_FRAMES)
            fill();
        else
            setTimeout(fill, SLICE_MS);
    }
    const costs = report.what_if && report.what_if.costs.slice().sort((a, b) => b.cost.percent - a.cost.percent)[0];
    if (costs)
        answer('What mending it would give', link(`without ${causeName(costs.category)}`, 'what-if'), ` ${fixed(costs.cost.percent, 1)} % of the time would go, at most`,
            costs.places && costs.places.length ? `; ${percent(costs.places[0].share)} of that is in ${costs.places[0].function || functionName(null, costs.places[0].image, costs.places[0].offset)}.` : '.');
    const among = report.together && report.together.first_cause;
    if (among && among.cause !== 'none')
        answer('Among threads', link(words(among.cause), 'time'), ` costs most: ${percent(among.share)} of the time of their cores.`);
    const phase = slowestPhase();
    if (phase)
        answer('The slowest phase', link(`phase ${phase.cluster}`, 'time'), `: CPI ${fixed(phase.cycles / phase.instructions, 2)} where the run has ${fixed(report.cpi, 2)}; ${percent(phase.instructions / report.instructions)} of the instructions, about ${percent(phase.cycles / totalCycles)} of the cycles.`);
    const stretch = slowestStretch();
    if (stretch)
        answer('The slowest stretch', link(`instructions ${quantity(stretch.from)} to ${quantity(stretch.to)}`, 'time'), `: CPI ${fixed(stretch.cycles / stretch.instructions, 2)} where the run has ${fixed(report.cpi, 2)}, mostly ${partName(stretch.parts[0][0])}; ${percent(stretch.cycles / totalCycles)} of the cycles.`);
    return answers.length ? section('In short', el('dl', {class: 'short'}, answers)) : null;
}

/* That with most cycles an instruction, of those that have a twentieth of the cycles. */
function slowestPhase() {
    const sums = new Map();
    for (const [, , instructions, cluster, cycles, standsFor] of profile && profile.time && profile.time.regions || []) {
        const sum = sums.get(cluster) || {cluster, instructions: 0, cycles: 0};
        sum.instructions += standsFor;
        sum.cycles += standsFor * cycles / instructions;
        sums.set(cluster, sum);
    }
    const phases = [...sums.values()].filter(one => one.instructions > 0 && one.cycles >= 0.05 * totalCycles);
    return phases.length > 1 ? phases.reduce((a, b) => b.cycles * a.instructions > a.cycles * b.instructions ? b : a) : null;
}

/* Likewise of a run of one thread that was simulated in full, of stretches as its time line lists them;
 * those that have two hundredths of the cycles. */
function slowestStretch() {
    const series = profile && profile.series;
    if (!series || series.clock !== 'instructions' || series.threads.length > 1)
        return null;
    const stretches = joined(stretchesOf(series.threads[0])).filter(one => one.instructions && one.cycles >= 0.02 * totalCycles);
    return stretches.length > 1 ? stretches.reduce((a, b) => b.cycles * a.instructions > a.cycles * b.instructions ? b : a) : null;
}

function hotFunctions() {
    const hot = functions.slice(0, 10).filter(row => row.cycles > 0);
    return section('Functions that cost most', table(hot, functionColumns(), {pick: row => go('code', row.index), label: 'costliest functions', few: true}),
        el('p', null, el('a', {href: '#functions'}, `all ${whole(profile.functions_total)} functions`)));
}

function hotLines() {
    const hot = lines().slice(0, 10);
    return hot.length ? section('Lines that cost most', table(hot, lineColumns(), {pick: row => go('code', row.function, 'line', row.line), label: 'costliest lines', few: true}),
        el('p', null, el('a', {href: '#lines'}, 'all lines'))) : null;
}

if (report && report.stack)
    views.push({id: 'summary', title: 'Summary', draw(place) {
        const parts = componentsOf(report.stack);
        place.append(figures(), inShort() || '', section('Where the cycles went', stackBar(parts, totalCycles), stackTable(parts, totalCycles)));
        place.append(adviceList() || '');
        if (profile)
            place.append(hotLines() || '', hotFunctions());
        place.append(notesList() || '');
        if (report.next)
            place.append(section('Next', el('pre', null, report.next)));
    }});
