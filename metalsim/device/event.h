// MTLEvent, MTLSharedEvent, MTLSharedEventListener, MTLFence.
#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

#include "device/block.h"
#include "device/device.h"

namespace metalsim::device {

class SharedEventListener : public Object {
 public:
  static constexpr const char* class_name = "MTLSharedEventListener";

  static SharedEventListener* shared();
};

/// A number that only grows. Command buffers wait until it is reached; a shared event is seen and set by the
/// host as well.
class Event : public DeviceObject {
 public:
  static constexpr const char* class_name = "MTLEvent";
  using DeviceObject::DeviceObject;

  uint64_t value() const;

  /// Raises the value and wakes whoever waits. A smaller value is a mistake that is reported and ignored.
  void signal(uint64_t value);

  /// Waits until the value is reached. False if that takes longer than `milliseconds`.
  bool wait(uint64_t value, uint64_t milliseconds);

 protected:
  virtual void reached(uint64_t) {}

  mutable std::mutex mutex_;
  uint64_t value_ = 0;

 private:
  std::condition_variable changed_;
};

class SharedEvent : public Event {
 public:
  static constexpr const char* class_name = "MTLSharedEvent";
  using Event::Event;

  /// The block is called on a thread of the simulator once the value is reached, at once if it is already.
  void notify(Object* listener, uint64_t value, const void* block);

 protected:
  void reached(uint64_t value) override;

 private:
  using Notification = Block<Object*, uint64_t>;
  struct Waiting {
    uint64_t value;
    std::shared_ptr<Notification> block;
  };
  void call(std::shared_ptr<Notification> block, uint64_t value);

  std::vector<Waiting> waiting_;
};

/// Orders the encoders of one queue. The simulator runs those one after another anyway, so it only finds a
/// wait for a fence that nothing has updated.
class Fence : public DeviceObject {
 public:
  static constexpr const char* class_name = "MTLFence";
  using DeviceObject::DeviceObject;

  void update() { updated_ = true; }
  void check_wait() const;

 private:
  std::atomic<bool> updated_{false};
};

void register_event_classes();

}  // namespace metalsim::device
