// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock {

// Bytes that one thread reads and writes in a second when it copies memory that no cache holds. Measured at the first
// call, which takes some 20 ms.
double copy_rate();

}  // namespace penstock
