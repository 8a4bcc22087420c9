"""HTTPS: whom to trust, and that nothing leads from it to plain HTTP."""
import os
import shutil
import subprocess
import unittest

from gguf_bytes import gguf
from support import TOKEN, DownloadTest


@unittest.skipUnless(shutil.which("openssl"), "there is no openssl program to make a certificate with")
class Tls(DownloadTest):
    def setUp(self):
        super().setUp()
        self.plain = self.server
        self.data = gguf(seed=1)
        self.start_tls("IP:127.0.0.1")

    def start_tls(self, subject):
        self.certificate, key = (os.path.join(self.scratch.name, name) for name in ("cert.pem", "key.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", self.certificate, "-days",
                        "2", "-subj", "/CN=test", "-addext", f"subjectAltName={subject}"], check=True, capture_output=True)
        self.server = self.start_server(self.certificate, key)
        self.server.repositories["o/r"] = {"m.gguf": self.data}

    def test_trusted(self):
        result = self.minfer("pull", "hf:o/r", SSL_CERT_FILE=self.certificate, HF_TOKEN=TOKEN)
        self.assert_pulled(result, self.data)
        self.assertEqual([r.headers.get("authorization") for r in self.server.requests], [f"Bearer {TOKEN}"] * 2)

    def test_not_trusted(self):
        self.assert_refused(self.minfer("pull", "hf:o/r", HF_TOKEN=TOKEN), "certificate", "SSL_CERT_FILE")
        self.assertEqual(self.server.requests, [])

    def test_certificate_of_another_host(self):
        self.start_tls("DNS:elsewhere.example")
        self.assert_refused(self.minfer("pull", "hf:o/r", SSL_CERT_FILE=self.certificate), "certificate")
        self.assertEqual(self.server.requests, [])

    def test_redirect_to_plain_http(self):
        self.plain.web["/m.gguf"] = self.data
        self.server.bad.redirect_to = lambda path: self.plain.url + "/m.gguf"
        self.assert_refused(self.minfer("pull", "hf:o/r", SSL_CERT_FILE=self.certificate), "from HTTPS to plain HTTP")
        self.assertEqual(self.plain.requests, [])


unittest.main()
