"""Templates of the C file of a model; only numbers and checked names are substituted."""

PREAMBLE = """#include <stdint.h>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "Compile this file without -ffast-math: missing values are NaN, and sums must keep their order."
#endif
typedef char ${name}_needs_doubles_of_64_bits[sizeof(double) == 8 ? 1 : -1];

int ${name}(const double *x);
void ${name}_scores(const double *x, double *scores);
const char *${name}_label(int class_index);"""

CODE_PROTOTYPE = "double ${name}_code(int feature, const char *text);"

NODE = """\
/* A value up to the threshold goes to the node next / 2, another one to the node after it, and a missing one to the
 * first if next is odd. A feature below 0 is categorical, and the threshold is the index of its set of codes. A leaf
 * has a next below 0, which is the index of its class or values. */
struct ${name}_node { double threshold; int32_t feature; int32_t next; };"""

CODED = """/* A categorical feature: begin and end of its categories, and the number of codes if these are text. */
struct ${name}_coded { int32_t feature; int32_t begin; int32_t end; int32_t n_texts; };"""

READ_CODES = """static void ${name}_read(const double *x, unsigned char *codes) {
    for (int32_t c = 0; c < $n_coded; ++c) {
        const struct ${name}_coded *coded = ${name}_coded_features + c;
        const double value = x[coded->feature];
        codes[c] = 0;
        if (coded->n_texts > 0) {
            if (value >= 1.0 && value <= (double)coded->n_texts) codes[c] = (unsigned char)value;
            continue;
        }$search
    }
}"""

SEARCH = """
        int32_t low = coded->begin, high = coded->end;
        while (low < high) {
            const int32_t middle = low + (high - low) / 2;
            if (${name}_values[middle] < value) low = middle + 1;
            else high = middle;
        }
        if (low < coded->end && ${name}_values[low] == value) codes[c] = ${name}_value_codes[low];"""

WALK = """static int32_t ${name}_leaf(int32_t root, const double *x$codes) {
    const struct ${name}_node *node = ${name}_nodes + root;
    while (node->next >= 0) {
$go_right
        node = ${name}_nodes + (node->next >> 1) + goes_right;
    }
    return -1 - node->next;
}"""

BY_NUMBER = """        const double value = x[node->feature];
        const int goes_right = (value > node->threshold) | ((value != value) & !(node->next & 1));"""

BY_EITHER = """        int goes_right;
        if (node->feature >= 0) {
            const double value = x[node->feature];
            goes_right = (value > node->threshold) | ((value != value) & !(node->next & 1));
        } else {
            const int32_t code = codes[-1 - node->feature];
            const unsigned char *set = ${name}_sets + $set_bytes * (int32_t)node->threshold;
            goes_right = !((set[code >> 3] >> (code & 7)) & 1);
        }"""

READ = """
    unsigned char codes[$n_coded];
    ${name}_read(x, codes);"""

SUM_SCORES = """static void ${name}_sum(const double *x, double *sums) {$read
    for (int32_t k = 0; k < $n_scored; ++k) sums[k] = 0.0;
    for (int32_t t = 0; t < $n_trees; ++t) {
        const int32_t leaf = ${name}_leaf(${name}_roots[t], x$given_codes);
$add
    }
}

static int32_t ${name}_argmax(const double *sums) {
    int32_t best = 0;
    for (int32_t k = 1; k < $n_scored; ++k)
        if (sums[k] > sums[best]) best = k;
    return best;
}"""

ADD_WEIGHT = "        sums[leaf] += ${name}_weights[t];"

ADD_VALUES = """        const float *values = ${name}_leaf_values + leaf * $n_scored;
        for (int32_t k = 0; k < $n_scored; ++k) sums[k] += (double)values[k];"""

PREDICT = """void ${name}_scores(const double *x, double *scores) { ${name}_sum(x, scores); }

int ${name}(const double *x) {
    double sums[$n_scored];
    ${name}_sum(x, sums);
    return (int)${name}_argmax(sums);
}"""

PREDICT_SCORED = """/* Some classes had no weight in training, and are never predicted. */
void ${name}_scores(const double *x, double *scores) {
    double sums[$n_scored];
    ${name}_sum(x, sums);
    for (int32_t k = 0; k < $n_classes; ++k) scores[k] = $no_score;
    for (int32_t k = 0; k < $n_scored; ++k) scores[${name}_scored[k]] = sums[k];
}

int ${name}(const double *x) {
    double sums[$n_scored];
    ${name}_sum(x, sums);
    return (int)${name}_scored[${name}_argmax(sums)];
}"""

CODE_OF_TEXT = """static int ${name}_compare(const char *text, const char *other) {
    while (*text != 0 && *text == *other) ++text, ++other;
    return (int)(unsigned char)*text - (int)(unsigned char)*other;
}

double ${name}_code(int feature, const char *text) {
    for (int32_t c = 0; c < $n_coded; ++c) {
        const struct ${name}_coded *coded = ${name}_coded_features + c;
        int32_t low = coded->begin, high = coded->end;
        if (coded->feature != feature || coded->n_texts == 0) continue;
        while (low < high) {
            const int32_t middle = low + (high - low) / 2;
            if (${name}_compare(${name}_texts[middle], text) < 0) low = middle + 1;
            else high = middle;
        }
        if (low < coded->end && ${name}_compare(${name}_texts[low], text) == 0) return (double)${name}_text_codes[low];
        break;
    }
    return 0.0;
}"""

LABEL_OF_CLASS = """const char *${name}_label(int class_index) {
    return class_index < 0 || class_index >= $n_classes ? "" : ${name}_labels[class_index];
}"""
