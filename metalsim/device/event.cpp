#include "device/event.h"

#include <chrono>

#include "device/task_thread.h"
#include "objc/class_builder.h"
#include "objc/misuse.h"

namespace metalsim::device {

SharedEventListener* SharedEventListener::shared() {
  static SharedEventListener* const instance = [] {
    auto* const listener = objc::make<SharedEventListener>();
    objc::make_immortal(listener);
    return listener;
  }();
  return instance;
}

uint64_t Event::value() const {
  std::lock_guard lock(mutex_);
  return value_;
}

void Event::signal(uint64_t value) {
  {
    std::lock_guard lock(mutex_);
    if (value < value_) {
      report_misuse(describe() + ": signalled with " + std::to_string(value) + " after " +
                    std::to_string(value_) + "; the values of an event must grow");
      return;
    }
    value_ = value;
    reached(value);
  }
  changed_.notify_all();
}

bool Event::wait(uint64_t value, uint64_t milliseconds) {
  std::unique_lock lock(mutex_);
  const auto is_reached = [&] { return value_ >= value; };
  constexpr uint64_t longest =
      uint64_t{1000} * 60 * 60 * 24 * 365;  // so that the clock's arithmetic cannot overflow
  return changed_.wait_for(lock, std::chrono::milliseconds(std::min(milliseconds, longest)), is_reached);
}

void SharedEvent::notify(Object* listener, uint64_t value, const void* block) {
  if (!listener || !block) {
    report_misuse("notifyListener of " + describe() + ": the listener or the block is null");
    return;
  }
  auto notification = std::make_shared<Notification>(block);
  std::lock_guard lock(mutex_);
  if (value_ >= value) {
    call(std::move(notification), value_);
  } else {
    waiting_.push_back({value, std::move(notification)});
  }
}

void SharedEvent::reached(uint64_t value) {
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (it->value > value) {
      ++it;
      continue;
    }
    call(std::move(it->block), value);
    it = waiting_.erase(it);
  }
}

void SharedEvent::call(std::shared_ptr<Notification> block, uint64_t value) {
  TaskThread::shared().post([self = Ref<Object>(this), block = std::move(block), value] {
    const auto pool = Ref<objc::AutoreleasePool>::adopt(objc::make<objc::AutoreleasePool>());
    (*block)(self.get(), value);
  });
}

void Fence::check_wait() const {
  if (!updated_)
    report_misuse("waitForFence: nothing encoded before updates " + describe() +
                  "; encode updateFence first");
}

Object* Device::new_event() { return objc::make<Event>(this); }
Object* Device::new_shared_event() { return objc::make<SharedEvent>(this); }
Object* Device::new_fence() { return objc::make<Fence>(this); }

void register_event_classes() {
  objc::ClassBuilder<SharedEventListener>().creatable().class_method<&SharedEventListener::shared>(
      "sharedListener");
  objc::ClassBuilder<Event>()
      .method<&Event::device>("device")
      .method<&Event::get_label>("label")
      .method<&Event::set_label>("setLabel:");
  objc::ClassBuilder<SharedEvent>("MTLEvent")
      .method<&SharedEvent::value>("signaledValue")
      .method<&SharedEvent::signal>("setSignaledValue:")
      .method<&SharedEvent::wait>("waitUntilSignaledValue:timeoutMS:")
      .method<&SharedEvent::notify>("notifyListener:atValue:block:");
  objc::ClassBuilder<Fence>()
      .method<&Fence::device>("device")
      .method<&Fence::get_label>("label")
      .method<&Fence::set_label>("setLabel:");
}

}  // namespace metalsim::device
