// The inner loops that turn values into codes for prediction, a part of kernels.inl.
namespace comboost::COMBOOST_KERNELS {
namespace {

// A vector of values, and what comparing them gives: 0 or -1 each.
template <class T>
struct Compared;

template <>
struct Compared<float> {
    using Values = float __attribute__((vector_size(32)));
    using Counts = std::int32_t __attribute__((vector_size(32)));
    using Narrow = CodeBlock::Signed __attribute__((vector_size(8)));
    static constexpr std::size_t kFewEdges = 96;  // up to so many, comparing with all is quicker than a search
};

template <>
struct Compared<double> {
    using Values = double __attribute__((vector_size(32)));
    using Counts = std::int64_t __attribute__((vector_size(32)));
    using Narrow = CodeBlock::Signed __attribute__((vector_size(4)));
    static constexpr std::size_t kFewEdges = 40;
};

constexpr std::size_t kCountedVectors = 4;  // at once, which stay in registers

template <class T>
constexpr std::size_t kCountedValues = kCountedVectors * 32 / sizeof(T);

// Compares some values with all edges.
template <class T>
void count_few(std::span<const T> edges, const T* values, CodeBlock::Signed* codes) {
    using Counts = typename Compared<T>::Counts;
    constexpr std::size_t kPerVector = 32 / sizeof(T);
    typename Compared<T>::Values value[kCountedVectors];
    std::memcpy(value, values, sizeof(value));
    Counts count[kCountedVectors];
    for (Counts& counts : count) counts = Counts{} - CodeBlock::kOffset;
    COMBOOST_UNROLLED(2)
    for (const T edge : edges)
        for (std::size_t v = 0; v < kCountedVectors; ++v) count[v] -= value[v] > edge;
    for (std::size_t v = 0; v < kCountedVectors; ++v) {
        const auto narrow = __builtin_convertvector(count[v], typename Compared<T>::Narrow);
        std::memcpy(codes + v * kPerVector, &narrow, kPerVector);
    }
}

template <class T>
CodeBlock::Signed count_one(std::span<const T> edges, T value) {
    const T* below = edges.data();
    std::size_t size = edges.size();
    while (size > 1) {
        const std::size_t half = size / 2;
        below += below[half - 1] < value ? half : 0;
        size -= half;
    }
    const std::ptrdiff_t count = below - edges.data() + (size == 1 && *below < value ? 1 : 0);
    return static_cast<CodeBlock::Signed>(count - CodeBlock::kOffset);
}

template <class T>
void count_below(std::span<const T> edges, std::span<const T> values, std::span<CodeBlock::Signed> codes) {
    std::size_t i = 0;
    if (edges.size() <= Compared<T>::kFewEdges)
        for (; i + kCountedValues<T> <= values.size(); i += kCountedValues<T>) count_few(edges, &values[i], &codes[i]);
    for (; i < values.size(); ++i) codes[i] = count_one(edges, values[i]);
}

void find_sides(const CodeSet& left, std::span<const Code> codes, std::span<CodeBlock::Signed> sides) {
    std::size_t i = 0;
#ifdef __AVX2__
    // A byte of the set is chosen by the upper five bits of a code, a bit of it by the lower three.
    __m128i halves[2];
    std::memcpy(halves, &left, sizeof(left));
    const __m256i low_half = _mm256_broadcastsi128_si256(halves[0]);
    const __m256i high_half = _mm256_broadcastsi128_si256(halves[1]);
    const __m256i bits = _mm256_set1_epi64x(static_cast<std::int64_t>(0x8040201008040201U));
    for (; i + 32 <= codes.size(); i += 32) {
        const __m256i code = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&codes[i]));
        const __m256i byte = _mm256_and_si256(_mm256_srli_epi16(code, 3), _mm256_set1_epi8(15));
        const __m256i chosen =
            _mm256_blendv_epi8(_mm256_shuffle_epi8(low_half, byte), _mm256_shuffle_epi8(high_half, byte), code);
        const __m256i bit = _mm256_shuffle_epi8(bits, _mm256_and_si256(code, _mm256_set1_epi8(7)));
        const __m256i outside = _mm256_cmpeq_epi8(_mm256_and_si256(chosen, bit), _mm256_setzero_si256());
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(&sides[i]), _mm256_and_si256(outside, _mm256_set1_epi8(1)));
    }
#endif
    for (; i < codes.size(); ++i) sides[i] = left.contains(codes[i]) ? 0 : 1;
}

}  // namespace
}  // namespace comboost::COMBOOST_KERNELS
