"""check_schemas.py FOLDER: holds JSON objects against docs/schema/. An object's file is named for what
wrote it: VERB.ANYTHING. Says what is wrong, a line for each kind of mistake. To import: validators()."""
import glob
import json
import os
import sys
import types
import warnings

warnings.simplefilter("ignore", DeprecationWarning)
sys.path.append("/usr/lib/python3/dist-packages")  # python3 -S leaves it out
# What would fetch schemas from elsewhere, and check names of hosts, is most of what its import takes.
sys.modules["idna"] = None
sys.modules["urllib.request"] = types.ModuleType("urllib.request")
sys.modules["urllib.request"].urlopen = None
import jsonschema

SCHEMAS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/schema")


def schemas():
    """By name, without .json."""
    return {os.path.basename(path)[:-5]: json.load(open(path)) for path in sorted(glob.glob(SCHEMAS + "/*.json"))}


class Validators(dict):
    """By verb; made when asked for."""

    def __init__(self):
        self.schemas = schemas()
        self.store = {"file:///" + name + ".json": schema for name, schema in self.schemas.items()}

    def __missing__(self, verb):
        schema = self.schemas[verb]
        resolver = jsonschema.RefResolver("file:///" + verb + ".json", schema, self.store)
        self[verb] = jsonschema.Draft202012Validator(schema, resolver=resolver)
        return self[verb]


def shape(value):
    """Equal of objects that have the same keys with values of the same types."""
    if isinstance(value, dict):
        return tuple((key, type(part)) for key, part in value.items())
    return type(value)


def reduced(value):
    """A long list with some of its values, one of each shape at least: a validator takes its time for each."""
    if isinstance(value, dict):
        return {key: reduced(part) for key, part in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) > 20:
        seen = {}
        for part in value[10:-4]:
            seen.setdefault(shape(part), part)
        value = value[:10] + list(seen.values()) + value[-4:]
    return [reduced(part) for part in value]


def mistakes(validators, verb, value):
    for error in validators[verb].iter_errors(value):
        errors = [error]
        while errors[0].context:  # of anyOf: what the likeliest of the alternatives lacks
            errors = sorted(errors[0].context, key=lambda e: -len(e.absolute_path))
        path = "/".join("*" if isinstance(part, int) else str(part) for part in errors[0].absolute_path)
        yield f"{verb}: {path or '(object)'}: {errors[0].message[:300]}"


def objects(path):
    """The JSON objects of a file, one after the other; what is cut off at its end is none."""
    text, decoder, at = open(path, errors="replace").read(), json.JSONDecoder(), 0
    while (at := text.find("{", at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError:
            return
        yield value


def main():
    validators, said, count = Validators(), {}, 0
    for path in sorted(glob.glob(sys.argv[1] + "/*.*")):
        verb = os.path.basename(path).split(".")[0]
        for value in objects(path):
            count += 1
            for mistake in mistakes(validators, verb, reduced(value)):
                said.setdefault(mistake, path)
    for mistake, path in said.items():
        print(mistake, "" if len(sys.argv) < 3 else path)
    print(f"{count} objects")
    sys.exit(bool(said))


if __name__ == "__main__":
    main()
