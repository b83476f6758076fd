# The step of action.yml. It needs curl and Rust.
set -euo pipefail

documents=()
# add DOCUMENT NAME: adds the path of a document. If it is a URL, fetches it into a file NAME first.
add() {
  case $1 in
    *://*)
      local error
      error=$(curl --fail --silent --show-error --location --output "$RUNNER_TEMP/$2" --url "$1" 2>&1) || {
        echo "::error::$1 cannot be fetched: ${error//$'\n'/ }"
        exit 2
      }
      documents+=("$RUNNER_TEMP/$2") ;;
    *) documents+=("$1") ;;
  esac
}
add "$PINNED" pinned.json
add "$PUBLISHED" published.json

# cargo runs in the folder of the action, because the consumer's folder may select a different
# toolchain or contain a cargo configuration.
(cd "$GITHUB_ACTION_PATH/../../.." &&
  cargo install --quiet --locked --path xtask/compat --root "$RUNNER_TEMP/openapi-compat")

options=(--format github)
case $FAIL_ON in
  semver) options+=(--semver) ;;
  *) options+=("--fail-on=$FAIL_ON") ;;
esac
[ -z "$ACCEPTED" ] || options+=("--accepted=$ACCEPTED")
exec "$RUNNER_TEMP/openapi-compat/bin/openapi-compat" "${options[@]}" -- "${documents[@]}"
