#!/bin/sh
# Sends each batch (*.json) in a folder to Tagwarden and deletes it once it has been stored. Requires curl and gzip.
# Run it every minute, from cron or a systemd timer, as one process at a time:
#   * * * * * flock -n /var/spool/tagwarden tagwarden.sh /var/spool/tagwarden
#
# A batch is a file such as 000017.json, with at most 1,000 events and 1 MiB:
#   {"batchId": "orders-000017", "events": [
#     {"ts": 1767614400000, "vendor": "Meta Pixel", "event": "Purchase", "status": "ok", "params": {"value": 59.9}}
#   ]}
# Write it under another name and rename it when it is complete. Its batchId (8 to 64 characters) must be new, because
# batches sent with the same id within 24 hours are counted only once.
set -eu

events_url='{{EVENTS_URL}}'
token='{{TOKEN}}'
folder=${1:?specify the folder of the batches}
# Maximum number of files. When it is exceeded, the oldest are deleted.
max_batches=1000
# Maximum random delay in seconds, which spreads the requests of all senders.
spread_s=${TAGWARDEN_SPREAD_S:-10}
retries=${TAGWARDEN_RETRIES:-5}

answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

set -- "$folder"/*.json
[ -e "$1" ] || exit 0
while [ $# -gt "$max_batches" ]; do
  echo "tagwarden: the queue is full, so $1 was deleted" >&2
  rm -f -- "$1"
  shift
done

# Not awk's srand, which would return the same number on every machine whose cron job starts in the same second.
sleep $(($(od -An -N2 -tu2 /dev/urandom) % (spread_s + 1)))
for batch; do
  # curl retries after 408, 429 and 5xx: after the time in Retry-After, else after 1 s, 2 s, 4 s, ….
  status=$(gzip -c "$batch" | curl --silent --show-error --output "$answer" --write-out '%{http_code}' \
    --max-time 30 --retry "$retries" --retry-connrefused --retry-max-time 300 \
    --header "Authorization: Bearer $token" --header 'Content-Type: application/json' \
    --header 'Content-Encoding: gzip' --data-binary @- "$events_url") || status=none
  case $status in
    202)
      rm -f -- "$batch"
      ;;
    400 | 413 | 415 | 422)
      echo "tagwarden: $batch was rejected: $(cat "$answer")" >&2
      # Only the most recent rejected batch is saved, for inspection.
      mv -f -- "$batch" "$folder/refused"
      ;;
    *)
      echo "tagwarden: $batch waits for the next run: $status" >&2
      exit 1
      ;;
  esac
done
