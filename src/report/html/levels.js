/* Top-down levels: slots of dispatch as a tree, of the run or of one function. */
const topDown = report && report.top_down || profile && profile.top_down;
const LEVEL_COLOURS = {'Retiring': '--better', 'Bad Speculation': '--mispredict', 'Frontend Bound': '--front-end', 'Backend Bound': '--llc-miss'};

function levelsTable(levels, slots) {
    let colour = '--execute';
    return el('table', {class: 'levels'}, el('thead', null, el('tr', null, el('th', {scope: 'col'}, 'level'), el('th', {scope: 'col', class: 'number'}, 'share of slots'), el('th', {scope: 'col'}))),
        el('tbody', null, levels.filter(level => level.slots > 0).map(level => {
            if (level.depth === 1)
                colour = LEVEL_COLOURS[level.name] || '--execute';
            const bar = el('span', {class: 'bar'}), piece = el('span');
            piece.style.width = 100 * level.slots / slots + '%';
            piece.style.background = `var(${colour})`;
            bar.append(piece);
            const name = el('td', null, level.name);
            name.style.paddingLeft = (level.depth - 1) * 22 + 'px';
            if (level.depth === 1)
                name.style.fontWeight = '600';
            const place = el('td', null, bar);
            place.style.width = '50%';
            return el('tr', null, name, el('td', {class: 'number'}, percent(level.slots / slots)), place);
        })));
}

if (topDown)
    views.push({id: 'levels', title: 'Top-down', draw(place, rest) {
        const rows = topDown.rows || [], chosen = rows[+rest[0]] || null;
        const name = row => `${percent(row.slots / topDown.slots)}  ${functionName(row.function, row.image, row.offset)}${row.line ? ` ${baseName(row.file)}:${row.line}` : ''}`;
        place.append(section('Top-down levels', note(`Slots of dispatch, ${topDown.dispatch_width} in each cycle; the parts of a level sum to it exactly (Yasin, ISPASS 2014).`),
            el('div', {class: 'tools'}, el('select', {'aria-label': 'of what', onchange: event => go('levels', event.target.value)},
                el('option', {value: ''}, 'the whole run'), rows.map((row, i) => el('option', {value: i, selected: row === chosen}, name(row))))),
            levelsTable(chosen ? chosen.levels : topDown.levels, chosen ? chosen.slots : topDown.slots)));
    }});
