// A thread that runs tasks one after another.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace metalsim::device {

/// Tasks run in the order they are posted. The destructor lets those posted finish; on the thread itself it
/// cannot wait, so the thread then ends by itself after its current task.
class TaskThread {
 public:
  TaskThread();
  ~TaskThread();

  void post(std::function<void()> task);
  bool is_current() const { return thread_.get_id() == std::this_thread::get_id(); }

  /// One for the whole process, never stopped: for callbacks that belong to no queue.
  static TaskThread& shared();

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> tasks;
    bool stop = false;
  };
  static void run(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace metalsim::device
