// The inner loops themselves, in plain C++ that compilers turn into vectors of any width.
// Included by one file per instruction set; everything has internal linkage, so that no wide code leaks into the
// others.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "comboost/dispatch.hpp"
#include "comboost/kernels.hpp"

// Before a loop that is to be written out, so many turns at a time.
#define COMBOOST_PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define COMBOOST_UNROLLED(turns) COMBOOST_PRAGMA(unroll turns)
#else
#define COMBOOST_UNROLLED(turns) COMBOOST_PRAGMA(GCC unroll turns)
#endif

namespace comboost::COMBOOST_KERNELS {
namespace {

constexpr std::size_t kLanes = Channels::kLanes;

using IntLanes = Sum __attribute__((vector_size(kLanes * sizeof(Sum))));
using UnitLanes = Unit __attribute__((vector_size(kLanes * sizeof(Unit))));
using BitLanes = std::uint64_t __attribute__((vector_size(kLanes * sizeof(Sum))));
using FloatLanes = double __attribute__((vector_size(kLanes * sizeof(double))));

inline IntLanes load(const Sum* from) {
    IntLanes lanes;
    std::memcpy(&lanes, from, sizeof(lanes));
    return lanes;
}

inline void store(const IntLanes& lanes, Sum* to) { std::memcpy(to, &lanes, sizeof(lanes)); }

inline IntLanes everywhere(Sum value) { return IntLanes{} + value; }

inline FloatLanes everywhere(double value) { return FloatLanes{} + value; }

inline IntLanes load_units(const Unit* from) {
    UnitLanes units;
    std::memcpy(&units, from, sizeof(units));
#ifdef __AVX2__
    return (IntLanes)_mm256_cvtepi32_epi64((__m128i)units);  // one instruction, which the compiler does not find
#else
    return __builtin_convertvector(units, IntLanes);
#endif
}

// The excess stays within these, so that it neither overflows nor becomes a denormal number, which would be slow.
constexpr double kLeastExcess = 0x1p-960;
constexpr double kMostExcess = 0x1p960;

// body(j, lanes) for the classes of a sample: kLanes of them at a time as FloatLanes, the last ones each as a double. K
// is the number of classes, 0 if the compiler does not know it.
template <std::size_t K, class Body>
inline void for_each_class(std::size_t n_classes, const Body& body) {
    const std::size_t n = K ? K : n_classes;
    std::size_t j = 0;
    if (K == 0 || K >= kLanes)
        for (; j + kLanes <= n; j += kLanes) body(j, FloatLanes{});
    for (; j < n; ++j) body(j, 0.0);
}

template <class Lanes>
inline Lanes load_as(const double* from) {
    Lanes lanes;
    std::memcpy(&lanes, from, sizeof(lanes));
    return lanes;
}

inline double clamp_excess(double excess) { return std::min(std::max(excess, kLeastExcess), kMostExcess); }

inline FloatLanes clamp_excess(const FloatLanes& excess) {
    const FloatLanes least = everywhere(kLeastExcess), most = everywhere(kMostExcess);
#ifdef __AVX2__
    return _mm256_min_pd(_mm256_max_pd(excess, least), most);  // which the compiler does not find
#else
    const FloatLanes raised = excess < least ? least : excess;
    return most < raised ? most : raised;
#endif
}

// one[lane] if j + lane is the index, otherwise other[lane].
inline double choose(std::size_t j, std::size_t index, double one, double other, double) {
    return j == index ? one : other;
}

inline FloatLanes choose(std::size_t j, std::size_t index, double one, double other, const FloatLanes&) {
    static_assert(kLanes == 4);
    const IntLanes at = IntLanes{0, 1, 2, 3} + static_cast<Sum>(j);
    return at == static_cast<Sum>(index) ? everywhere(one) : everywhere(other);
}

// A round, as it changes the excess: E(i,j) is multiplied by growth(q,j)·shrink(q,y_i), q being the leaf of sample i.
// With OneHot the value of a leaf is α·onehot(class), so most of these factors are 1.
template <std::size_t K, bool OneHot>
class Round {
  public:
    explicit Round(const SamplePass& pass)
        : n_classes_(K ? K : pass.channels.n_classes),
          leaves_(pass.leaves.empty() ? nullptr : pass.leaves.data()),
          classes_(pass.classes.data()),
          growths_(pass.growth.data()),
          shrinks_(pass.shrink.data()) {}

