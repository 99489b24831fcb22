/* Source and assembly of a function side by side, each line with its share and cycle stack; arrows of
 * branches with how often they were taken, and brackets of loops. */

const LINE_HEIGHT = 18, LANES = 6, LANE_WIDTH = 8, GUTTER = LANES * LANE_WIDTH + 14;
const CONDITIONAL = 1, JUMP = 2;

/* Rows of assembly: instructions, and gaps of code that was not executed. */
function assembly(insns) {
    const rows = [];
    insns.forEach((one, i) => {
        const before = insns[i - 1];
        if (before && one.address > before.address + before.length)
            rows.push({gap: one.address - before.address - before.length});
        rows.push(one);
    });
    return rows;
}

/* Branches within the function: from row to row, and how often each was taken, where that follows
 * from what was executed; null: it does not. */
function branches(rows) {
    const at = new Map();
    rows.forEach((row, i) => { if (row.address !== undefined) at.set(row.address, i); });
    const targets = new Set(rows.filter(row => row.target >= 0).map(row => row.target));
    const found = [];
    rows.forEach((row, i) => {
        if ((row.branch !== CONDITIONAL && row.branch !== JUMP) || !at.has(row.target))
            return;
        const next = rows[i + 1];
        let taken = null;
        if (row.branch === JUMP)
            taken = row.executed;
        else if (!next || next.gap !== undefined)
            taken = row.executed; /* what follows was never executed */
        else if (!targets.has(next.address))
            taken = Math.max(row.executed - next.executed, 0); /* counts of regions are estimates */
        found.push({from: i, to: at.get(row.target), taken, executed: row.executed});
    });
    return found;
}

/* A lane for each arrow, the shortest nearest to the code. */
function lanesOf(arrows) {
    const lanes = Array.from({length: LANES}, () => []);
    for (const arrow of arrows.slice().sort((a, b) => Math.abs(a.from - a.to) - Math.abs(b.from - b.to))) {
        const low = Math.min(arrow.from, arrow.to), high = Math.max(arrow.from, arrow.to);
        arrow.lane = lanes.findIndex(lane => lane.every(other => high < other[0] || low > other[1]));
        if (arrow.lane < 0)
            arrow.lane = LANES - 1;
        lanes[arrow.lane].push([low, high]);
    }
    return arrows;
}

/* Loops: the rows from each head to the last branch back to it. */
function loopRows(arrows) {
    const heads = new Map();
    for (const arrow of arrows)
        if (arrow.to <= arrow.from)
            heads.set(arrow.to, Math.max(heads.get(arrow.to) ?? 0, arrow.from));
    return [...heads].map(([head, end]) => ({head, end}));
}

const shareText = cycles => cycles / totalCycles >= 0.00005 ? percent(cycles / totalCycles) : '';

/* A pane of lines of which only those in sight have elements. */
function pane(kind, label, rows, draw, after) {
    const box = el('div', {class: 'pane ' + kind, tabindex: '0', role: 'region', 'aria-label': label});
    const inside = el('div');
    inside.style.height = rows.length * LINE_HEIGHT + 'px';
    inside.style.position = 'relative';
    box.append(inside);
    let from = -1;
    function render(force, all) {
        const first = all ? 0 : Math.max(0, Math.floor(box.scrollTop / LINE_HEIGHT) - 30) & ~7;
        if (first === from && !force)
            return;
        from = first;
        const end = Math.min(rows.length, all ? 3000 : first + 30 * 2 + Math.ceil(box.clientHeight / LINE_HEIGHT) + 20);
        const lines = el('div');
        lines.style.position = 'absolute';
        lines.style.insetInline = '0';
        lines.style.top = first * LINE_HEIGHT + 'px';
        for (let i = first; i < end; i++)
            lines.append(draw(rows[i], i));
        inside.replaceChildren(lines, ...(after ? [after(first, end)] : []));
    }
    box.addEventListener('scroll', () => render(false), {passive: true});
    addEventListener('beforeprint', () => { if (box.isConnected) render(true, true); });
    addEventListener('afterprint', () => { if (box.isConnected) render(true); });
    requestAnimationFrame(() => render(true));
    const reveal = i => {
        box.scrollTop = Math.max(0, i * LINE_HEIGHT - box.clientHeight / 3);
        render(true);
    };
    return {box, render: () => render(true), reveal};
}

