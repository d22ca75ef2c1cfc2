#!/bin/sh
# Checks a callback that was kept: the body byte for byte in a file, and the value of X-Service-Signature.
#
#   GATEWAY=https://gateway.example.com ./verify.sh body.json <signature in hexadecimal>

set -eu
body=$1
signature=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

curl --silent --show-error --fail --max-time 10 "${GATEWAY:-http://127.0.0.1:8080}/v3/webhooks/public-key" > "$folder/key.pem"
# From hexadecimal to bytes, with what every system has.
printf "$(printf '%s' "$signature" | sed 's/../0x& /g' | xargs printf '\\%03o')" > "$folder/signature"
# The text of the digest is what was signed, without a line break.
openssl dgst -sha256 -r "$body" | cut -d ' ' -f 1 | tr -d '\n' > "$folder/digest"
openssl dgst -sha256 -verify "$folder/key.pem" -signature "$folder/signature" "$folder/digest"