    void multiply(std::size_t row, std::size_t truth, double* __restrict excess) const {
        if (leaves_ == nullptr) return;
        const std::size_t n_classes = K ? K : n_classes_, leaf = leaves_[row];
        if (OneHot) {
            // One multiplication for every class, by 1 if the round changes nothing: no branch to guess wrong.
            const std::size_t predicted = classes_[leaf], right = predicted == truth;
            const double factors[2][2] = {{1.0, *growths_}, {*shrinks_, *shrinks_}};
            const double others = factors[right][0], own = factors[right][1];
            multiply_all(excess, [=](std::size_t j, auto lanes) { return choose(j, predicted, own, others, lanes); });
        } else {
            const double* growth = growths_ + leaf * n_classes;
            const double shrink = shrinks_[leaf * n_classes + truth];
            multiply_all(excess,
                         [=](std::size_t j, auto lanes) { return load_as<decltype(lanes)>(growth + j) * shrink; });
        }
        excess[truth] = 1.0;
    }

  private:
    template <class Factor>
    void multiply_all(double* __restrict excess, const Factor& factor) const {
        if constexpr (K > 0) {  // the compiler finds the vectors itself
            for (std::size_t j = 0; j < K; ++j) excess[j] = clamp_excess(excess[j] * factor(j, 0.0));
        } else {
            for_each_class<K>(n_classes_, [=](std::size_t j, auto lanes) {
                lanes = clamp_excess(load_as<decltype(lanes)>(excess + j) * factor(j, lanes));
                std::memcpy(excess + j, &lanes, sizeof(lanes));
            });
        }
    }