function codeView(place, index, wanted) {
    const one = functions[index], rows = assembly(insnsOf(index)), arrows = lanesOf(branches(rows));
    const loops = loopRows(arrows);
    const state = {file: null, line: 0, address: -1};
    const bar = flat => stackBar(partsOf(flat), Math.max(one.cycles, 1e-9));

    /* Source: the lines of every file that its instructions are of, in order. */
    const byLine = new Map();
    for (const row of rows)
        if (row.file && row.line) {
            const key = row.file + '\n' + row.line;
            const sum = byLine.get(key) || {file: row.file, line: row.line, flat: [], cycles: 0};
            sum.flat.push(...row.flat);
            sum.cycles += row.cycles;
            byLine.set(key, sum);
        }
    const files = d3.nest().key(line => line.file).entries([...byLine.values()])
        .sort((a, b) => d3.sum(b.values, line => line.cycles) - d3.sum(a.values, line => line.cycles));
    const source = [];
    for (const file of files) {
        source.push({heading: file.key});
        const used = file.values.map(line => line.line).sort((a, b) => a - b);
        let last = 0;
        for (const line of used)
            for (let n = Math.max(line - 4, last + 1, 1); n <= line + 4; n++) {
                if (n > line && sourceLine(file.key, n) === undefined)
                    break;
                if (n < line && sourceLine(file.key, n) === undefined)
                    continue;
                if (last && n > last + 1)
                    source.push({skip: true});
                const sum = byLine.get(file.key + '\n' + n);
                source.push({file: file.key, line: n, text: sourceLine(file.key, n) ?? '', flat: sum ? sum.flat : null, cycles: sum ? sum.cycles : 0});
                last = n;
                if (n > line && used.includes(n))
                    break;
            }
    }
    const choose = (file, line, address) => {
        Object.assign(state, {file, line, address});
        asm.render();
        if (left)
            left.render();
    };
    const drawSource = row => {
        if (row.heading || row.skip)
            return el('div', {class: 'line skip'}, el('span'), el('span'), el('span'), el('span', null, row.heading || '⋮'));
        const chosen = row.file === state.file && row.line === state.line;
        return el('div', {class: 'line' + (chosen ? ' chosen' : ''), onclick: () => {
            choose(row.file, row.line, -1);
            const first = rows.findIndex(insn => insn.file === row.file && insn.line === row.line);
            if (first >= 0)
                asm.reveal(first);
        }}, el('span', {class: 'dim'}, row.line), el('span', null, row.flat ? shareText(row.cycles) : ''), el('span', null, row.flat ? bar(row.flat) : ''), el('span', {title: row.text}, row.text));
    };
    const drawInsn = row => {
        if (row.gap !== undefined)
            return el('div', {class: 'line skip'}, el('span'), el('span'), el('span'), el('span'), el('span', null, `⋮ ${row.gap} byte${row.gap === 1 ? '' : 's'} not executed`));
        const chosen = row.address === state.address || (state.line && row.file === state.file && row.line === state.line);
        return el('div', {class: 'line' + (chosen ? ' chosen' : ''), title: row.inlined ? 'inlined from ' + row.inlined : null, onclick: () => {
            choose(row.file, row.line, row.address);
            const line = source.findIndex(other => other.file === row.file && other.line === row.line);
            if (left && line >= 0)
                left.reveal(line);
        }}, el('span', {class: 'dim'}, hex(row.address)), el('span', null, shareText(row.cycles)),
        el('span', {class: 'dim', title: 'executed ' + whole(row.executed) + ' times'}, quantity(row.executed)), bar(row.flat), el('span', {title: row.text}, row.text));
    };
    const hottest = Math.max(1, ...arrows.map(arrow => arrow.taken ?? 0));
    const drawArrows = (first, end) => {
        const picture = svg('svg', {width: GUTTER, height: rows.length * LINE_HEIGHT, 'aria-hidden': 'true'});
        for (const loop of loops)
            if (loop.head < end && loop.end >= first)
                picture.append(svg('path', {class: 'loop', d: `M3 ${loop.head * LINE_HEIGHT + 2} V${(loop.end + 1) * LINE_HEIGHT - 2}`}));
        for (const arrow of arrows) {
            if (Math.min(arrow.from, arrow.to) >= end || Math.max(arrow.from, arrow.to) < first)
                continue;
            const x = GUTTER - 8 - arrow.lane * LANE_WIDTH, from = (arrow.from + 0.5) * LINE_HEIGHT, to = (arrow.to + 0.5) * LINE_HEIGHT;
            const text = arrow.taken === null ? `executed ${whole(arrow.executed)} times` : `taken ${whole(arrow.taken)} of ${whole(arrow.executed)} times`;
            picture.append(svg('path', {d: `M${GUTTER - 2} ${from} H${x} V${to} H${GUTTER - 2} m-4 -3 l4 3 l-4 3`, class: arrow.taken > hottest / 2 ? 'hot' : ''}, svg('title', {}, text)));
        }
        return picture;
    };
    const left = source.some(row => row.text) ? pane('source', 'source', source, drawSource) : null;
    const asm = pane('asm', 'assembly', rows, drawInsn, drawArrows);
    asm.box.style.setProperty('--gutter', GUTTER + 'px');
    place.append(el('div', {class: left ? 'sides' : 'sides alone'}, left ? left.box : null, asm.box));
    if (!left)
        place.append(note(files.length ? `No source: ${files[0].key} cannot be read on the machine that wrote this page.` : 'No source: there is no debug information for this function.'));
    if (arrows.length)
        place.append(el('details', null, el('summary', null, `${arrows.length} branch${arrows.length === 1 ? '' : 'es'} within the function`), table(arrows.map(arrow => ({...arrow,
            at: rows[arrow.from].address, target: rows[arrow.to].address})), [
            columnText('from', row => hex(row.at)), columnText('to', row => hex(row.target)), columnNumber('executed', row => row.executed, whole),
            columnNumber('taken', row => row.taken, value => value === null ? 'not known' : whole(value))], {label: 'branches'})));
    requestAnimationFrame(() => {
        let row = -1;
        if (wanted[0] === 'at')
            row = rows.findIndex(other => other.address === +wanted[1]);
        else if (wanted[0] === 'line')
            row = rows.reduce((best, other, i) => other.line === +wanted[1] && (best < 0 || other.cycles > rows[best].cycles) ? i : best, -1);
        if (row < 0)
            row = rows.reduce((best, other, i) => (other.cycles || 0) > (rows[best].cycles || 0) ? i : best, 0);
        if (rows[row]) {
            choose(rows[row].file, wanted.length ? rows[row].line : 0, wanted[0] === 'at' ? rows[row].address : -1);
            asm.reveal(row);
            const line = source.findIndex(other => other.line === rows[row].line && other.file === rows[row].file);
            if (left && line >= 0)
                left.reveal(line);
        }
    });
}

