/* Who called whom: a flame graph, or an icicle, on a canvas, with a tree of the same frames that can
 * be read without it. A frame is as wide as its cycles with what it called. Of two runs it is a
 * differential flame graph (Gregg 2014): as wide as in one of them, coloured by what changed. */

/* A tree as columns, of two runs, of a simulation, or the frames of a live profile. */
function callTree() {
    const both = data('calls');
    if (both)
        return {count: both.parent.length, parent: Int32Array.from(both.parent), procedure: Int32Array.from(both.procedure),
            sides: {before: Float64Array.from(both.before), after: Float64Array.from(both.after)},
            entered: {before: both.calls_before, after: both.calls_after},
            names: both.procedures.map(row => row[0]), images: both.procedures.map(row => row[1]), unit: both.unit};
    if (profile && profile.tree) {
        const columns = profile.tree, count = columns.parent.length;
        const tree = {count, parent: Int32Array.from(columns.parent), procedure: Int32Array.from(columns.procedure),
            self: Float64Array.from(columns.self), calls: columns.calls, instructions: columns.instructions,
            names: profile.procedures.map(row => textOf(row[0])), images: profile.procedures.map(row => textOf(row[1])), unit: 'cycles'};
        tree.cells = {frame: columns.cell_frame, event: columns.cell_event, cycles: columns.cell_cycles};
        return tree;
    }
    const frames = report && Array.isArray(report.tree) ? report.tree : null;
    if (!frames)
        return null;
    const names = [], images = [], numbers = new Map();
    const procedure = Int32Array.from(frames, frame => {
        const key = frame.procedure + '\n' + frame.image;
        if (!numbers.has(key)) {
            numbers.set(key, names.length);
            names.push(frame.procedure);
            images.push(frame.image);
        }
        return numbers.get(key);
    });
    return {count: frames.length, parent: Int32Array.from(frames, frame => frame.parent ?? -1), procedure,
        self: Float64Array.from(frames, frame => frame.self), calls: frames.map(frame => frame.calls),
        instructions: frames.map(frame => frame.self_instructions), names, images,
        unit: report.event ? report.event.unit || report.event.name || 'value' : 'cycles'};
}

/* What takes long on a large tree is done in slices, behind the first drawing, so that the page answers in between: a
 * function that yields now and then, and what is done with what it returns. */
const MANY_FRAMES = 50000, SLICE = 8192, SLICE_MS = 30;
function inSlices(tree, steps, done) {
    const slice = most => {
        const begun = performance.now();
        let step;
        do
            step = steps.next();
        while (!step.done && performance.now() - begun < most);
        if (step.done)
            done(step.value);
        else
            setTimeout(slice, 0, SLICE_MS);
    };
    if (tree.count < MANY_FRAMES)
        slice(Infinity);
    else
        setTimeout(slice, SLICE_MS, SLICE_MS);
}

/* The component that has most of each frame's cycles with what it called. */
function* findComponents(tree) {
    const keys = COMPONENTS.map(([key]) => key), sums = new Float32Array(tree.count * keys.length);
    const number = profile.events.map(([, component]) => keys.indexOf(component)), {frame, event, cycles} = tree.cells;
    for (let i = 0; i < frame.length; i++) {
        sums[frame[i] * keys.length + number[event[i]]] += cycles[i];
        if (i % SLICE === 0)
            yield;
    }
    const component = new Uint8Array(tree.count);
    for (let i = tree.count - 1; i >= 0; i--) {
        if (i % SLICE === 0)
            yield;
        let most = 0;
        for (let k = 0; k < keys.length; k++) {
            if (i)
                sums[tree.parent[i] * keys.length + k] += sums[i * keys.length + k];
            if (sums[i * keys.length + k] > sums[i * keys.length + most])
                most = k;
        }
        component[i] = most;
    }
    tree.componentKeys = keys;
    tree.component = component;
}