    std::size_t n_classes_;
    const RowIndex* leaves_;
    const Label* classes_;
    const double* growths_;
    const double* shrinks_;
};

// What a sample costs for a class, before it is shared among all of them as the log-loss does.
template <LossKind Kind>
inline double cost_of(double factor, double excess) {
    return factor * (Kind == LossKind::logistic ? excess / (1.0 + excess) : excess);
}

// The sum of these over the classes, in their order.
template <LossKind Kind>
inline double sum_costs(const double* factors, const double* excess, std::size_t n_classes) {
    double sum = 0.0;
    for (std::size_t j = 0; j < n_classes; ++j) sum += cost_of<Kind>(factors[j], excess[j]);
    return sum;
}

template <std::size_t K, bool OneHot, LossKind Kind>
PassResult update_samples(const SamplePass& pass, std::size_t begin, std::size_t end) {
    constexpr bool kLog = Kind == LossKind::log;
    const std::size_t n_classes = K ? K : pass.channels.n_classes;
    const std::size_t width = pass.channels.size();
    const Label* const labels = pass.labels.data();
    const Weight* const weights = pass.weights.empty() ? nullptr : pass.weights.data();
    const double* const log_units = pass.log_units.empty() ? nullptr : pass.log_units.data();
    const Round<K, OneHot> round(pass);
    PassResult result;
    for (std::size_t i = begin; i < end; ++i) {
        const std::size_t truth = labels[i];
        double* __restrict excess = pass.excess.data() + i * n_classes;
        round.multiply(i, truth, excess);
        const double* factors = pass.factors.data() + truth * n_classes;
        Unit* __restrict record = pass.units + i * width;
        const Sum weight = weights == nullptr ? 1 : Sum{weights[i]};
        double sum = 0.0, share = 1.0;
        if (kLog) {
            sum = sum_costs<Kind>(factors, excess, n_classes);
            share = pass.tops[truth] / (1.0 + sum);
            if (log_units != nullptr)
                result.log_loss += WideSum{weight} * std::llrint(log_units[truth] * std::log2(1.0 + sum));
        }
        Unit loss = 0;
        for (std::size_t j = 0; j < n_classes; ++j) {
            const double v = cost_of<Kind>(factors[j], excess[j]);
            const auto u = static_cast<Unit>(std::lrint(kLog ? v * share : v));
            if (!kLog) sum += v;
            loss += u;
            record[j] = u;
        }
        record[truth] = -loss;
        record[pass.channels.loss()] = loss;
        result.largest = std::max(result.largest, kLog ? sum * share : sum);
        result.loss += weight * loss;
    }
    return result;
}

// Calls body.operator()<K, Kind>() for the classes and the loss of a pass.
template <class Body>
auto dispatch_loss(const SamplePass& pass, const Body& body) {
    return dispatch<2, 3, 4, 5, 6, 7, 8, 0>(pass.channels.n_classes, [&]<std::size_t K>() {
        switch (pass.kind) {
            case LossKind::logistic: return body.template operator()<K, LossKind::logistic>();
            case LossKind::log: return body.template operator()<K, LossKind::log>();
            default: return body.template operator()<K, LossKind::exponential>();
        }
    });
}

PassResult update(const SamplePass& pass, std::size_t begin, std::size_t end) {
    return dispatch_loss(pass, [&]<std::size_t K, LossKind Kind>() {
        return pass.classes.empty() ? update_samples<K, false, Kind>(pass, begin, end)
                                    : update_samples<K, true, Kind>(pass, begin, end);
    });
}

constexpr int kExponentBits = 52;  // where the exponent of a double begins

// The whole numbers next to values from 0 to 2^51, without an instruction for it.
template <class Bits, class Lanes>
inline Bits round_to_units(const Lanes& values) {
    constexpr std::uint64_t kFraction = (std::uint64_t{1} << kExponentBits) - 1;
    const Lanes shifted = values + 0x1p52;
    Bits bits;  // not std::bit_cast: GCC's sanitizer takes its result for an address if it is a vector
    std::memcpy(&bits, &shifted, sizeof bits);
    return bits & kFraction;
}

// For x from 0 to 2^960, log2(1 + x) and x/(1 + x), right but for the last bits. 1 + x = 2^k·m with m next to 1, and
// log m is the series of 2·artanh(f), f = (m - 1)/(m + 1), which ends when what follows is lost in rounding. As
// `exponential`, they are the same to the bit everywhere.
struct LogLanes {
    FloatLanes log, share;
};

inline LogLanes log2_one_plus(const FloatLanes& x) {
    constexpr double kEven[] = {1.0 / 17, 1.0 / 13, 1.0 / 9, 1.0 / 5, 1.0};
    constexpr double kOdd[] = {1.0 / 15, 1.0 / 11, 1.0 / 7, 1.0 / 3};
    const FloatLanes y = x + 1.0;
    const FloatLanes lost = x - (y - 1.0);  // in rounding
    const BitLanes k = ((BitLanes)y - std::bit_cast<std::uint64_t>(0x1.6a09e667f3bcdp-1)) >> kExponentBits;
    const FloatLanes m = (FloatLanes)((BitLanes)y - (k << kExponentBits));
    const BitLanes inverse = (1023 - k) << kExponentBits;  // 2^-k
    const FloatLanes above = (m - 1.0) + lost * (FloatLanes)inverse;
    const FloatLanes below = above + 2.0;
    const FloatLanes both = 1.0 / (y * below);  // one division for two
    const FloatLanes f = above * (y * both), square = f * f, fourth = square * square;
    FloatLanes even = everywhere(1.0 / 21), odd = everywhere(1.0 / 19);  // side by side, as neither waits for the other
    for (const double coefficient : kEven) even = even * fourth + coefficient;
    for (const double coefficient : kOdd) odd = odd * fourth + coefficient;
    const FloatLanes series = even + square * odd;
    const FloatLanes whole = (FloatLanes)(k | std::bit_cast<std::uint64_t>(0x1p52)) - 0x1p52;
    return {whole + (f * 0x1.71547652b82fep1) * series, x * (below * both)};  // 2/ln 2
}

template <std::size_t N>
void log2_lanes(const double* values, double* logs, double* shares) {
    FloatLanes x{};
    std::memcpy(&x, values, N * sizeof(double));
    const LogLanes result = log2_one_plus(x);
    std::memcpy(logs, &result.log, N * sizeof(double));
    std::memcpy(shares, &result.share, N * sizeof(double));
}

void log2_one_plus(const double* values, std::size_t n, double* logs, double* shares) {
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) log2_lanes<kLanes>(values + i, logs + i, shares + i);
    for (; i < n; ++i) log2_lanes<1>(values + i, logs + i, shares + i);
}

inline std::uint64_t multiply_words(std::uint64_t a, std::uint64_t b) { return a * b; }

// Products of numbers below 2^32.
inline BitLanes multiply_words(const BitLanes& a, std::uint64_t b) {
#ifdef __AVX2__
    return (BitLanes)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x(static_cast<long long>(b)));
#else
    return a * b;
#endif
}