/* What its cycles were, who calls it, and what mending it would give. */
function aboutFunction(one) {
    const callers = callersOf(one.index), list = [];
    const answer = (title, ...text) => list.push(el('div', null, el('dt', null, title), el('dd', null, ...text)));
    if (one.cycles > 0)
        answer('mostly', mostly(partsOf(one.flat)));
    if (callers.length)
        answer('called by', callers.slice(0, 6).map((caller, i) => [i ? ', ' : '', codeOf.has(caller.index) ? el('a', {href: '#code/' + caller.index}, caller.name) : caller.name,
            ` ${percent(caller.cycles / totalCycles)}`]), callers.length > 6 ? `, and ${callers.length - 6} more` : '');
    for (const advice of report.advice || [])
        if (advice.function === one.name && baseName(advice.image) === baseName(one.image))
            answer('to try', el('strong', null, `${fixed(advice.saving_percent, 1)} %`), ` at most: ${advice.try}`);
    for (const cost of report.what_if ? report.what_if.costs : [])
        for (const at of cost.places || [])
            if (at.function === one.name && baseName(at.image) === baseName(one.image) && cost.cost.percent >= 1)
                answer('what if', `without ${causeName(cost.category)} ${fixed(cost.cost.percent, 1)} % of the time would go at most, ${percent(at.share)} of that here`);
    return el('dl', {class: 'short'}, list);
}

if (profile && profile.code.length)
    views.push({id: 'code', title: 'Code', draw(place, rest) {
        const index = rest.length && functions[+rest[0]] ? +rest[0] : profile.code[0].function, one = functions[index];
        const select = el('select', {'aria-label': 'function', onchange: event => go('code', event.target.value)},
            profile.code.map(code => el('option', {value: code.function, selected: code.function === index},
                `${percent(functions[code.function].cycles / totalCycles)}  ${functions[code.function].name}`)));
        place.append(el('div', {class: 'tools'}, select, el('span', {class: 'dim'},
            `${one.image}; ${quantity(one.cycles)} cycles, ${percent(one.cycles / totalCycles)}; ${quantity(one.instructions)} instructions, CPI ${fixed(one.cycles / one.instructions, 2)}`)),
        stackBar(partsOf(one.flat), one.cycles), aboutFunction(one));
        if (codeOf.has(index))
            codeView(place, index, rest.slice(1));
        else
            place.append(note('The page holds the instructions of the functions that have 99 % of the cycles; this one is not among them. culprit explain --by instruction --top 0 lists all.'));
    }});
