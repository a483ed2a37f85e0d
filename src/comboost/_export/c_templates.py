"""The C of a model, with gaps. In: nothing. Out: templates; what fills their gaps is numbers and checked names."""

PREAMBLE = """#include <stdint.h>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "Compile this file without -ffast-math: missing values are NaN, and sums must keep their order."
#endif
typedef char ${name}_needs_doubles_of_64_bits[sizeof(double) == 8 ? 1 : -1];

int ${name}(const double *x);
void ${name}_votes(const double *x, double *votes);
const char *${name}_label(int class_number);"""

CODE_PROTOTYPE = "double ${name}_code(int feature, const char *text);"

NODE = """/* A value up to the threshold goes to the node next / 2, another one to that after it, and a missing one to
 * the first if next is odd. A feature below 0 is one of categories, whose set of codes the threshold numbers. A leaf
 * has a next below 0, which numbers its votes. */
struct ${name}_node { double threshold; int32_t feature; int32_t next; };"""

CODED = """/* A feature of categories: where those that are numbers begin and end, or how many codes its texts have. */
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
$decide
        node = ${name}_nodes + (node->next >> 1) + goes_right;
    }
    return -1 - node->next;
}"""

BY_NUMBER = """        const double value = x[node->feature];
        const int goes_right = (value > node->threshold) | ((value != value) & !(node->next & 1));"""

BY_SET = """        const int32_t code = codes[-1 - node->feature];
        const unsigned char *set = ${name}_sets + $set_bytes * (int32_t)node->threshold;
        const int goes_right = !((set[code >> 3] >> (code & 7)) & 1);
        (void)x;"""

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

SUM_VOTES = """static void ${name}_sum(const double *x, double *sums) {$read
    for (int32_t k = 0; k < $n_voted; ++k) sums[k] = 0.0;
    for (int32_t t = 0; t < $n_trees; ++t) {
        const int32_t leaf = ${name}_leaf(${name}_roots[t], x$given_codes);
$add
    }
}

static int32_t ${name}_first_of_most(const double *sums) {
    int32_t best = 0;
    for (int32_t k = 1; k < $n_voted; ++k)
        if (sums[k] > sums[best]) best = k;
    return best;
}"""

ADD_WEIGHT = "        sums[leaf] += ${name}_weights[t];"

ADD_VOTES = """        const float *votes = ${name}_leaf_votes + leaf * $n_voted;
        for (int32_t k = 0; k < $n_voted; ++k) sums[k] += (double)votes[k];"""

ANSWERS = """void ${name}_votes(const double *x, double *votes) { ${name}_sum(x, votes); }

int ${name}(const double *x) {
    double sums[$n_voted];
    ${name}_sum(x, sums);
    return (int)${name}_first_of_most(sums);
}"""

SPREAD_ANSWERS = """/* Some classes had no weight in training, and are never voted for. */
void ${name}_votes(const double *x, double *votes) {
    double sums[$n_voted];
    ${name}_sum(x, sums);
    for (int32_t k = 0; k < $n_classes; ++k) votes[k] = $no_votes;
    for (int32_t k = 0; k < $n_voted; ++k) votes[${name}_voted[k]] = sums[k];
}

int ${name}(const double *x) {
    double sums[$n_voted];
    ${name}_sum(x, sums);
    return (int)${name}_voted[${name}_first_of_most(sums)];
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

LABEL_OF_CLASS = """const char *${name}_label(int class_number) {
    return class_number < 0 || class_number >= $n_classes ? "" : ${name}_labels[class_number];
}"""
