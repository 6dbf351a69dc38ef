// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <typeinfo>
#include <utility>

namespace penstock {

// What a decoder has read from a file's headers, kept for its decode(); only those that know the type can use it.
class ParsedHeader {
 public:
  template <class Header>
  void keep(std::shared_ptr<const Header> header) {
    type_ = &typeid(Header);
    held_ = std::move(header);
  }
  // nullptr if there is no such header.
  template <class Header>
  const Header* get() const {
    return type_ && *type_ == typeid(Header) ? static_cast<const Header*>(held_.get()) : nullptr;
  }
  template <class Header>
  std::shared_ptr<const Header> share() const {
    return {held_, get<Header>()};
  }

 private:
  const std::type_info* type_ = nullptr;
  std::shared_ptr<const void> held_;
};

}  // namespace penstock
