#pragma once
#include <set>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "graph/params.h"
#include "models/model.h"

namespace minfer {

/// How many blocks are to run on the device.
struct LayerRequest {
  enum class Kind { all, fit, count } kind = Kind::all;
  int64_t count = 0;
};

/// What an option says, or MINFER_GPU_LAYERS where it is empty. Throws Error{bad_request}.
LayerRequest layer_request(const std::string& option);

/// Which part of a model is on a device: its first blocks, and all else only with the last of them.
struct DevicePlan {
  int64_t blocks = 0, of = 0;
  std::set<std::string> device_weights, host_weights;  ///< by name; a weight may be in both
  size_t weight_bytes = 0;                             ///< of device_weights
  std::vector<std::string> obstacles;                  ///< what the device cannot run, and why; empty: it can
  std::vector<std::string> notes;                      ///< why not more is on the device
  bool whole() const { return blocks == of; }
  /// The first obstacles, a line each.
  std::string obstacle_text() const;
};

/// The largest prefix within the request that the device's memory allows (where the request is to fit), and
/// whether the device has a kernel for each of its nodes. Throws Error{device} with the device's own words if
/// the request is to fit and the device cannot say what memory it has.
DevicePlan plan_device(const Model& model, const Backend& device, const ContextParams& context,
                       const LayerRequest& request);

/// KV rows of a device: half precision pays from this size on.
KvFormat device_kv_format(const Hyperparams& hyperparams);

}  // namespace minfer