/* Totals, and the children of each frame side by side. Parents come before children. */
function layOut(tree) {
    const n = tree.count, total = Float64Array.from(tree.self), first = new Uint32Array(n + 2), children = new Uint32Array(n);
    for (let i = n - 1; i > 0; i--) {
        total[tree.parent[i]] += total[i];
        first[tree.parent[i] + 2]++;
    }
    for (let i = 2; i < n + 2; i++)
        first[i] += first[i - 1];
    for (let i = 1; i < n; i++)
        children[first[tree.parent[i] + 1]++] = i;
    return Object.assign(tree, {total, first, children, placed: new Uint8Array(n), left: new Float64Array(n), depth: new Uint16Array(n)});
}

/* With what they called, of both runs. */
function findChanges(tree) {
    tree.totals = {};
    for (const [side, self] of Object.entries(tree.sides)) {
        const total = tree.totals[side] = Float64Array.from(self);
        for (let i = tree.count - 1; i > 0; i--)
            total[tree.parent[i]] += total[i];
    }
    tree.most = {};
    for (const [way, of] of [['change', tree.totals], ['change alone', tree.sides]]) {
        let most = 0;
        for (let i = 1; i < tree.count; i++)
            most = Math.max(most, Math.abs(of.after[i] - of.before[i]));
        tree.most[way] = most || 1;
    }
}
/* As wide as in one of them. */
function useSide(tree, side) {
    tree.self = tree.sides[side];
    tree.calls = tree.entered[side];
    layOut(tree);
}

/* The children of a frame, the largest first; they have their places then. Most frames of a large
 * tree are never asked for theirs. */
function childrenOf(tree, frame) {
    const children = tree.children.subarray(tree.first[frame], tree.first[frame + 1]);
    if (tree.placed[frame])
        return children;
    tree.placed[frame] = 1;
    children.sort((a, b) => tree.total[b] - tree.total[a]);
    let at = tree.left[frame];
    for (const child of children) {
        tree.left[child] = at;
        tree.depth[child] = tree.depth[frame] + 1;
        at += tree.total[child];
    }
    return children;
}

const FRAME_HEIGHT = 18;
/* What changed in a frame, in percent of all before. */
const changeOf = (tree, of, frame) => signed(100 * (of.after[frame] - of.before[frame]) / (tree.totals.before[0] || 1)) + ' %';
const nameOf = (tree, frame) => frame === 0 ? 'all' : tree.names[tree.procedure[frame]] || '[no name]';

/* A hue of the name, so that a function looks the same everywhere. */
function hueOf(text) {
    let hash = 0;
    for (let i = 0; i < text.length; i++)
        hash = (hash * 31 + text.charCodeAt(i)) | 0;
    return Math.abs(hash) % 360;
}

