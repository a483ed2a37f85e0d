// Turns a number that is known at run time into a template argument.
#pragma once

#include <cstddef>

namespace comboost {

// Calls body.operator()<N>() for the first N of the list that equals `n`, or for the last N if none does. A list that
// ends with 0 has a general case, for which the compiler does not know the number:
//
//     dispatch<2, 3, 4, 0>(n_classes, [&]<std::size_t K>() { return update<K>(pass, begin, end); });
template <std::size_t N, std::size_t... Others, class Body>
inline auto dispatch(std::size_t n, const Body& body) {
    if constexpr (sizeof...(Others) == 0)
        return body.template operator()<N>();
    else
        return n == N ? body.template operator()<N>() : dispatch<Others...>(n, body);
}

}  // namespace comboost
