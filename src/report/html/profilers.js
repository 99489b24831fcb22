/* How far each profiler is from what every cycle says: of profilers. */
if (report && Array.isArray(report.profilers))
    views.push({id: 'errors', title: 'Errors', draw(place) {
        const grains = ['function', 'basic_block', 'instruction'], most = Math.max(1e-9, ...report.profilers.map(one => (one.error || {}).instruction || 0));
        const bar = value => {
            const whole = el('span', {class: 'bar'}), piece = el('span');
            piece.style.width = 100 * value / most + '%';
            piece.style.background = 'var(--mispredict)';
            whole.append(piece);
            return whole;
        };
        place.append(section('Error of profilers', note('The share of cycles that a profile gives to another function, basic block or instruction than the one that took them; the floor is what samples alone leave.'),
            table(report.profilers, [columnText('profiler', row => row.label || row.name), columnNumber('samples', row => row.samples, quantity),
                ...grains.map(grain => columnNumber(words(grain), row => row.error ? row.error[grain] : null, percent)),
                ...grains.map(grain => columnNumber(words(grain) + ' floor', row => row.floor ? row.floor[grain] : null, percent)),
                {title: 'by instruction', bar: true, value: row => row.error ? row.error.instruction : 0, show: row => bar(row.error ? row.error.instruction : 0)}], {label: 'errors of profilers', all: true})),
        notesList() || '');
    }});