function flameGraph(tree) {
    const canvas = el('canvas', {tabindex: '0', role: 'img', 'aria-label': 'flame graph; the tree below has the same frames. Arrow keys move, Enter zooms, Escape goes back'});
    const tip = el('div', {class: 'tip', hidden: true}), said = el('div', {class: 'crumbs', 'aria-live': 'polite'});
    const ways = tree.sides ? ['change', 'change alone', 'function', 'image'] : tree.cells ? ['event', 'function', 'image'] : ['function', 'image'];
    const state = {focus: 0, selected: 0, icicle: false, colour: ways[0], found: null, rows: 0};
    const context = canvas.getContext('2d');
    let style = null;
    const variable = name => style.getPropertyValue('--' + name.replace('_', '-')).trim();

    function colour(frame) {
        if (state.found && !state.found[frame])
            return variable('panel');
        if (frame === 0)
            return variable('line');
        if (tree.most && tree.most[state.colour]) {
            const of = state.colour === 'change' ? tree.totals : tree.sides, change = of.after[frame] - of.before[frame];
            return d3.interpolateRgb(variable('line'), variable(change > 0 ? 'worse' : 'better'))(Math.sqrt(Math.abs(change) / tree.most[state.colour]));
        }
        if (state.colour === 'event')
            return variable(tree.component ? tree.componentKeys[tree.component[frame]] : 'panel');
        const dark = style.colorScheme === 'dark' ? 38 : 72;
        if (state.colour === 'image')
            return `hsl(${hueOf(tree.images[tree.procedure[frame]] || '')} 45% ${dark}%)`;
        return `hsl(${hueOf(nameOf(tree, frame))} 55% ${dark}%)`;
    }
    const topOf = (row, height) => state.icicle ? row * FRAME_HEIGHT : height - (row + 1) * FRAME_HEIGHT;
    /* Visits the frames that are at least half a pixel wide. */
    function visit(width, draw) {
        const scale = width / tree.total[state.focus], from = tree.left[state.focus], base = tree.depth[state.focus];
        const stack = [state.focus];
        while (stack.length) {
            const frame = stack.pop();
            draw(frame, (tree.left[frame] - from) * scale, tree.total[frame] * scale, tree.depth[frame] - base);
            for (const child of childrenOf(tree, frame)) {
                if (tree.total[child] * scale < 0.5)
                    break;
                stack.push(child);
            }
        }
    }
    function draw() {
        if (!canvas.isConnected)
            return;
        style = getComputedStyle(document.documentElement);
        const width = canvas.clientWidth, ratio = devicePixelRatio || 1;
        let rows = 0;
        visit(width, (frame, x, w, row) => { rows = Math.max(rows, row); });
        const height = (rows + 1) * FRAME_HEIGHT;
        canvas.width = width * ratio;
        canvas.height = height * ratio;
        canvas.style.height = height + 'px';
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.font = '12px system-ui, sans-serif';
        context.textBaseline = 'middle';
        const text = variable('text'), link = variable('link');
        visit(width, (frame, x, w, row) => {
            const y = topOf(row, height);
            context.fillStyle = colour(frame);
            context.fillRect(x, y, Math.max(w - 0.5, 0.5), FRAME_HEIGHT - 1);
            if (frame === state.selected) {
                context.strokeStyle = link;
                context.lineWidth = 2;
                context.strokeRect(x + 1, y + 1, Math.max(w - 2, 1), FRAME_HEIGHT - 3);
            }
            if (w < 26)
                return;
            const room = Math.floor((w - 8) / 6.4), name = nameOf(tree, frame);
            context.fillStyle = state.found && !state.found[frame] ? variable('dim') : state.colour === 'event' && frame ? '#10141b' : text;
            context.fillText(name.length <= room ? name : name.slice(0, Math.max(room - 1, 1)) + '…', x + 4, y + FRAME_HEIGHT / 2, w - 6);
        });
    }
    function frameAt(event) {
        const box = canvas.getBoundingClientRect(), height = box.height;
        const x = event.clientX - box.left, y = event.clientY - box.top;
        const row = Math.floor((state.icicle ? y : height - y) / FRAME_HEIGHT);
        let found = -1;
        visit(canvas.clientWidth, (frame, left, w, r) => {
            if (r === row && x >= left && x < left + w)
                found = frame;
        });
        return found;
    }
    const about = frame => tree.sides ? `${nameOf(tree, frame)}: ${changeOf(tree, tree.totals, frame)} with what it called, ${changeOf(tree, tree.sides, frame)} alone`
        : `${nameOf(tree, frame)}: ${percent(tree.total[frame] / tree.total[0])} with what it called, ${percent(tree.self[frame] / tree.total[0])} alone` +
        (tree.calls && tree.calls[frame] ? `, entered ${whole(tree.calls[frame])} times` : '');
    function crumbs() {
        const path = [];
        for (let frame = state.focus; frame >= 0; frame = tree.parent[frame])
            path.unshift(frame);
        said.replaceChildren();
        path.forEach((frame, i) => said.append(i ? ' › ' : '', i === path.length - 1 ? nameOf(tree, frame)
            : el('button', {type: 'button', onclick: () => zoom(frame)}, nameOf(tree, frame))));
        if (state.selected !== state.focus)
            said.append(' — ' + about(state.selected));
        else
            said.append(' — ' + about(state.focus).replace(/^[^]*?: /, ''));
    }
    function zoom(frame) {
        state.focus = state.selected = frame;
        draw();
        crumbs();
    }
    function select(frame) {
        if (frame < 0)
            return;
        state.selected = frame;
        draw();
        crumbs();
    }
    function search(text) {
        state.found = null;
        let sum = 0;
        if (text) {
            const wanted = text.toLowerCase(), matches = tree.names.map(name => (name || '').toLowerCase().includes(wanted));
            state.found = new Uint8Array(tree.count);
            const within = new Uint8Array(tree.count);
            for (let i = 1; i < tree.count; i++) {
                state.found[i] = matches[tree.procedure[i]] ? 1 : 0;
                within[i] = within[tree.parent[i]] || state.found[i];
                if (state.found[i] && !within[tree.parent[i]])
                    sum += tree.total[i];
            }
        }
        matched.textContent = text ? `${percent(sum / tree.total[0])} in frames that match, with what they called` : '';
        draw();
    }
    canvas.addEventListener('mousemove', event => {
        const frame = frameAt(event);
        tip.hidden = frame < 0;
        if (frame < 0)
            return;
        tip.replaceChildren(el('strong', null, nameOf(tree, frame)), el('div', {class: 'dim'}, frame ? tree.images[tree.procedure[frame]] : ''),
            tree.sides ? el('table', null, [['with what it called', tree.totals], ['alone', tree.sides]].map(([title, of]) => el('tr', null, el('td', null, title),
                el('td', {class: 'number'}, quantity(of.before[frame])), el('td', null, '→'), el('td', {class: 'number'}, quantity(of.after[frame])), el('td', {class: 'number'}, changeOf(tree, of, frame))))) : '',
            el('div', null, `${quantity(tree.total[frame])} ${tree.unit} with what it called, ${percent(tree.total[frame] / tree.total[0])}`),
            el('div', null, `${quantity(tree.self[frame])} alone, ${percent(tree.self[frame] / tree.total[0])}`),
            tree.calls && tree.calls[frame] ? el('div', null, `entered ${whole(tree.calls[frame])} times`) : '',
            tree.component ? el('div', null, 'mostly: ' + componentNames.get(tree.componentKeys[tree.component[frame]])) : '');
        tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 10) + 'px';
        tip.style.top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 10) + 'px';
    });
    canvas.addEventListener('mouseleave', () => { tip.hidden = true; });
    canvas.addEventListener('click', event => {
        const frame = frameAt(event);
        if (frame >= 0)
            zoom(frame);
    });
    canvas.addEventListener('keydown', event => {
        const up = state.icicle ? 'ArrowDown' : 'ArrowUp', down = state.icicle ? 'ArrowUp' : 'ArrowDown';
        const now = state.selected;
        const beside = step => {
            const row = now === state.focus ? [] : [...childrenOf(tree, tree.parent[now])];
            select(row[row.indexOf(now) + step] ?? -1);
        };
        const moves = {[up]: () => select(childrenOf(tree, now)[0] ?? -1), [down]: () => select(now === state.focus ? -1 : tree.parent[now]),
            ArrowRight: () => beside(1), ArrowLeft: () => beside(-1),
            Enter: () => zoom(now), Escape: () => zoom(Math.max(tree.parent[state.focus], 0))};
        if (moves[event.key]) {
            moves[event.key]();
            event.preventDefault();
        }
    });
    const matched = el('span', {class: 'count', 'aria-live': 'polite'});
    const choose = (label, values, start, change) => el('label', null, label + ' ', el('select', {onchange: event => change(event.target.value)},
        values.map(value => el('option', {value, selected: value === start}, value))));
    const tools = el('div', {class: 'tools'},
        el('input', {type: 'search', placeholder: 'search frames', 'aria-label': 'search frames', oninput: event => search(event.target.value.trim())}), matched,
        choose('as', ['flame graph', 'icicle'], 'flame graph', value => { state.icicle = value === 'icicle'; draw(); }),
        choose('colour by', ways, state.colour, value => { state.colour = value; draw(); }),
        tree.sides ? choose('as wide as', ['after', 'before'], 'after', value => { useSide(tree, value); zoom(0); }) : null,
        el('button', {type: 'button', onclick: () => zoom(0)}, 'all'));
    addEventListener('resize', draw);
    requestAnimationFrame(() => { draw(); crumbs(); });
    return el('div', {class: 'flame'}, tools, said, canvas, tip);
}

