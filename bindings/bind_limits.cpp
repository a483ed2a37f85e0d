#include <limits>

#include "arrays.hpp"
#include "comboost/bundles.hpp"
#include "comboost/kernels.hpp"
#include "comboost/limits.hpp"
#include "comboost/quantiles.hpp"
#include "comboost/sparse_bins.hpp"
#include "comboost/types.hpp"

namespace comboost_python {

// Limits, values of fields and sizes of records that Python needs, so that it has no copies of them.
void bind_limits(nb::module_& m) {
    using namespace comboost;
    m.attr("MAX_BINS") = kMaxBins;
    m.attr("MAX_CLASSES") = kMaxClasses;
    m.attr("MAX_ROWS") = std::numeric_limits<RowIndex>::max();

    m.attr("LEAF") = kLeaf;
    m.attr("NO_SET") = kNoSet;
    m.attr("MISSING_LEFT") = Node::kMissingLeft;
    m.attr("CATEGORICAL") = Node::kCategorical;
    m.attr("SET_BYTES") = sizeof(CodeSet);
    m.attr("COMPLETE") = static_cast<std::uint8_t>(Kind::complete);
    m.attr("WITH_MISSING") = static_cast<std::uint8_t>(Kind::missing);
    m.attr("CATEGORIES") = static_cast<std::uint8_t>(Kind::categories);

    m.attr("SUM_BYTES") = sizeof(Sum);
    m.attr("UNIT_BYTES") = sizeof(Unit);
    m.attr("LABEL_BYTES") = sizeof(Label);
    m.attr("WEIGHT_BYTES") = sizeof(Weight);
    m.attr("ROW_INDEX_BYTES") = sizeof(RowIndex);
    m.attr("CHANNELS_PER_VECTOR") = Channels::kLanes;
    m.attr("MAX_SORTED_COLUMNS") = kMaxSortedColumns;
    m.attr("MAX_SORTED_BYTES") = kMaxSortedBytes;
    m.attr("MAX_CANDIDATES") = kMaxCandidates;
    m.attr("MANY_LEVELS") = kManyLevels;
    m.attr("MANY_LEAVES") = kManyLeaves;
    m.attr("ROW_PADDING") = kRowPadding;
    m.attr("FEW_BINS") = Bundles::kFewBins;
    m.attr("MAX_BUNDLED_CODES") = Bundles::kMostCodes;
    m.attr("ENTRY_BYTES") = sizeof(RowIndex) + sizeof(Code);
    m.attr("SORTED_ENTRY_BYTES") = sizeof(WeightedKey<ValueKey, std::uint64_t>);
    m.attr("SEARCHED_ROW_BYTES") = sizeof(SearchedRow);
    m.attr("EXPLAINED_ROWS") = LeafPath::kRows;
}

}  // namespace comboost_python
