/* What all views are made of: the data, elements, numbers, and the list of views. Text reaches the
 * page only as text nodes: no name can become markup. */

const data = id => {
    const element = document.getElementById(id);
    return element ? JSON.parse(element.textContent) : null;
};
const report = data('report');
const profile = data('profile');

/* An element with attributes and children; texts become text nodes, null is left out. */
function el(name, attributes, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
        if (value === null || value === undefined || value === false)
            continue;
        if (key.startsWith('on'))
            node.addEventListener(key.slice(2), value);
        else
            node.setAttribute(key, value === true ? '' : value);
    }
    for (const child of children.flat(2))
        if (child !== null && child !== undefined && child !== false)
            node.append(child instanceof Node ? child : document.createTextNode(String(child)));
    return node;
}

const SVG = 'http://www.w3.org/2000/svg';
function svg(name, attributes, ...children) {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes || {}))
        node.setAttribute(key, value);
    for (const child of children)
        node.append(child instanceof Node ? child : document.createTextNode(String(child)));
    return node;
}

/* ---- numbers ---- */

const quantity = value => value === null || value === undefined ? '' :
    Math.abs(value) < 1e-6 ? '0' : Math.abs(value) < 1000 ? String(+value.toPrecision(3)) :
        d3.format('.3s')(value).replace('G', ' G').replace('M', ' M').replace('k', ' k').replace('T', ' T');
const whole = d3.format(',.0f');
const percent = share => !isFinite(share) ? '' : (100 * share).toFixed(Math.abs(share) < 0.1 ? 2 : 1) + ' %';
const fixed = (value, digits) => value === null || value === undefined || !isFinite(value) ? '' : value.toFixed(digits).replace(/^-(0\.?0*)$/, '$1');
const hex = address => '0x' + address.toString(16);

/* ---- events and what belongs to them ---- */

/* Key, name, what it is, and its events; the dominant first, as culprit itself has them. */
const BY_DOMINANCE = data('components').map(([key, name, about, events]) => [key, name, about, events.split(', ')]);
const COMPONENTS = BY_DOMINANCE.slice().reverse();
const componentNames = new Map(COMPONENTS.map(([key, name]) => [key, name]));
/* The first that a combination of events has one of; "Base" is none. */
const componentOfEvents = text => BY_DOMINANCE.find(([, , , events]) => text.split('+').some(event => events.includes(event)))[0];
const colourOf = component => `var(--${componentNames.has(component) ? '' : 'wait-'}${component.replace('_', '-')})`;

/* Cycles by component, from an object of combinations, largest first. */
function componentsOf(stack) {
    const sums = new Map();
    for (const [events, cycles] of Object.entries(stack || {})) {
        const component = componentOfEvents(events);
        sums.set(component, (sums.get(component) || 0) + cycles);
    }
    return [...sums].sort((a, b) => b[1] - a[1]);
}

/* In words: the component that has most of some parts, and how much of them. */
function mostly(parts) {
    const whole = d3.sum(parts, part => part[1]);
    return whole > 0 ? `${componentNames.get(parts[0][0])} ${percent(parts[0][1] / whole)}` : '';
}

/* A bar of parts, each [component, cycles]; `whole`: cycles of its full width. */
function stackBar(parts, whole, label) {
    const bar = el('span', {class: 'bar', role: 'img',
        'aria-label': label || parts.map(([name, value]) => `${componentNames.get(name) || name} ${percent(value / whole)}`).join(', ')});
    for (const [name, value] of parts) {
        if (value / whole < 0.001)
            continue;
        const piece = el('span', {title: `${componentNames.get(name) || name}: ${percent(value / whole)}`});
        piece.style.width = 100 * value / whole + '%';
        piece.style.background = colourOf(name);
        bar.append(piece);
    }
    return bar;
}

/* ---- the profile: numbers become what they stand for ---- */

const textOf = number => number < 0 ? null : profile.texts[number];
const baseName = path => path === null || path === undefined ? '' : path.replace(/.*\//, '');

/* [component, cycles] of the flat list [event, units, event, units ...] */
function partsOf(flat) {
    const sums = new Map();
    for (let i = 0; i < flat.length; i += 2) {
        const component = profile.events[flat[i]][1];
        sums.set(component, (sums.get(component) || 0) + flat[i + 1] / profile.units_per_cycle);
    }
    return [...sums].sort((a, b) => b[1] - a[1]);
}
const cyclesOf = flat => {
    let units = 0;
    for (let i = 1; i < flat.length; i += 2)
        units += flat[i];
    return units / profile.units_per_cycle;
};

const functionName = (name, image, offset) => name || (offset ? `${image}+${hex(offset)}` : `[${image}]`);
const functions = !profile ? [] : profile.functions.map((row, index) => ({
    index, name: functionName(textOf(row[0]), textOf(row[1]), row[2]), image: textOf(row[1]),
    file: textOf(row[4]), line: row[5], instructions: row[6],
    cycles: row[7] / profile.units_per_cycle, flat: row[8]
}));
const totalCycles = report ? report.cycles || 0 : 0;

/* ---- views ---- */

/* {id, title, draw(place, rest of the address)}, in the order of the tabs. A file adds its own. */
const views = [];
const go = (...parts) => { location.hash = parts.map(encodeURIComponent).join('/'); };

const section = (title, ...children) => el('section', null, el('h2', null, title), ...children);
const note = (...children) => el('p', {class: 'note'}, ...children);
