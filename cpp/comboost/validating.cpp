#include "comboost/validating.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "comboost/kernels.hpp"
#include "comboost/parallel.hpp"

namespace comboost {
namespace {

// Times 2^25 it is below 2^31; weights add up to at most 2^32, so sums stay below 2^63.
constexpr double kLargestLoss = 52 * std::numbers::ln2;
constexpr double kUnits = 1 << 25;  // in a loss of 1

// An exponential costs as much as some two of the updates that `work` counts, a logarithm as ten.
constexpr std::size_t kExponential = 2, kLogarithm = 10;

constexpr std::size_t kAtOnce = 1024;  // scores that become exponentials

struct ClassLoss {
    Sum loss = 0, weight = 0;
};

// −ln p of the truth, of some rows at once: their exponentials are found side by side.
class RowLosses {
  public:
    RowLosses(std::size_t n_classes, double scale)
        : n_classes_(n_classes),
          scale_(scale),
          losses_(std::max<std::size_t>(1, kAtOnce / n_classes)),
          powers_(losses_.size() * n_classes) {}

    std::size_t at_once() const { return losses_.size(); }

    const double* find(const double* scores, const Label* labels, std::size_t n_rows) {
        double* powers = powers_.data();
        for (std::size_t i = 0; i < n_rows; ++i, scores += n_classes_, powers += n_classes_) {
            const double largest = *std::max_element(scores, scores + n_classes_);
            for (std::size_t j = 0; j < n_classes_; ++j) powers[j] = scale_ * (scores[j] - largest);
            losses_[i] = -powers[labels[i]];
        }
        kernels().exponentiate(powers_.data(), n_rows * n_classes_);
        powers = powers_.data();
        for (std::size_t i = 0; i < n_rows; ++i, powers += n_classes_) {
            const double odds = std::accumulate(powers, powers + n_classes_, 0.0);
            losses_[i] = std::min(kLargestLoss, std::log(odds) + losses_[i]);
        }
        return losses_.data();
    }

  private:
    std::size_t n_classes_;
    double scale_;
    std::vector<double> losses_, powers_;
};

}  // namespace

double balanced_log_loss(const double* scores, std::span<const Label> labels, std::span<const Weight> weights,
                         std::size_t n_classes, double scale, int n_threads) {
    const std::size_t n_rows = labels.size();
    const std::size_t updates = n_classes * kExponential + kLogarithm;
    const std::size_t work = n_rows * updates;
    std::vector<std::vector<ClassLoss>> parts(n_parts(work, n_threads), std::vector<ClassLoss>(n_classes));
    for_each_task(parts.size(), work, n_threads, [&](std::size_t part) {
        const std::size_t begin = n_rows * part / parts.size(), end = n_rows * (part + 1) / parts.size();
        RowLosses rows(n_classes, scale);
        for_each_stretch(begin, end, updates, [&](std::size_t from, std::size_t to) {
            for (std::size_t i = from; i < to; i += rows.at_once()) {
                const std::size_t n = std::min(rows.at_once(), to - i);
                const double* losses = rows.find(scores + i * n_classes, labels.data() + i, n);
                for (std::size_t k = 0; k < n; ++k) {
                    const Sum weight = weights.empty() ? 1 : Sum{weights[i + k]};
                    ClassLoss& of_class = parts[part][labels[i + k]];
                    of_class.loss += weight * std::lrint(kUnits * losses[k]);
                    of_class.weight += weight;
                }
            }
        });
    });
    double total = 0.0;
    int n_present = 0;
    for (std::size_t k = 0; k < n_classes; ++k) {
        ClassLoss of_class;
        for (const auto& part : parts) {
            of_class.loss += part[k].loss;
            of_class.weight += part[k].weight;
        }
        if (of_class.weight == 0) continue;
        total += static_cast<double>(of_class.loss) / static_cast<double>(of_class.weight);
        ++n_present;
    }
    return total / kUnits / n_present;
}

}  // namespace comboost
