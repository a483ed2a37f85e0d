#include <atomic>
#include <chrono>

#include "arrays.hpp"
#include "comboost/interrupts.hpp"
#include "comboost/kernels.hpp"
#include "comboost/parallel.hpp"
#include "comboost/system.hpp"

namespace comboost_python {
namespace {

constexpr double kSecondsPerPoll = 0.1;  // Python's other threads may make each poll wait for 5 ms

std::atomic<unsigned long> main_thread;  // Python's; no other thread runs handlers of signals

// Lets Python handle the signals that have arrived, and ends the call if a handler raises.
void handle_signals() {
    if (PyThread_get_thread_ident() != main_thread) return;
    nb::gil_scoped_acquire python;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void poll_signals(double every) {
    require(every >= 0.0 && every <= 3600.0, "every lies outside 0..3600 seconds");
    comboost::set_interrupt_hook(
        &handle_signals, std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(every)));
}

}  // namespace

void bind_parallel(nb::module_& m) {
    main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
    comboost::at_fork_in_child([] { main_thread = PyThread_get_thread_ident(); });  // as Python does
    poll_signals(kSecondsPerPoll);
    m.def("poll_signals", &poll_signals, "every"_a = kSecondsPerPoll,
          "Set the seconds between two polls for signals in a long call.");
    m.attr("HAS_OPENMP") = comboost::kHasOpenMP;
    m.def("available_threads", &comboost::available_threads, "requested"_a,
          "Threads that a request gets here: no more than OpenMP would give, which the environment and threadpoolctl "
          "limit.");
    m.def("allow_wide_vectors", &comboost::allow_wide_vectors, "allowed"_a,
          "Whether the kernels may use wider vectors than every CPU has. The result is the same.");
}

}  // namespace comboost_python
