# The step of action.yml: it needs curl, and Rust if there is no released program for this machine.
set -euo pipefail

# Prints the path of a document. A document behind a URL is fetched into a file of this name.
document() {
  case $1 in
    *://*)
      curl --fail --silent --show-error --location --output "$RUNNER_TEMP/$2" --url "$1" || exit 2
      echo "$RUNNER_TEMP/$2" ;;
    *) printf '%s\n' "$1" ;;
  esac
}

# Fetches the program of the release that follows the `@`, and checks its SHA-256. It fails if there is
# no such release, or none for this machine.
released() {
  [[ $REF == v[0-9]* && $(uname -s) == Linux ]] || return 1
  local archive folder
  archive=plant-store-${REF#v}-$(uname -m)-unknown-linux-musl.tar.gz
  folder=$(mktemp -d "$RUNNER_TEMP/plant-store.XXXXXX")
  cd "$folder"
  for file in "$archive" "$archive.sha256"; do
    curl --fail --silent --location --remote-name "$RELEASES/download/$REF/$file" || return 1
  done
  sha256sum --check --status "$archive.sha256" || {
    echo "::error::$archive of $REF is damaged: its SHA-256 is another one"
    exit 2
  }
  tar --extract --gzip --strip-components 1 --file "$archive" \
    "${archive%.tar.gz}/plant-store-compat" || return 1
  check=$folder/plant-store-compat
}

# Cargo runs in the folder of the action, because the consumer's folder may name another toolchain
# and have a cargo configuration of its own.
built() {
  cd "$GITHUB_ACTION_PATH/../../.."
  # A check of a document of 16 MB must end within seconds.
  cargo build --quiet --locked --package plant-store-compat --target-dir target \
    --config 'profile.dev.package.plant-store-compat.opt-level=2'
  check=$PWD/target/debug/plant-store-compat
}

pinned=$(document "$PINNED" pinned.json)
documents=("$pinned")
if [ -n "$PUBLISHED" ]; then
  published=$(document "$PUBLISHED" published.json)
  documents+=("$published")
fi
options=(--format github --fail-on "$FAIL_ON")
[ -z "$ACCEPTED" ] || options+=("--accepted=$ACCEPTED")
workspace=$PWD
released || built
cd "$workspace"
status=0
report=$("$check" "${options[@]}" -- "${documents[@]}" 2>&1) || status=$?
echo "$report"
# GitHub refuses a summary of more than 1 MiB.
{
  echo '```text'
  { grep --invert-match --extended-regexp '^::(error|warning)' <<< "$report" || true; } | head --bytes 500000
  echo '```'
} >> "$GITHUB_STEP_SUMMARY"
exit "$status"
