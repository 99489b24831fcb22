/* What goes with each cause, and which causes overlap: a matrix of interaction costs, and a sentence
 * for each pair. Of explain's what_if. */

const CAUSES = {imiss: 'instruction misses', dmiss: 'data misses', dl1: 'L1 data latency', shalu: 'one-cycle operations', lgalu: 'longer operations',
    bw: 'bandwidth', bmisp: 'branch mispredictions', win: 'window', stfwd: 'store forwarding', dlong: 'last-level misses',
    split: 'accesses in two lines'};
const causeName = key => Object.hasOwn(CAUSES, key) ? CAUSES[key] : key;
const signed = value => Math.abs(value) < 0.05 ? '0.0' : (value >= 0 ? '+' : '−') + fixed(Math.abs(value), 1);

function pairSentence(a, b, pair, costs) {
    const one = costs.get(a), other = costs.get(b), icost = pair.icost.percent;
    const sum = `Without ${causeName(a)} alone ${fixed(one, 1)} % of the time goes, without ${causeName(b)} alone ${fixed(other, 1)} %, without both ${fixed(pair.cost.percent, 1)} %: `;
    if (Math.abs(icost) < 0.5)
        return sum + 'they are independent, each can be mended by itself.';
    return sum + (icost > 0 ? `${fixed(icost, 1)} % go only when both do: they overlap, and mending one leaves the other to cover that time.`
        : `that is ${fixed(-icost, 1)} % less than the two costs added: they are in series, and mending either takes that time.`);
}

function whatIfMatrix(whatIf) {
    const keys = whatIf.costs.map(cost => cost.category), costs = new Map(whatIf.costs.map(cost => [cost.category, cost.cost.percent]));
    const pairs = new Map(whatIf.pairs.map(pair => [pair.members.slice().sort().join(), pair]));
    const said = el('p', {class: 'note', 'aria-live': 'polite'}, 'Choose a pair for what it means.');
    const most = Math.max(1, ...[...pairs.values()].map(pair => Math.abs(pair.icost.percent)));
    const cell = (a, b) => {
        if (a === b)
            return el('td', null, el('strong', null, fixed(costs.get(a), 1)));
        const pair = pairs.get([a, b].sort().join());
        if (!pair)
            return el('td');
        const icost = pair.icost.percent, node = el('td', null, el('button', {type: 'button', onclick: () => { said.textContent = pairSentence(a, b, pair, costs); }}, signed(icost)));
        node.style.background = `color-mix(in srgb, var(${icost > 0 ? '--worse' : '--better'}) ${Math.round(60 * Math.abs(icost) / most)}%, transparent)`;
        return node;
    };
    return [el('table', {class: 'matrix'}, el('caption', null, 'Percent of the time: on the diagonal what goes without a cause, beside it the interaction cost of two'),
        el('thead', null, el('tr', null, el('th'), keys.map(key => el('th', {scope: 'col'}, causeName(key))))),
        el('tbody', null, keys.map((a, i) => el('tr', null, el('th', {scope: 'row'}, causeName(a)), keys.map((b, k) => k > i ? el('td') : cell(a, b)))))), said];
}

if (report && report.what_if && report.what_if.costs)
    views.push({id: 'what-if', title: 'What if', draw(place) {
        const whatIf = report.what_if, rows = whatIf.costs.slice().sort((a, b) => b.cost.percent - a.cost.percent);
        const half = value => value.half_interval_95 ? ` ± ${fixed(value.half_interval_95, 1)}` : '';
        place.append(section('What goes without each cause', note('At most, of the time of this run on this machine; simulated again without the cause.'), table(rows, [
            columnText('without', row => causeName(row.category)), columnNumber('percent of the time', row => row.cost.percent, value => fixed(value, 1)),
            columnText('', row => half(row.cost)), columnNumber('cycles', row => row.cost.cycles, quantity),
            columnText('mostly in', row => (row.places || []).map(at => `${at.function || functionName(null, at.image, at.offset)}${at.first_line ? ` ${baseName(at.file)}:${at.first_line}` : ''} (${percent(at.share)})`).join(', '))
        ], {label: 'causes', all: true})));
        if (whatIf.pairs && whatIf.pairs.length)
            place.append(section('Which causes overlap', ...whatIfMatrix(whatIf)));
    }});
