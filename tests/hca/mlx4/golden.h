// Commands that the Linux driver gave in a guest (tests/guest/golden), and how
// ours may differ.
#ifndef IBEMU_TESTS_HCA_MLX4_GOLDEN_H_
#define IBEMU_TESTS_HCA_MLX4_GOLDEN_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "testing/golden.h"
#include "tests/hca/mlx4/command_lines.h"

namespace ibemu::hca::mlx4 {

// The value of Allowed::times for any number of times.
inline constexpr int kAnyTimes = 0;

struct Allowed {
  std::string_view difference;
  std::string_view reason;
  int times = kAnyTimes;
};

// The lines of a file, without its comments.
inline std::vector<std::string> ReadGolden(const std::string& name) {
  std::ifstream file = testing::OpenGolden("tests/guest/golden/" + name);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#')) lines.push_back(line);
  }
  return lines;
}

// "RTR2RTS_QP 2 q_key" is "QP q_key": not of a certain step and queue pair.
inline std::string InAnyStep(const std::string& difference) {
  const size_t at = difference.find("_QP ");
  if (at == std::string::npos) return difference;
  std::string_view component = std::string_view(difference).substr(at + 4);
  if (component.front() >= '0' && component.front() <= '9') {
    component.remove_prefix(component.find(' ') + 1);
  }
  return "QP " + std::string(component);
}

// Each difference is allowed, as often as it is there, and each that is allowed
// is there.  "QP component" allows it in whatever step of a queue pair.
inline void ExpectAllowed(const Differences& found,
                          std::span<const Allowed> allowed) {
  std::map<std::string_view, int> used;
  for (const auto& [name, times] : found) {
    const std::string& difference = name;
    const std::string anywhere = InAnyStep(difference);
    const auto entry = std::ranges::find_if(allowed, [&](const Allowed& one) {
      return one.difference == difference || one.difference == anywhere;
    });
    if (entry == allowed.end()) {
      ADD_FAILURE() << "not allowed: " << difference;
    } else {
      used[entry->difference] += times;
    }
  }
  for (const Allowed& one : allowed) {
    const int times = used[one.difference];
    EXPECT_GT(times, 0) << "there is no such difference any more: "
                        << one.difference;
    if (one.times != kAnyTimes) {
      EXPECT_EQ(times, one.times) << one.difference;
    }
  }
}

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_TESTS_HCA_MLX4_GOLDEN_H_