// Σ values(j)·factors(j) over the classes: those of every lane, then these.
template <std::size_t K>
inline double dot(const double* values, const double* factors, std::size_t n_classes) {
    FloatLanes sums{};
    double last = 0.0;
    for_each_class<K>(n_classes, [&](std::size_t j, auto lanes) {
        const auto product = load_as<decltype(lanes)>(values + j) * load_as<decltype(lanes)>(factors + j);
        if constexpr (std::is_same_v<decltype(lanes), double>)
            last += product;
        else
            sums += product;
    });
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + last;
}

// Adds the rounded losses of a sample, values(j)·factors(j).
template <std::size_t K, bool Weighted>
inline void add_losses(const double* values, const double* factors, std::size_t n_losses, std::uint64_t weight,
                       std::uint64_t* digits) {
    for_each_class<K>(n_losses, [=](std::size_t j, auto lanes) {
        using Lanes = decltype(lanes);
        using Bits = std::conditional_t<std::is_same_v<Lanes, double>, std::uint64_t, BitLanes>;
        const Bits units = round_to_units<Bits>(load_as<Lanes>(values + j) * load_as<Lanes>(factors + j));
        const auto add = [](const Bits& added, std::uint64_t* to) {
            Bits sums;
            std::memcpy(&sums, to, sizeof(sums));
            sums += added;
            std::memcpy(to, &sums, sizeof(sums));
        };
        if (Weighted) {
            constexpr std::uint64_t kLowDigit = (std::uint64_t{1} << LossSums::kDigit) - 1;
            add(multiply_words(units & kLowDigit, weight), digits + j);
            add(multiply_words(units >> LossSums::kDigit, weight), digits + n_losses + j);
        } else {
            add(units, digits + j);
        }
    });
}

// A few samples at a time: vectors of logarithms need not end with a sample, and what was just stored is not read at
// once in vectors of other sizes.
template <std::size_t K, bool OneHot, LossKind Kind>
double add_samples(const SamplePass& pass, std::size_t begin, std::size_t end, const LossSums& sums) {
    constexpr bool kExponential = Kind == LossKind::exponential, kLog = Kind == LossKind::log;
    constexpr std::size_t kRows = 64;
    const std::size_t n_classes = K ? K : pass.channels.n_classes;
    const std::size_t n_losses = kLog ? 1 : n_classes;  // of a sample
    const Label* const labels = pass.labels.data();
    const Weight* const weights = pass.weights.empty() ? nullptr : pass.weights.data();
    const double* const factors = pass.factors.data();
    const double* const scales = (kLog ? pass.tops : pass.factors).data();
    const Round<K, OneHot> round(pass);
    std::vector<double> scratch(kExponential ? 0 : 2 * kRows * n_losses);
    double* const logs = scratch.data();
    double* const shares = logs + kRows * n_losses;
    double largest = 0.0;
    for (std::size_t from = begin; from < end; from += kRows) {
        const std::size_t n_rows = std::min(end - from, kRows);
        double* const excess = pass.excess.data() + from * n_classes;
        for (std::size_t i = 0; i < n_rows; ++i) round.multiply(from + i, labels[from + i], excess + i * n_classes);
        if (kLog)
            for (std::size_t i = 0; i < n_rows; ++i)
                logs[i] = dot<K>(excess + i * n_classes, factors + labels[from + i] * n_classes, n_classes);
        if (!kExponential) log2_one_plus(kLog ? logs : excess, n_rows * n_losses, logs, shares);
        const double* const losses = kExponential ? excess : logs;
        const double* const costs = kExponential ? excess : shares;
        for (std::size_t i = 0; i < n_rows; ++i) {
            constexpr std::size_t kLosses = kLog ? 1 : K;
            const std::size_t truth = labels[from + i], first = i * n_losses;
            const double* const scale = scales + truth * n_losses;
            std::uint64_t* const digits = sums.digits + truth * 2 * n_losses;
            largest = std::max(largest, dot<kLosses>(costs + first, scale, n_losses));
            if (weights == nullptr)
                add_losses<kLosses, false>(losses + first, scale, n_losses, 1, digits);
            else
                add_losses<kLosses, true>(losses + first, scale, n_losses, weights[from + i], digits);
        }
    }
    return largest;
}

double add(const SamplePass& pass, std::size_t begin, std::size_t end, const LossSums& sums) {
    return dispatch_loss(pass, [&]<std::size_t K, LossKind Kind>() {
        return pass.classes.empty() ? add_samples<K, false, Kind>(pass, begin, end, sums)
                                    : add_samples<K, true, Kind>(pass, begin, end, sums);
    });
}

