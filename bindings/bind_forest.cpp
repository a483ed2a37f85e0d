#include <nanobind/stl/optional.h>

#include <utility>

#include "checked_forest.hpp"

namespace comboost_python {

CheckedForest::CheckedForest(NodeBytes nodes, SetBytes sets, Vector<std::int64_t> offsets, Vector<double> weights,
                             std::optional<LeafValues> leaf_values, std::optional<Vector<double>> covers,
                             const std::optional<Kinds>& kinds, std::size_t n_features, std::size_t n_classes)
    : nodes_(std::move(nodes)),
      sets_(std::move(sets)),
      offsets_(std::move(offsets)),
      weights_(std::move(weights)),
      leaf_values_(std::move(leaf_values)),
      covers_(std::move(covers)),
      n_features_(n_features),
      n_classes_(n_classes),
      forest_{records_of<comboost::Node>(nodes_),
              records_of<comboost::CodeSet>(sets_),
              span_of(offsets_),
              span_of(weights_),
              leaf_values_ ? span_of(*leaf_values_) : std::span<const float>{},
              span_or_empty(covers_)} {
    require_n_classes(n_classes);
    require(!leaf_values_ || (leaf_values_->shape(0) > 0 && leaf_values_->shape(1) == n_classes),
            "leaf_values must be (n_leaves, n_classes)");
    require(!covers_ || covers_->size() > 0, "covers must have one entry per leaf");
    require(!kinds || kinds->size() == n_features, "every feature needs a kind");
    const comboost::ForestShape shape{n_features, n_classes,
                                      kinds ? kinds_of(*kinds) : std::span<const comboost::Kind>{}};
    WithoutPython release;
    comboost::check_forest(forest_, shape);
}

void bind_forest(nb::module_& m) {
    nb::class_<CheckedForest>(m, "Forest", "Trees of a model, checked when they are given: every path ends in a leaf.")
        .def(nb::init<NodeBytes, SetBytes, Vector<std::int64_t>, Vector<double>, std::optional<LeafValues>,
                      std::optional<Vector<double>>, std::optional<Kinds>, std::size_t, std::size_t>(),
             "nodes"_a.noconvert(), "sets"_a.noconvert(), "offsets"_a.noconvert(), "weights"_a.noconvert(),
             "leaf_values"_a.noconvert().none(), "covers"_a.noconvert().none(), "kinds"_a.noconvert().none(),
             "n_features"_a, "n_classes"_a);
}

}  // namespace comboost_python
