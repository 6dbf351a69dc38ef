# SPDX-License-Identifier: Apache-2.0
"""include/penstock/fn/math.h: arithmetic on batches and values of graphs, of the hidden operators that Python's expressions use."""

SIGNS = {
    "_add": "+", "_sub": "-", "_mul": "*", "_div": "/", "_mod": "%", "_and": "&", "_or": "|", "_xor": "^", "_shl": "<<", "_shr": ">>",
    "_eq": "==", "_ne": "!=", "_lt": "<", "_le": "<=", "_gt": ">", "_ge": ">=",
}  # fmt: skip
ALONE = {"_neg": "-", "_not": "~", "_pos": "+"}
NAMED = {"_fdiv": "quotient"}  # what no sign of C++ says

HEAD = """// Arithmetic, element by element, on batches and on values of graphs: a * b + 1, a < b, fn::math::sqrt(a).
//
// An operand may be a number: an integer is an int32, a fraction a float32. Types are promoted as in Python's
// expressions, shapes broadcast as in NumPy. a == b is a batch of truth values, not a comparison of handles.
#pragma once
#include "penstock/graph.hpp"

namespace penstock {
inline namespace api {
namespace detail {
template <class T> constexpr bool is_operand = std::is_same_v<T, Batch> || std::is_same_v<T, Value>;
template <class L, class R>
constexpr bool are_operands = (is_operand<L> && (std::is_same_v<L, R> || std::is_arithmetic_v<R>)) ||
                              (is_operand<R> && std::is_arithmetic_v<L>);
template <class L, class R> using Result = std::enable_if_t<are_operands<L, R>, std::conditional_t<is_operand<L>, L, R>>;
template <class T> using Operand = std::enable_if_t<is_operand<T>, T>;

inline Batch run_operator(const char* op, const std::vector<Batch>& inputs, const Arguments& arguments = {}) {
  return call(op, inputs, arguments)[0];
}
inline Value run_operator(const char* op, const std::vector<Value>& inputs, const Arguments& arguments = {}) {
  return add_list(op, inputs, arguments, {})[0];
}
template <class N> Arguments constant(const char* name, const char* type_name, N number) {
  Arguments arguments;
  const auto value = static_cast<double>(number);
  if (std::is_integral_v<N> && (value < -2147483648.0 || value > 2147483647.0))
    throw Error(PENSTOCK_ERROR_ARGUMENT, "a number beside a batch must be an int32: make a batch of it");
  arguments.set(name, value);
  arguments.set(type_name, std::is_same_v<N, bool> ? DType::bool_ : std::is_integral_v<N> ? DType::int32 : DType::float32);
  return arguments;
}
template <class L, class R> Result<L, R> run_two(const char* op, const L& a, const R& b) {
  if constexpr (!is_operand<R>) return run_operator(op, std::vector<L>{a}, constant("right", "right_type", b));
  else if constexpr (!is_operand<L>) return run_operator(op, std::vector<R>{b}, constant("left", "left_type", a));
  else return run_operator(op, std::vector<L>{a, b});
}
}  // namespace detail
"""


def sentence(operator):
    return operator["doc"].split("\n")[0]


def two(name, operator):
    return (
        f"// {sentence(operator)}\ntemplate <class L, class R> detail::Result<L, R> {name}(const L& a, const R& b) {{\n"
        f'  return detail::run_two("{operator["name"]}", a, b);\n}}\n'
    )


def one(name, operator):
    return (
        f"// {sentence(operator)}\ntemplate <class T> detail::Operand<T> {name}(const T& x) {{\n"
        f'  return detail::run_operator("{operator["name"]}", {{x}});\n}}\n'
    )


def header(operators):
    known = {o["name"]: o for o in operators}
    text = [HEAD, "\n"]
    text += [two(f"operator{sign}", known[name]) for name, sign in SIGNS.items()]
    text += [one(f"operator{sign}", known[name]) for name, sign in ALONE.items()]
    text.append("\nnamespace fn::math {\n")
    text += [two(name, known[operator]) for operator, name in NAMED.items()]
    for operator in operators:
        space, _, name = operator["name"].partition(".")
        if space == "_math":
            text.append((two if operator["max_inputs"] == 2 else one)(name, operator))
    text.append("}  // namespace fn::math\n\n}  // namespace api\n}  // namespace penstock\n")
    return "".join(text)
