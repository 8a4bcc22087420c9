#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/session.h"
#include "minfer/minfer.h"

struct minfer_session {
  std::unique_ptr<minfer::Session> session;
  std::string device, kv_format;         ///< terminated for C
  std::span<const float> logits;         ///< of the last token; empty: there are none
  std::vector<minfer::Token> generated;  ///< by the last generation
  std::atomic<bool> busy = false;        ///< a call is running
  std::atomic<bool> cancel = false;      ///< wanted by another thread
};

namespace minfer::api {

/// One call's hold on a session. Throws Error{bad_request} if the session is null or another call holds it,
/// be it on another thread or further up on this one, in a callback.
class Use {
 public:
  explicit Use(minfer_session* session);
  ~Use() { session_.busy.store(false, std::memory_order_release); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  minfer_session& operator*() const { return session_; }
  minfer_session* operator->() const { return &session_; }

 private:
  minfer_session& session_;
};

/// A hold for a call that computes: there are no logits until it has made some, and a request to cancel ends
/// with it.
class Computing : public Use {
 public:
  explicit Computing(minfer_session* session) : Use(session) { (*this)->logits = {}; }
  ~Computing() { (*this)->cancel = false; }
};

/// Decodes as the engine does; throws Failure{MINFER_CANCELLED}, with the cache as before, if that was
/// wanted.
std::span<const float> decode(minfer_session& session, std::span<const Token> tokens);

}  // namespace minfer::api
