# The manual pages format without a warning, and tell of exactly the options that the verbs have.
. tests/e2e/lib.sh

formats() {
    groff -mdoc -ww -Tutf8 -z "$1" 2>"$scratch/warnings" && [ ! -s "$scratch/warnings" ]
    local status=$?
    cat "$scratch/warnings"
    return $status
}

# Options of `culprit VERB --help`, one per line; argp's own are no news.
options_of_help() {
    run "$1" --help | grep -oE '^ +(-[a-zA-Z], +)?--[a-z-]+' | grep -oE -- '--[a-z-]+' |
        grep -vxE -- '--(help|usage|version)' | sort -u
}

# Options that the page declares: .It Fl -name, .It Fl o , -name, .Op Fl -name, .Fl -name Ar.
options_of_page() {
    grep -E '^\.(It|Op|Fl)' "$1" | grep -oE '(Fl|,) -[a-z][a-z-]+' | sed -E 's/^(Fl|,) /-/' | sort -u
}

same_options() {
    options_of_help "$1" >"$scratch/help"
    options_of_page "docs/man/culprit-$1.1" >"$scratch/page"
    diff "$scratch/help" "$scratch/page"
}

# Under every heading of the help there are options, and between options no empty line.
no_gaps() {
    run "$1" --help | awk '/^ +$/ { print "line " NR " is of blanks"; bad = 1 }
        /^ *$/ && heading { print heading " has no options"; bad = 1 }
        { heading = /^ [A-Z].*:$/ ? $0 : "" }
        END { exit bad }'
}

for page in docs/man/*.1; do
    what="$(basename "$page") formats without warnings"
    skip_without groff "$what" || check "$what" formats "$page"
done
for page in docs/man/culprit-*.1; do
    verb=$(basename "$page" .1)
    verb=${verb#culprit-}
    check "culprit-$verb.1 tells of every option of $verb, and no other" same_options "$verb"
    check "the help of $verb has no gaps" no_gaps "$verb"
done

# Options are sorted by name, so none may lean on the one before it.
python_help() {
    local verb
    for verb in sim explain compare; do
        run $verb --help | grep -A 1 -e '^ *--no-python  ' | grep -q 'tables of Python' || return 1
    done
}
check "the help of --no-python stands by itself" python_help

finish
