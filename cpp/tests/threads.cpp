// Properties of the pool: every chunk is done once, also if callers fail, nest or fork. Run under sanitizers.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "comboost/parallel.hpp"
#include "comboost/sharing.hpp"

using namespace comboost;

namespace {

#ifdef __SANITIZE_THREAD__
constexpr bool kForkedChildrenMakeThreads = false;  // the thread sanitizer does not allow it
#else
constexpr bool kForkedChildrenMakeThreads = true;
#endif

constexpr std::size_t kMuchWork = 1 << 20;  // worth waking others, whatever the tasks are

// In a thread of its own, which has lost no time by sharing yet.
template <class Call>
void afresh(Call&& call) {
    std::thread(call).join();
}

bool each_is_done_once(std::size_t n_tasks, std::size_t work, int n_threads) {
    std::vector<int> n_times(n_tasks);  // not atomic: no two threads get the same task
    for_each_task(n_tasks, work, n_threads, [&](std::size_t task) { ++n_times[task]; });
    return std::count(n_times.begin(), n_times.end(), 1) == static_cast<std::ptrdiff_t>(n_tasks);
}

// Runs a loop of two tasks that can only end if two threads have begun one each.
void meet_another_thread() {
    std::atomic<int> n_here = 0;
    for_each_task(2, kMuchWork, 2, [&](std::size_t) {
        ++n_here;
        while (n_here < 2) std::this_thread::yield();
    });
}

void every_task_is_done_once() {
    for (const std::size_t n_tasks : std::initializer_list<std::size_t>{0, 1, 2, 3, 17, 1000, 100000})
        for (const std::size_t work : {std::size_t{0}, kSerialWork, kWakingWork, kMuchWork, 1000 * kMuchWork})
            for (const int n_threads : {1, 2, 3, 8}) CHECK(each_is_done_once(n_tasks, work, n_threads));
}

void chunks_are_as_few_as_the_claims_can_count() {
    for (const std::size_t n_tasks : {std::size_t{1}, kMostChunks, 3 * kMostChunks + 1, std::size_t{1} << 40})
        for (const std::size_t work : {std::size_t{0}, kMuchWork, std::size_t{1} << 60}) {
            const std::size_t step = tasks_per_chunk(n_tasks, work, 4);
            CHECK(step >= 1 && (n_tasks + step - 1) / step <= kMostChunks);
        }
}

void the_first_failure_comes_out_and_the_next_loop_works() {
    for (int repetition = 0; repetition < 200; ++repetition) {
        try {
            for_each_task(64, kMuchWork, 3, [](std::size_t task) {
                if (task % 16 == 7) throw std::invalid_argument("this one");
            });
            CHECK(false);
        } catch (const std::invalid_argument&) {
            CHECK(each_is_done_once(64, kMuchWork, 3));
        }
    }
}

void loops_nest() {
    std::atomic<std::size_t> n_done = 0;
    for_each_task(20, kMuchWork, 3,
                  [&](std::size_t) { for_each_task(30, kMuchWork, 3, [&](std::size_t) { ++n_done; }); });
    CHECK(n_done == 600);
}

void failures_leave_nested_loops() {
    try {
        for_each_task(4, kMuchWork, 2, [](std::size_t) {
            for_each_task(4, kMuchWork, 2, [](std::size_t) { throw std::invalid_argument("inner"); });
        });
        CHECK(false);
    } catch (const std::invalid_argument&) {
    }
}

void many_may_call_at_once() {  // more than there are slots
    std::atomic<int> n_wrong = 0;
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 24; ++caller)
        callers.emplace_back([&] {
            for (int repetition = 0; repetition < 50; ++repetition)
                if (!each_is_done_once(50, kMuchWork, 3)) ++n_wrong;
        });
    for (std::thread& caller : callers) caller.join();
    CHECK(n_wrong == 0);
}

