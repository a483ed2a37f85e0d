#include "comboost/softmax.hpp"

#include <numeric>

#include "comboost/kernels.hpp"
#include "comboost/parallel.hpp"

namespace comboost {

void Powers::take(std::span<const double> scores) {
    double* logs = values_.data();
    for (; !scores.empty(); scores = scores.subspan(n_classes_), logs += n_classes_) {
        for (std::size_t j = 0; j < n_classes_; ++j) logs[j] = scale_.factor * scores[j];
        for (std::size_t j = 0; j < scale_.shift.size(); ++j) logs[j] += scale_.shift[j];
        const double largest = *std::max_element(logs, logs + n_classes_);
        for (std::size_t j = 0; j < n_classes_; ++j) logs[j] -= largest;
    }
}

void Powers::raise(std::size_t n_rows) { kernels().exponentiate(std::span(values_).first(n_rows * n_classes_)); }

void softmax(std::span<const double> scores, std::size_t n_classes, const ScoreScale& scale, int n_threads,
             std::span<double> probabilities) {
    const std::size_t n_rows = scores.size() / n_classes;
    for_each_block(n_rows, n_classes * kUpdatesPerPower, n_threads, [&](std::size_t begin, std::size_t end) {
        Powers powers(end - begin, n_classes, scale);
        for (std::size_t from = begin; from < end; from += powers.rows_at_once()) {
            const std::size_t n = std::min(powers.rows_at_once(), end - from);
            powers.take(scores.subspan(from * n_classes, n * n_classes));
            powers.raise(n);
            for (std::size_t i = 0; i < n; ++i) {
                const std::span<const double> row = powers.row(i);
                const double total = std::accumulate(row.begin(), row.end(), 0.0);
                const auto out = probabilities.subspan((from + i) * n_classes, n_classes);
                for (std::size_t j = 0; j < n_classes; ++j) out[j] = row[j] / total;
            }
        }
    });
}

}  // namespace comboost
