# The step of action.yml: it needs Rust and, where a document is a URL, curl.
set -euo pipefail

# Prints the path of a document; one behind a URL is fetched into a file of this name.
document() {
  case $1 in
    *://*)
      curl --fail --silent --show-error --location --output "$RUNNER_TEMP/$2" "$1"
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
cargo run --quiet --locked --manifest-path "$GITHUB_ACTION_PATH/../../../Cargo.toml" \
  --package plant-store-drift -- "${documents[@]}" | tee -a "$GITHUB_STEP_SUMMARY"
