#include "cli/profile/provider_files.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace ibemu::cli {
namespace {

namespace fs = std::filesystem;

// Libraries live in /usr/lib/x86_64-linux-gnu (Debian), /usr/lib64 (Fedora,
// SUSE) or /usr/lib (Arch); /usr/local has those that somebody built.
constexpr const char* kLibraryPlaces[] = {"/usr/lib", "/usr/lib64",
                                          "/usr/local/lib", "/usr/local/lib64"};

std::vector<fs::path> EntriesOf(const fs::path& directory) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end;
       !error && entry != end; entry.increment(error)) {
    entries.push_back(entry->path());
  }
  return entries;
}

void AddDrivers(const fs::path& file, std::vector<std::string>& drivers) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return;
  std::ifstream text(file);
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string directive;
    std::string driver;
    if (words >> directive >> driver && directive == "driver") {
      drivers.push_back(driver);
    }
  }
}

void AddLibraries(const fs::path& place, std::vector<std::string>& libraries) {
  for (const fs::path& library : EntriesOf(place / "libibverbs")) {
    libraries.push_back(library.filename());
  }
}

}  // namespace

ProviderFiles ReadProviderFiles(const std::string& root) {
  ProviderFiles files;
  for (const fs::path& file : EntriesOf(root + "/etc/libibverbs.d")) {
    AddDrivers(file, files.drivers);
  }
  for (const char* place : kLibraryPlaces) {
    AddLibraries(root + place, files.libraries);
    for (const fs::path& multiarch : EntriesOf(root + place)) {
      if (multiarch.filename().string().find("-linux-") != std::string::npos) {
        AddLibraries(multiarch, files.libraries);
      }
    }
  }
  return files;
}

}  // namespace ibemu::cli
