#include "comboost/packing.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "comboost/interrupts.hpp"

namespace comboost {
namespace {

constexpr std::size_t kWhole = sizeof(std::int64_t);
constexpr int kSignShift = 63;

static_assert(std::endian::native == std::endian::little, "packed numbers begin with their lowest byte");

// body(k) for every number of the columns that travel.
template <class Body>
void for_each_packed(std::size_t n_numbers, std::size_t n_columns, std::size_t n_packed_columns, Body&& body) {
    for_each_stretch(0, n_columns == 0 ? 0 : n_numbers / n_columns, n_columns, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i)
            for (std::size_t j = 0; j < n_packed_columns; ++j) body(i * n_columns + j);
    });
}

}  // namespace

PackedShape packed_shape(std::span<const std::int64_t> numbers, std::size_t n_columns) {
    std::vector<std::uint64_t> bits(n_columns);  // that are set in any number of a column
    std::uint64_t unlike_sign = 0;               // bits of any number that are not what its sign fills it up with
    for (std::size_t begin = 0; begin < numbers.size(); begin += n_columns)
        for (std::size_t j = 0; j < n_columns; ++j) {
            const std::int64_t number = numbers[begin + j];
            bits[j] |= static_cast<std::uint64_t>(number);
            unlike_sign |= static_cast<std::uint64_t>(number ^ (number >> kSignShift));
        }
    while (!bits.empty() && bits.back() == 0) bits.pop_back();
    return {bits.size(), static_cast<std::size_t>(std::bit_width(unlike_sign)) / 8 + 1};
}

std::vector<std::uint8_t> pack(std::span<const std::int64_t> numbers, std::size_t n_columns, const PackedShape& shape) {
    const std::size_t n_rows = n_columns == 0 ? 0 : numbers.size() / n_columns;
    const std::size_t size = n_rows * shape.n_columns * shape.n_bytes;
    std::vector<std::uint8_t> packed(size + kWhole);  // whole numbers are written, each over the end of the one before
    std::uint8_t* to = packed.data();
    for_each_packed(numbers.size(), n_columns, shape.n_columns, [&](std::size_t k) {
        std::memcpy(to, &numbers[k], kWhole);
        to += shape.n_bytes;
    });
    packed.resize(size);
    return packed;
}

void unpack(std::span<const std::uint8_t> packed, const PackedShape& shape, std::size_t n_columns,
            std::span<std::int64_t> numbers) {
    if (shape.n_columns < n_columns) std::fill(numbers.begin(), numbers.end(), 0);
    const auto missing_bits = 8 * (kWhole - shape.n_bytes);
    const std::uint8_t *from = packed.data(), *const end = from + packed.size();
    for_each_packed(numbers.size(), n_columns, shape.n_columns, [&](std::size_t k) {
        std::uint64_t number = 0;
        // Whole numbers are read, but at the end there are only the bytes of one.
        std::memcpy(&number, from, from + kWhole <= end ? kWhole : shape.n_bytes);
        numbers[k] = static_cast<std::int64_t>(number << missing_bits) >> missing_bits;  // filled up with its sign
        from += shape.n_bytes;
    });
}

}  // namespace comboost
