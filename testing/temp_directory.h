// A temporary directory for a test.
#ifndef IBEMU_TESTING_TEMP_DIRECTORY_H_
#define IBEMU_TESTING_TEMP_DIRECTORY_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace ibemu::testing {

// A TempDirectory creates a directory, and removes it with all its contents
// when it is destroyed.  The path is short enough for a socket's.
class TempDirectory {
 public:
  TempDirectory() { EXPECT_NE(mkdtemp(path_.data()), nullptr); }
  ~TempDirectory() { std::filesystem::remove_all(path_); }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/ibemu-test-XXXXXX";
};

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_TEMP_DIRECTORY_H_
