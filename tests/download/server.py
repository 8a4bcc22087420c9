"""A local server that follows the documented protocols of the Hugging Face hub and of the Ollama registry, and
misbehaves as a test tells it to."""
import hashlib
import json
import re
import socket
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Misbehaviour:
    """What to do wrong, and how often. A test sets fields before it starts the program."""

    def __init__(self):
        self.cut_after = None       # bytes of a body, then the connection is reset
        self.cut_times = 1 << 30    # so often
        self.stall_after = None     # bytes of a body, then silence until the client leaves
        self.stall_times = 1 << 30
        self.statuses = []          # (status, headers) to answer file requests with, first ones first
        self.list_statuses = []     # the same for lists and manifests
        self.length_offset = 0      # added to Content-Length
        self.ignore_range = False
        self.always_416 = False
        self.shift_range = 0        # added to the first number of Content-Range
        self.html = False           # a page with status 200 instead of the file
        self.corrupt = False        # one byte of the body differs
        self.redirect_to = None     # function(path) -> where file requests are sent
        self.chunked = False        # no Content-Length
        self.no_etag = False
        self.weak_etag = False
        self.linked_etag = None
        self.raw_list = None        # bytes instead of a list or manifest
        self.page_size = 1000
        self.gate = None            # threading.Event: bodies wait here after gate_after bytes
        self.gate_after = 0


class Request:
    def __init__(self, handler):
        self.path = handler.path
        self.headers = {k.lower(): v for k, v in handler.headers.items()}


