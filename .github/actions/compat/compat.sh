# The step of action.yml: it needs curl and Rust.
set -euo pipefail

documents=()
# Adds the path of a document. One behind a URL is fetched into a file of this name.
add() {
  case $1 in
    *://*)
      local said
      said=$(curl --fail --silent --show-error --location --output "$RUNNER_TEMP/$2" --url "$1" 2>&1) || {
        echo "::error::$1 cannot be fetched: ${said//$'\n'/ }"
        exit 2
      }
      documents+=("$RUNNER_TEMP/$2") ;;
    *) documents+=("$1") ;;
  esac
}
add "$PINNED" pinned.json
add "$PUBLISHED" published.json

# Cargo runs in the folder of the action, because the consumer's folder may name another toolchain
# and have a cargo configuration of its own.
(cd "$GITHUB_ACTION_PATH/../../.." &&
  cargo install --quiet --locked --path xtask/compat --root "$RUNNER_TEMP/openapi-compat")

options=(--format github --fail-on "$FAIL_ON")
[ -z "$ACCEPTED" ] || options+=("--accepted=$ACCEPTED")
status=0
report=$("$RUNNER_TEMP/openapi-compat/bin/openapi-compat" "${options[@]}" -- "${documents[@]}" 2>&1) || status=$?
echo "$report"
text=$(grep --invert-match --extended-regexp '^::(error|warning)' <<< "$report") || true
# GitHub refuses a summary of more than 1 MiB.
shown=${text:0:250000}
{
  echo '```text'
  echo "$shown"
  echo '```'
  [ "$shown" = "$text" ] || echo 'This is the beginning: the log of the step has the rest.'
} >> "$GITHUB_STEP_SUMMARY"
exit "$status"
