#!/bin/sh
# A backup with its time as its name. It is checked before old ones are removed; those of the last 30
# days stay.
#
# usage: plant-store-backup.sh [STORE [FOLDER]]
set -eu
umask 077
store=${1:-sqlite:/var/lib/plant-store/plant-store.db}
folder=${2:-/var/backups/plant-store}
backup=$folder/plant-store-$(date -u +%Y-%m-%dT%H%M%SZ).db

mkdir -p "$folder"
plant-store copy --from "$store" --to "sqlite:$backup"
plant-store check --store "sqlite:$backup"
find "$folder" -maxdepth 1 -type f -name 'plant-store-*Z.db' -mtime +30 -delete
