// Integers on their way to another process: as few bytes as hold the largest, and no columns at the end that are all 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace comboost {

struct PackedShape {
    std::size_t n_columns;  // that travel
    std::size_t n_bytes;    // of a number, the lowest ones, with a bit for its sign
};

// What holds all numbers of an array with `n_columns` columns.
PackedShape packed_shape(std::span<const std::int64_t> numbers, std::size_t n_columns);

// The numbers, row by row, the lowest byte first.
std::vector<std::uint8_t> pack(std::span<const std::int64_t> numbers, std::size_t n_columns, const PackedShape& shape);

// Numbers that were packed.
void unpack(std::span<const std::uint8_t> packed, const PackedShape& shape, std::size_t n_columns,
            std::span<std::int64_t> numbers);

}  // namespace comboost
