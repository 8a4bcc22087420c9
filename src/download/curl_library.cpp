#include "download/curl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/error.h"

namespace minfer::download {
namespace {

// The name has the number of libcurl's binary interface, which is 4 since 2006.
#ifdef __APPLE__
constexpr const char* file_name = "libcurl.4.dylib";
#else
constexpr const char* file_name = "libcurl.so.4";
#endif

[[noreturn]] void fail() {
  const char* why = ::dlerror();
  throw Error(
      ErrorCode::io,
      fmt::format("downloading: {} cannot be used: {}", file_name, why ? why : "no reason given"),
      "install libcurl (Debian: apt-get install libcurl4), or fetch the model by other means and give "
      "its path");
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (!function) fail();
}

CurlLibrary open() {
  void* const library = ::dlopen(file_name, RTLD_LAZY | RTLD_LOCAL);  // stays open as long as the process
  if (!library) fail();
  CurlLibrary curl;
  find(library, "curl_global_init", curl.global_init);
  find(library, "curl_free", curl.free);
  find(library, "curl_getdate", curl.getdate);
  find(library, "curl_easy_init", curl.easy_init);
  find(library, "curl_easy_cleanup", curl.easy_cleanup);
  find(library, "curl_easy_reset", curl.easy_reset);
  find(library, "curl_easy_setopt", curl.easy_setopt);
  find(library, "curl_easy_getinfo", curl.easy_getinfo);
  find(library, "curl_easy_perform", curl.easy_perform);
  find(library, "curl_easy_strerror", curl.easy_strerror);
  find(library, "curl_easy_unescape", curl.easy_unescape);
  find(library, "curl_slist_append", curl.slist_append);
  find(library, "curl_slist_free_all", curl.slist_free_all);
  find(library, "curl_url", curl.url);
  find(library, "curl_url_cleanup", curl.url_cleanup);
  find(library, "curl_url_get", curl.url_get);
  find(library, "curl_url_set", curl.url_set);
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    throw Error(ErrorCode::io, "libcurl cannot be initialised");
  return curl;
}

}  // namespace

const CurlLibrary& libcurl() {
  static const CurlLibrary library = open();
  return library;
}

}  // namespace minfer::download
