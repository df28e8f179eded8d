#include "peers/certificates.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "peers/certificate_maker.h"

namespace ibemu::peers {
namespace {

namespace fs = std::filesystem;

// The authority's key stays where certificates are made.
constexpr char kAuthorityKeyFile[] = "ca.key";
constexpr mode_t kForAll = 0644, kForOwner = 0600, kFolder = 0700;

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return absl::NotFoundError(
        absl::StrCat(path, ": ", std::generic_category().message(errno),
                     ": \"ibemu certs\" makes certificates"));
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

absl::Status WriteFile(const std::string& path, std::string_view text,
                       mode_t mode) {
  const UniqueFd file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file.valid() || write(file.get(), text.data(), text.size()) !=
                           static_cast<ssize_t>(text.size())) {
    return absl::ErrnoToStatus(errno, path);
  }
  return absl::OkStatus();
}

absl::Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), kFolder) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, path);
}

// As a host name or an address may look, and a folder, too.
bool IsName(const std::string& name) {
  return !name.empty() && std::isalnum(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, [](unsigned char c) {
           return std::isalnum(c) || c == '.' || c == '-' || c == ':';
         });
}

absl::Status CheckMachine(const std::string& folder, const Machine& machine) {
  for (const std::string& name : machine.names) {
    if (!IsName(name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", name, "\" is no name of a machine and no IP address"));
    }
  }
  const std::string path = absl::StrCat(folder, "/", machine.names.front());
  if (!fs::exists(path)) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat(
      path,
      ": it has certificates already: move the folder away for new "
      "ones"));
}

absl::StatusOr<KeyPair> FindAuthority(const std::string& folder, int days) {
  const std::string certificate = absl::StrCat(folder, "/", kAuthorityFile);
  const std::string key = absl::StrCat(folder, "/", kAuthorityKeyFile);
  if (!fs::exists(certificate) && !fs::exists(key)) {
    IBEMU_ASSIGN_OR_RETURN(KeyPair made, MakeAuthority(days));
    IBEMU_RETURN_IF_ERROR(WriteFile(key, WriteKey(*made.key), kForOwner));
    IBEMU_RETURN_IF_ERROR(
        WriteFile(certificate, WriteCertificate(*made.certificate), kForAll));
    return made;
  }
  IBEMU_ASSIGN_OR_RETURN(const std::string text, ReadFile(certificate));
  IBEMU_ASSIGN_OR_RETURN(std::vector<X509Ptr> read,
                         ReadCertificates(text, certificate));
  IBEMU_ASSIGN_OR_RETURN(const std::string key_text, ReadFile(key));
  KeyPair found;
  found.certificate = std::move(read.front());
  IBEMU_ASSIGN_OR_RETURN(found.key, ReadKey(key_text, key));
  return found;
}

// The folder appears when all is in it.
absl::Status MakeOne(const std::string& folder, const KeyPair& authority,
                     const Machine& machine, int days) {
  IBEMU_ASSIGN_OR_RETURN(const KeyPair made,
                         MakeMachine(authority, machine.names, days));
  std::string unfinished = absl::StrCat(folder, "/.unfinished-XXXXXX");
  if (mkdtemp(unfinished.data()) == nullptr) {
    return absl::ErrnoToStatus(errno, folder);
  }
  absl::Cleanup tidy = [&] {
    std::error_code ignored;
    fs::remove_all(unfinished, ignored);
  };
  const auto in = [&](const char* file) {
    return absl::StrCat(unfinished, "/", file);
  };
  IBEMU_RETURN_IF_ERROR(WriteFile(
      in(kAuthorityFile), WriteCertificate(*authority.certificate), kForAll));
  IBEMU_RETURN_IF_ERROR(WriteFile(
      in(kCertificateFile), WriteCertificate(*made.certificate), kForAll));
  IBEMU_RETURN_IF_ERROR(
      WriteFile(in(kKeyFile), WriteKey(*made.key), kForOwner));
  const std::string path = absl::StrCat(folder, "/", machine.names.front());
  if (rename(unfinished.c_str(), path.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, path);
  }
  std::move(tidy).Cancel();
  return absl::OkStatus();
}

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string DefaultFolder() {
  if (std::string chosen = Variable("IBEMU_CERTS"); !chosen.empty()) {
    return chosen;
  }
  std::string config = Variable("XDG_CONFIG_HOME");
  if (config.empty()) config = absl::StrCat(Variable("HOME"), "/.config");
  return absl::StrCat(config, "/ibemu/certs");
}

absl::StatusOr<Certificates> LoadCertificates(const std::string& folder) {
  const auto in = [&](const char* file) {
    return absl::StrCat(folder, "/", file);
  };
  Certificates loaded;
  IBEMU_ASSIGN_OR_RETURN(loaded.authority, ReadFile(in(kAuthorityFile)));
  IBEMU_ASSIGN_OR_RETURN(loaded.certificate, ReadFile(in(kCertificateFile)));
  IBEMU_ASSIGN_OR_RETURN(loaded.key, ReadFile(in(kKeyFile)));
  IBEMU_ASSIGN_OR_RETURN(
      const std::vector<X509Ptr> authorities,
      ReadCertificates(loaded.authority, in(kAuthorityFile)));
  IBEMU_ASSIGN_OR_RETURN(
      const std::vector<X509Ptr> chain,
      ReadCertificates(loaded.certificate, in(kCertificateFile)));
  IBEMU_ASSIGN_OR_RETURN(const KeyPtr key, ReadKey(loaded.key, in(kKeyFile)));
  if (X509_check_private_key(chain.front().get(), key.get()) != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        in(kKeyFile), ": it is not the key of ", kCertificateFile));
  }
  if (const absl::Status good = CheckSigned(chain, authorities); !good.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(in(kCertificateFile), ": ", good.message()));
  }
  return loaded;
}

absl::Status MakeCertificates(const std::string& folder,
                              const std::vector<Machine>& machines, int days) {
  for (const Machine& machine : machines) {
    IBEMU_RETURN_IF_ERROR(CheckMachine(folder, machine));
  }
  IBEMU_RETURN_IF_ERROR(MakeFolder(folder));
  IBEMU_ASSIGN_OR_RETURN(const KeyPair authority, FindAuthority(folder, days));
  for (const Machine& machine : machines) {
    IBEMU_RETURN_IF_ERROR(MakeOne(folder, authority, machine, days));
  }
  return absl::OkStatus();
}

}  // namespace ibemu::peers
