// Limits on memory that a fit takes; Python plans its memory by them, see src/comboost/_engine/memory_plan.py.
#pragma once

#include <cstddef>

namespace comboost {

// Columns that a thread sorts one after the other, at most, and bytes that they take unless one of them takes more.
// They are gathered together, so that a row-major matrix is not read once per column.
inline constexpr std::size_t kMaxSortedColumns = 8;
inline constexpr std::size_t kMaxSortedBytes = 1 << 24;

inline constexpr std::size_t kMaxCandidates = 1 << 18;  // pairs of node and feature that are evaluated at once

// Trees that may become so deep and have so many leaves hold their codes by row, too.
inline constexpr std::size_t kManyLevels = 5;
inline constexpr std::size_t kManyLeaves = 32;
inline constexpr std::size_t kRowPadding = 16;  // bytes; so rows lie across fewer cache lines

}  // namespace comboost
