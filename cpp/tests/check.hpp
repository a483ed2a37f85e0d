// A test harness of a few lines: CHECK counts and reports, main() fails if anything failed.
#pragma once

#include <cstdio>

namespace check {

inline int n_passed = 0;
inline int n_failed = 0;

inline void that(bool holds, const char* what, const char* file, int line) {
    ++(holds ? n_passed : n_failed);
    if (!holds) std::printf("%s:%d: failed: %s\n", file, line, what);
}

}  // namespace check

#define CHECK(condition) check::that((condition), #condition, __FILE__, __LINE__)