void sum_pairs(const SamplePass& pass, std::size_t begin, std::size_t end, Sum* sums) {
    dispatch_loss(pass, [&]<std::size_t K, LossKind Kind>() {
        const std::size_t n_classes = K ? K : pass.channels.n_classes;
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t truth = pass.labels[i];
            const double* factors = pass.factors.data() + truth * n_classes;
            const double* excess = pass.excess.data() + i * n_classes;
            Sum* __restrict to = sums + (pass.leaves[i] * n_classes + truth) * n_classes;
            const Sum weight = pass.weights.empty() ? 1 : Sum{pass.weights[i]};
            double share = 1.0;
            if (Kind == LossKind::log) share = pass.tops[truth] / (1.0 + sum_costs<Kind>(factors, excess, n_classes));
            for (std::size_t j = 0; j < n_classes; ++j)
                to[j] += weight *
                         static_cast<Sum>(round_to_units<std::uint64_t>(cost_of<Kind>(factors[j], excess[j]) * share));
        }
    });
}

void sum_leaves(const RowIndex* leaves, const Label* labels, std::size_t begin, std::size_t end, const Records& records,
                Sum* sums) {
    const std::size_t n_classes = records.channels.n_classes;
    const std::size_t width = records.channels.size();
    for (std::size_t i = begin; i < end; ++i) {
        Sum* __restrict to = sums + (leaves[i] * n_classes + labels[i]) * width;
        const Unit* units = records.units + i * width;
        const Sum weight = records.weights == nullptr ? 1 : Sum{records.weights[i]};
        for (std::size_t v = 0; v < width; v += kLanes) store(load(to + v) + load_units(units + v) * weight, to + v);
    }
}

// V is the number of a record's vectors, 0 if the compiler does not know it.
template <std::size_t V, bool Weighted, bool Indexed>
void accumulate_records(const Code* codes, const RowIndex* rows, std::size_t n_rows, const Records& records,
                        const SpreadHistogram& to) {
    const Channels channels = records.channels;
    const std::size_t n_vectors = V ? V : channels.n_vectors();
    const Unit* units = records.units;
    const auto add = [=, weights = records.weights](std::size_t k, const Unit* record, Sum* histogram) {
        Sum* bin = histogram + codes[Indexed ? rows[k] : k] * (n_vectors * kLanes);
        const Sum weight = Weighted ? Sum{weights[k]} : 1;
        COMBOOST_UNROLLED(8)
        for (std::size_t v = 0; v < n_vectors; ++v) {
            const IntLanes added = load_units(record + v * kLanes);
            store(load(bin + v * kLanes) + (Weighted ? added * weight : added), bin + v * kLanes);
        }
        if (Weighted && channels.counted) bin[channels.count()] += 1 - weight;  // rows are counted, whatever they weigh
    };
    std::size_t k = 0;
    if (to.stride > 0) {
        static_assert(SpreadHistogram::kCopies == 4);
        Sum* const copies[] = {to.copy(0), to.copy(1), to.copy(2), to.copy(3)};
        for (; k + 4 <= n_rows; k += 4, units += 4 * n_vectors * kLanes) {
            COMBOOST_UNROLLED(4)
            for (std::size_t c = 0; c < 4; ++c) add(k + c, units + c * n_vectors * kLanes, copies[c]);
        }
    }
    for (Sum* const histogram = to.sums; k < n_rows; ++k, units += n_vectors * kLanes) add(k, units, histogram);
}

template <std::size_t V>
void accumulate_vectors(const Code* codes, const RowIndex* rows, std::size_t n_rows, const Records& records,
                        const SpreadHistogram& to) {
    if (records.weights == nullptr)
        rows == nullptr ? accumulate_records<V, false, false>(codes, rows, n_rows, records, to)
                        : accumulate_records<V, false, true>(codes, rows, n_rows, records, to);
    else
        rows == nullptr ? accumulate_records<V, true, false>(codes, rows, n_rows, records, to)
                        : accumulate_records<V, true, true>(codes, rows, n_rows, records, to);
}

void accumulate(const Code* codes, const RowIndex* rows, std::size_t n_rows, const Records& records,
                const SpreadHistogram& to) {
    dispatch<1, 2, 3, 4, 5, 6, 7, 8, 0>(records.channels.n_vectors(), [&]<std::size_t V>() {
        accumulate_vectors<V>(codes, rows, n_rows, records, to);
    });
}

