"""Runs the steps of a composite action as GitHub does: `action.py FOLDER NAME=VALUE…`."""

import os
import subprocess
import sys
from pathlib import Path

import yaml

folder = Path(sys.argv[1])
given = dict(argument.split("=", 1) for argument in sys.argv[2:])
action = yaml.safe_load((folder / "action.yml").read_text())

inputs = {name: given.pop(name, declared.get("default")) for name, declared in action["inputs"].items()}
assert not given, f"the action has no inputs {given}"
for name, declared in action["inputs"].items():
    assert not declared.get("required") or inputs[name], f"the input {name} is required"


contexts = {f"inputs.{name}": value for name, value in inputs.items()}
# What GitHub says about the action: `uses: REPOSITORY/…@REF`.
for name in ["action_ref", "action_repository", "server_url"]:
    contexts[f"github.{name}"] = os.environ.get(f"GITHUB_{name.upper()}", "")


def expanded(text):
    for name, value in contexts.items():
        text = text.replace(f"${{{{ {name} }}}}", value)
    assert "${{" not in text, text
    return text


assert action["runs"]["using"] == "composite"
for step in action["runs"]["steps"]:
    assert step["shell"] == "bash", step
    env = {name: expanded(value) for name, value in step.get("env", {}).items()}
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", expanded(step["run"])]
    result = subprocess.run(bash, env={**os.environ, **env, "GITHUB_ACTION_PATH": str(folder)})
    if result.returncode != 0:
        sys.exit(result.returncode)
