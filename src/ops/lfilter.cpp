// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/shared/recursion.h"

namespace penstock {

struct LinearFilter : Recursion {
  PerSample<std::vector<double>> b, a;

  static Schema<LinearFilter> schema() {
    using Op = LinearFilter;
    return Schema<Op>(
               "lfilter",
               std::string("Filters a signal by a rational transfer function.\n\na[0] y[t] = b[0] x[t] + b[1] x[t "
                           "- 1] + ... - a[1] y[t - 1] - a[2] y[t - 2] - ..., with zeros before the signal, as "
                           "scipy.signal.lfilter does. ") +
                   kSignals +
                   "Source: A. V. Oppenheim and R. W. Schafer, \"Discrete-Time Signal Processing\", 1989, 6.3.\n\n"
                   "Example:\n"
                   ">>> fn.lfilter(np.float32([1, 0, 0, 0]), b=[1.0], a=[1.0, -0.5]).tolist()\n"
                   "[1.0, 0.5, 0.25, 0.125]")
        .required("b", &Op::b, "Coefficients of the input, at most 33.")
        .required("a", &Op::a, "Coefficients of the output, at most 33; the first must not be 0.")
        .arg("clamp", &Op::clamp, kClamp)
        .float64("an error of a result returns in all that follow")
        .oracle("scipy");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    std::vector<double> inputs = b[s.index], outputs = a[s.index];
    for (const auto& [name, list] : {std::pair{"b", &inputs}, {"a", &outputs}})
      if (list->empty() || list->size() > kMostOrder + 1)
        bad_argument("{} must have 1 to {} numbers, got {}", name, kMostOrder + 1, list->size());
    if (outputs[0] == 0) bad_argument("a[0] must not be 0");
    const size_t count = std::max(inputs.size(), outputs.size());
    inputs.resize(count), outputs.resize(count);
    filter(in[0], out[0], std::move(inputs), std::move(outputs), to);
  }
};
PENSTOCK_OPERATOR(LinearFilter);

}  // namespace penstock