class Server:
    """Files by repository and path; everything that was asked is in `requests`."""

    def __init__(self):
        self.repositories = {}   # "owner/repo" -> {path: bytes}
        self.models = {}         # "space/name" -> {tag: bytes of the manifest}
        self.blobs = {}          # "sha256:…" -> bytes
        self.web = {}            # "/path" -> bytes
        self.lfs = True          # lists give SHA-256
        self.bad = Misbehaviour()
        self.requests = []
        self.lock = threading.Lock()
        self.at_gate = threading.Event()
        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.httpd.daemon_threads = True
        self.port = self.httpd.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.httpd.handle_error = lambda *_: None  # clients that leave early are the subject of the tests
        threading.Thread(target=self.httpd.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        if self.bad.gate:
            self.bad.gate.set()
        self.httpd.shutdown()
        self.httpd.server_close()

    def add_ollama(self, space, name, tag, data, more_layers=()):
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        self.blobs[digest] = data
        layers = [{"mediaType": "application/vnd.ollama.image.model", "digest": digest, "size": len(data)}]
        layers += more_layers
        manifest = {"schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
                    "config": {"digest": "sha256:" + "0" * 64, "size": 2}, "layers": layers}
        self.models.setdefault(f"{space}/{name}", {})[tag] = json.dumps(manifest).encode()

    def file_requests(self):
        """Those for content, in order; not lists and manifests."""
        return [r for r in self.requests if "/api/" not in r.path and "/manifests/" not in r.path]

    def _handler(server):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                with server.lock:
                    server.requests.append(Request(self))
                try:
                    server._answer(self)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

        return Handler

    def _answer(self, http):
        path = urllib.parse.unquote(http.path.split("?")[0])
        api = re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/main", path)
        manifest = re.fullmatch(r"/v2/([^/]+/[^/]+)/manifests/([^/]+)", path)
        if api or manifest:
            return self._answer_list(http, api, manifest)
        if self.bad.statuses:
            status, headers = self.bad.statuses.pop(0)
            return self._send(http, status, b"<html>no</html>", headers)
        if self.bad.redirect_to:
            target = self.bad.redirect_to(http.path)
            if target:
                headers = {"Location": target}
                if self.bad.linked_etag:
                    headers["X-Linked-ETag"] = f'"{self.bad.linked_etag}"'
                return self._send(http, 302, b"Found", headers)
        data = self._content(path)
        if data is None:
            return self._send(http, 404, b"Entry not found", {"X-Error-Code": "EntryNotFound"})
        self._send_file(http, data)

    def _content(self, path):
        file = re.fullmatch(r"/([^/]+/[^/]+)/resolve/main/(.+)", path)
        if file:
            return self.repositories.get(file[1], {}).get(file[2])
        blob = re.fullmatch(r"/v2/[^/]+/[^/]+/blobs/(sha256:[0-9a-f]{64})", path)
        return self.blobs.get(blob[1]) if blob else self.web.get(path)

    def _answer_list(self, http, api, manifest):
        if self.bad.list_statuses:
            status, headers = self.bad.list_statuses.pop(0)
            return self._send(http, status, b"{}", headers)
        if self.bad.raw_list is not None:
            return self._send(http, 200, self.bad.raw_list, {})
        if manifest:
            data = self.models.get(manifest[1], {}).get(manifest[2])
            return self._send(http, 200, data, {}) if data else self._send(http, 404, b"{}", {})
        files = self.repositories.get(api[1])
        if files is None:
            return self._send(http, 401, b"{}", {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"})
        entries = [{"type": "directory", "oid": "0" * 40, "size": 0, "path": "some-folder"}]
        for path, data in sorted(files.items()):
            entry = {"type": "file", "oid": "1" * 40, "size": len(data), "path": path}
            if self.lfs:
                entry["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 134}
            entries.append(entry)
        query = urllib.parse.parse_qs(urllib.parse.urlparse(http.path).query)
        first = int(query.get("cursor", ["0"])[0])
        page = entries[first:first + self.bad.page_size]
        headers = {}
        if first + self.bad.page_size < len(entries):
            following = f"{self.url}/api/models/{api[1]}/tree/main?recursive=true&cursor={first + self.bad.page_size}"
            headers["Link"] = f'<{following}>; rel="next"'
        self._send(http, 200, json.dumps(page).encode(), headers)

    @staticmethod
    def _send(http, status, body, headers):
        http.send_response(status)
        for name, value in headers.items():
            http.send_header(name, value)
        http.send_header("Content-Length", str(len(body)))
        http.end_headers()
        http.wfile.write(body)

    def _send_file(self, http, data):
        bad = self.bad
        if bad.html:
            data = b"<!DOCTYPE html><html><body>Please log in</body></html>"
        etag = '"' + hashlib.md5(data).hexdigest() + '"'
        etag = "W/" + etag if bad.weak_etag else etag
        if bad.corrupt:
            data = data[:-1] + bytes([data[-1] ^ 1])
        if http.headers.get("If-None-Match") == etag:
            return self._send(http, 304, b"", {"ETag": etag})
        first, status = 0, 200
        asked = re.fullmatch(r"bytes=(\d+)-", http.headers.get("Range", ""))
        same = http.headers.get("If-Range") in (None, etag)
        if asked and bad.always_416:
            return self._send(http, 416, b"", {"Content-Range": f"bytes */{len(data)}"})
        if asked and same and not bad.ignore_range:
            first, status = int(asked[1]), 206
        http.send_response(status)
        if not bad.no_etag:
            http.send_header("ETag", etag)
        if status == 206:
            http.send_header("Content-Range", f"bytes {first + bad.shift_range}-{len(data) - 1}/{len(data)}")
        body = data[first:]
        if bad.chunked:
            http.send_header("Transfer-Encoding", "chunked")
        else:
            http.send_header("Content-Length", str(len(body) + bad.length_offset))
        http.end_headers()
        self._send_body(http, body)

    def _send_body(self, http, body):
        bad = self.bad
        sent = 0
        for at in range(0, len(body), 1 << 16):
            piece = body[at:at + (1 << 16)]
            if bad.gate and sent >= bad.gate_after:
                http.wfile.flush()
                self.at_gate.set()
                bad.gate.wait(60)
            if bad.cut_after is not None and sent + len(piece) > bad.cut_after and bad.cut_times > 0:
                bad.cut_times -= 1
                http.wfile.write(piece[:bad.cut_after - sent])
                return self._reset(http)
            if bad.stall_after is not None and sent + len(piece) > bad.stall_after and bad.stall_times > 0:
                bad.stall_times -= 1
                http.wfile.write(piece[:bad.stall_after - sent])
                http.wfile.flush()
                http.connection.recv(1)  # returns when the client leaves
                http.close_connection = True
                return
            if bad.chunked:
                piece = f"{len(piece):x}\r\n".encode() + piece + b"\r\n"
            http.wfile.write(piece)
            sent += 1 << 16
        if bad.chunked:
            http.wfile.write(b"0\r\n\r\n")
        if bad.length_offset > 0:
            self._reset(http)

    @staticmethod
    def _reset(http):
        http.wfile.flush()
        http.close_connection = True
        try:
            http.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve_for_people():
    """`python3 server.py FOLDER`: the .gguf files of a folder as the repository test/models, until Ctrl-C."""
    import os
    import sys
    server = Server()
    folder = sys.argv[1]
    files = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".gguf"):
            with open(os.path.join(folder, name), "rb") as file:
                files[name] = file.read()
    server.repositories["test/models"] = files
    print(f"HF_ENDPOINT={server.url}", flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    serve_for_people()
