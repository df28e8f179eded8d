#include "testing/golden.h"

#include <filesystem>

#include "gtest/gtest.h"

namespace ibemu::testing {

std::string GoldenPath(std::string_view path) {
  return std::filesystem::path(IBEMU_SOURCE_TREE) / path;
}

std::ifstream OpenGolden(std::string_view path) {
  const std::string name = GoldenPath(path);
  std::ifstream file(name);
  EXPECT_TRUE(file.is_open()) << name;
  return file;
}

}  // namespace ibemu::testing
