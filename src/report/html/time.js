/* The run in time. Of one that was explained by regions: what each phase takes, as told by the
 * regions that stand for it. Of one that was simulated in full: what each stretch took. A chart for
 * each thread, CPI over its instructions; threads that were simulated together are over the same
 * cycles, with what they waited for. */

const TIME_HEIGHT = 160, LANE_HEIGHT = 64, TIME_LEFT = 56, PHASE_HEIGHT = 12, MOST_ROWS = 64;

/* Events in one order, so that a colour stays where it is. */
const inOrder = parts => COMPONENTS.map(([key]) => parts.find(part => part[0] === key)).filter(part => part);

/* What a thread does that does not run: name, and what it waits for. */
const WAITS = [['ready', 'no core was free'], ['lock', 'a lock that another thread has'], ['barrier', 'a barrier'],
    ['event', 'what another thread does'], ['join', 'the end of another thread'], ['sleeping', 'a time that it had asked for']];
const partName = key => componentNames.get(key) || (WAITS.some(([name]) => name === key) ? 'waits: ' + key : key);
const partColour = key => componentNames.has(key) ? key : 'wait-' + key;

/* ---- stretches: {from, to, parts, instructions, cycles}, of a clock ---- */

/* For each phase the nearest region of its cluster. */
function phasesOf(time) {
    const clusters = d3.nest().key(row => row[3]).map(time.regions);
    return time.phases.map(([thread, first, instructions, cluster]) => {
        const regions = clusters.get(cluster) || [], middle = first + instructions / 2;
        const distance = region => Math.abs(region[1] + region[2] / 2 - middle) + (region[0] === thread ? 0 : Number.MAX_SAFE_INTEGER / 2);
        const region = regions.reduce((best, one) => !best || distance(one) < distance(best) ? one : best, null);
        return {thread, from: first, to: first + instructions, cluster, region, instructions: region ? region[2] : 0,
            cycles: region ? region[4] : 0, parts: region ? inOrder(partsOf(region[6])) : []};
    });
}

/* Of a thread over its own clock, which is instructions or the cycles that it ran. */
function stretchesOf(thread) {
    const keys = Object.keys(thread.cycles);
    return thread.instructions.map((instructions, i) => {
        const parts = inOrder(keys.map(key => [key, thread.cycles[key][i]]).filter(part => part[1]));
        return {from: i * thread.width, to: (i + 1) * thread.width, instructions, parts, cycles: d3.sum(parts, part => part[1])};
    });
}

/* Of a thread over the cycles of the program: what it waited for, and what it took while it ran,
 * which is told over the cycles that it ran. */
function overCycles(thread) {
    const ran = stretchesOf(thread), width = thread.doing_width, doing = thread.doing;
    const count = d3.max(Object.values(doing), column => column.length) || 0, stretches = [];
    let at = 0; /* cycles that it has run */
    for (let i = 0; i < count; i++) {
        const running = (doing.running || [])[i] || 0, sums = new Map(), until = at + running;
        let instructions = 0;
        for (let k = Math.floor(at / thread.width); k < ran.length && k * thread.width < until; k++) {
            const share = (Math.min(until, ran[k].to) - Math.max(at, ran[k].from)) / thread.width;
            instructions += share * ran[k].instructions;
            for (const [key, cycles] of ran[k].parts)
                sums.set(key, (sums.get(key) || 0) + share * cycles);
        }
        const scale = running / (d3.sum([...sums.values()]) || 1);
        const parts = inOrder([...sums].map(([key, cycles]) => [key, cycles * scale]));
        const waits = WAITS.map(([key]) => [key, (doing[key] || [])[i] || 0]).filter(part => part[1]);
        stretches.push({from: i * width, to: (i + 1) * width, instructions, cycles: running, parts: [...parts, ...waits]});
        at = until;
    }
    return stretches;
}

/* ---- the chart ---- */

