/* The run over its instructions: what each phase takes a thousand instructions, by event, as told by
 * the regions that stand for it; a line for each thread. */

const TIME_HEIGHT = 160, TIME_LEFT = 56, PHASE_HEIGHT = 12;

/* Events in one order, so that a colour stays where it is. */
const inOrder = parts => COMPONENTS.map(([key]) => parts.find(part => part[0] === key)).filter(part => part);

/* For each phase the nearest region of its cluster. */
function phasesOf(time) {
    const clusters = d3.nest().key(row => row[3]).map(time.regions);
    return time.phases.map(([thread, first, instructions, cluster]) => {
        const regions = clusters.get(cluster) || [], middle = first + instructions / 2;
        const distance = region => Math.abs(region[1] + region[2] / 2 - middle) + (region[0] === thread ? 0 : Number.MAX_SAFE_INTEGER / 2);
        const region = regions.reduce((best, one) => !best || distance(one) < distance(best) ? one : best, null);
        return {thread, first, instructions, cluster, region};
    });
}

function timeLine(phases, regions, most, length) {
    const canvas = el('canvas', {role: 'img', 'aria-label': 'CPI of the run over its instructions; the table below has the same phases'}), tip = el('div', {class: 'tip', hidden: true});
    const height = TIME_HEIGHT + PHASE_HEIGHT + 34;
    const place = () => d3.scaleLinear().domain([0, length]).range([TIME_LEFT, canvas.clientWidth - 10]);
    const cpi = d3.scaleLinear().domain([0, most * 1.05]).nice(5).range([TIME_HEIGHT, 6]);
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
        for (const phase of phases) {
            const left = x(phase.first), w = Math.max(x(phase.first + phase.instructions) - left, 0.6);
            let at = 0;
            for (const [component, cycles] of phase.region ? inOrder(partsOf(phase.region[6])) : []) {
                const part = cycles / phase.region[2];
                context.fillStyle = variable(component);
                context.fillRect(left, cpi(at + part), w, cpi(at) - cpi(at + part));
                at += part;
            }
            context.fillStyle = `hsl(${(phase.cluster * 137) % 360} 45% 55%)`;
            context.fillRect(left, TIME_HEIGHT + 4, w, PHASE_HEIGHT);
        }
        context.fillStyle = variable('text');
        for (const region of regions)
            context.fillRect(x(region[1]), TIME_HEIGHT + 4, Math.max(x(region[1] + region[2]) - x(region[1]), 1), 4);
        context.fillStyle = variable('dim');
        context.textAlign = 'right';
        context.textBaseline = 'middle';
        for (const tick of cpi.ticks(4)) {
            context.fillText(String(tick), TIME_LEFT - 6, cpi(tick));
            context.fillRect(TIME_LEFT - 3, cpi(tick), 3, 1);
        }
        context.fillText('CPI', 24, TIME_HEIGHT / 2);
        context.textAlign = 'center';
        for (const tick of x.ticks(8)) {
            context.fillText(quantity(tick), x(tick), TIME_HEIGHT + PHASE_HEIGHT + 20);
            context.fillRect(x(tick), TIME_HEIGHT + PHASE_HEIGHT + 6, 1, 5);
        }
    }
    canvas.addEventListener('mousemove', event => {
        const box = canvas.getBoundingClientRect(), at = place().invert(event.clientX - box.left);
        const phase = phases.find(one => at >= one.first && at < one.first + one.instructions);
        tip.hidden = !phase;
        if (!phase)
            return;
        tip.replaceChildren(el('strong', null, `instructions ${quantity(phase.first)} to ${quantity(phase.first + phase.instructions)}`), el('div', null, `phase ${phase.cluster}, CPI ${phase.region ? fixed(phase.region[4] / phase.region[2], 3) : 'not known'}`),
            el('table', null, (phase.region ? partsOf(phase.region[6]) : []).slice(0, 6).map(([name, cycles]) => el('tr', null, el('td', null, componentNames.get(name)), el('td', {class: 'number'}, percent(cycles / phase.region[4]))))));
        tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 10) + 'px';
        tip.style.top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 10) + 'px';
    });
    canvas.addEventListener('mouseleave', () => { tip.hidden = true; });
    addEventListener('resize', draw);
    requestAnimationFrame(draw);
    return el('div', null, canvas, tip);
}

/* Phases by cluster: how much of the run they are, and what they take. */
function phaseTable(phases) {
    const sums = new Map();
    for (const phase of phases) {
        const sum = sums.get(phase.cluster) || {cluster: phase.cluster, stretches: 0, instructions: 0, cycles: 0, flat: [], regions: new Set()};
        sum.stretches++;
        sum.instructions += phase.instructions;
        if (phase.region) {
            sum.cycles += phase.instructions * phase.region[4] / phase.region[2];
            if (!sum.regions.has(phase.region))
                sum.flat.push(...phase.region[6]);
            sum.regions.add(phase.region);
        }
        sums.set(phase.cluster, sum);
    }
    const rows = [...sums.values()].sort((a, b) => b.cycles - a.cycles), all = d3.sum(rows, row => row.cycles), instructions = d3.sum(rows, row => row.instructions);
    return table(rows, [columnText('phase', row => String(row.cluster)), columnNumber('instructions', row => row.instructions, quantity),
        columnNumber('of the run', row => row.instructions / instructions, percent), columnNumber('of its cycles, about', row => row.cycles / all, percent),
        columnNumber('CPI', row => row.cycles / row.instructions, value => fixed(value, 3)), columnNumber('stretches', row => row.stretches, whole),
        columnNumber('regions', row => row.regions.size, whole), columnStack(row => partsOf(row.flat), row => cyclesOf(row.flat))], {label: 'phases'});
}

if (profile && profile.time)
    views.push({id: 'time', title: 'Time line', draw(place) {
        const phases = phasesOf(profile.time), threads = d3.nest().key(phase => phase.thread).entries(phases);
        const most = d3.max(profile.time.regions, region => region[4] / region[2]) || 1, length = d3.max(phases, phase => phase.first + phase.instructions);
        place.append(section('Phases of the run', note('Each stretch shows the nearest region that stands for it; the band below has a colour for each phase (cluster of basic block vectors), with the simulated regions marked in it.'),
            ...threads.map(thread => el('div', null, threads.length > 1 ? el('h3', null, 'thread ' + thread.key) : null,
                timeLine(thread.values, profile.time.regions.filter(region => String(region[0]) === thread.key), most, length)))), section('Phases', phaseTable(phases)));
    }});
