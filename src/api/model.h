#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "chat/chat_template.h"
#include "minfer/minfer.h"
#include "models/model.h"

struct minfer_model {
  std::shared_ptr<const minfer::Model> model;
  std::string name;  ///< general.name, terminated for C
  mutable std::mutex mutex;
  mutable std::shared_ptr<const minfer::chat::ChatTemplate> chat;  ///< parsed at its first use
};

namespace minfer::api {

/// The model's chat template, from any thread. Throws as ChatTemplate::load does.
const chat::ChatTemplate& chat_template(const minfer_model& model);

}  // namespace minfer::api
