/* The picture that a verb draws, as an image: nothing in it is run. */
const picture = data('picture');
if (picture)
    views.push({id: 'picture', title: 'Picture', draw(place) {
        place.append(section('Picture', note('The same figures are in the tables of the report.'),
            el('div', {class: 'paper'}, el('img', {alt: `picture of culprit ${report.verb}`, src: 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(picture)}))));
    }});
