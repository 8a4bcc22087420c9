/// The same dispatch in several orders of lanes and threadgroups: all are legal, so all must give the same
/// bytes.
#include <cstring>
#include <memory>
#include <vector>

#include "../runtime/dispatch.h"
#include "checker.h"
#include "defects.h"

namespace metalsim {

namespace {

/// Contents of every buffer that the kernel may write.
class Contents {
 public:
  explicit Contents(const Dispatch& dispatch) {
    for (uint32_t i = 0; i < max_buffers; ++i) {
      const Binding& binding = dispatch.buffers[i];
      if (!(dispatch.kernel->writable >> i & 1) || !binding.memory) continue;
      parts_.push_back({&binding, {binding.data, binding.data + binding.bytes}});
    }
  }
  void restore() const {
    for (const Part& part : parts_) std::memcpy(part.binding->data, part.bytes.data(), part.bytes.size());
  }
  /// Calls visit(binding, offset) at the first byte of each buffer that has changed since.
  template <class Visit>
  void compare(Visit&& visit) const {
    for (const Part& part : parts_)
      for (size_t i = 0; i < part.bytes.size(); ++i)
        if (part.bytes[i] != part.binding->data[i]) {
          visit(*part.binding, i);
          break;
        }
  }

 private:
  struct Part {
    const Binding* binding;
    std::vector<unsigned char> bytes;
  };
  std::vector<Part> parts_;
};

const char* name_of_order(Order order) { return order == Order::descending ? "descending" : "random"; }

}  // namespace

void run_in_all_orders(Dispatch& dispatch, const Options& options, OperationCounts& counts) {
  const Contents before(dispatch);
  const uint32_t first_pass = dispatch.number;
  Options pass = options;
  pass.order = Order::ascending;
  run_groups(dispatch, pass, counts);
  const Contents expected(dispatch);
  for (Order order : {Order::descending, Order::random}) {
    before.restore();
    renumber(dispatch);
    checker_begin_pass(dispatch, first_pass);
    pass.order = order;
    OperationCounts ignored;
    run_groups(dispatch, pass, ignored);
    expected.compare([&](const Binding& binding, size_t at) {
      report_order_dependence(dispatch, binding, at, name_of_order(order));
    });
  }
  expected.restore();
}

}  // namespace metalsim
