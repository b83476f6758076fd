"""Runs the action of the compatibility check as GitHub does, in the empty folder of a consumer:
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
summary = here / "summary"


def run(given):
    """What the action prints with these inputs, and its exit status."""
    inputs = {name: given.pop(name, declared.get("default")) for name, declared in action["inputs"].items()}
    assert not given, f"the action has no inputs {given}"
    summary.write_text("")
    [step] = action["runs"]["steps"]
    assert (action["runs"]["using"], step["shell"]) == ("composite", "bash")
    # The consumer's own toolchain, which the action must not use, is in its folder.
    env = {name: value for name, value in os.environ.items() if name != "RUSTUP_TOOLCHAIN"}
    for name, value in step["env"].items():
        env[name] = inputs[value.removeprefix("${{ inputs.").removesuffix(" }}")]
    env |= {"GITHUB_ACTION_PATH": str(folder), "GITHUB_STEP_SUMMARY": str(summary), "RUNNER_TEMP": str(here)}
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    result = subprocess.run(bash, env=env, stdout=subprocess.PIPE, text=True)
    return result.stdout, result.returncode


def expect(status, said, **inputs):
    stdout, found = run({name.replace("_", "-"): value for name, value in inputs.items()})
    assert (found, said in stdout) == (status, True), f"{inputs}: {found} instead of {status}:\n{stdout}"
    return stdout


def document(members):
    """A document with one type, which has these members."""
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in members}}
    response = {"description": "All", "content": {"application/json": {"schema": schema}}}
    paths = {"/pots": {"get": {"operationId": "pots", "responses": {"200": response}}}}
    return {"openapi": "3.0.3", "info": {"title": "Pots", "version": "20240502.0"}, "paths": paths}


for name, members in {"one.json": ["a"], "two.json": ["a", "b"], "many.json": ["a", *map(str, range(3000))]}.items():
    (here / name).write_text(json.dumps(document(members)))
(here / "no-document.json").write_text("{}")
(here / "rust-toolchain.toml").write_text('[toolchain]\nchannel = "1.0.0"\n')
place = "#/paths/~1pots/get/responses/200/content/application~1json/schema/properties/b"
entry = {"place": place, "change": "removed: string", "reason": "a"}
entry = "".join(f"{name} = {json.dumps(value)}\n" for name, value in entry.items())
(here / "accepted.toml").write_text(f"[[change]]\n{entry}date = 2026-11-23\n")

expect(0, "nothing changed", pinned="one.json", published="one.json")
expect(0, "additive       GET /pots  200.b  added", pinned="one.json", published=(here / "two.json").as_uri())
said = expect(1, "breaks source  GET /pots  200.b  removed", pinned="two.json", published="one.json")
assert "\n::error file=two.json,line=1::breaks source" in said, said
assert summary.read_text() == f"```text\n{said.split('::error')[0]}```\n", summary.read_text()
expect(0, "nothing changed but what is accepted", pinned="two.json", published="one.json", accepted="accepted.toml")
expect(0, "nothing that changed breaks a client", pinned="one.json", published="many.json", fail_on="wire")
assert summary.read_text().endswith("the log of the step has the rest.\n")
expect(2, "::error::the document of no-document.json", pinned="no-document.json", published="one.json")
# A path is no option, neither of the program nor of `echo`.
expect(2, "cannot read -h", pinned="-h", published="one.json")
# A document that is not there is an annotation, and that of an earlier step is not compared instead.
expect(2, "::error::file:///nowhere.json cannot be fetched: curl: (37)", pinned="one.json", published="file:///nowhere.json")
print("the action: as documented")
