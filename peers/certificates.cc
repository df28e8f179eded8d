#include "peers/certificates.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>
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
// A chain of certificates is some KiB.
constexpr size_t kLongestFile = size_t{1} << 20;
// Of DNS.
constexpr size_t kLongestMachineName = 253;
// Of the authority, which is to outlive what it signs.
constexpr int kAuthorityDays = 3650;
constexpr mode_t kForAll = 0644, kForOwner = 0600, kFolder = 0700;

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(kLongestFile, '\0');
  const ssize_t size =
      file.valid() ? read(file.get(), text.data(), text.size()) : -1;
  if (size >= 0) {
    text.resize(static_cast<size_t>(size));
    return text;
  }
  if (errno == EACCES && geteuid() == 0) {
    return absl::PermissionDeniedError(absl::StrCat(
        path, ": ", std::generic_category().message(errno),
        ": it has to be root's own, for ibemu-peers has no rights over the "
        "files of others"));
  }
  if (errno != ENOENT) return absl::ErrnoToStatus(errno, path);
  return absl::NotFoundError(
      absl::StrCat(path, ": ", std::generic_category().message(errno),
                   ": \"ibemu certs\" makes certificates"));
}

absl::Status WriteFile(const std::string& path, std::string_view text,
                       mode_t mode) {
  const UniqueFd file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  const ssize_t size =
      file.valid() ? write(file.get(), text.data(), text.size()) : -1;
  if (size < 0) return absl::ErrnoToStatus(errno, path);
  if (static_cast<size_t>(size) == text.size()) return absl::OkStatus();
  return absl::ErrnoToStatus(ENOSPC, path);
}

bool Exists(const std::string& path) {
  std::error_code ignored;  // that it can't be told shows when it is made
  return fs::exists(path, ignored);
}

absl::Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), kFolder) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, path);
}

// An authority signs itself.
absl::Status CheckNow(const std::vector<X509Ptr>& authorities,
                      const std::string& place) {
  absl::Status good = CheckSigned(authorities, authorities);
  if (good.ok()) return good;
  return absl::FailedPreconditionError(
      absl::StrCat(place, ": ", good.message()));
}

absl::Status CheckPair(const X509& certificate, const EVP_PKEY& key,
                       const std::string& place) {
  if (X509_check_private_key(&certificate, &key) == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(place, ": it is not the key of the certificate beside it"));
}

// As a host name or an address may look, and a folder, too.  Names of
// containers have "_".
bool IsName(const std::string& name) {
  if (IsAddress(name)) return true;
  return !name.empty() && name.size() <= kLongestMachineName &&
         std::isalnum(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, [](unsigned char c) {
           return std::isalnum(c) || c == '.' || c == '-' || c == '_';
         });
}

absl::Status CheckMachine(const std::string& folder, const Machine& machine) {
  for (const std::string& name : machine.names) {
    if (!IsName(name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", name, "\" is no name of a machine (", kLongestMachineName,
          " letters, digits, \".\", \"-\" and \"_\" at most) and no IP "
          "address"));
    }
  }
  const std::string path = absl::StrCat(folder, "/", machine.names.front());
  if (!Exists(path)) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat(
      path,
      ": it has certificates already: move the folder away for new "
      "ones"));
}

// The key is written last: with the certificate alone nobody can sign.
absl::StatusOr<KeyPair> NewAuthority(const std::string& certificate,
                                     const std::string& key, int days) {
  IBEMU_ASSIGN_OR_RETURN(KeyPair made,
                         MakeAuthority(std::max(days, kAuthorityDays)));
  IBEMU_RETURN_IF_ERROR(
      WriteFile(certificate, WriteCertificate(*made.certificate), kForAll));
  IBEMU_RETURN_IF_ERROR(WriteFile(key, WriteKey(*made.key), kForOwner));
  return made;
}

absl::StatusOr<KeyPair> FindAuthority(const std::string& folder, int days) {
  const std::string certificate = absl::StrCat(folder, "/", kAuthorityFile);
  const std::string key = absl::StrCat(folder, "/", kAuthorityKeyFile);
  if (!Exists(certificate) && !Exists(key)) {
    return NewAuthority(certificate, key, days);
  }
  for (const std::string& file : {certificate, key}) {
    if (Exists(file)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(file, ": it is missing, and ",
                     file == key ? kAuthorityFile : kAuthorityKeyFile,
                     " is there: put it back, or begin with another folder"));
  }
  IBEMU_ASSIGN_OR_RETURN(const std::string text, ReadFile(certificate));
  IBEMU_ASSIGN_OR_RETURN(std::vector<X509Ptr> read,
                         ReadCertificates(text, certificate));
  IBEMU_RETURN_IF_ERROR(CheckNow(read, certificate));
  IBEMU_ASSIGN_OR_RETURN(const std::string key_text, ReadFile(key));
  KeyPair found;
  IBEMU_ASSIGN_OR_RETURN(found.key, ReadKey(key_text, key));
  IBEMU_RETURN_IF_ERROR(CheckPair(*read.front(), *found.key, key));
  found.certificate = std::move(read.front());
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

absl::Status CheckCertificates(const std::string& folder) {
  const auto in = [&](const char* file) {
    return absl::StrCat(folder, "/", file);
  };
  IBEMU_ASSIGN_OR_RETURN(const std::string authority_text,
                         ReadFile(in(kAuthorityFile)));
  IBEMU_ASSIGN_OR_RETURN(const std::string chain_text,
                         ReadFile(in(kCertificateFile)));
  IBEMU_ASSIGN_OR_RETURN(const std::string key_text, ReadFile(in(kKeyFile)));
  IBEMU_ASSIGN_OR_RETURN(const std::vector<X509Ptr> authorities,
                         ReadCertificates(authority_text, in(kAuthorityFile)));
  IBEMU_ASSIGN_OR_RETURN(const std::vector<X509Ptr> chain,
                         ReadCertificates(chain_text, in(kCertificateFile)));
  IBEMU_ASSIGN_OR_RETURN(const KeyPtr key, ReadKey(key_text, in(kKeyFile)));
  IBEMU_RETURN_IF_ERROR(CheckPair(*chain.front(), *key, in(kKeyFile)));
  if (const absl::Status good = CheckSigned(chain, authorities); !good.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(in(kCertificateFile), ": ", good.message()));
  }
  return absl::OkStatus();
}

absl::Status MakeCertificates(const std::string& folder,
                              const std::vector<Machine>& machines, int days) {
  std::set<std::string> names;
  for (const Machine& machine : machines) {
    IBEMU_RETURN_IF_ERROR(CheckMachine(folder, machine));
    if (!names.insert(machine.names.front()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", machine.names.front(), "\" is named twice"));
    }
  }
  IBEMU_RETURN_IF_ERROR(MakeFolder(folder));
  IBEMU_ASSIGN_OR_RETURN(const KeyPair authority, FindAuthority(folder, days));
  for (const Machine& machine : machines) {
    IBEMU_RETURN_IF_ERROR(MakeOne(folder, authority, machine, days));
  }
  return absl::OkStatus();
}

}  // namespace ibemu::peers
