/* Two builds: what changed, in a sentence and by function. Of compare and diff. */

/* A bar to the left of the middle for less, to the right for more. */
function twoWay(value, most) {
    const bar = el('span', {class: 'twoway', role: 'img', 'aria-label': signed(value)}), space = el('span'), piece = el('span');
    const width = 50 * Math.min(Math.abs(value) / most, 1);
    space.style.width = (value < 0 ? 50 - width : 50) + '%';
    piece.style.width = width + '%';
    piece.style.background = value < 0 ? 'var(--better)' : 'var(--worse)';
    bar.append(space, piece);
    return bar;
}

/* Components are of all threads together, which may have more cycles, or fewer, than went by. */
const allCycles = side => COMPONENTS.reduce((sum, [key]) => sum + (side.components[key] || 0), 0);

function sideTable(before, after) {
    const threads = [before, after].some(side => Math.abs(allCycles(side) - side.elapsed_cycles) > side.elapsed_cycles / 1000);
    const rows = [...threads ? [['elapsed cycles', side => side.elapsed_cycles, quantity], ['cycles of all threads', allCycles, quantity]] :
        [['cycles', side => side.elapsed_cycles, quantity]], ['instructions', side => side.instructions, quantity], ['CPI', side => side.cpi, value => fixed(value, 3)],
        ...COMPONENTS.map(([key, name]) => [name, side => side.components[key], quantity, key])];
    return el('table', {class: 'legend'}, el('thead', null, el('tr', null, ['', 'before', 'after', 'change'].map((title, i) => el('th', {scope: 'col', class: i ? 'number' : null}, title)))),
        el('tbody', null, rows.filter(([, value]) => value(before) || value(after)).map(([name, value, show, colour]) => {
            const one = value(before), other = value(after);
            const key = colour && el('span', {class: 'key'});
            if (key)
                key.style.background = colourOf(colour);
            return el('tr', null, el('th', {scope: 'row'}, key, name), el('td', {class: 'number'}, show(one)), el('td', {class: 'number'}, show(other)),
                el('td', {class: 'number'}, one ? signed(100 * (other - one) / one) + ' %' : ''));
        })));
}

function changesTable(changes, most, label) {
    const where = line => line && line.file ? `${baseName(line.file)}:${line.line}` : line && line.text ? line.text : '';
    return table(changes, [
        columnText('function', row => row.function), columnText('image', row => row.image), columnNumber('% of all before', row => row.percent, signed),
        {title: 'less | more', bar: true, value: row => row.percent, show: row => twoWay(row.percent, most)},
        columnText('most in', row => row.reason || ''), columnText('line before', row => where(row.line_before)), columnText('line after', row => where(row.line_after)),
        columnNumber('cycles before', row => row.before && row.before.cycles, quantity), columnNumber('after', row => row.after && row.after.cycles, quantity)
    ], {label});
}

if (report && report.before && report.after && report.changes)
    views.push({id: 'changes', title: 'Changes', draw(place) {
        const most = Math.max(1e-9, ...report.changes.concat(report.python ? report.python.changes : []).map(change => Math.abs(change.percent)));
        place.append(section('What changed', el('p', null, el('strong', null, report.sentence))),
            section('Before and after', stackPair(), sideTable(report.before, report.after)),
            report.python ? section('By function of Python', changesTable(report.python.changes, most, 'changes of Python')) : '',
            section('By function', changesTable(report.changes, most, 'changes')), notesList() || '');
    }});

function stackPair() {
    const parts = side => COMPONENTS.map(([key]) => [key, side.components[key] || 0]);
    const most = Math.max(allCycles(report.before), allCycles(report.after));
    return [el('div', {class: 'dim'}, 'before: ', report.before.program), stackBar(parts(report.before), most), el('div', {class: 'dim'}, 'after: ', report.after.program), stackBar(parts(report.after), most)];
}
