# The step of action.yml: it needs Rust, and curl if a document is a URL.
set -euo pipefail

# Prints the path of a document. A document behind a URL is fetched into a file of this name.
document() {
  case $1 in
    *://*)
      curl --fail --silent --show-error --location --output "$RUNNER_TEMP/$2" "$1" || exit 2
      echo "$RUNNER_TEMP/$2" ;;
    *) echo "$1" ;;
  esac
}

pinned=$(document "$PINNED" pinned.json)
documents=("$pinned")
if [ -n "$PUBLISHED" ]; then
  published=$(document "$PUBLISHED" published.json)
  documents+=("$published")
fi
# Cargo runs in the folder of the action, because the consumer's folder may name another toolchain
# and have a cargo configuration of its own.
cd "$GITHUB_ACTION_PATH/../../.."
cargo build --quiet --locked --package plant-store-compat --target-dir target
check=$PWD/target/debug/plant-store-compat
cd "$OLDPWD"
status=0
report=$("$check" "${documents[@]}" 2>&1) || status=$?
echo "$report"
printf '```text\n%s\n```\n' "$report" >> "$GITHUB_STEP_SUMMARY"
exit "$status"
