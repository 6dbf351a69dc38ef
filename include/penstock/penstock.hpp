// SPDX-License-Identifier: Apache-2.0
// Penstock for C++17 and later: headers over the C interface. penstock/fn.h also has typed calls of every operator.
//
// Handles are reference-counted: copies are cheap and share what they refer to. Errors are exceptions of class Error.
#pragma once
#include "penstock/batch.hpp"      // Error, DType, Device, Allocator, Batch
#include "penstock/arguments.hpp"  // Arguments, call()
#include "penstock/graph.hpp"      // Graph, Value
#include "penstock/pipeline.hpp"   // Pipeline
#include "penstock/function.hpp"   // Function