void sum_digit(std::size_t n_bins, std::size_t n_codes, std::size_t width, Sum* sums, Sum* bins) {
    for (std::size_t digit = 0; digit < n_bins; ++digit, bins += width) {
        const Sum* part = sums + digit * n_codes * width;
        for (std::size_t v = 0; v < width; v += kLanes) {
            IntLanes total = load(bins + v);
            for (std::size_t j = v; j < n_codes * width; j += width) {
                const IntLanes sum = load(part + j);
                total += sum;
                if (digit > 0) store(load(sums + j) + sum, sums + j);
            }
            store(total, bins + v);
        }
    }
}

template <std::size_t V, bool Weighted>
void add_vectors(const RowIndex* rows, const std::uint32_t* bins, std::size_t n_rows, const Records& records,
                 Sum* sums) {
    const Channels channels = records.channels;
    const std::size_t n_vectors = V ? V : channels.n_vectors();
    const std::size_t width = n_vectors * kLanes;
    for (std::size_t k = 0; k < n_rows; ++k) {
        const Unit* units = records.units + rows[k] * width;
        Sum* bin = sums + bins[k] * width;
        const Sum weight = Weighted ? Sum{records.weights[rows[k]]} : 1;
        COMBOOST_UNROLLED(8)
        for (std::size_t v = 0; v < n_vectors; ++v) {
            const IntLanes added = load_units(units + v * kLanes);
            store(load(bin + v * kLanes) + (Weighted ? added * weight : added), bin + v * kLanes);
        }
        if (Weighted && channels.counted) bin[channels.count()] += 1 - weight;  // rows are counted, whatever they weigh
    }
}

void add_records(const RowIndex* rows, const std::uint32_t* bins, std::size_t n_rows, const Records& records,
                 Sum* sums) {
    dispatch<1, 2, 0>(records.channels.n_vectors(), [&]<std::size_t V>() {
        records.weights == nullptr ? add_vectors<V, false>(rows, bins, n_rows, records, sums)
                                   : add_vectors<V, true>(rows, bins, n_rows, records, sums);
    });
}

// Integers to the nearest doubles, without an instruction for it: both halves are exact, and their sum rounds once.
inline FloatLanes to_double(const IntLanes& values) {
    const auto bits = (BitLanes)values;                               // the same bits, as all casts between vectors
    const BitLanes high = (bits >> 32) ^ 0x4530000080000000U;         // 2^84 + 2^63 + high·2^32
    const BitLanes low = (bits & 0xFFFFFFFFU) | 0x4330000000000000U;  // 2^52 + low
    return ((FloatLanes)high - std::bit_cast<double>(std::uint64_t{0x4530000080100000U})) + (FloatLanes)low;
}

