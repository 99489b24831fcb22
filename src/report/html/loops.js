/* Natural loops with what is within them. */
if (profile && profile.loops && profile.loops.length)
    views.push({id: 'loops', title: 'Loops', draw(place) {
        const units = profile.units_per_cycle, numbers = new Map();
        for (const one of functions) /* of two with a name the costlier */
            if (!numbers.has(one.image + '\n' + one.name))
                numbers.set(one.image + '\n' + one.name, one.index);
        const rows = profile.loops.map(row => {
            const flat = row[13], cycles = cyclesOf(flat), name = functionName(textOf(row[0]), textOf(row[1]), row[2]);
            return {name, image: textOf(row[1]), offset: row[3], file: textOf(row[4]), line: row[5], depth: row[7], rounds: row[8],
                entries: row[9] < 0 ? null : row[9], instructions: row[10], self: row[11] / units, called: row[12] < 0 ? null : row[12] / units, flat, cycles,
                function: numbers.get(textOf(row[1]) + '\n' + name) ?? -1};
        });
        place.append(section('Loops', note('Natural loops of functions that have a thousandth of the cycles or more; a loop has the cycles of those within it, called functions apart.'),
            table(rows, [
                columnText('loop', row => row.file ? `${baseName(row.file)}:${row.line}` : hex(row.offset), {show: row => '  '.repeat(row.depth - 1) + (row.depth > 1 ? '└ ' : '') + (row.file ? `${baseName(row.file)}:${row.line}` : hex(row.offset))}),
                columnText('function', row => row.name), columnNumber('depth', row => row.depth, value => value),
                columnNumber('cycles', row => row.cycles, quantity), columnShare(row => row.cycles, totalCycles), columnNumber('alone', row => row.self, quantity),
                columnNumber('in calls', row => row.called, quantity), columnNumber('rounds', row => row.rounds, quantity),
                columnNumber('per entry', row => row.entries ? row.rounds / row.entries : null, quantity),
                columnNumber('cycles per round', row => row.rounds ? row.cycles / row.rounds : null, value => fixed(value, 1)),
                columnStack(stackOf, row => row.cycles)
            ], {label: 'loops', pick: row => { if (row.function >= 0) go('code', row.function, ...(row.line ? ['line', row.line] : [])); }})));
    }});
