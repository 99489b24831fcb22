# The next useful command that explain and sim print keeps what was asked for, and runs as printed.
. tests/e2e/lib.sh
gcc -O1 -g -fno-inline -o "$scratch/objects" tests/guests/data_objects.c
cd "$scratch" || exit 1
mkdir bin
ln -s "$CULPRIT" bin/culprit
export PATH=$scratch/bin:$PATH
python=$(python3 -S -c 'import sys; print(sys.executable)')
run trace --data --limit 300k -o kept.ctrace -- ./objects table >/dev/null 2>&1

# follow WORDS ARGUMENT...: runs culprit, then the command that it prints, which has the words.
follow() {
    local words=$1 next
    shift
    run "$@" >said 2>&1 || return
    next=$(sed -n '/^next: /,$p' said | sed -n 's/^next: //;s/ *\\$//;p' | tr -s '\n ' ' ')
    echo "next: $next"
    case $next in
    *" $words"*) bash -c "$next" ;;
    *) false ;;
    esac
}
check "sim: --data" follow --data sim --data --limit 300k -- ./objects table
check "sim: --data of a trace, with callers" follow --callers=look_up sim --data --callers=look_up kept.ctrace
check "sim: --tree --inlined --least" follow "--tree --inlined --least 2" \
    sim --tree --inlined --least 2 --limit 300k -- ./objects list
check "sim: --fields" follow "--fields=node" sim --fields=node --limit 1M -- ./objects list
check "sim: --levels" follow --levels sim --levels kept.ctrace
check "sim: --cores, of which the last is reported, and --affinity" \
    follow "--cores 2,4 --affinity 0,1-2:1/3:0" \
    sim --cores 2,4 --affinity 0,1-2:1/3:0 --limit 300k -- ./objects table
check "explain: --data --tree" follow "--data --tree" explain --data --tree --limit 300k -- ./objects hash
check "explain: by regions" follow "--regions-over 200k --regions 4" \
    explain --no-what-if --data --regions-over 200k --regions 4 --limit 800k -- ./objects list
check "explain: --python, with quotes" follow --python \
    explain --no-what-if --python --limit 1M -- "$python" -I -S -c 'print(sum(i % 7 for i in range(300)), "a b")'
run bbv --size 200k -o list.bb -- ./objects list >/dev/null 2>&1 &&
    run regions --max-clusters 3 -o list.csv list.bb >/dev/null 2>&1 &&
    run trace --regions list.csv -- ./objects list >/dev/null 2>&1
check "sim: --regions" follow "--regions list.regions.csv" sim --regions list.regions.csv
finish
