/* The first view: what the run took, why, and what to look at next. */

function figures() {
    const half = (report.regions || report.sampling || {}).cpi_half_interval_95;
    const seconds = totalCycles / (report.clock_ghz * 1e9);
    const list = [
        ['cycles', quantity(report.cycles), whole(report.cycles)],
        ['instructions', quantity(report.instructions), whole(report.instructions)],
        ['CPI', fixed(report.cpi, 3) + (half ? ` ± ${fixed(half, 3)}` : ''), 'cycles per instruction' + (half ? ', with its 95 % interval' : '')],
        ['IPC', fixed(1 / report.cpi, 2), 'instructions per cycle'],
        ['time', seconds < 1 ? fixed(1000 * seconds, 1) + ' ms' : fixed(seconds, 2) + ' s', `of simulated cycles, at ${report.clock_ghz} GHz`],
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

function hotFunctions() {
    const hot = functions.slice(0, 10).filter(row => row.cycles > 0);
    return section('Functions that cost most', table(hot, functionColumns(), {pick: row => go('code', row.index), label: 'costliest functions', all: true}),
        el('p', null, el('a', {href: '#functions'}, `all ${whole(profile.functions_total)} functions`)));
}

function hotLines() {
    const hot = lines().slice(0, 10);
    return hot.length ? section('Lines that cost most', table(hot, lineColumns(), {pick: row => go('code', row.function, 'line', row.line), label: 'costliest lines', all: true}),
        el('p', null, el('a', {href: '#lines'}, 'all lines'))) : null;
}

if (report && report.stack)
    views.push({id: 'summary', title: 'Summary', draw(place) {
        const parts = componentsOf(report.stack);
        place.append(figures(), section('Where the cycles went', stackBar(parts, totalCycles), stackTable(parts, totalCycles)));
        if (profile)
            place.append(hotFunctions(), hotLines() || '');
        place.append(adviceList() || '', notesList() || '');
        if (report.next)
            place.append(section('Next', el('pre', null, report.next)));
    }});