/* `of`: unit of the clock, height of a stretch's parts, and what stands at the left. */
function timeChart(stretches, of) {
    const canvas = el('canvas', {role: 'img', 'aria-label': of.label}), tip = el('div', {class: 'tip', hidden: true});
    const band = of.regions ? PHASE_HEIGHT : 0, height = of.height + band + 34;
    const place = () => d3.scaleLinear().domain([0, of.length]).range([TIME_LEFT, canvas.clientWidth - 10]);
    const up = d3.scaleLinear().domain([0, of.most]).range([of.height, 6]);
    function draw() {
        if (!canvas.isConnected)
            return;
        const style = getComputedStyle(document.documentElement), variable = name => style.getPropertyValue('--' + name.replace('_', '-')).trim();
        const ratio = devicePixelRatio || 1, width = canvas.clientWidth, context = canvas.getContext('2d'), x = place();
        canvas.width = width * ratio;
        canvas.height = height * ratio;
        canvas.style.height = height + 'px';
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.font = '11px system-ui, sans-serif';
        for (const stretch of stretches) {
            const left = Math.round(x(stretch.from) * ratio) / ratio, per = of.per(stretch);
            const w = Math.max(Math.round(x(stretch.to) * ratio) / ratio - left, 1 / ratio); /* whole pixels: no seams */
            let at = 0;
            for (const [key, cycles] of per ? stretch.parts : []) {
                context.fillStyle = variable(partColour(key));
                context.fillRect(left, up(at + cycles / per), w, up(at) - up(at + cycles / per));
                at += cycles / per;
            }
            if (of.regions) {
                context.fillStyle = `hsl(${(stretch.cluster * 137) % 360} 45% 55%)`;
                context.fillRect(left, of.height + 4, w, PHASE_HEIGHT);
            }
        }
        context.fillStyle = variable('text');
        for (const region of of.regions || [])
            context.fillRect(x(region[1]), of.height + 4, Math.max(x(region[1] + region[2]) - x(region[1]), 1), 4);
        context.fillStyle = variable('dim');
        context.textAlign = 'right';
        context.textBaseline = 'middle';
        for (const tick of of.lane ? [] : up.ticks(4)) {
            context.fillText(String(tick), TIME_LEFT - 6, up(tick));
            context.fillRect(TIME_LEFT - 3, up(tick), 3, 1);
        }
        context.fillText(of.title, of.lane ? TIME_LEFT - 8 : 24, of.height / 2);
        context.textAlign = 'center';
        for (const tick of x.ticks(8)) {
            context.fillText(quantity(tick), Math.min(x(tick), canvas.clientWidth - 24), of.height + band + 20);
            context.fillRect(x(tick), of.height + band + 6, 1, 5);
        }
    }
    canvas.addEventListener('mousemove', event => {
        const box = canvas.getBoundingClientRect(), at = place().invert(event.clientX - box.left);
        const stretch = stretches.find(one => at >= one.from && at < one.to);
        tip.hidden = !stretch;
        if (!stretch)
            return;
        const all = d3.sum(stretch.parts, part => part[1]);
        tip.replaceChildren(el('strong', null, `${of.unit} ${quantity(stretch.from)} to ${quantity(stretch.to)}`),
            el('div', null, (of.regions ? `phase ${stretch.cluster}, ` : '') + (stretch.instructions ? `CPI ${fixed(stretch.cycles / stretch.instructions, 3)}` : of.regions ? 'CPI not known' : 'no instruction')),
            el('table', null, [...stretch.parts].sort((a, b) => b[1] - a[1]).slice(0, 6).map(([key, cycles]) => el('tr', null, el('td', null, partName(key)), el('td', {class: 'number'}, percent(cycles / all))))));
        tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 10) + 'px';
        tip.style.top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 10) + 'px';
    });
    canvas.addEventListener('mouseleave', () => { tip.hidden = true; });
    addEventListener('resize', draw);
    requestAnimationFrame(draw);
    return el('div', null, canvas, tip);
}

/* CPI by event over instructions. */
const cpiChart = (stretches, most, length, regions) => timeChart(stretches, {
    height: TIME_HEIGHT, most: most * 1.05, length, regions, title: 'CPI', unit: 'instructions', per: stretch => stretch.instructions,
    label: 'CPI of the run over its instructions; the table below has the same'});

