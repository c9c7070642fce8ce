#!/bin/sh
# Triage photos of one animal with curl alone.
#
#   sh examples/triage_with_curl.sh cow.jpg ...
#   URL=http://127.0.0.1:7860 SIGNS='"fever","drooling"' REPORT_LANGUAGE=de sh examples/triage_with_curl.sh cow.jpg
#
# Three requests: upload, call, and the stream of events of that call. The report is the JSON after
# "event: complete". Exit status 0 with a report, 2 without.
set -eu

url=${URL:-http://127.0.0.1:7860}
signs=${SIGNS:-}
language=${REPORT_LANGUAGE:-en}
[ $# -gt 0 ] || { echo "usage: sh triage_with_curl.sh PHOTO..." >&2; exit 2; }

fail() { echo "$1" >&2; exit 2; }

# 1. Upload each photo; the answer is a list with the one path under which the server keeps it.
photos=
for photo in "$@"; do
    [ -f "$photo" ] || fail "No such file: $photo"
    paths=$(curl --silent --show-error --fail-with-body --form "files=@\"$photo\"" "$url/gradio_api/upload") ||
        fail "Upload failed. Is the server running at $url? Start it with: python app.py"
    path=${paths#[}
    path=${path%]}
    photos="$photos${photos:+,}{\"path\":$path,\"meta\":{\"_type\":\"gradio.FileData\"}}"
done

# 2. Call the endpoint; the answer names the event.
answer=$(curl --silent --show-error --fail-with-body --header 'Content-Type: application/json' \
    --data "{\"data\":[[$photos],[$signs],\"$language\"]}" "$url/gradio_api/call/triage") ||
    fail "The call was refused: $answer"
event=$(printf '%s' "$answer" | sed -n 's/.*"event_id" *: *"\([^"]*\)".*/\1/p')

# 3. Read the events until the server closes the stream.
stream=$(curl --silent --show-error --fail-with-body --no-buffer "$url/gradio_api/call/triage/$event") ||
    fail "The event stream broke off: $stream"
printf '%s\n' "$stream" | grep -q '^event: complete' || fail "No report: $stream"
printf '%s\n' "$stream" | sed -n '/^event: complete/,$s/^data: //p'
