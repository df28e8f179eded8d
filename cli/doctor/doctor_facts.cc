#include "cli/doctor/doctor_facts.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "launch/network/outside_program.h"

namespace ibemu::cli {
namespace {

namespace fs = std::filesystem;

std::optional<int> Number(const std::string& path) {
  std::ifstream file(path);
  int value = 0;
  if (!(file >> value)) return std::nullopt;
  return value;
}

// Returns the value of "NAME:\tVALUE" in a file such as /proc/self/status.
int Field(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    int value = 0;
    if (word == name + ":" && file >> value) return value;
  }
  return 0;
}

std::string Container(const std::string& root) {
  std::error_code error;
  if (fs::exists(root + "/.dockerenv", error)) return "Docker";
  if (fs::exists(root + "/run/.containerenv", error)) return "Podman";
  if (fs::exists(root + "/var/run/secrets/kubernetes.io", error)) {
    return "Kubernetes";
  }
  return "";
}

}  // namespace

DoctorFacts ReadDoctorFacts(const std::string& root) {
  const std::string sysctl = root + "/proc/sys/";
  DoctorFacts facts;
  std::error_code error;
  facts.has_fuse_device = fs::exists(root + "/dev/fuse", error);
  facts.io_uring_disabled =
      Number(sysctl + "kernel/io_uring_disabled").value_or(0);
  facts.ptrace_scope = Number(sysctl + "kernel/yama/ptrace_scope").value_or(0);
  facts.seccomp_mode = Field(root + "/proc/self/status", "Seccomp");
  facts.container = Container(root);
  const std::string path =
      absl::StrCat(root, "/usr/bin:", root, "/usr/local/bin");
  for (const launch::OutsideProgram& program : launch::OutsidePrograms()) {
    if (launch::IsInstalled(program, path)) {
      facts.outside_programs.emplace_back(program.name);
    }
  }
  for (const auto& entry :
       fs::directory_iterator(root + "/sys/class/infiniband", error)) {
    facts.rdma_devices.push_back(entry.path().filename());
  }
  std::sort(facts.rdma_devices.begin(), facts.rdma_devices.end());
  facts.providers = ReadProviderFiles(root);
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) facts.open_files = limit.rlim_cur;
  facts.uid = geteuid();
  return facts;
}

}  // namespace ibemu::cli