/* The same frames as a list that opens where it is asked to. */
function treeList(tree) {
    const SHOWN = 200;
    function item(frame) {
        const text = tree.sides ? el('span', null, `${changeOf(tree, tree.totals, frame)} `, el('span', {class: 'dim'}, `(${changeOf(tree, tree.sides, frame)} alone) `), nameOf(tree, frame)) : el('span', null, `${percent(tree.total[frame] / tree.total[0])} `, el('span', {class: 'dim'}, `(${percent(tree.self[frame] / tree.total[0])} alone) `), nameOf(tree, frame));
        if (tree.first[frame] === tree.first[frame + 1])
            return el('li', null, text);
        const list = el('ul');
        const details = el('details', {ontoggle: () => {
            if (list.firstChild)
                return;
            for (const child of childrenOf(tree, frame).subarray(0, SHOWN))
                if (tree.total[child] > 0 || (tree.sides && tree.totals.before[child] > 0))
                    list.append(item(child));
        }}, el('summary', null, text), list);
        details.open = frame === 0;
        return el('li', null, details);
    }
    return el('ul', {class: 'tree'}, item(0));
}

/* Sums by function: of its frames alone, and with what they called, where a function that calls itself
 * again further in counts once. */
function* byFunction(tree) {
    const count = tree.names.length, column = () => new Float64Array(count), self = column(), total = column(), calls = column(), frames = column();
    const {procedure, children, first} = tree, entered = tree.calls ? Float64Array.from(tree.calls, number => number || 0) : null;
    const open = new Uint32Array(count), stack = new Int32Array(2 * tree.count), outermost = childrenOf(tree, 0);
    let depth = outermost.length;
    stack.set(outermost);
    for (let i = 1; depth; i++) {
        const frame = stack[--depth];
        if (i % SLICE === 0)
            yield;
        if (frame < 0) {
            open[procedure[-frame]]--;
            continue;
        }
        const sum = procedure[frame];
        frames[sum]++;
        self[sum] += tree.self[frame];
        if (entered)
            calls[sum] += entered[frame];
        if (!open[sum])
            total[sum] += tree.total[frame];
        if (first[frame] === first[frame + 1])
            continue;
        open[sum]++;
        stack[depth++] = -frame;
        for (let child = first[frame]; child < first[frame + 1]; child++)
            stack[depth++] = children[child];
    }
    return Array.from(self, (cycles, number) => ({procedure: number, self: cycles, total: total[number], calls: calls[number], frames: frames[number]})).filter(sum => sum.frames);
}