function legendOf(stretches) {
    const there = new Set(stretches.flatMap(stretch => stretch.parts.map(part => part[0])));
    return el('p', {class: 'keys'}, [...COMPONENTS.map(([key]) => key), ...WAITS.map(([key]) => key)].filter(key => there.has(key)).map(key => {
        const square = el('span', {class: 'key'});
        square.style.background = `var(--${partColour(key).replace('_', '-')})`;
        return el('span', null, square, partName(key));
    }));
}

/* ---- tables of the same ---- */

/* Phases by cluster: how much of the run they are, and what they take, as their regions stand for
 * them. */
function phaseTable(phases, regions) {
    const sums = new Map();
    for (const phase of phases) {
        const sum = sums.get(phase.cluster) || {cluster: phase.cluster, stretches: 0, instructions: 0, told: 0, cycles: 0, flat: [], regions: 0};
        sum.stretches++;
        sum.instructions += phase.to - phase.from;
        sums.set(phase.cluster, sum);
    }
    for (const region of regions) {
        const sum = sums.get(region[3]), stands = region[5] / region[2];
        if (!sum)
            continue;
        sum.cycles += stands * region[4];
        sum.told += region[5];
        sum.flat.push(...region[6].map((value, i) => i % 2 ? value * stands : value));
        sum.regions++;
    }
    const rows = [...sums.values()].sort((a, b) => b.cycles - a.cycles), all = d3.sum(rows, row => row.cycles), instructions = d3.sum(rows, row => row.instructions);
    return table(rows, [columnText('phase', row => String(row.cluster)), columnNumber('instructions', row => row.instructions, quantity),
        columnNumber('of the run', row => row.instructions / instructions, percent), columnNumber('of its cycles', row => row.cycles / all, percent),
        columnNumber('CPI', row => row.cycles / row.told, value => fixed(value, 3)), columnNumber('stretches', row => row.stretches, whole),
        columnNumber('regions', row => row.regions, whole), columnStack(row => partsOf(row.flat), row => cyclesOf(row.flat))], {label: 'phases'});
}

/* As many stretches in a row become one that a table can be read. */
function joined(stretches) {
    const times = Math.ceil(stretches.length / MOST_ROWS), rows = [];
    for (let i = 0; i < stretches.length; i += times) {
        const some = stretches.slice(i, i + times), sums = new Map();
        for (const [key, cycles] of some.flatMap(stretch => stretch.parts))
            sums.set(key, (sums.get(key) || 0) + cycles);
        rows.push({from: some[0].from, to: some[some.length - 1].to, parts: [...sums].sort((a, b) => b[1] - a[1]),
            instructions: d3.sum(some, stretch => stretch.instructions), cycles: d3.sum(some, stretch => stretch.cycles)});
    }
    return rows;
}

function stretchTable(stretches, unit) {
    const rows = joined(stretches), all = d3.sum(rows, row => row.cycles), whole = row => d3.sum(row.parts, part => part[1]);
    return table(rows, [columnNumber(`from (${unit})`, row => row.from, quantity), columnNumber('to', row => row.to, quantity),
        columnNumber('instructions', row => row.instructions, quantity), columnNumber('cycles that it ran', row => row.cycles, quantity),
        columnNumber('share', row => row.cycles / all, percent), columnNumber('CPI', row => row.cycles / row.instructions, value => fixed(value, 3)),
        columnText('mostly', row => row.parts.length ? partName(row.parts[0][0]) : ''),
        {title: 'cycle stack', bar: true, value: whole, show: row => stackBar(row.parts, whole(row))}], {label: 'stretches', all: true});
}

/* ---- views ---- */

const threadTitle = (thread, count) => count > 1 ? `thread ${thread.thread}` + (thread.process ? ` of process ${thread.process}` : '') : null;

