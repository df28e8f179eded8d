// X.509 certificates and their keys, made by OpenSSL.
#ifndef IBEMU_PEERS_CERTIFICATE_MAKER_H_
#define IBEMU_PEERS_CERTIFICATE_MAKER_H_

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ibemu::peers {

// The deleter of OpenSSL's objects, for the pointers below.
struct FreeOpenssl {
  void operator()(X509* x) const { X509_free(x); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using X509Ptr = std::unique_ptr<X509, FreeOpenssl>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeOpenssl>;

// A certificate and its private key.
struct KeyPair {
  X509Ptr certificate;
  KeyPtr key;
};

// `text` is PEM; `place` begins the errors.  Of certificates there is at least
// one.
//
// Errors: InvalidArgument.
absl::StatusOr<std::vector<X509Ptr>> ReadCertificates(std::string_view text,
                                                      const std::string& place);
absl::StatusOr<KeyPtr> ReadKey(std::string_view text, const std::string& place);
std::string WriteCertificate(const X509& certificate);
std::string WriteKey(const EVP_PKEY& key);

// An authority that signs itself.
absl::StatusOr<KeyPair> MakeAuthority(int days);

// Returns whether `name` is an IP address.
bool IsAddress(const std::string& name);

// A machine's certificate for both ends of a connection, signed by `authority`.
// `names`: of DNS, or IP addresses; the first is its common name, too, if it
// has 64 bytes at most.
absl::StatusOr<KeyPair> MakeMachine(const KeyPair& authority,
                                    const std::vector<std::string>& names,
                                    int days);

// Fails unless the first of `chain` is valid now, and signed by one of
// `authorities`, or by another of the chain that is.
//
// Errors: FailedPrecondition, as OpenSSL words it.
absl::Status CheckSigned(const std::vector<X509Ptr>& chain,
                         const std::vector<X509Ptr>& authorities);

// OpenSSL's oldest error of this thread, in its words.
absl::Status OpensslError(std::string_view what);

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_CERTIFICATE_MAKER_H_
