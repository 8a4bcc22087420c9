// URLs, names and sizes.
#include <doctest/doctest.h>

#include <ctime>

#include "download/files.h"
#include "download/http.h"
#include "download/safe_path.h"

using namespace minfer;
using namespace minfer::download;

TEST_CASE("an origin is scheme, host and port, each as libcurl will use it") {
  const Url hub = parse_url("https://Huggingface.CO/api/models?x=1#y", "test");
  CHECK(hub.scheme == "https");
  CHECK(hub.host == "huggingface.co");
  CHECK(hub.port == "443");
  CHECK(hub.path == "/api/models");
  CHECK(hub.same_origin(parse_url("HTTPS://huggingface.co:443/other", "test")));
  for (const char* other :
       {"http://huggingface.co/", "https://huggingface.co:444/", "https://huggingface.co.evil.example/",
        "https://evil.example/huggingface.co", "https://huggingface.com/", "https://cdn.huggingface.co/",
        "https://evil.example?@huggingface.co/", "https://evil.example#@huggingface.co/",
        "https://evil.example\\.huggingface.co/"}) {
    CAPTURE(other);
    bool same = false;
    try {
      same = hub.same_origin(parse_url(other, "test"));
    } catch (const Error&) {  // no URL at all: nothing is sent either
    }
    CHECK_FALSE(same);
  }
}

TEST_CASE("a token travels over TLS, or stays on this machine") {
  for (const char* url : {"https://example.org/", "http://127.0.0.1:80/", "http://127.1.2.3/",
                          "http://localhost:1234/", "http://[::1]/"})
    CHECK_MESSAGE(parse_url(url, "test").may_carry_secrets(), url);
  for (const char* url :
       {"http://example.org/", "http://127.0.0.1.example.org/", "http://localhost.example.org/",
        "http://10.0.0.1/", "http://[2001:db8::1]/", "http://128.0.0.1/"})
    CHECK_MESSAGE(!parse_url(url, "test").may_carry_secrets(), url);
}

TEST_CASE("what is no web address is refused") {
  for (const char* url : {"", "x", "ftp://example.org/", "file:///etc/passwd", "https://",
                          "https://user@example.org/", "https://user:pw@example.org/",
                          "https://exa mple.org/", "https://example.org:99999/", "javascript:alert(1)"})
    CHECK_THROWS_AS(parse_url(url, "test"), Error);
}

TEST_CASE("paths are escaped byte by byte and come back") {
  CHECK(escape_path("a/b c#?%+ä.gguf") == "a/b%20c%23%3F%25%2B%C3%A4.gguf");
  CHECK(unescape(escape_path("a/b c#?%+ä.gguf")) == "a/b c#?%+ä.gguf");
}

TEST_CASE("Retry-After in both forms") {
  const auto seconds = [](const char* value) {
    HttpHead head;
    head.headers["retry-after"] = value;
    return head.retry_after_seconds();
  };
  CHECK(seconds("7") == 7);
  CHECK(seconds("0") == 0);
  CHECK(seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0);
  CHECK(seconds("Wed, 21 Oct 2099 07:28:00 GMT").value_or(0) > 1'000'000);
  for (const char* value : {"", "soon", "-5", "7 s", "99999999999999999999"})
    CHECK_MESSAGE(!seconds(value), value);
  CHECK(!HttpHead().retry_after_seconds());
}

TEST_CASE("names that may become files, and those that may not") {
  for (const char* name : {"a", "model-Q4_K_M.gguf", "größe.gguf", "a b", "a..b", "#", "模型.gguf"})
    CHECK_MESSAGE(is_safe_name(name), name);
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string(".x"), std::string("a/b"),
        std::string("a\\b"), std::string("c:x"), std::string("a\nb"), std::string("a\0b", 3),
        std::string("a\x7f"), std::string("a\xff"), std::string("\xc2\x9b"), std::string(201, 'a')})
    CHECK_MESSAGE(!is_safe_name(name), name);
  CHECK(is_safe_path("a/b/c.gguf"));
  for (const char* path : {"", "/", "/a", "a/", "a//b", "a/../b", "../a", "a/./b", "a/.b"})
    CHECK_MESSAGE(!is_safe_path(path), path);
  CHECK_FALSE(is_safe_path(std::string(500, 'a') + "/" + std::string(600, 'a')));
  CHECK(is_plain_identifier("Qwen2.5-0.5B_x"));
  for (const char* name : {"a b", "ä", "a+b", "a@b", ""}) CHECK_MESSAGE(!is_plain_identifier(name), name);
}

TEST_CASE("sizes in the units of download pages") {
  CHECK(size_text(0) == "0 bytes");
  CHECK(size_text(999) == "999 bytes");
  CHECK(size_text(1000) == "1.0 kB");
  CHECK(size_text(9'940) == "9.9 kB");
  CHECK(size_text(9'960) == "10 kB");
  CHECK(size_text(98'362'432) == "98 MB");
  CHECK(size_text(999'600'000) == "1.0 GB");
  CHECK(size_text(UINT64_MAX) == "18 EB");
}