/* What a function that works in slices gives in the end. */
function atOnce(steps) {
    for (;;) {
        const step = steps.next();
        if (step.done)
            return step.value;
    }
}

/* Of two runs: functions by what changed in them. Saved profiles do not have how often they were entered. */
function changedFunctions(tree) {
    const entered = ['before', 'after'].some(side => tree.entered[side].some(count => count > 0));
    const sums = {};
    for (const side of ['before', 'after']) { /* the tree stays as wide as after */
        useSide(tree, side);
        sums[side] = new Map(atOnce(byFunction(tree)).map(sum => [sum.procedure, sum]));
    }
    const value = (row, side, key) => (sums[side].get(row) || {[key]: 0})[key], all = tree.totals.before[0] || 1;
    const rows = tree.names.map((name, procedure) => procedure);
    rows.sort((a, b) => Math.abs(value(b, 'after', 'self') - value(b, 'before', 'self')) - Math.abs(value(a, 'after', 'self') - value(a, 'before', 'self')));
    const change = key => row => 100 * (value(row, 'after', key) - value(row, 'before', key)) / all;
    return section('Functions with what they called', table(rows, [
        columnText('function', row => tree.names[row]), columnText('image', row => tree.images[row]),
        columnNumber('change alone, %', change('self'), signed), columnNumber('with callees, %', change('total'), signed),
        columnNumber('alone: before', row => value(row, 'before', 'self'), quantity), columnNumber('after', row => value(row, 'after', 'self'), quantity),
        columnNumber('with callees: before', row => value(row, 'before', 'total'), quantity), columnNumber('after', row => value(row, 'after', 'total'), quantity),
        ...entered ? [columnNumber('entered: before', row => value(row, 'before', 'calls'), quantity), columnNumber('after', row => value(row, 'after', 'calls'), quantity)] : []],
    {label: 'functions with what they called'}));
}

