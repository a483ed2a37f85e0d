#include "comboost/validating.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "comboost/parallel.hpp"

namespace comboost {
namespace {

// Times 2^25 it is below 2^31; weights add up to at most 2^32, so sums stay below 2^63.
constexpr double kLargestLoss = 52 * std::numbers::ln2;
constexpr double kUnits = 1 << 25;  // in a loss of 1

// An exponential costs as much as some five of the updates that `work` counts.
constexpr std::size_t kExponential = 5;

struct ClassLoss {
    Sum loss = 0, weight = 0;
};

double log_loss(const double* scores, std::size_t truth, std::size_t n_classes, double scale) {
    const double largest = *std::max_element(scores, scores + n_classes);
    double odds = 0.0;
    for (std::size_t j = 0; j < n_classes; ++j) odds += std::exp(scale * (scores[j] - largest));
    return std::min(kLargestLoss, std::log(odds) + scale * (largest - scores[truth]));
}

}  // namespace

double balanced_log_loss(const double* scores, std::span<const Label> labels, std::span<const Weight> weights,
                         std::size_t n_classes, double scale, int n_threads) {
    const std::size_t n_rows = labels.size();
    const std::size_t work = n_rows * n_classes * kExponential;
    std::vector<std::vector<ClassLoss>> parts(n_parts(work, n_threads), std::vector<ClassLoss>(n_classes));
    for_each_task(parts.size(), work, n_threads, [&](std::size_t part) {
        const std::size_t begin = n_rows * part / parts.size(), end = n_rows * (part + 1) / parts.size();
        for_each_stretch(begin, end, n_classes * kExponential, [&](std::size_t from, std::size_t to) {
            for (std::size_t i = from; i < to; ++i) {
                const Sum weight = weights.empty() ? 1 : Sum{weights[i]};
                ClassLoss& of_class = parts[part][labels[i]];
                of_class.loss +=
                    weight * std::lrint(kUnits * log_loss(scores + i * n_classes, labels[i], n_classes, scale));
                of_class.weight += weight;
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
