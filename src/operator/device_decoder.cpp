// SPDX-License-Identifier: Apache-2.0
#include "operator/device_decoder.h"

#include <map>

namespace penstock {
namespace {

std::map<std::string, DecodeToDevice>& registered() {
  static std::map<std::string, DecodeToDevice> all;
  return all;
}

}  // namespace

void register_device_decoder(const std::string& op, DecodeToDevice decode) { registered()[op] = decode; }
bool decodes_to_device(const std::string& op) { return registered().count(op) > 0; }
DecodeToDevice device_decoder(const std::string& op) { return registered().at(op); }

}  // namespace penstock
