#include "comboost/predicting.hpp"

#include <algorithm>
#include <vector>

#include "comboost/parallel.hpp"

namespace comboost {
namespace {

// Adds the votes of the trees for one row; goes_right(node) decides at an inner node.
template <class GoesRight>
void add_row_votes(const Forest& forest, std::size_t first, std::size_t last, double* scores, GoesRight&& goes_right) {
    for (std::size_t t = first; t < last; ++t) {
        const Node* root = forest.nodes.data() + forest.offsets[t];
        const Node* node = root;
        while (node->feature != kLeaf) node = root + node->left + (goes_right(*node) ? 1 : 0);
        scores[node->label] += forest.weights[t];
    }
}

}  // namespace

template <class T>
void add_votes(const Matrix<T>& values, const Forest& forest, std::size_t first, std::size_t last,
               std::size_t n_classes, int n_threads, double* scores) {
    for_each_block(values.n_rows, (last - first) * 4, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            add_row_votes(forest, first, last, scores + i * n_classes, [&](const Node& node) {
                return !(static_cast<double>(values(i, static_cast<std::size_t>(node.feature))) <= node.threshold);
            });
    });
}

template void add_votes(const Matrix<float>&, const Forest&, std::size_t, std::size_t, std::size_t, int, double*);
template void add_votes(const Matrix<double>&, const Forest&, std::size_t, std::size_t, std::size_t, int, double*);

void elect(const Codes& codes, const Forest& forest, std::size_t n_classes, int n_threads, std::span<Label> elected) {
    for_each_block(codes.n_rows, forest.weights.size() * 4, n_threads, [&](std::size_t begin, std::size_t end) {
        std::vector<double> scores(n_classes);
        for (std::size_t i = begin; i < end; ++i) {
            std::fill(scores.begin(), scores.end(), 0.0);
            add_row_votes(forest, 0, forest.weights.size(), scores.data(), [&](const Node& node) {
                return codes.column(static_cast<std::size_t>(node.feature))[i] > node.bin;
            });
            elected[i] = static_cast<Label>(std::max_element(scores.begin(), scores.end()) - scores.begin());
        }
    });
}

}  // namespace comboost
