#pragma once
#include <curl/curl.h>

namespace minfer::download {

/// What http.cpp uses of libcurl, named as there without `curl_`.
struct CurlLibrary {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_free) free;
  decltype(&::curl_getdate) getdate;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_reset) easy_reset;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_perform) easy_perform;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_easy_unescape) easy_unescape;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_url) url;
  decltype(&::curl_url_cleanup) url_cleanup;
  decltype(&::curl_url_get) url_get;
  decltype(&::curl_url_set) url_set;
};

/// Opens and initialises it on the first call, not when the program starts: it brings thirty libraries along,
/// which would be half of a command's start, for the few commands that download. Throws Error{io} if the
/// system has no libcurl.
const CurlLibrary& libcurl();

}  // namespace minfer::download
