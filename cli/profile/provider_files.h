// The files by which libibverbs finds its providers.
#ifndef IBEMU_CLI_PROFILE_PROVIDER_FILES_H_
#define IBEMU_CLI_PROFILE_PROVIDER_FILES_H_

#include <string>
#include <vector>

namespace ibemu::cli {

// The names of libibverbs' providers on a machine.  libibverbs loads one that
// is named in its configuration and has a library (libibverbs/dynamic_driver.c
// of rdma-core): a package that was removed may have left its configuration.
struct ProviderFiles {
  // The words after "driver" in /etc/libibverbs.d: "ipathverbs".
  std::vector<std::string> drivers;
  // The files in the libraries' directories "libibverbs":
  // "libipathverbs-rdmav34.so".
  std::vector<std::string> libraries;
};

// Reads the names.  `root` is the root directory; tests have one of their own.
// A file or directory that can't be read counts as missing.
ProviderFiles ReadProviderFiles(const std::string& root);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_PROFILE_PROVIDER_FILES_H_
