#define COMBOOST_KERNELS avx2
#include "comboost/kernels.inl"
