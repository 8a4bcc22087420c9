#pragma once
#include <memory>

#include "minfer/minfer.h"
#include "models/model.h"

struct minfer_model {
  std::shared_ptr<const minfer::Model> model;
  std::string name;  ///< general.name, terminated for C
};
