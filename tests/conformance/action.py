"""Runs the compatibility check's action as GitHub does, in a consumer's empty folder:
`action.py ACTION`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

folder = Path(sys.argv[1])
action = yaml.safe_load((folder / "action.yml").read_text())
here = Path.cwd()


def run(inputs):
    """Runs the action with these inputs. Returns its stdout and its exit code."""
    values = {name: inputs.pop(name, declared.get("default")) for name, declared in action["inputs"].items()}
    assert not inputs, f"the action has no inputs {inputs}"
    [step] = action["runs"]["steps"]
    assert (action["runs"]["using"], step["shell"]) == ("composite", "bash")
    # The consumer's folder names a toolchain that the action must not use.
    env = {name: value for name, value in os.environ.items() if name != "RUSTUP_TOOLCHAIN"}
    for name, value in step["env"].items():
        env[name] = values[value.removeprefix("${{ inputs.").removesuffix(" }}")]
    env |= {"GITHUB_ACTION_PATH": str(folder), "RUNNER_TEMP": str(here)}
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    result = subprocess.run(bash, env=env, stdout=subprocess.PIPE, text=True)
    return result.stdout, result.returncode


def expect(code, message, **inputs):
    stdout, actual = run({name.replace("_", "-"): value for name, value in inputs.items()})
    assert (actual, message in stdout) == (code, True), f"{inputs}: {actual} instead of {code}:\n{stdout}"
    return stdout


def document(members):
    """Returns a document whose only type has these members."""
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in members}}
    response = {"description": "All", "content": {"application/json": {"schema": schema}}}
    paths = {"/pots": {"get": {"operationId": "pots", "responses": {"200": response}}}}
    return {"openapi": "3.0.3", "info": {"title": "Pots", "version": "20240502.0"}, "paths": paths}


for name, members in {"one.json": ["a"], "two.json": ["a", "b"]}.items():
    (here / name).write_text(json.dumps(document(members)))
(here / "no-document.json").write_text("{}")
(here / "rust-toolchain.toml").write_text('[toolchain]\nchannel = "1.0.0"\n')
line = "breaks source  GET /pots  200.b  removed: string  (optional-removed)"
(here / "accepted.txt").write_text(f"{line}  # Nobody reads it.\n")

expect(0, "nothing changed", pinned="one.json", published="one.json")
expect(0, "additive       GET /pots  200.b  added", pinned="one.json", published=(here / "two.json").as_uri())
report = expect(1, "breaks source  GET /pots  200.b  removed", pinned="two.json", published="one.json")
assert "\n::error file=two.json::breaks source" in report, report
expect(0, "nothing changed except what is accepted", pinned="two.json", published="one.json", accepted="accepted.txt")
expect(0, "no running client", pinned="two.json", published="one.json", fail_on="wire")
expect(2, "::error::the document of no-document.json", pinned="no-document.json", published="one.json")
# Neither the program nor `echo` takes a path for an option.
expect(2, "cannot read -h", pinned="-h", published="one.json")
# A missing document is annotated. The document of an earlier step is not compared in its place.
expect(2, "::error::file:///nowhere.json cannot be fetched: curl: (37)", pinned="one.json", published="file:///nowhere.json")
print("the action works as documented")
