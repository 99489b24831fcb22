/* Functions, lines and instructions as tables. */

const stackOf = row => partsOf(row.flat);
function functionColumns() {
    return [
        columnText('function', row => row.name),
        columnText('image', row => row.image),
        columnText('source', row => row.file ? `${baseName(row.file)}:${row.line}` : ''),
        columnNumber('cycles', row => row.cycles, quantity),
        columnShare(row => row.cycles, totalCycles),
        columnNumber('instructions', row => row.instructions, quantity),
        columnNumber('CPI', row => row.instructions ? row.cycles / row.instructions : null, value => fixed(value, 2)),
        columnStack(stackOf, row => row.cycles)
    ];
}

/* The code of functions by number, and its instructions as objects. */
const codeOf = new Map(profile ? profile.code.map(code => [code.function, code]) : []);
const insn = row => ({
    address: row[0], length: row[1], text: textOf(row[2]), branch: row[3], target: row[4],
    file: textOf(row[5]), line: row[6], inlined: textOf(row[7]), executed: row[8], flat: row[9],
    cycles: cyclesOf(row[9])
});
const insnsOf = index => codeOf.has(index) ? codeOf.get(index).insns.map(insn) : [];

/* Lines of all functions whose code is here, the costliest first. */
let knownLines = null;
function lines() {
    if (knownLines)
        return knownLines;
    const sums = new Map();
    for (const [index] of codeOf)
        for (const one of insnsOf(index)) {
            if (!one.file || !one.line)
                continue;
            const key = one.file + '\n' + one.line + '\n' + index;
            let line = sums.get(key);
            if (!line)
                sums.set(key, line = {file: one.file, line: one.line, function: index, flat: [], cycles: 0, instructions: 0});
            line.flat.push(...one.flat);
            line.cycles += one.cycles;
            line.instructions += one.executed;
        }
    return knownLines = [...sums.values()].sort((a, b) => b.cycles - a.cycles);
}

let knownSources = null;
function sourceLine(file, line) {
    if (!knownSources) {
        knownSources = new Map();
        for (const stretch of profile.sources) {
            if (!knownSources.has(stretch.file))
                knownSources.set(stretch.file, new Map());
            stretch.lines.forEach((text, i) => knownSources.get(stretch.file).set(stretch.first + i, text));
        }
    }
    const known = knownSources.get(file);
    return known ? known.get(line) : undefined;
}

function lineColumns() {
    return [
        columnText('line', row => `${baseName(row.file)}:${row.line}`),
        columnText('source', row => (sourceLine(row.file, row.line) || '').trim(), {wide: true, show: row => el('code', null, (sourceLine(row.file, row.line) || '').trim())}),
        columnText('function', row => functions[row.function].name),
        columnNumber('cycles', row => row.cycles, quantity),
        columnShare(row => row.cycles, totalCycles),
        columnNumber('instructions', row => row.instructions, quantity),
        columnStack(stackOf, row => row.cycles)
    ];
}

/* The functions that call one, and the cycles that it has with what it calls from each; a call of
 * itself further in is counted with the first. */
function callersOf(index) {
    if (!calls || !profile.tree)
        return [];
    if (!calls.total)
        layOut(calls);
    const same = (one, procedure) => one.name === calls.names[procedure] && baseName(one.image) === baseName(calls.images[procedure]);
    const within = new Uint8Array(calls.count), sums = new Map(), own = calls.names.map((name, procedure) => same(functions[index], procedure));
    for (let i = 1; i < calls.count; i++) {
        const parent = calls.parent[i], first = own[calls.procedure[i]] && !within[parent];
        within[i] = within[parent] || first;
        if (first)
            sums.set(calls.procedure[parent], (sums.get(calls.procedure[parent]) || 0) + calls.total[i]);
    }
    return [...sums].sort((a, b) => b[1] - a[1]).map(([caller, cycles]) => ({
        name: caller < 0 ? 'nothing that is known' : calls.names[caller] || '[no name]', cycles,
        index: caller < 0 ? -1 : functions.findIndex(one => same(one, caller))}));
}

const coverage = () => {
    let cycles = 0;
    for (const [index] of codeOf)
        cycles += functions[index].cycles;
    return note(`Of the ${codeOf.size} functions whose instructions this page holds: ${percent(cycles / totalCycles)} of all cycles.`);
};

if (profile) {
    views.push({id: 'functions', title: 'Functions', draw(place) {
        place.append(section('Functions', note('Cycles of each function alone, exact; a row opens its code.'),
            table(functions, functionColumns(), {pick: row => go('code', row.index), label: 'functions'})));
    }});
    if (lines().length)
        views.push({id: 'lines', title: 'Lines', draw(place) {
            place.append(section('Source lines', coverage(), table(lines(), lineColumns(),
                {pick: row => go('code', row.function, 'line', row.line), label: 'source lines'})));
        }});
    views.push({id: 'instructions', title: 'Instructions', draw(place) {
        const all = [];
        for (const [index] of codeOf)
            for (const one of insnsOf(index))
                if (one.cycles > 0)
                    all.push({...one, function: index});
        all.sort((a, b) => b.cycles - a.cycles);
        place.append(section('Instructions', coverage(), table(all, [
            columnText('address', row => hex(row.address)),
            columnText('instruction', row => row.text, {show: row => el('code', null, row.text)}),
            columnText('function', row => functions[row.function].name),
            columnText('source', row => row.file ? `${baseName(row.file)}:${row.line}` : ''),
            columnNumber('cycles', row => row.cycles, quantity),
            columnShare(row => row.cycles, totalCycles),
            columnNumber('executed', row => row.executed, quantity),
            columnNumber('cycles each', row => row.executed ? row.cycles / row.executed : null, value => fixed(value, 2)),
            columnStack(stackOf, row => row.cycles)
        ], {pick: row => go('code', row.function, 'at', row.address), label: 'instructions'})));
    }});
}
