#include "device/task_thread.h"

namespace metalsim::device {

TaskThread::TaskThread() : state_(std::make_shared<State>()), thread_(&TaskThread::run, state_) {}

TaskThread::~TaskThread() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
  if (is_current()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void TaskThread::post(std::function<void()> task) {
  {
    std::lock_guard lock(state_->mutex);
    state_->tasks.push_back(std::move(task));
  }
  state_->changed.notify_all();
}

TaskThread& TaskThread::shared() {
  static auto* const instance = new TaskThread;
  return *instance;
}

void TaskThread::run(std::shared_ptr<State> state) {
  std::unique_lock lock(state->mutex);
  for (;;) {
    state->changed.wait(lock, [&] { return state->stop || !state->tasks.empty(); });
    if (state->tasks.empty()) return;
    auto task = std::move(state->tasks.front());
    state->tasks.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it holds goes before the lock is taken again
    lock.lock();
  }
}

}  // namespace metalsim::device
