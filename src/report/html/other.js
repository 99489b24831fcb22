/* Whatever else a report has: lists of objects become tables that sort and filter, the rest a list of
 * names and values. Every verb that writes JSON has at least this view. */

const SHOWN = new Set(['functions', 'hot_instructions', 'stack', 'components', 'statistics', 'what_if', 'advice', 'notes', 'next', 'tree', 'top_down', 'data']);

const isPlain = value => value === null || typeof value !== 'object';
/* The members of an object that a cell can show, those of objects within it too. */
function flat(row, prefix = '', into = Object.create(null)) { /* without members that no name in the data made */
    for (const [key, value] of Object.entries(row))
        if (isPlain(value))
            into[prefix + words(key)] = value;
        else if (!Array.isArray(value))
            flat(value, prefix + words(key) + ' ', into);
        else if (value.every(isPlain))
            into[prefix + words(key)] = value.join(', ');
    return into;
}
const numberText = (key, value) => value === null || value === undefined ? '' : /share|fraction/.test(key) ? percent(value)
    : Number.isInteger(value) ? whole(value) : String(+value.toPrecision(5));

function listTable(label, rows) {
    const flats = rows.map(row => isPlain(row) ? {value: row} : flat(row)), keys = [];
    for (const row of flats)
        for (const key of Object.keys(row))
            if (!keys.includes(key))
                keys.push(key);
    return table(flats, keys.map(key => flats.every(row => row[key] === null || row[key] === undefined || typeof row[key] === 'number')
        ? columnNumber(key, row => row[key], value => numberText(key, value))
        : columnText(key, row => row[key] === null || row[key] === undefined ? '' : String(row[key]))), {label});
}

function parts(object, place, prefix, left) {
    const plain = [], here = place.appendChild(el('div'));
    for (const [key, value] of Object.entries(object)) {
        if (left && left.has(key))
            continue;
        const title = prefix + words(key);
        if (isPlain(value))
            plain.push([words(key), value]);
        else if (Array.isArray(value)) {
            if (value.length)
                place.append(section(title, listTable(title, value)));
        } else
            parts(value, place, title + ' ', null);
    }
    if (plain.length)
        here.append(section(prefix.trim() || 'Figures', el('dl', {class: 'figures'}, plain.map(([key, value]) => el('div', null, el('dt', null, key),
            el('dd', null, value === null ? 'none' : typeof value === 'number' ? numberText(key, value) : String(value)))))));
}

if (report)
    views.push({id: 'report', title: report.stack ? 'All figures' : 'Report', draw(place) {
        parts(report, place, '', report.stack ? SHOWN : new Set(['notes', 'next', 'tree']));
        if (!report.stack) {
            place.append(notesList() || '');
            if (report.next)
                place.append(section('Next', el('pre', null, report.next)));
        }
    }});
