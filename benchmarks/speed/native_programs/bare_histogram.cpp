// The limit of a histogram booster: nothing but the additions of a round, over random codes, as fast as memory allows.
// In: the shape and the counted rows of a round. Out: seconds of every pass, one per line.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

namespace {

constexpr std::size_t kBins = 255;
constexpr std::size_t kLanes = 4;  // sums in a vector of 256 bits

struct Data {
    std::size_t n_rows, n_features, n_channels;
    std::vector<std::uint8_t> codes;      // feature by feature
    std::vector<std::int32_t> records;    // row by row
    std::vector<std::int64_t> histogram;  // feature by feature, bin by bin
};

using Units = std::int32_t __attribute__((vector_size(kLanes * sizeof(std::int32_t))));
using Sums = std::int64_t __attribute__((vector_size(kLanes * sizeof(std::int64_t))));

// Said in vectors: compilers unroll a short loop before they see that it is one.
inline void add_lanes(const std::int32_t* record, std::int64_t* bin) {
    Units units;
    Sums sums;
    std::memcpy(&units, record, sizeof(units));
    std::memcpy(&sums, bin, sizeof(sums));
    sums += __builtin_convertvector(units, Sums);
    std::memcpy(bin, &sums, sizeof(sums));
}

// Adds the records of some rows to the bins of one feature. V is the number of vectors of a record.
template <std::size_t V>
void add_rows(const std::uint8_t* codes, const std::int32_t* records, std::size_t begin, std::size_t end,
              std::int64_t* histogram) {
    for (std::size_t row = begin; row < end; ++row) {
        std::int64_t* bin = histogram + codes[row] * V * kLanes;
        const std::int32_t* record = records + row * V * kLanes;
        for (std::size_t v = 0; v < V; ++v) add_lanes(record + v * kLanes, bin + v * kLanes);
    }
}

// Every thread has some features. Column by column, for as many rows at a time as `block_rows` says: with few, their
// records are read from memory once and not once per feature.
template <std::size_t V>
void count_features(Data& data, std::size_t n_counted, std::size_t block_rows, std::size_t first, std::size_t last) {
    for (std::size_t left = n_counted; left > 0;) {
        const std::size_t n_rows = std::min(left, data.n_rows);
        for (std::size_t begin = 0; begin < n_rows; begin += block_rows)
            for (std::size_t f = first; f < last; ++f)
                add_rows<V>(data.codes.data() + f * data.n_rows, data.records.data(), begin,
                            std::min(n_rows, begin + block_rows), data.histogram.data() + f * kBins * V * kLanes);
        left -= n_rows;
    }
}

template <std::size_t V>
double time_pass(Data& data, std::size_t n_counted, std::size_t block_rows, int n_threads) {
    const auto start = std::chrono::steady_clock::now();
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int thread = 0; thread < n_threads; ++thread) {
        const auto share = [&](int k) {
            return data.n_features * static_cast<std::size_t>(k) / static_cast<std::size_t>(n_threads);
        };
        count_features<V>(data, n_counted, block_rows, share(thread), share(thread + 1));
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double time_pass(Data& data, std::size_t n_counted, std::size_t block_rows, int n_threads) {
    switch (data.n_channels / kLanes) {
        case 1: return time_pass<1>(data, n_counted, block_rows, n_threads);
        case 2: return time_pass<2>(data, n_counted, block_rows, n_threads);
        case 3: return time_pass<3>(data, n_counted, block_rows, n_threads);
        case 4: return time_pass<4>(data, n_counted, block_rows, n_threads);
        case 5: return time_pass<5>(data, n_counted, block_rows, n_threads);
        case 6: return time_pass<6>(data, n_counted, block_rows, n_threads);
        case 7: return time_pass<7>(data, n_counted, block_rows, n_threads);
        case 8: return time_pass<8>(data, n_counted, block_rows, n_threads);
        default: std::fprintf(stderr, "at most 32 channels\n"); std::exit(2);
    }
}

Data draw_data(std::size_t n_rows, std::size_t n_features, std::size_t n_channels) {
    Data data{n_rows,
              n_features,
              n_channels,
              std::vector<std::uint8_t>(n_rows * n_features),
              std::vector<std::int32_t>(n_rows * n_channels),
              std::vector<std::int64_t>(n_features * kBins * n_channels)};
    std::mt19937 random(20131);
    for (auto& code : data.codes) code = static_cast<std::uint8_t>(random() % kBins);
    for (auto& unit : data.records) unit = static_cast<std::int32_t>(random() % (1 << 20));
    return data;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 8) {
        std::fprintf(stderr,
                     "usage: bare_histogram n_rows n_features n_channels n_counted block_rows n_threads n_passes\n");
        return 2;
    }
    std::size_t numbers[7];
    for (int k = 0; k < 7; ++k) numbers[k] = std::strtoull(argv[k + 1], nullptr, 10);
    const auto [n_rows, n_features, n_channels, n_counted, block_rows, n_threads, n_passes] = numbers;
    Data data = draw_data(n_rows, n_features, n_channels);
    for (std::size_t pass = 0; pass < n_passes; ++pass)
        std::printf("%.9f\n", time_pass(data, n_counted, block_rows, static_cast<int>(n_threads)));
    // Sums that nobody reads could be left out by the compiler.
    std::int64_t total = 0;
    for (const std::int64_t sum : data.histogram) total += sum;
    std::fprintf(stderr, "%lld\n", static_cast<long long>(total));
    return 0;
}
