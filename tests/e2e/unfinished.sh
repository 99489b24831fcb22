# A signal that ends culprit leaves no file behind that is not complete, and leaves what was there.
. tests/e2e/lib.sh
folder=$scratch/folder
mkdir "$folder"

# only_old: the folder holds what it held before.
only_old() {
    [ "$(ls "$folder")" = old ] && [ "$(cat "$folder/old")" = before ] || { ls "$folder"; return 1; }
}
# signalled SIGNAL... -- VERB OPTIONS...: the signals one after the other, while a command runs that
# ignores them.
signalled() {
    local signals=() culprit
    for (( ; $# > 0; )); do
        [ "$1" != -- ] || { shift; break; }
        signals+=("$1")
        shift
    done
    rm -rf "$folder" "$scratch/.began"
    mkdir "$folder"
    echo before >"$folder/old"
    "$CULPRIT" "$@" -- sh -c 'trap "" INT TERM; echo >"$0"; while :; do :; done' "$scratch/.began" >"$scratch/.out" 2>&1 &
    culprit=$!
    until_true $culprit [ -e "$scratch/.began" ] || return 1
    # With a name of its own, or where the file system has files without names, with none.
    ls -l "/proc/$culprit/fd" | grep -q "$folder/" || { kill -KILL $culprit; echo "no temporary file"; return 1; }
    for signal in "${signals[@]}"; do
        kill -"$signal" $culprit
        sleep 0.5 # sooner than a quarter of a second they are one
    done
    wait $culprit
    only_old
}
files="--output $folder/old --html $folder/new.html"
check "a second interrupt" signalled INT INT -- sim --machine alpha21164 $files
check "... of a study" signalled INT INT INT -- explain --machine alpha21164 $files
check "a second SIGTERM" signalled TERM TERM -- sim --machine alpha21164 $files
check "a pipe that is closed" signalled PIPE -- sim --machine alpha21164 $files

# Nobody reads what is said, at once.
unread() {
    local reader
    rm -rf "$folder"
    mkdir "$folder"
    echo before >"$folder/old"
    exec {closed}> >(:)
    reader=$!
    wait $reader
    "$CULPRIT" "$@" 2>&$closed
    echo "status $?"
    exec {closed}>&-
    only_old
}
check "an error that nobody reads" unread stat --output "$folder/new" -- "$scratch/nosuch"
check "... and one before the command starts" unread sim --output "$folder/new" --html "$scratch/nosuch/page" -- true
finish
