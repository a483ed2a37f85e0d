#define COMBOOST_KERNELS baseline
#include "comboost/kernels.inl"
