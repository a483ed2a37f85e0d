#include <nanobind/stl/tuple.h>

#include <memory>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "comboost/packing.hpp"

namespace comboost_python {
namespace {

using Numbers = Array<const std::int64_t, nb::ndim<2>, nb::c_contig>;
using OutNumbers = Array<std::int64_t, nb::ndim<2>, nb::c_contig>;
using NewBytes = Array<std::uint8_t, nb::ndim<1>>;
using Packed = std::tuple<NewBytes, std::size_t, std::size_t>;

Packed pack_integers(const Numbers& numbers) {
    comboost::PackedShape shape{};
    auto owned = std::make_unique<std::vector<std::uint8_t>>();
    {
        WithoutPython release;
        shape = comboost::packed_shape(span_of(numbers), numbers.shape(1));
        *owned = comboost::pack(span_of(numbers), numbers.shape(1), shape);
        owned->reserve(1);  // an array needs an address even without elements
    }
    std::vector<std::uint8_t>* const bytes = owned.release();
    nb::capsule owner(bytes, [](void* p) noexcept { delete static_cast<std::vector<std::uint8_t>*>(p); });
    return {NewBytes(bytes->data(), {bytes->size()}, owner), shape.n_columns, shape.n_bytes};
}

void unpack_integers(const Vector<std::uint8_t>& packed, std::size_t n_columns, std::size_t n_bytes,
                     const OutNumbers& numbers) {
    require(n_columns <= numbers.shape(1) && n_bytes >= 1 && n_bytes <= sizeof(std::int64_t),
            "more was packed than there is room for");
    require(packed.size() == numbers.shape(0) * n_columns * n_bytes, "there are not as many bytes as were packed");
    comboost::unpack(span_of(packed), {n_columns, n_bytes}, numbers.shape(1), span_of(numbers));
}

}  // namespace

void bind_packing(nb::module_& m) {
    m.def("pack_integers", &pack_integers, "numbers"_a.noconvert(),
          "The lowest bytes of every number, as many as hold all; of how many columns, since empty ones at the end are "
          "left out; and how many bytes.");
    m.def("unpack_integers", &unpack_integers, "packed"_a.noconvert(), "n_columns"_a, "n_bytes"_a,
          "numbers"_a.noconvert(), nb::call_guard<WithoutPython>(), "Writes numbers that were packed.");
}

}  // namespace comboost_python
