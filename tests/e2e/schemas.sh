# docs/schema/: schemas of the objects that --json prints. Those that other tests make are held against
# them at the end of each (lib.sh); here is seen that a wrong object fails, and that docs/json.md and the
# schemas tell of the same keys.
. tests/e2e/lib.sh

every_verb() {
    local verb
    for verb in $(run --help | awk '/^  [a-z]/ { print $1 }'); do
        [ "$verb" != culprit ] || continue
        run help "$verb" >"$scratch/help" 2>&1
        if grep -q -e '--json' "$scratch/help" && [ ! -f "docs/schema/$verb.json" ]; then
            echo "$verb has no schema"
            return 1
        fi
    done
}
check "every verb with --json has a schema" every_verb

same_keys() {
    python3 -S - <<'PYTHON'
import glob, json, os, re

def keys(schema, found):
    """Names of members that the schema speaks of."""
    if isinstance(schema, dict):
        for key, part in schema.items():
            if key in ("properties", "required"):
                found.update(part)
            elif key == "propertyNames":
                found.update(part.get("enum", []))
            keys(list(part.values()) if key in ("properties", "$defs") else part, found)
    elif isinstance(schema, list):
        for part in schema:
            keys(part, found)
    return found

def words(schema, found):
    """Values that the schema lists."""
    if isinstance(schema, dict):
        for key, part in schema.items():
            if key in ("enum", "const"):
                found.update(part if key == "enum" else [part])
            else:
                words(part, found)
    elif isinstance(schema, list):
        for part in schema:
            words(part, found)
    return found

schemas = {os.path.basename(path)[:-5]: json.load(open(path)) for path in glob.glob("docs/schema/*.json")}
known = {name: keys(schema, set()) for name, schema in schemas.items()}
values = {word for schema in schemas.values() for word in words(schema, set())}
said = {}
for section in re.split(r"^# ", open("docs/json.md").read(), flags=re.M)[1:]:
    for verb in re.findall(r"`culprit (\w+)", section.split("\n")[0]):
        said.setdefault(verb, []).append(section)
everything = "".join("".join(sections) for sections in said.values())
told = {word.strip('"') for word in re.findall(r"`([^`]+)`", everything)}
wrong = [f"{name}.json: {key} is not in docs/json.md" for name in schemas for key in known[name] - told]
wrong += [f"{verb}: docs/json.md has no section" for verb in schemas.keys() - said.keys() - {"common"}]
shared = known["common"] | known["sim"] | known["top"]
for verb, sections in said.items():
    for row in re.findall(r"^\| (.*?) \|", "".join(sections), flags=re.M):
        wrong += [f"{verb}: {key} is in docs/json.md alone" for key in re.findall(r"`(\w+)`", row)
                  if key not in known[verb] | shared]
    for word in re.findall(r"`([a-z][a-z0-9]*_[a-z0-9_]*)`", "".join(sections)):
        if not any(word in names for names in known.values()) and word not in values:
            wrong.append(f"{verb}: {word} is in docs/json.md alone")
    # What is said to be a value, but names that stand for any
    for word in re.findall(r'`"([a-z_]+)"`', "".join(sections)):
        if word not in values | {"daemon", "samples", "cycles"}:
            wrong.append(f'{verb}: "{word}" is in docs/json.md alone')
assert not wrong, "\n".join(sorted(set(wrong)))
PYTHON
}
check "docs/json.md and the schemas have the same keys" same_keys

# Each member of an object in its turn is left out, misspelt, or of another type.
wrong_objects() {
    run sim --limit 2K --tree --by loop --json -o "$scratch/sim.json" -- true &&
        run machines list --json >"$scratch/machines.json" || return 1
    python3 -S - "$scratch" <<'PYTHON'
import copy, json, sys
sys.path.insert(0, "tests/e2e")
import check_schemas

validators = check_schemas.Validators()

def places(value, path=()):
    if isinstance(value, dict):
        yield path
        for key, part in value.items():
            yield from places(part, path + (key,))
    elif isinstance(value, list) and value:
        yield from places(value[0], path + (0,))

def at(value, path):
    for key in path:
        value = value[key]
    return value

def is_wrong(verb, whole):
    return any(True for _ in check_schemas.mistakes(validators, verb, whole))

for verb in "sim", "machines":
    right = json.load(open(f"{sys.argv[1]}/{verb}.json"))
    right = {key: part[:1] if key in ("functions", "hot_instructions", "tree") else part for key, part in right.items()}
    assert not is_wrong(verb, right), list(check_schemas.mistakes(validators, verb, right))
    tried = 0
    for path in list(places(right)):
        if path[-1:] == ("stack",):  # any combination of events
            continue
        for key in at(right, path).keys() - {"stack" if "tree" in path else ""}:
            tried += 1
            whole = copy.deepcopy(right)
            object = at(whole, path)
            if path != () or key not in ("loops", "loop_count", "tree", "machines"):  # there by an option
                kept = object.pop(key)
                assert is_wrong(verb, whole), (path, key, "left out")
                object[key] = kept
            object[key] = (lambda: 0, [0, {"": 0}])[1]
            assert is_wrong(verb, whole), (path, key, "of another type")
        whole = copy.deepcopy(right)
        at(whole, path)["wrong"] = 1
        assert is_wrong(verb, whole), (path, "one too many")
    print(verb, tried)
PYTHON
}
if [ "$has_schemas" ]; then
    check "an object with a member that is missing, wrong or too many fails" wrong_objects
else
    skip "an object with a member that is missing, wrong or too many fails" "no python3-jsonschema here"
fi

finish
