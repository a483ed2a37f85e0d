// Calls that let Python's other threads run.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <thread>

namespace comboost_python {

// While it lives, the thread does without Python.
class WithoutPython {
  public:
    WithoutPython() : state_(PyEval_SaveThread()) {}
    WithoutPython(const WithoutPython&) = delete;
    WithoutPython& operator=(const WithoutPython&) = delete;

    // A daemon thread that comes back while the interpreter ends is ended by Python, by unwinding its stack, which C++
    // would take for a crash. It stays here instead, until the process is gone.
    ~WithoutPython() {
        try {
            PyEval_RestoreThread(state_);
        } catch (...) {
            for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
        }
    }

  private:
    PyThreadState* state_;
};

}  // namespace comboost_python