// rows[r][c] becomes rows[c][r].
inline void transpose(IntLanes (&rows)[kLanes]) {
    const IntLanes a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 2, 6);
    const IntLanes b = __builtin_shufflevector(rows[0], rows[1], 1, 5, 3, 7);
    const IntLanes c = __builtin_shufflevector(rows[2], rows[3], 0, 4, 2, 6);
    const IntLanes d = __builtin_shufflevector(rows[2], rows[3], 1, 5, 3, 7);
    rows[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    rows[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    rows[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    rows[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

// Σ D² of both sides over the classes, in class order; the score is their sum over the loss.
struct GiniSides {
    using Score = double;
    FloatLanes left{}, right{};

    void add(const IntLanes& left_cost, const IntLanes& right_cost) {
        const FloatLanes l = to_double(left_cost), r = to_double(right_cost);
        left += l * l;
        right += r * r;
    }

    FloatLanes scores(const IntLanes& left_loss, const IntLanes& right_loss, double smoothing) const {
        // A side without loss has no costs: 0/1 instead of 0/0.
        const IntLanes ones = everywhere(Sum{1});
        return left / (to_double(left_loss == 0 ? ones : left_loss) + smoothing) +
               right / (to_double(right_loss == 0 ? ones : right_loss) + smoothing);
    }
};

// The smallest D of both sides over the classes; the score is minus their sum.
struct CostSides {
    using Score = Sum;
    IntLanes left = everywhere(Sum{1} << 62), right = everywhere(Sum{1} << 62);

    void add(const IntLanes& left_cost, const IntLanes& right_cost) {
        left = left_cost < left ? left_cost : left;
        right = right_cost < right ? right_cost : right;
    }

    IntLanes scores(const IntLanes&, const IntLanes&, double) const { return -left - right; }
};

// A bin without loss holds no costs either; without rows to count it cannot change a side.
inline bool is_empty(const Sum* bin, const Channels& channels) {
    return bin[channels.loss()] == 0 && (!channels.counted || bin[channels.count()] == 0);
}

inline bool any(const IntLanes& lanes) {
#ifdef __AVX2__
    return !_mm256_testz_si256((__m256i)lanes, (__m256i)lanes);
#else
    return (lanes[0] | lanes[1] | lanes[2] | lanes[3]) != 0;
#endif
}

// Collects splits and scores kLanes of them at a time.
template <class Sides>
class Scanner {
  public:
    // `scratch` has room for (kLanes + 1) records of sums.
    Scanner(const ScanInput& input, Sum* scratch)
        : in_(input), size_(input.channels.size()), running_(scratch), left_sums_(scratch + size_) {
        std::fill_n(scratch, (kLanes + 1) * size_, Sum{0});
        // All rows on the right: the score of the node itself.
        const IntLanes nothing{};
        Sides sides;
        for (std::size_t l = 0; l < in_.channels.n_classes; ++l) sides.add(nothing, everywhere(in_.node_costs[l]));
        best_ = {scores_of(sides, nothing)[0], kLeaf};
    }

    // Adds a bin to the left side.
    void pass(const Sum* bin) {
        for (std::size_t j = 0; j < size_; j += kLanes) store(load(running_ + j) + load(bin + j), running_ + j);
    }

    // Adds a bin to the left side and collects the split after it.
    void add(const Sum* bin, std::size_t index) {
        Sum* left = left_sums_ + n_collected_ * size_;
        for (std::size_t j = 0; j < size_; j += kLanes) {
            const IntLanes sum = load(running_ + j) + load(bin + j);
            store(sum, running_ + j);
            store(sum, left + j);
        }
        collected_[n_collected_++] = static_cast<std::int32_t>(index);
        if (n_collected_ == kLanes) score();
    }

    Scanned<typename Sides::Score> best() {
        if (n_collected_ > 0) score();
        return best_;
    }

  private:
    void score() {
        const std::size_t n_classes = in_.channels.n_classes;
        IntLanes loss{}, count{}, last{};
        Sides sides;
        for (std::size_t v = 0; v < in_.channels.n_vectors(); ++v) {
            IntLanes channel[kLanes];
            for (std::size_t lane = 0; lane < kLanes; ++lane)
                channel[lane] = load(left_sums_ + lane * size_ + v * kLanes);
            transpose(channel);
            for (std::size_t k = 0; k < kLanes; ++k) {
                const std::size_t j = v * kLanes + k;
                if (j + 1 < n_classes) {
                    sides.add(channel[k], in_.node_costs[j] - channel[k]);
                    last -= channel[k];
                } else if (j == in_.channels.loss()) {
                    loss = channel[k];
                } else if (j == in_.channels.count()) {
                    count = channel[k];
                }
            }
        }
        sides.add(last, in_.node_costs[n_classes - 1] - last);
        const auto scores = scores_of(sides, loss);
        if (any((scores > best_.score) & allowed_splits(loss, count))) choose(scores, allowed_splits(loss, count));
        n_collected_ = 0;
    }

    template <class Scores>
    void choose(const Scores& scores, const IntLanes& allowed) {
        for (std::size_t lane = 0; lane < n_collected_; ++lane)
            if (allowed[lane] && scores[lane] > best_.score) best_ = {scores[lane], collected_[lane]};
    }

    auto scores_of(const Sides& sides, const IntLanes& left_loss) const {
        return sides.scores(left_loss, in_.node_loss - left_loss, in_.smoothing);
    }

    IntLanes allowed_splits(const IntLanes& loss, const IntLanes& count) const {
        const FloatLanes floor = everywhere(in_.min_loss);
        IntLanes allowed = (to_double(loss) >= floor) & (to_double(in_.node_loss - loss) >= floor);
        if (in_.channels.counted) allowed &= (count >= in_.min_count) & (in_.node_count - count >= in_.min_count);
        return allowed;
    }

    const ScanInput& in_;
    std::size_t size_;
    Sum* running_;
    Sum* left_sums_;
    std::size_t n_collected_ = 0;
    std::int32_t collected_[kLanes];
    Scanned<typename Sides::Score> best_;
};

template <class Sides>
void scan_all(const ScanInput& in, Scanner<Sides>& scanner) {
    for (std::size_t b = 0; b + 1 < in.n_bins; ++b) {
        const Sum* bin = in.bins + b * in.channels.size();
        if (!is_empty(bin, in.channels)) scanner.add(bin, b);
    }
}

// The cuts between those to try are only passed.
template <class Sides>
void scan_cuts(const ScanInput& in, Scanner<Sides>& scanner) {
    auto next = in.cuts.begin();
    std::size_t cut = 0;
    for (std::size_t b = 0; b < in.n_bins && next != in.cuts.end(); ++b) {
        const Sum* bin = in.bins + b * in.channels.size();
        if (is_empty(bin, in.channels)) continue;
        if (cut++ == *next) {
            scanner.add(bin, b);
            ++next;
        } else {
            scanner.pass(bin);
        }
    }
}

template <class Sides>
Scanned<typename Sides::Score> scan(const ScanInput& in) {
    constexpr std::size_t kOnStack = 32;
    const std::size_t size = in.channels.size();
    Sum on_stack[(kLanes + 1) * kOnStack];
    std::vector<Sum> on_heap(size > kOnStack ? (kLanes + 1) * size : 0);
    Scanner<Sides> scanner(in, size > kOnStack ? on_heap.data() : on_stack);
    in.cuts.empty() ? scan_all(in, scanner) : scan_cuts(in, scanner);
    return scanner.best();
}

// e^x = 2^k·e^r, where k is the whole number next to x/ln 2; Taylor's series of e^r ends when what follows is lost in
// rounding. The standard library's is for one value at a time, and not the same to the bit everywhere.
inline FloatLanes exponential(const FloatLanes& x) {
    constexpr double kRounder = 0x1.8p52;  // adding it leaves no fraction, and whole numbers in the lowest bits
    constexpr double kHighLn2 = 0x1.62e42feep-1, kLowLn2 = 0x1.a39ef35793c76p-33;
    constexpr double kCoefficients[] = {
        1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
        1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1.0,         1.0};
    constexpr std::uint64_t kBias = 1023;
    const FloatLanes shifted = x * everywhere(0x1.71547652b82fep0) + everywhere(kRounder);
    const FloatLanes k = shifted - everywhere(kRounder);
    const FloatLanes r = (x - k * everywhere(kHighLn2)) - k * everywhere(kLowLn2);
    FloatLanes series = everywhere(1.0 / 6227020800);
    for (const double coefficient : kCoefficients) series = series * r + everywhere(coefficient);
    const BitLanes power = ((BitLanes)shifted + kBias) << kExponentBits;
    return series * (FloatLanes)power;
}

template <std::size_t N>
void exponentiate_lanes(double* values) {
    constexpr double kLeast = -708.0;  // below, powers of two have other bits
    FloatLanes x{};
    std::memcpy(&x, values, N * sizeof(double));
    x = exponential(x < kLeast ? everywhere(kLeast) : x);
    std::memcpy(values, &x, N * sizeof(double));
}

void exponentiate(std::span<double> values) {
    std::size_t i = 0;
    for (; i + kLanes <= values.size(); i += kLanes) exponentiate_lanes<kLanes>(&values[i]);
    for (; i < values.size(); ++i) exponentiate_lanes<1>(&values[i]);
}

}  // namespace
}  // namespace comboost::COMBOOST_KERNELS

#include "comboost/coding.inl"
#include "comboost/explaining.inl"
#include "comboost/scoring.inl"

namespace comboost::COMBOOST_KERNELS {

extern const Kernels table;
const Kernels table{.add_scores = &add_scores,
                    .count_floats = &count_below<float>,
                    .count_doubles = &count_below<double>,
                    .find_sides = &find_sides,
                    .update = &update,
                    .add = &add,
                    .sum_pairs = &sum_pairs,
                    .sum_leaves = &sum_leaves,
                    .accumulate = &accumulate,
                    .sum_digit = &sum_digit,
                    .add_records = &add_records,
                    .explain_leaf = &explain_leaf,
                    .scan_gini = &scan<GiniSides>,
                    .scan_cost = &scan<CostSides>,
                    .exponentiate = &exponentiate};

}  // namespace comboost::COMBOOST_KERNELS
