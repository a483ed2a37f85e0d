#include "comboost/validating.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "comboost/parallel.hpp"
#include "comboost/softmax.hpp"

namespace comboost {
namespace {

// Times 2^25 it is below 2^31; weights add up to at most 2^32, so sums stay below 2^63.
constexpr double kLargestLoss = 52 * std::numbers::ln2;
constexpr double kUnits = 1 << 25;  // in a loss of 1

constexpr std::size_t kUpdatesPerLogarithm = 10;

struct ClassLoss {
    Sum loss = 0, weight = 0;
};

// −ln p of the truth of some rows, by way of their powers.
void find_losses(std::span<const double> scores, std::span<const Label> labels, Powers& powers,
                 std::span<double> losses) {
    powers.take(scores);
    for (std::size_t i = 0; i < labels.size(); ++i) losses[i] = -powers.row(i)[labels[i]];
    powers.raise(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const std::span<const double> row = powers.row(i);
        const double odds = std::accumulate(row.begin(), row.end(), 0.0);
        losses[i] = std::min(kLargestLoss, std::log(odds) + losses[i]);
    }
}

}  // namespace

double balanced_log_loss(std::span<const double> scores, std::span<const Label> labels, std::span<const Weight> weights,
                         std::size_t n_classes, double scale, int n_threads) {
    const std::size_t n_rows = labels.size();
    const std::size_t updates = n_classes * kUpdatesPerPower + kUpdatesPerLogarithm;
    const std::size_t work = n_rows * updates;
    std::vector<std::vector<ClassLoss>> parts(n_parts(work, n_threads), std::vector<ClassLoss>(n_classes));
    for_each_task(parts.size(), work, n_threads, [&](std::size_t part) {
        const std::size_t begin = n_rows * part / parts.size(), end = n_rows * (part + 1) / parts.size();
        Powers powers(end - begin, n_classes, {scale, {}});
        std::vector<double> losses(powers.rows_at_once());
        for_each_stretch(begin, end, updates, [&](std::size_t from, std::size_t to) {
            for (std::size_t i = from; i < to; i += losses.size()) {
                const std::size_t n = std::min(losses.size(), to - i);
                find_losses(scores.subspan(i * n_classes, n * n_classes), labels.subspan(i, n), powers, losses);
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
