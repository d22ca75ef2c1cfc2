"""A receiver of Switchyard's callbacks in Python: the standard library alone.

  GATEWAY=https://gateway.example.com PORT=8000 python3 receiver.py

The signature is checked over the bytes that arrived. Put it behind whatever ends TLS for you.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

GATEWAY = os.environ.get("GATEWAY", "http://127.0.0.1:8080")
PORT = int(os.environ.get("PORT", "8000"))
MAX_BODY_BYTES = 64 * 1024 * 1024

# What stands before a SHA-256 digest in an RSA signature of PKCS #1 v1.5 (RFC 8017, 9.2).
SHA256_PREFIX = bytes.fromhex("3031300d060960864801650304020105000420")


class Keys:
    """The gateway's RSA keys, read when they are needed."""

    def __init__(self):
        self.lock = threading.Lock()
        self.keys = []
        self.read_at = None

    def get(self, is_newer_wanted=False):
        with self.lock:
            is_old = self.read_at is None or time.monotonic() - self.read_at > 2
            if self.read_at is None or (is_newer_wanted and is_old):
                with urllib.request.urlopen(GATEWAY + "/v3/webhooks/keys", timeout=10) as answer:
                    published = json.load(answer)["keys"]
                self.keys = [(number(key["n"]), number(key["e"])) for key in published if key["kty"] == "RSA"]
                self.read_at = time.monotonic()
            return self.keys


def number(text):
    return int.from_bytes(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), "big")


def is_signed(body, signature_hex, keys):
    # The text of the body's digest is what RSA signs, and RSA makes a digest of it once more.
    text = hashlib.sha256(body).hexdigest().encode()
    digest = SHA256_PREFIX + hashlib.sha256(text).digest()
    try:
        signature = bytes.fromhex(signature_hex)
    except ValueError:
        return False
    for modulus, exponent in keys:
        length = (modulus.bit_length() + 7) // 8
        expected = b"\x00\x01" + b"\xff" * (length - len(digest) - 3) + b"\x00" + digest
        value = int.from_bytes(signature, "big")
        if len(signature) != length or value >= modulus:
            continue
        # The whole block is compared: to look for the digest inside of it is how such checks are broken.
        if hmac.compare_digest(pow(value, exponent, modulus).to_bytes(length, "big"), expected):
            return True
    return False


KEYS = Keys()
# A callback may come more than once. Keep this in your database, together with what you do about a job.
DONE = set()


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self):
        try:
            self.answer(self.receive())
        except Exception as error:
            # 5xx: the gateway tries again. 4xx would be the end of it.
            print(f"failed: {error}", file=sys.stderr, flush=True)
            self.answer(503)

    def receive(self):
        length = int(self.headers.get("Content-Length", "0"))
        if not 0 < length <= MAX_BODY_BYTES:
            return 400
        body = self.rfile.read(length)
        signature = self.headers.get("X-Service-Signature", "")
        # It may be a key that is newer than ours: ask again, but not for every forged request.
        if not is_signed(body, signature, KEYS.get()) and not is_signed(body, signature, KEYS.get(is_newer_wanted=True)):
            return 400
        payload = json.loads(body)
        again = ", seen before" if payload["job_id"] in DONE else ""
        print(f"job {payload['job_id']}: {payload['status']}{again}", flush=True)
        DONE.add(payload["job_id"])
        return 204

    def answer(self, status):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("", PORT), Receiver)
    print(f"listening on {server.server_address[1]}", flush=True)
    server.serve_forever()
