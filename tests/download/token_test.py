"""The token goes to the hub and to nobody else."""
import unittest

from gguf_bytes import gguf
from support import TOKEN, DownloadTest


class Token(DownloadTest):
    def setUp(self):
        super().setUp()
        self.data = gguf(seed=1)
        self.server.repositories["o/r"] = {"m.gguf": self.data}
        self.other = self.start_server()  # same host, another port: another origin
        self.other.web["/cdn/m.gguf"] = self.data

    def pull(self, source="hf:o/r", **more):
        result = self.minfer("pull", source, HF_TOKEN=TOKEN, **more)
        self.assertNotIn(TOKEN.encode(), result.stderr + result.stdout)
        return result

    def tokens(self, server):
        return [request.headers.get("authorization") for request in server.requests]

    def test_sent_to_the_hub(self):
        self.assert_pulled(self.pull(), self.data)
        self.assertEqual(self.tokens(self.server), [f"Bearer {TOKEN}"] * 2)

    def test_not_sent_where_a_redirect_leads(self):
        self.server.bad.redirect_to = lambda path: self.other.url + "/cdn/m.gguf"
        self.assert_pulled(self.pull(), self.data)
        self.assertEqual(self.tokens(self.server), [f"Bearer {TOKEN}"] * 2)
        self.assertEqual(self.tokens(self.other), [None])

    def test_not_sent_to_another_name_of_the_same_machine(self):
        self.server.web["/cdn/m.gguf"] = self.data
        elsewhere = self.server.url.replace("127.0.0.1", "localhost")
        self.server.bad.redirect_to = lambda path: elsewhere + "/cdn/m.gguf" if "resolve" in path else None
        self.assert_pulled(self.pull(), self.data)
        self.assertEqual(self.tokens(self.server), [f"Bearer {TOKEN}"] * 2 + [None])

    def test_sent_after_a_redirect_within_the_hub(self):
        self.server.repositories["o/new-name"] = {"m.gguf": self.data}
        self.server.bad.redirect_to = lambda path: "/o/new-name/resolve/main/m.gguf" if path.startswith("/o/r/") else None
        self.assert_pulled(self.pull(), self.data)
        self.assertEqual(self.tokens(self.server), [f"Bearer {TOKEN}"] * 3)

    def test_sent_again_only_if_the_way_leads_back(self):
        self.server.bad.redirect_to = lambda path: self.other.url + "/there" if path.endswith("m.gguf") else None
        self.other.bad.redirect_to = lambda path: self.server.url + "/back.gguf" if path == "/there" else None
        self.server.web["/back.gguf"] = self.data
        self.server.bad.redirect_to = lambda path: self.other.url + "/there" if "resolve" in path else None
        self.assert_pulled(self.pull(), self.data)
        self.assertEqual(self.tokens(self.other), [None])

    def test_not_sent_to_a_next_page_elsewhere(self):
        self.server.bad.raw_list = None
        self.other.repositories["o/r"] = {"m.gguf": self.data}
        link = {"Link": f'<{self.other.url}/api/models/o/r/tree/main?recursive=true>; rel="next"'}
        self.server._send, original = (lambda http, status, body, headers: original(http, status, body, dict(headers, **link))
                                       if "/api/" in http.path else original(http, status, body, headers)), self.server._send
        self.pull()
        self.assertEqual(self.tokens(self.other), [None])

    def test_not_sent_to_ollama_or_plain_urls(self):
        self.server.add_ollama("library", "a", "latest", self.data)
        self.server.web["/m.gguf"] = self.data
        self.assert_pulled(self.pull("ollama:a"), self.data)
        self.assert_pulled(self.pull(self.server.url + "/m.gguf"), self.data)
        self.assertEqual(set(self.tokens(self.server)), {None})

    def test_not_sent_over_plain_http_to_another_machine(self):
        result = self.pull(MINFER_DOWNLOAD_RETRIES="0", HF_ENDPOINT="http://example.invalid")
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"HF_TOKEN is not sent", result.stderr)

    def test_not_sent_through_a_proxy_of_the_environment_to_http_elsewhere(self):
        """With a proxy, the request for another machine is seen by us: it must not hold the token."""
        self.other.bad.statuses = [(404, {})]
        self.pull(HF_ENDPOINT="http://hub.example.invalid", http_proxy=self.other.url)
        self.assertEqual(self.tokens(self.other), [None])

    def test_not_in_the_cache(self):
        import os
        self.assert_pulled(self.pull(), self.data)
        for folder, _, names in os.walk(self.cache):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    self.assertNotIn(TOKEN.encode(), file.read())


unittest.main()
