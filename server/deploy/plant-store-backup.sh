#!/bin/sh
# Makes a backup with its time as its name, checks it, and removes all but the last of its own
# backups, whatever their age. Fails, and removes none, if the store has fewer plants than at the
# last backup: it may be another one. If that is right, remove the file `plants` from the folder of
# the backups.
#
# usage: [KEEP=30] [METRICS=FOLDER] plant-store-backup.sh [STORE [FOLDER [BINARY]]]
#
# KEEP     how many backups stay, at least 1
# METRICS  the folder that node_exporter's textfile collector reads; if there is none, nothing is
#          written
# STORE    by default PLANT_STORE_STORE, as the server has it
# BINARY   plant-store; by default the one beside this script, also if a link leads to the script
set -eu
umask 077
store=${1:-${PLANT_STORE_STORE:-sqlite:/var/lib/plant-store/plant-store.db}}
folder=${2:-/var/backups/plant-store}
binary=${3:-$(dirname "$(readlink -f "$0")")/plant-store}
metrics=${METRICS:-/var/lib/prometheus/node-exporter}
keep=${KEEP:-30}
case $keep in
    0* | *[!0-9]*)
        echo "KEEP is how many backups stay: a number from 1, not '$keep'" >&2
        exit 2
        ;;
esac
# A folder of yours may be a disk that is not mounted.
[ -n "${2:-}" ] || mkdir -p "$folder"
[ -d "$folder" ] || { echo "there is no folder $folder: is it mounted?" >&2; exit 1; }
# What runs that were killed have left.
find "$folder" -maxdepth 1 -type f '(' -name '*Z.db.new' -o -name '.plant-store-*' ')' \
    -mtime +1 -delete

backup=$folder/plant-store-$(date -u +%Y-%m-%dT%H%M%SZ).db
"$binary" copy --from "$store" --to "sqlite:$backup.new"
report=$("$binary" check --json --store "sqlite:$backup.new")
# mv may say nothing if it moves nothing.
mv -n "$backup.new" "$backup" || true
if [ -e "$backup.new" ]; then
    echo "$backup is there already, perhaps of another store: take a folder for each store" >&2
    exit 1
fi
plants=$(echo "$report" | sed -n 's/^ *"plants": *\([0-9]*\).*/\1/p')
before=$(cat "$folder/plants" 2> /dev/null || echo 0)
if [ "$plants" -lt "$before" ]; then
    echo "$store has $plants plants and had $before. A copy was made: $backup" >&2
    echo "If that is right, such as after a restore, remove $folder/plants" >&2
    exit 1
fi
echo "$plants" > "$folder/plants.new"
mv "$folder/plants.new" "$folder/plants"
find "$folder" -maxdepth 1 -type f -name 'plant-store-*Z.db' | sort | head -n "-$keep" |
    while read -r old; do rm "$old"; done

if [ -d "$metrics" ]; then
    new=$(mktemp "$metrics/plant-store-backup.XXXXXX")
    cat > "$new" <<END
# HELP plant_store_backup_timestamp_seconds When the last backup was made, in Unix time.
# TYPE plant_store_backup_timestamp_seconds gauge
plant_store_backup_timestamp_seconds $(date +%s)
END
    chmod 644 "$new"
    mv "$new" "$metrics/plant-store-backup.prom"
fi
echo "$backup is sound; plants: $plants"