/* Callers and callees of one function. */
function neighbours(tree, sums) {
    const rows = sums.sort((a, b) => b.total - a.total);
    const place = el('div');
    function related(p) {
        const callers = new Map(), callees = new Map();
        for (let i = 1; i < tree.count; i++) {
            if (tree.procedure[i] === p)
                callers.set(tree.parent[i] ? tree.procedure[tree.parent[i]] : -1, (callers.get(tree.parent[i] ? tree.procedure[tree.parent[i]] : -1) || 0) + tree.total[i]);
            if (tree.parent[i] && tree.procedure[tree.parent[i]] === p)
                callees.set(tree.procedure[i], (callees.get(tree.procedure[i]) || 0) + tree.total[i]);
        }
        const list = (title, sums) => el('div', null, el('h3', null, title), table([...sums].sort((a, b) => b[1] - a[1]), [
            columnText('function', row => row[0] < 0 ? '[outermost]' : tree.names[row[0]]),
            columnNumber(tree.unit, row => row[1], quantity), columnShare(row => row[1], tree.total[0])],
        {label: title, pick: row => { if (row[0] >= 0) related(row[0]); }}));
        place.replaceChildren(el('h3', null, `${tree.names[p]}`), el('div', {class: 'sides'}, list('called by', callers), list('calls', callees)));
        place.scrollIntoView({block: 'nearest'});
    }
    return [section('Functions with what they called', table(rows, [
        columnText('function', row => tree.names[row.procedure]), columnText('image', row => baseName(tree.images[row.procedure])),
        columnNumber('with what it called', row => row.total, quantity), columnShare(row => row.total, tree.total[0]),
        columnNumber('alone', row => row.self, quantity), columnNumber('entered', row => row.calls, quantity)],
    {label: 'functions with what they called', pick: row => related(row.procedure)}), place)];
}

const calls = callTree();
if (calls && calls.count > 1)
    views.push({id: 'calls', title: 'Calls', draw(place) {
        if (calls.sides) {
            if (!calls.totals)
                findChanges(calls);
            place.append(section('Who called whom, and what changed', note((calls.unit.startsWith('%') ? 'Red frames take a larger share of their run afterwards, green ones a smaller, grey ones the same' :
                'Red frames take more afterwards, green ones less, grey ones the same') + ` (in ${calls.unit}); a frame of one run is that of the other where the names of its callers are the same.`), flameGraph(calls)),
                changedFunctions(calls), section('The same as a tree', treeList(calls)));
            return;
        }
        if (!calls.total)
            layOut(calls);
        const below = el('div');
        if (calls.cells && !calls.component)
            inSlices(calls, findComponents(calls), () => dispatchEvent(new Event('resize')));
        place.append(section('Who called whom', flameGraph(calls)), below, section('The same as a tree', treeList(calls)));
        inSlices(calls, byFunction(calls), sums => below.append(...neighbours(calls, sums)));
    }});
