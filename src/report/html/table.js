/* Tables that sort and filter, and stay quick with a hundred thousand rows: of those only what can
 * be seen has elements.
 *
 *     table(rows, [{title, value(row), show(row), number, bar, wide}], {pick(row), label, all, few})
 *
 * `value` is sorted and filtered by; `show`, text or an element, is what is seen (default: the
 * value). `all`: every row has an element; `few`: there is no filter either. */

const ROW_HEIGHT = 24, SHOWN_AT_ONCE = 120, BEYOND = 24;

function table(rows, columns, options = {}) {
    let shown = rows, order = null, texts = null;
    const body = el('tbody');
    const count = el('span', {class: 'count', 'aria-live': 'polite'});
    const head = el('tr', null, columns.map((column, index) => el('th', {
        scope: 'col', class: column.number ? 'number' : null, 'aria-sort': 'none',
        title: column.about || null
    }, el('button', {type: 'button', onclick: () => sortBy(index)}, column.title))));
    const grid = el('table', {class: 'rows', 'aria-label': options.label, 'aria-rowcount': rows.length}, el('thead', null, head), body);
    const frame = el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': options.label});
    frame.append(grid);

    const cell = (row, column) => {
        const content = column.show ? column.show(row) : column.value(row);
        return el('td', {class: column.number ? 'number' : column.bar ? 'bars' : column.wide ? 'wide' : null,
            title: column.number || content instanceof Node ? null : content}, content);
    };
    const line = row => el('tr', options.pick ? {class: 'pick', tabindex: '0',
        onclick: () => options.pick(row),
        onkeydown: event => { if (event.key === 'Enter') options.pick(row); }} : null,
    columns.map(column => cell(row, column)));
    const gap = height => {
        const row = el('tr', {class: 'gap', 'aria-hidden': 'true'}, el('td', {colspan: columns.length}));
        row.style.height = height + 'px';
        return row;
    };

    let first = -1;
    function render(force) {
        if (shown.length <= SHOWN_AT_ONCE || options.all) {
            if (force)
                body.replaceChildren(...shown.map(line));
            return;
        }
        const from = Math.max(0, Math.floor(frame.scrollTop / ROW_HEIGHT) - BEYOND) & ~7;
        if (from === first && !force)
            return;
        first = from;
        const end = Math.min(shown.length, from + 2 * BEYOND + Math.ceil((frame.clientHeight || innerHeight * 0.7) / ROW_HEIGHT));
        body.replaceChildren(gap(from * ROW_HEIGHT), ...shown.slice(from, end).map(line),
            gap((shown.length - end) * ROW_HEIGHT));
    }
    function tell() {
        count.textContent = shown.length === rows.length ? `${whole(rows.length)} rows`
            : `${whole(shown.length)} of ${whole(rows.length)} rows`;
        frame.scrollTop = 0;
        render(true);
    }
    function sortBy(index) {
        const column = columns[index];
        const down = order && order.index === index ? !order.down : !!column.number;
        order = {index, down};
        head.querySelectorAll('th').forEach((th, i) => th.setAttribute('aria-sort',
            i === index ? (down ? 'descending' : 'ascending') : 'none'));
        /* Each row's value is found once. */
        const keys = column.number ? Float64Array.from(shown, row => column.value(row) ?? -Infinity) : shown.map(row => String(column.value(row) ?? '').toLowerCase());
        const by = column.number ? (a, b) => keys[a] === keys[b] ? 0 : keys[a] - keys[b] : (a, b) => keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : 0;
        const places = Uint32Array.from(shown, (row, i) => i).sort((a, b) => (down ? by(b, a) : by(a, b)) || a - b);
        shown = Array.from(places, i => shown[i]);
        tell();
    }
    function filter(text) {
        const words = text.toLowerCase().split(/\s+/).filter(word => word);
        if (words.length && !texts) {
            const wanted = columns.filter(column => !column.number && !column.bar);
            texts = rows.map(row => wanted.map(column => column.value(row) ?? '').join('\n').toLowerCase());
        }
        shown = !words.length ? rows : rows.filter((row, i) => words.every(word => texts[i].includes(word)));
        if (order) {
            order.down = !order.down;
            sortBy(order.index);
        } else
            tell();
    }
    frame.addEventListener('scroll', () => render(false), {passive: true});
    window.addEventListener('beforeprint', () => {
        if (frame.isConnected && shown.length > SHOWN_AT_ONCE)
            body.replaceChildren(...shown.slice(0, SHOWN_AT_ONCE).map(line));
    });
    window.addEventListener('afterprint', () => { if (frame.isConnected) render(true); });
    const box = rows.length > 8 && !options.few && el('input', {type: 'search', placeholder: 'filter', 'aria-label': 'filter ' + (options.label || 'rows'),
        oninput: event => filter(event.target.value)});
    tell();
    return el('div', {class: 'table'}, options.few ? null : el('div', {class: 'tools'}, box, count), frame);
}

/* Columns that most tables have. */
const columnText = (title, value, more) => ({title, value, ...more});
const columnNumber = (title, value, show, more) => ({title, value, number: true, show: row => show(value(row)), ...more});
const columnShare = (value, of) => columnNumber('share', value, cycles => percent(cycles / of));
const columnStack = (parts, of) => ({title: 'cycle stack', bar: true, value: row => of(row), show: row => {
    const all = parts(row);
    return el('span', {class: 'stacked'}, stackBar(all, of(row)), el('span', {class: 'dim'}, all.length && of(row) > 0 ? componentNames.get(all[0][0]) : ''));
}});
