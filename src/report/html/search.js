/* Search over all views: functions, lines, data and views whose name has what is typed, the costliest
 * first. */

const FOUND = 12;

/* {kind, name, cycles, where}; `where`: parts of the address of a view. */
function searched() {
    const found = functions.map(row => ({kind: 'function', name: row.name, about: baseName(row.image), cycles: row.cycles, where: codeOf.has(row.index) ? ['code', row.index] : ['functions']}));
    if (profile)
        found.push(...lines().map(row => ({kind: 'line', name: `${baseName(row.file)}:${row.line}`, about: functions[row.function].name, cycles: row.cycles, where: ['code', row.function, 'line', row.line]})));
    for (const row of (report.python && report.python.changes || []).concat(report.changes || []))
        found.push({kind: 'change', name: row.function || row.image, about: `${signed(row.percent)} %`, cycles: 0, where: ['changes']});
    for (const row of report.data && report.data.objects || [])
        found.push({kind: 'data', name: row.name || row.kind, about: row.kind, cycles: row.cycles, where: ['data']});
    for (const view of views.filter(one => !one.hidden))
        found.push({kind: 'view', name: view.title, about: '', cycles: 0, where: [view.id]});
    return found.sort((a, b) => b.cycles - a.cycles);
}

function searchBox() {
    let all = null, shown = [], at = -1;
    const list = el('ul', {id: 'found', role: 'listbox', 'aria-label': 'what was found', hidden: true});
    const box = el('input', {type: 'search', id: 'search', role: 'combobox', placeholder: 'find a function, line, view', 'aria-label': 'search over all views', 'aria-expanded': 'false',
        'aria-controls': 'found', 'aria-autocomplete': 'list', autocomplete: 'off', oninput: find, onkeydown: key, onblur: close, title: 'key: f'});
    function close() {
        list.hidden = true;
        box.setAttribute('aria-expanded', 'false');
        box.removeAttribute('aria-activedescendant');
    }
    function open(row) {
        close();
        box.blur();
        go(...row.where);
    }
    function mark(next) {
        at = next;
        [...list.children].forEach((item, i) => item.setAttribute('aria-selected', String(i === at)));
        if (at >= 0)
            box.setAttribute('aria-activedescendant', 'found-' + at);
    }
    function find() {
        const text = box.value.trim().toLowerCase();
        all = all || searched();
        shown = [];
        for (let i = 0; text && i < all.length && shown.length < FOUND; i++)
            if (all[i].name.toLowerCase().includes(text))
                shown.push(all[i]);
        list.replaceChildren(...shown.map((row, i) => el('li', {role: 'option', id: 'found-' + i, onmousedown: event => { event.preventDefault(); open(row); }},
            el('span', {class: 'dim'}, row.kind), el('span', {class: 'name'}, row.name), el('span', {class: 'dim'}, row.about), el('span', {class: 'number'}, row.cycles && totalCycles ? percent(row.cycles / totalCycles) : ''))));
        if (text && !shown.length)
            list.append(el('li', {class: 'dim'}, 'nothing has this name'));
        list.hidden = !text;
        box.setAttribute('aria-expanded', String(!list.hidden));
        mark(shown.length ? 0 : -1);
    }
    function key(event) {
        const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
        if (step && shown.length)
            mark((at + step + shown.length) % shown.length);
        else if (event.key === 'Enter' && shown[at])
            open(shown[at]);
        else if (event.key === 'Escape') {
            close();
            box.blur();
        } else
            return;
        event.preventDefault();
    }
    return el('div', {class: 'search', role: 'search'}, box, list);
}