// Loops that end before those called to help have come: they find nothing, and touch nothing of it.
void late_threads_find_nothing() {
    for (std::size_t repetition = 0; repetition < 20000; ++repetition) {
        std::vector<std::size_t> freed(3);
        for_each_task(3, kMuchWork, 4, [&](std::size_t task) { freed[task] = repetition; });
        CHECK(freed == std::vector<std::size_t>(3, repetition));
    }
}

void nobody_waits_for_threads_that_have_begun_nothing() {
    std::atomic<bool> is_over = false;
    std::atomic<int> n_kept = 0;
    std::thread keeper([&] {  // keeps every thread that helps it
        for_each_task(2, kMuchWork, 2, [&](std::size_t) {
            ++n_kept;
            while (!is_over) std::this_thread::yield();
        });
    });
    while (n_kept < 2) std::this_thread::yield();
    CHECK(each_is_done_once(100, kMuchWork, 2));
    is_over = true;
    keeper.join();
}

// The child of a process whose other threads run loops right now.
void a_forked_child_has_threads_of_its_own() {
    std::atomic<bool> is_over = false;
    std::thread other([&] {
        while (!is_over) each_is_done_once(100, kMuchWork, 3);
    });
    for (int repetition = 0; repetition < 10; ++repetition)
        afresh([] {
            const pid_t child = fork();
            if (child == 0) {
                alarm(60);
                meet_another_thread();
                _exit(each_is_done_once(1000, kMuchWork, 2) ? 0 : 1);
            }
            int status = -1;
            CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
            CHECK(each_is_done_once(1000, kMuchWork, 2));
        });
    is_over = true;
    other.join();
}

// Sharing does not pay where threads wait instead of working.
void a_forked_child_shares_though_its_parent_rests() {
    do for_each_task(2, kMuchWork, 2, [](std::size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); });
    while (!works_alone());
    const pid_t child = fork();
    if (child == 0) _exit(works_alone() ? 1 : 0);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void a_loop_that_forks_ends_in_the_child() {
    afresh([] {
        std::atomic<int> n_here = 0;
        const std::thread::id caller = std::this_thread::get_id();
        pid_t child = -1;
        const auto fork_once_both_are_here = [&](std::size_t) {
            ++n_here;
            while (n_here < 2) std::this_thread::yield();
            if (std::this_thread::get_id() == caller) child = fork();
        };
        try {
            for_each_task(2, kMuchWork, 2, fork_once_both_are_here);
        } catch (const std::runtime_error&) {  // the other task is lost
            _exit(child == 0 ? 3 : 1);
        }
        if (child == 0) _exit(2);
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
    });
}

void losses_are_made_up_for_by_rests() {
    using std::chrono::milliseconds;
    const Clock::time_point now = Clock::now() + std::chrono::hours(1);
    SharingPolicy policy;
    CHECK(!policy.works_alone());
    policy.record(milliseconds(10), milliseconds(5), now);
    policy.record(milliseconds(1), milliseconds(2), now);
    CHECK(!policy.works_alone());  // paid for by the gain
    policy.record(milliseconds(1), milliseconds(2), now);
    CHECK(policy.works_alone());
    SharingPolicy old;
    old.record(milliseconds(1), milliseconds(2), now - std::chrono::hours(2));
    CHECK(!old.works_alone());
}

}  // namespace

int main() {
    afresh(meet_another_thread);
    every_task_is_done_once();
    chunks_are_as_few_as_the_claims_can_count();
    the_first_failure_comes_out_and_the_next_loop_works();
    loops_nest();
    failures_leave_nested_loops();
    many_may_call_at_once();
    late_threads_find_nothing();
    afresh(nobody_waits_for_threads_that_have_begun_nothing);
    if (kForkedChildrenMakeThreads) a_forked_child_has_threads_of_its_own();
    afresh(a_forked_child_shares_though_its_parent_rests);
    a_loop_that_forks_ends_in_the_child();
    losses_are_made_up_for_by_rests();
    std::printf("thread tests: %d passed, %d failed\n", check::n_passed, check::n_failed);
    return check::n_failed != 0;
}
