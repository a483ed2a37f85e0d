// A forest whose nodes have been checked, so that kernels can follow them without checks.
#pragma once

#include "arrays.hpp"
#include "comboost/forest.hpp"

namespace comboost_python {

using LeafValues = Array<const float, nb::ndim<2>, nb::c_contig>;  // (n_leaves, n_classes)

// Keeps its arrays alive. They must not be written to after the check.
class CheckedForest {
  public:
    CheckedForest(NodeBytes nodes, SetBytes sets, Vector<std::int64_t> offsets, Vector<double> weights,
                  std::optional<LeafValues> leaf_values, std::optional<Vector<double>> covers,
                  const std::optional<Kinds>& kinds, std::size_t n_features, std::size_t n_classes);

    const comboost::Forest& get() const { return forest_; }
    std::size_t n_trees() const { return forest_.n_trees(); }
    std::size_t n_features() const { return n_features_; }
    std::size_t n_classes() const { return n_classes_; }

  private:
    NodeBytes nodes_;
    SetBytes sets_;
    Vector<std::int64_t> offsets_;
    Vector<double> weights_;
    std::optional<LeafValues> leaf_values_;
    std::optional<Vector<double>> covers_;
    std::size_t n_features_;
    std::size_t n_classes_;
    comboost::Forest forest_;
};

}  // namespace comboost_python
