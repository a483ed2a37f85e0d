// What systems and CPUs do differently: the only file, beside the vectors, that depends on which ones these are.
#pragma once

#include <chrono>

#ifndef _WIN32
#include <csignal>
#endif

namespace comboost {

// Hint to the CPU that this thread spins.
inline void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// CPU time of this thread. Windows counts it in ticks of 16 ms, longer than most loops: there it is the time of day, by
// which a thread that was kept from working has worked.
std::chrono::nanoseconds cpu_time();

// Whether the CPU has the instructions of AVX2; only where kernels for them are built.
bool has_avx2();

// Lets `call` be the first thing that a forked child does. Returns 0 if it could be arranged.
int at_fork_in_child(void (*call)());

// While it lives, threads that are made get no signals: these are for the program's own threads.
class WithoutSignals {
  public:
#ifdef _WIN32
    WithoutSignals() {}  // threads get no signals there
#else
    WithoutSignals();
    ~WithoutSignals();
#endif
    WithoutSignals(const WithoutSignals&) = delete;
    WithoutSignals& operator=(const WithoutSignals&) = delete;

#ifndef _WIN32
  private:
    sigset_t before_;
#endif
};

}  // namespace comboost
