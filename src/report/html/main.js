/* The page: what it is about, a tab for each view, and the view that the address names. */

const THEMES = ['auto', 'light', 'dark'];
function themeButton() {
    let theme = 0;
    const button = el('button', {type: 'button', title: 'light or dark', onclick: () => {
        theme = (theme + 1) % THEMES.length;
        document.documentElement.dataset.theme = THEMES[theme];
        button.textContent = THEMES[theme];
        window.dispatchEvent(new Event('resize'));
    }}, THEMES[0]);
    return button;
}

function tab(view, current) {
    return el('a', {role: 'tab', id: 'tab-' + view.id, href: '#' + view.id, 'aria-selected': view === current ? 'true' : 'false',
        'aria-controls': 'view', tabindex: view === current ? '0' : '-1'}, view.title);
}

function show() {
    const [id, ...rest] = location.hash.slice(1).split('/').map(part => {
        try { return decodeURIComponent(part); } catch (error) { return ''; }
    });
    const view = views.find(one => one.id === id) || views[0];
    const tabs = document.getElementById('tabs');
    tabs.replaceChildren(...views.filter(one => !one.hidden).map(one => tab(one, view)));
    const place = el('main', {id: 'view', role: 'tabpanel', 'aria-labelledby': 'tab-' + view.id});
    document.getElementById('view').replaceWith(place);
    view.draw(place, rest);
    scrollTo(0, 0);
}

function moveTab(event) {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    const tabs = [...document.querySelectorAll('[role=tab]')];
    const at = tabs.indexOf(document.activeElement);
    if (!step || at < 0)
        return;
    const next = tabs[(at + step + tabs.length) % tabs.length];
    const id = next.id;
    location.hash = next.getAttribute('href');
    show();
    document.getElementById(id).focus();
    event.preventDefault();
}

/* "/" goes to the first filter or search of the view, "f" to the search over all views. */
function focusSearch(event) {
    if (!/^[/f]$/.test(event.key) || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName))
        return;
    const box = document.querySelector(event.key === 'f' ? '#search' : '#view input[type=search]');
    if (box) {
        box.focus();
        event.preventDefault();
    }
}

function begin() {
    const program = report.program || report.command || (report.before && report.before.program ? `${report.before.program} → ${report.after.program}` : '');
    document.title = `culprit ${report.verb || ''} ${program}`;
    document.getElementById('page').append(
        el('header', null, el('h1', null, el('span', {class: 'verb'}, 'culprit ' + (report.verb || '')), ' ', el('code', null, program)),
            report.partial ? el('strong', {class: 'partial'}, 'partial: the run was cut short') : null, searchBox(), themeButton()),
        el('nav', {id: 'tabs', role: 'tablist', 'aria-label': 'views', onkeydown: moveTab}), el('main', {id: 'view'}));
    addEventListener('hashchange', show);
    addEventListener('keydown', focusSearch);
    show();
}
begin();
