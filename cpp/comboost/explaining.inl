// What the features on the path to a leaf add to the scores of a few rows; see explaining.cpp.
namespace comboost::COMBOOST_KERNELS {
namespace {

// A value of every row.
using PathLanes = double __attribute__((vector_size(LeafPath::kRows * sizeof(double))));

void explain_leaf(const LeafPath& path, const LeafScores& leaf, std::span<double> sums) {
    const std::size_t n_features = path.features.size();
    const auto* follows = reinterpret_cast<const PathLanes*>(path.follows.data());
    auto* factors = reinterpret_cast<PathLanes*>(path.scratch.data());
    auto* before = factors + n_features;
    auto* weights = before + n_features;
    for (std::size_t m = 0; m < n_features; ++m) weights[m] = PathLanes{};
    for (std::size_t q = 0; q < path.points.size(); ++q) {
        const double known = path.points[q], unknown = 1.0 - known;
        PathLanes product = PathLanes{} + path.point_weights[q];
        for (std::size_t m = 0; m < n_features; ++m) {
            factors[m] = follows[m] * known + path.fractions[m] * unknown;
            before[m] = product;
            product *= factors[m];
        }
        PathLanes after = PathLanes{} + 1.0;
        for (std::size_t m = n_features; m-- > 0;) {
            weights[m] += before[m] * after;
            after *= factors[m];
        }
    }
    for (std::size_t m = 0; m < n_features; ++m) weights[m] *= follows[m] - path.fractions[m];
    auto* to = reinterpret_cast<PathLanes*>(sums.data());
    for (std::size_t l = leaf.first; l < leaf.last; ++l) {
        const double value = leaf.values.empty() ? leaf.weight : static_cast<double>(leaf.values[l]);
        for (std::size_t m = 0; m < n_features; ++m) to[path.features[m] * leaf.n_classes + l] += weights[m] * value;
    }
}

}  // namespace
}  // namespace comboost::COMBOOST_KERNELS