function drawPhases(place) {
    const phases = phasesOf(profile.time), threads = d3.nest().key(phase => phase.thread).entries(phases);
    const most = d3.max(profile.time.regions, region => region[4] / region[2]) || 1, length = d3.max(phases, phase => phase.to);
    place.append(section('Phases of the run', note('Each stretch shows the nearest region that stands for it; the band below has a colour for each phase (cluster of basic block vectors), with the simulated regions marked in it.'), legendOf(phases),
        ...threads.map(thread => el('div', null, threads.length > 1 ? el('h3', null, 'thread ' + thread.key) : null,
            cpiChart(thread.values, most, length, profile.time.regions.filter(region => String(region[0]) === thread.key))))), section('Phases', phaseTable(phases, profile.time.regions)));
}

function drawStretches(place, series) {
    const all = series.threads.map(thread => ({thread, stretches: stretchesOf(thread).filter(stretch => stretch.cycles)})).filter(one => one.stretches.length);
    /* Their instructions are not of one time: each has axes of its own, the costliest first. */
    for (const one of all)
        Object.assign(one, {cycles: d3.sum(one.stretches, stretch => stretch.cycles), length: d3.max(one.stretches, stretch => stretch.to),
            most: d3.max(one.stretches, stretch => stretch.instructions ? stretch.cycles / stretch.instructions : 0) || 1});
    all.sort((a, b) => b.cycles - a.cycles);
    place.append(section('The run over its instructions', note('Every instruction was simulated. A stretch shows its cycles per instruction by event.'), legendOf(all.flatMap(one => one.stretches)),
        ...all.map(({thread, stretches, most, length}) => el('div', null, el('h3', null, threadTitle(thread, all.length)), cpiChart(stretches, most, length)))),
    ...all.slice(0, 8).map(({thread, stretches}) => section('Stretches' + (all.length > 1 ? ' of ' + threadTitle(thread, all.length) : ''), stretchTable(stretches, 'instructions'))));
}

function threadsTable(all) {
    const columns = WAITS.filter(([key]) => all.some(({thread}) => thread.doing[key]));
    const sum = (thread, key) => d3.sum(thread.doing[key] || []), there = thread => d3.sum(Object.values(thread.doing), column => d3.sum(column));
    return table(all, [columnText('thread', ({thread}) => threadTitle(thread, 2)), columnNumber('instructions', ({thread}) => d3.sum(thread.instructions), quantity),
        columnNumber('cycles that it was there', ({thread}) => there(thread), quantity), columnNumber('ran', ({thread}) => sum(thread, 'running') / there(thread), percent),
        ...columns.map(([key]) => columnNumber(key, ({thread}) => sum(thread, key) / there(thread), percent))], {label: 'threads', all: true});
}

function drawLanes(place, series) {
    const all = series.threads.map(thread => ({thread, stretches: overCycles(thread)})).filter(one => one.stretches.length);
    const length = d3.max(all, one => d3.max(one.stretches, stretch => stretch.to)) || 1;
    place.append(section('Threads over the cycles of the program', note('A thread that runs has the strong colours of what its cycles went to; one that waits, a pale one of what it waits for; where it is blank, it was not there.'), legendOf(all.flatMap(one => one.stretches)),
        ...all.map(({thread, stretches}) => timeChart(stretches, {height: LANE_HEIGHT, most: 1, length, lane: true, title: String(thread.thread), unit: 'cycles',
            per: stretch => stretch.to - stretch.from, label: `what thread ${thread.thread} did over the cycles of the program; the tables below have the same`}))),
    section('Threads', threadsTable(all)), ...all.slice(0, 8).map(({thread, stretches}) => section(`Stretches of ${threadTitle(thread, 2)}`, stretchTable(stretches, 'cycles'))));
}

if (profile && (profile.time || profile.series))
    views.push({id: 'time', title: 'Time line', draw(place) {
        if (profile.time)
            drawPhases(place);
        else if (profile.series.clock === 'cycles' && profile.series.threads.some(thread => Object.keys(thread.doing).length))
            drawLanes(place, profile.series);
        else
            drawStretches(place, profile.series);
        if (profile.series && profile.series.left_out)
            place.append(note(`The first ${profile.series.threads.length} threads are shown.`));
    }});
