// Array types of the bindings, and their checks. Kernels trust what has passed these.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "comboost/growing.hpp"
#include "comboost/types.hpp"
#include "without_python.hpp"

namespace comboost_python {

namespace nb = nanobind;
using namespace nb::literals;

template <class T, class... Args>
using Array = nb::ndarray<T, nb::numpy, nb::device::cpu, Args...>;

template <class T>
using Vector = Array<const T, nb::ndim<1>, nb::c_contig>;
template <class T>
using OutVector = Array<T, nb::ndim<1>, nb::c_contig>;
template <class T>
using Values = Array<const T, nb::ndim<2>>;  // any strides: neither C nor Fortran order is copied
constexpr std::size_t kSplitWidth = sizeof(comboost::Split) / sizeof(std::int32_t);
using Splits = Array<const std::int32_t, nb::shape<-1, kSplitWidth>, nb::c_contig>;
using NodeBytes = Array<const std::uint8_t, nb::shape<-1, sizeof(comboost::Node)>, nb::c_contig>;
using SetBytes = Array<const std::uint8_t, nb::shape<-1, sizeof(comboost::CodeSet)>, nb::c_contig>;
using Kinds = Vector<std::uint8_t>;                                          // of the features, as comboost::Kind
using CodeColumns = Array<const comboost::Code, nb::ndim<2>, nb::c_contig>;  // (n_features, n_rows)
using Histograms = Array<const comboost::Sum, nb::ndim<3>, nb::c_contig>;    // (n_nodes, n_bins, n_channels)
using OutHistograms = Array<comboost::Sum, nb::ndim<3>, nb::c_contig>;

inline void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

template <class A>
auto span_of(const A& array) {
    return std::span(array.data(), array.size());
}

// An optional vector: empty if it is None.
template <class T>
std::span<const T> span_or_empty(const std::optional<Vector<T>>& array) {
    return array ? span_of(*array) : std::span<const T>{};
}

template <class T>
comboost::Matrix<T> matrix_of(const Values<T>& values) {
    return {values.data(), values.shape(0), values.shape(1), values.stride(0), values.stride(1)};
}

inline comboost::Codes codes_of(const CodeColumns& codes) { return {codes.data(), codes.shape(1), codes.shape(0)}; }

// The rows of an array as records. NumPy does not align bytes, so the address is checked here.
template <class Record, class A>
std::span<const Record> records_of(const A& array) {
    if (array.shape(0) == 0) return {};
    require(reinterpret_cast<std::uintptr_t>(array.data()) % alignof(Record) == 0,
            "records lie at an unaligned address, as they may after a transfer; pass a copy of the array");
    return {reinterpret_cast<const Record*>(array.data()), array.shape(0)};
}

inline std::span<const comboost::Kind> kinds_of(const Kinds& kinds) {
    for (const std::uint8_t kind : span_of(kinds))
        require(kind <= static_cast<std::uint8_t>(comboost::Kind::categories), "unknown kind of feature");
    return {reinterpret_cast<const comboost::Kind*>(kinds.data()), kinds.size()};
}

inline void require_n_classes(std::size_t n_classes) {
    require(n_classes >= 2 && n_classes <= comboost::kMaxClasses, "n_classes lies outside 2..65535");
}

inline void require_classes(std::span<const comboost::Label> labels, std::size_t n_classes, const char* what) {
    comboost::Label largest = 0;
    for (const comboost::Label label : labels) largest = std::max(largest, label);
    require(labels.empty() || largest < n_classes, what);
}

// Where parts of `size` things start, and where the last one ends.
inline void require_starts(std::span<const std::int64_t> starts, std::size_t size) {
    require(std::ranges::is_sorted(starts), "starts must ascend");
    require(starts.front() >= 0 && std::cmp_less_equal(starts.back(), size), "starts lie outside what they divide");
}

// A new NumPy array of this shape with a copy of `records`, seen as elements of T.
template <class T, class Record, class... Shape>
Array<T, Shape...> copy_records(const std::vector<Record>& records, std::initializer_list<std::size_t> shape) {
    auto copy = std::make_unique_for_overwrite<T[]>(records.size() * sizeof(Record) / sizeof(T));
    if (!records.empty()) std::memcpy(copy.get(), records.data(), records.size() * sizeof(Record));
    T* data = copy.get();
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    copy.release();  // only now: the constructor of the capsule may throw
    return Array<T, Shape...>(data, shape, owner);
}

// A NumPy array of this shape that takes over a vector.
template <class T, class... Shape>
Array<T, Shape...> own_vector(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    owned->reserve(1);  // an array needs an address even without elements
    T* const data = owned->data();
    nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    owned.release();  // only now: the constructor of the capsule may throw
    return Array<T, Shape...>(data, shape, owner);
}

// The nodes of a tree, as bytes of NODE_DTYPE, and the sets of codes that they need.
inline auto nodes_of(const comboost::Grower& grower) {
    return copy_records<std::uint8_t, comboost::Node, nb::shape<-1, sizeof(comboost::Node)>>(
        grower.nodes(), {grower.nodes().size(), sizeof(comboost::Node)});
}

inline auto sets_of(const comboost::Grower& grower) {
    return copy_records<std::uint8_t, comboost::CodeSet, nb::shape<-1, sizeof(comboost::CodeSet)>>(
        grower.sets(), {grower.sets().size(), sizeof(comboost::CodeSet)});
}

}  // namespace comboost_python
