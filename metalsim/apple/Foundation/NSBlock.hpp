// A std::function in the shape of a block, so that handlers work with compilers that have no blocks. The
// layout is the one of the block runtime (Block.h); the runtime copies it to the heap and calls the helpers
// below.
#pragma once

#include <functional>
#include <utility>

extern "C" void* _NSConcreteStackBlock[32];

namespace NS::Private {

template <class... Arguments>
class FunctionBlock {
 public:
  using Function = std::function<void(Arguments...)>;

  explicit FunctionBlock(Function function) : function_(std::move(function)) {}

  /// What the message receives. Whoever keeps it must copy it with _Block_copy while this object lives.
  const void* get() const { return this; }

 private:
  struct Descriptor {
    unsigned long reserved;
    unsigned long size;
    void (*copy)(FunctionBlock* to, const FunctionBlock* from);
    void (*dispose)(FunctionBlock* block);
  };

  static constexpr int has_copy_and_dispose = 1 << 25;

  static void call(FunctionBlock* block, Arguments... arguments) { block->function_(arguments...); }
  static void copy(FunctionBlock* to, const FunctionBlock* from) {
    new (&to->function_) Function(from->function_);
  }
  static void dispose(FunctionBlock* block) { block->function_.~Function(); }
  static inline const Descriptor description_ = {0, sizeof(FunctionBlock), &copy, &dispose};

  const void* isa_ = _NSConcreteStackBlock;
  int flags_ = has_copy_and_dispose;
  int reserved_ = 0;
  void (*invoke_)(FunctionBlock*, Arguments...) = &call;
  const Descriptor* descriptor_ = &description_;
  Function function_;
};

}  // namespace NS::Private
