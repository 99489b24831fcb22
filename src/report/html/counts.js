/* Counts of the machine, and what the report has beside: data objects, notes. */

const words = key => key.replace(/_/g, ' ');
function countTable(object) {
    const rows = [];
    const walk = (prefix, value) => {
        for (const [key, one] of Object.entries(value))
            if (one && typeof one === 'object')
                walk(prefix + words(key) + ' ', one);
            else if (typeof one === 'number')
                rows.push([prefix + words(key), one]);
    };
    walk('', object);
    return table(rows, [columnText('count', row => row[0]), columnNumber('value', row => row[1], whole),
        columnNumber('per 1000 instructions', row => 1000 * row[1] / report.instructions, value => fixed(value, 2))], {label: 'counts', all: true});
}

if (report && report.data && report.data.objects)
    views.push({id: 'data', title: 'Data', draw(place) {
        place.append(section('Data whose misses took the cycles', table(report.data.objects, [
            columnText('object', row => row.name || '[' + row.kind + ']'), columnText('kind', row => row.kind), columnText('image', row => row.image ? baseName(row.image) : ''),
            columnNumber('bytes', row => row.size, quantity), columnNumber('cycles', row => row.cycles, quantity), columnShare(row => row.cycles, totalCycles),
            {title: 'cycle stack', bar: true, value: row => row.cycles, show: row => stackBar(componentsOf(row.stack), row.cycles)}], {label: 'data objects'})));
    }});
if (report && report.statistics)
    views.push({id: 'counts', title: 'Counts', draw(place) {
        place.append(section('Counts of the simulated machine', note('Of the simulated windows or regions, scaled to the whole run.'), countTable(report.statistics)));
    }});
