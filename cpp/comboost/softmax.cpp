#include "comboost/softmax.hpp"

#include <numeric>

#include "comboost/kernels.hpp"
#include "comboost/parallel.hpp"

namespace comboost {

void Powers::take(const double* votes, std::size_t n_rows) {
    for (std::size_t i = 0; i < n_rows; ++i, votes += n_classes_) {
        double* logs = row(i);
        for (std::size_t j = 0; j < n_classes_; ++j) logs[j] = scale_.factor * votes[j];
        for (std::size_t j = 0; j < scale_.shift.size(); ++j) logs[j] += scale_.shift[j];
        const double largest = *std::max_element(logs, logs + n_classes_);
        for (std::size_t j = 0; j < n_classes_; ++j) logs[j] -= largest;
    }
}

void Powers::raise(std::size_t n_rows) { kernels().exponentiate(values_.data(), n_rows * n_classes_); }

void softmax(const double* votes, std::size_t n_rows, std::size_t n_classes, const VoteScale& scale, int n_threads,
             double* shares) {
    for_each_block(n_rows, n_classes * kUpdatesPerPower, n_threads, [&](std::size_t begin, std::size_t end) {
        Powers powers(end - begin, n_classes, scale);
        for (std::size_t from = begin; from < end; from += powers.rows_at_once()) {
            const std::size_t n = std::min(powers.rows_at_once(), end - from);
            powers.take(votes + from * n_classes, n);
            powers.raise(n);
            for (std::size_t i = 0; i < n; ++i) {
                const double* row = powers.row(i);
                const double total = std::accumulate(row, row + n_classes, 0.0);
                double* out = shares + (from + i) * n_classes;
                for (std::size_t j = 0; j < n_classes; ++j) out[j] = row[j] / total;
            }
        }
    });
}

}  // namespace comboost
