#include "comboost/system.hpp"

#ifdef _WIN32
#include <windows.h>
#else
#include <pthread.h>
#include <time.h>
#endif

namespace comboost {

#ifdef _WIN32

std::chrono::nanoseconds cpu_time() { return std::chrono::steady_clock::now().time_since_epoch(); }

bool has_avx2() { return IsProcessorFeaturePresent(PF_AVX2_INSTRUCTIONS_AVAILABLE) != 0; }

int at_fork_in_child(void (*)()) { return 0; }

#else

std::chrono::nanoseconds cpu_time() {
    timespec spent;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

#ifdef __x86_64__
bool has_avx2() { return __builtin_cpu_supports("avx2"); }
#else
bool has_avx2() { return false; }
#endif

int at_fork_in_child(void (*call)()) { return pthread_atfork(nullptr, nullptr, call); }

WithoutSignals::WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
}

WithoutSignals::~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

#endif

}  // namespace comboost
