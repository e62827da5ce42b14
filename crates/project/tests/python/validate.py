"""Says which documents a JSON Schema accepts: reads {"schema": ..., "documents": [...]}, writes a message or null for each."""

import json
import sys

import jsonschema

task = json.load(sys.stdin)
jsonschema.Draft7Validator.check_schema(task["schema"])
validator = jsonschema.Draft7Validator(task["schema"])


def complaint(document):
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    return None if error is None else f"{'.'.join(map(str, error.absolute_path))}: {error.message}"


json.dump([complaint(document) for document in task["documents"]], sys.stdout)
