// Memory that a thread keeps from one use to the next.
#pragma once

#include <utility>

namespace comboost {

// What this thread keeps, as long as this lives. An interrupt poll may run anything on this thread meanwhile, even a
// call that borrows the same; that one gets another.
template <class T>
class Borrowed {
  public:
    Borrowed() : object_(std::exchange(kept(), T{})) {}
    ~Borrowed() { kept() = std::move(object_); }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;

    T& operator*() { return object_; }
    T* operator->() { return &object_; }

  private:
    static T& kept() {
        thread_local T object;
        return object;
    }

    T object_;
};

}  // namespace comboost
