// SPDX-License-Identifier: Apache-2.0
// The cores that are near a device on the PCI bus: on the same NUMA node.
#pragma once
#include <string>
#include <vector>

namespace penstock {

// The numbers in a list of Linux, as "0-3,8,10-11"; empty for a text that is no such list.
std::vector<int> numbers_in_list(const std::string& text);
// Those of the calling thread's cores that the system says are near the device, as "0000:3b:00.0". Empty if it says
// nothing, as on a machine of one node and in many virtual machines, or if none of them may be used. `devices`:
// where the system has them.
std::vector<int> cores_near(const std::string& pci_bus_id, const std::string& devices = "/sys/bus/pci/devices");
// Until the end of the scope the calling thread runs on these cores alone. Threads that it starts meanwhile stay on
// them, and memory that they are the first to write is near. Without effect if there are none, or if the system
// refuses.
class OnCores {
 public:
  explicit OnCores(const std::vector<int>& cores) noexcept;
  ~OnCores();
  OnCores(const OnCores&) = delete;
  OnCores& operator=(const OnCores&) = delete;

 private:
  std::vector<int> before_;  // where it ran; empty: nothing has changed
};

}  // namespace penstock
