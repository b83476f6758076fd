"""Runs the action of the compatibility check as GitHub does, in the empty folder of a consumer:
`action.py ACTION DOCUMENT`."""

import hashlib
import json
import os
import platform
import subprocess
import sys
import tarfile
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
    contexts = {f"inputs.{name}": value for name, value in inputs.items()} | {
        "github.action_ref": "v1.0.0",
        "github.action_repository": ".",
        "github.server_url": here.as_uri(),
    }

    def expanded(text):
        for name, value in contexts.items():
            text = text.replace(f"${{{{ {name} }}}}", value)
        assert "${{" not in text, text
        return text

    summary.write_text("")
    [step] = action["runs"]["steps"]
    assert (action["runs"]["using"], step["shell"]) == ("composite", "bash")
    # The consumer's own toolchain, which the action must not use, is in its folder.
    env = {name: value for name, value in os.environ.items() if name != "RUSTUP_TOOLCHAIN"}
    env |= {name: expanded(value) for name, value in step["env"].items()}
    env |= {"GITHUB_ACTION_PATH": str(folder), "GITHUB_STEP_SUMMARY": str(summary), "RUNNER_TEMP": str(here)}
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", expanded(step["run"])]
    result = subprocess.run(bash, env=env, stdout=subprocess.PIPE, text=True)
    return result.stdout, result.returncode


def expect(status, said, **inputs):
    stdout, found = run({name.replace("_", "-"): value for name, value in inputs.items()})
    assert (found, said in stdout) == (status, True), f"{inputs}: {found} instead of {status}:\n{stdout}"
    lines = [line for line in stdout.splitlines(True) if not line.startswith(("::error", "::warning"))]
    expected = f"```text\n{''.join(lines)}```\n" if stdout else ""
    assert summary.read_text() == expected, "the summary of the job is not what the action printed"


document = json.loads(Path(sys.argv[2]).read_text())
(here / "contract.json").write_text(json.dumps(document))
(here / "no-document.json").write_text("{}")
(here / "rust-toolchain.toml").write_text('[toolchain]\nchannel = "1.0.0"\n')
renamed = json.loads(json.dumps(document))
renamed["paths"]["/plants"]["post"]["operationId"] = "renamed"
(here / "renamed.json").write_text(json.dumps(renamed))
document["components"]["schemas"]["Plant"]["properties"]["made_up"] = {"type": "string"}
(here / "with-made-up.json").write_text(json.dumps(document))
made_up = "#/components/schemas/Plant/properties/made_up"
entry = {"place": made_up, "change": 'removed: {"type":"string"}', "reason": "a"}
entry = "".join(f"{name} = {json.dumps(value)}\n" for name, value in entry.items())
(here / "accepted.toml").write_text(f"[[change]]\n{entry}date = 2026-11-23\n")

older = "with-made-up.json"
# Before there is a release, the action builds the program.
expect(0, "nothing changed", pinned="contract.json")
expect(0, f"additive       {made_up}  added", pinned="contract.json", published=(here / older).as_uri())
expect(1, f"breaks wire    {made_up}  removed", pinned=older)
expect(1, f"\n::error file={older},line=", pinned=older)
expect(0, "nothing changed but what is accepted", pinned=older, accepted="accepted.toml")
expect(0, "breaks source  #/paths/~1plants/post/operationId  ", pinned="renamed.json", fail_on="wire")
expect(2, "no-document.json", pinned="no-document.json")
# A path is no option, neither of the program nor of `echo`.
expect(2, "cannot read -h", pinned="-h")
expect(2, "cannot read -n", pinned="-n")
# The document of an earlier step must not be compared instead.
expect(2, "", pinned="contract.json", published="file:///nowhere.json")
print("the action: as documented")

# If there is a release, its program runs and none is built. A damaged one never runs.
name = f"plant-store-1.0.0-{platform.machine()}-unknown-linux-musl"
download = here / "releases/download/v1.0.0"
download.mkdir(parents=True)
program = here / "program"
program.write_text('#!/bin/sh\necho released "$@"\n')
program.chmod(0o755)
archive = download / f"{name}.tar.gz"
with tarfile.open(archive, "w:gz") as tar:
    tar.add(program, f"{name}/plant-store-compat")
whole = archive.read_bytes()
(download / f"{archive.name}.sha256").write_text(f"{hashlib.sha256(whole).hexdigest()}  {archive.name}\n")
expect(0, "released --format github --fail-on source -- contract.json\n", pinned="contract.json")
archive.write_bytes(whole[:-1])
stdout, status = run({"pinned": "contract.json"})
assert status == 2 and "is damaged: its SHA-256 is another one" in stdout, stdout
print("the action with a release: as documented")
