# Fails if an object that is compiled for AVX2 exports anything but the table of kernels. The linker keeps one copy of an
# inline function that several objects export; a copy with AVX2 instructions would crash on CPUs without them.
execute_process(COMMAND ${NM} --defined-only -P ${OBJECT} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols MATCHES "_ZN8comboost4avx25tableE D ")
  message(FATAL_ERROR "${OBJECT} does not export the table of kernels.")
endif()
string(REGEX MATCHALL "[^\n]+ [A-Zuvw] [^\n]*" exported "${symbols}")  # nm names local symbols by other small letters
list(FILTER exported EXCLUDE REGEX "^_?_ZN8comboost4avx25tableE D |^DW\\.ref\\.")  # the second is a pointer, not code
if(exported)
  list(JOIN exported "\n  " lines)
  message(FATAL_ERROR "${OBJECT} exports other symbols than the table of kernels; move them into an unnamed namespace:\n  ${lines}")
endif()
