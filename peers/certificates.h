// The certificates by which machines that share a subnet know each other.
#ifndef IBEMU_PEERS_CERTIFICATES_H_
#define IBEMU_PEERS_CERTIFICATES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace ibemu::peers {

// The files of a machine's folder, named as in Kubernetes' secrets of type
// kubernetes.io/tls, so that cert-manager's fit.
inline constexpr char kAuthorityFile[] = "ca.crt";
inline constexpr char kCertificateFile[] = "tls.crt";
inline constexpr char kKeyFile[] = "tls.key";

// $IBEMU_CERTS, else "ibemu/certs" in $XDG_CONFIG_HOME or ~/.config.
std::string DefaultFolder();

// Returns what is wrong with the files of a machine's folder, if anything is:
// ca.crt, whose signature others must have; tls.crt, its own certificate, with
// those between it and the authority; tls.key, that one's key.
//
// Errors: NotFound, a file is missing; InvalidArgument, it is not what its name
// says, or the three do not belong together; FailedPrecondition, the
// certificate is not valid today.
absl::Status CheckCertificates(const std::string& folder);

// A machine to make certificates for.
struct Machine {
  // By which others call it: names of DNS and IP addresses.  The first is also
  // the name of its folder, and what `ibemu status` shows.
  std::vector<std::string> names;
};

// Makes a folder for each machine below `folder`, with keys that its owner
// alone can read, signed by the authority in there, which is made if there is
// none, for ten years.  Each is complete or not there.  They are valid for
// `days`.
//
// Errors: AlreadyExists, a machine has a folder; InvalidArgument, no name, or
// one twice; FailedPrecondition, the authority is not whole; those of the file
// system.
absl::Status MakeCertificates(const std::string& folder,
                              const std::vector<Machine>& machines, int days);

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_CERTIFICATES_H_
