// Table of contents of comboost._core.
#include <nanobind/nanobind.h>

namespace comboost_python {
void bind_limits(nanobind::module_& m);
void bind_parallel(nanobind::module_& m);
void bind_binning(nanobind::module_& m);
void bind_sparse(nanobind::module_& m);
void bind_growing(nanobind::module_& m);
void bind_rows(nanobind::module_& m);
void bind_explaining(nanobind::module_& m);
void bind_forest(nanobind::module_& m);
void bind_predicting(nanobind::module_& m);
void bind_validating(nanobind::module_& m);
void bind_packing(nanobind::module_& m);
void bind_measuring(nanobind::module_& m);
}  // namespace comboost_python

NB_MODULE(_core, m) {
    // A model that lives until the interpreter ends, in a cache or a thread, is no leak to tell users about.
    nanobind::set_leak_warnings(false);
    m.doc() = "The loops over rows, compiled. Private: the Python modules of comboost are its only callers.";
    comboost_python::bind_limits(m);
    comboost_python::bind_parallel(m);
    comboost_python::bind_binning(m);
    comboost_python::bind_sparse(m);
    comboost_python::bind_growing(m);
    comboost_python::bind_rows(m);
    comboost_python::bind_explaining(m);
    comboost_python::bind_forest(m);
    comboost_python::bind_predicting(m);
    comboost_python::bind_validating(m);
    comboost_python::bind_packing(m);
    comboost_python::bind_measuring(m);
}
