// What the features on the way to a leaf add to the votes on a few rows; see explaining.cpp.
namespace comboost::COMBOOST_KERNELS {
namespace {

// A value of every row.
using PathLanes = double __attribute__((vector_size(LeafPath::kRows * sizeof(double))));

void explain_leaf(const LeafPath& path, const LeafBallot& ballot, double* sums) {
    const auto* follows = reinterpret_cast<const PathLanes*>(path.follows);
    auto* factors = reinterpret_cast<PathLanes*>(path.scratch);
    auto* before = factors + path.n_features;
    auto* weights = before + path.n_features;
    for (std::size_t m = 0; m < path.n_features; ++m) weights[m] = PathLanes{};
    for (std::size_t q = 0; q < path.n_points; ++q) {
        const double known = path.points[q], unknown = 1.0 - known;
        PathLanes product = PathLanes{} + path.point_weights[q];
        for (std::size_t m = 0; m < path.n_features; ++m) {
            factors[m] = follows[m] * known + path.shares[m] * unknown;
            before[m] = product;
            product *= factors[m];
        }
        PathLanes after = PathLanes{} + 1.0;
        for (std::size_t m = path.n_features; m-- > 0;) {
            weights[m] += before[m] * after;
            after *= factors[m];
        }
    }
    for (std::size_t m = 0; m < path.n_features; ++m) weights[m] *= follows[m] - path.shares[m];
    for (std::size_t l = ballot.first; l < ballot.last; ++l) {
        const double vote = ballot.votes == nullptr ? ballot.weight : static_cast<double>(ballot.votes[l]);
        for (std::size_t m = 0; m < path.n_features; ++m)
            reinterpret_cast<PathLanes*>(sums)[path.places[m] * ballot.n_classes + l] += weights[m] * vote;
    }
}

}  // namespace
}  // namespace comboost::COMBOOST_KERNELS
