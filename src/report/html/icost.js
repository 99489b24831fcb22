/* Interaction costs by all sets of causes: of icost. The matrix is that of explain's what-if. */
if (report && Array.isArray(report.sets) && report.categories)
    views.push({id: 'icost', title: 'Interactions', draw(place) {
        /* What was simulated without the causes goes before what the graph says. */
        const key = set => set.members.slice().sort().join(), simulated = new Map(((report.multisim || {}).sets || []).map(set => [key(set), set]));
        const sets = report.sets.map(set => simulated.get(key(set)) || set);
        const singles = sets.filter(set => set.members.length === 1), pairs = sets.filter(set => set.members.length === 2);
        const costs = singles.map(set => ({category: set.members[0], cost: set.cost})).sort((a, b) => b.cost.percent - a.cost.percent);
        if (report.reading)
            place.append(section('In words', el('ul', null, report.reading.map(text => el('li', null, text)))));
        place.append(section('What causes cost, and which overlap', simulated.size ? note(`${simulated.size} sets were simulated without their causes; the others are from the dependence graph.`) : null, ...whatIfMatrix({costs, pairs})),
            section('All sets', table(sets, [columnText('causes', row => row.members.map(causeName).join(' + ')),
                columnNumber('of them', row => row.members.length, value => value), columnText('from', row => simulated.get(key(row)) === row ? 'simulation' : 'graph'), columnNumber('cost, % of the time', row => row.cost.percent, value => fixed(value, 2)),
                columnNumber('interaction cost, %', row => row.icost.percent, value => fixed(value, 2)), columnNumber('cycles', row => row.icost.cycles, quantity)], {label: 'sets of causes'})));
    }});
