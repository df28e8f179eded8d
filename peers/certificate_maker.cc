#include "peers/certificate_maker.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/absl_text.h"
#include "base/status_macros.h"

namespace ibemu::peers {
namespace {

struct FreePart {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509_STORE* store) const { X509_STORE_free(store); }
  void operator()(X509_STORE_CTX* look) const { X509_STORE_CTX_free(look); }
  void operator()(X509_EXTENSION* one) const { X509_EXTENSION_free(one); }
  // Not what it holds.
  void operator()(STACK_OF(X509) * all) const { sk_X509_free(all); }
};
template <class T>
using Owned = std::unique_ptr<T, FreePart>;

constexpr long kVersion3 = 2;  // counted from 0
constexpr int kSerialBytes = 16;
constexpr long kDay = 24L * 60 * 60;
// Clocks differ.
constexpr long kEarlier = 60L * 60;

Owned<BIO> Reader(std::string_view text) {
  return Owned<BIO>(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string TextIn(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

// Extensions are written as in OpenSSL's configuration files.
bool Extend(X509& certificate, X509& issuer, int kind,
            const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  const Owned<X509_EXTENSION> extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension != nullptr &&
         X509_add_ext(&certificate, extension.get(), -1) == 1;
}

bool SetSerial(X509& certificate) {
  std::array<unsigned char, kSerialBytes> bytes;
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) return false;
  bytes[0] &= 0x7f;  // it is signed
  BIGNUM* const number = BN_bin2bn(bytes.data(), bytes.size(), nullptr);
  const bool is_set =
      number != nullptr &&
      BN_to_ASN1_INTEGER(number, X509_get_serialNumber(&certificate)) !=
          nullptr;
  BN_free(number);
  return is_set;
}

// X.509 has no longer ones (RFC 5280, appendix A.1).  The subject of others is
// empty, and their alternative name is critical then (§4.2.1.6).
bool HasCommonName(const std::string& name) {
  return name.size() <= ub_common_name;
}

bool Name(X509_NAME* name, const std::string& text) {
  return X509_NAME_add_entry_by_txt(
             name, "CN", MBSTRING_UTF8,
             reinterpret_cast<const unsigned char*>(text.data()),
             static_cast<int>(text.size()), -1, 0) == 1;
}

// A key, and a certificate of it that lacks what only its sort has, and the
// signature.
absl::StatusOr<KeyPair> Begin(const std::string& name, int days) {
  KeyPair made{X509Ptr(X509_new()), KeyPtr(EVP_EC_gen("P-256"))};
  X509* const certificate = made.certificate.get();
  if (certificate == nullptr || made.key == nullptr ||
      X509_set_version(certificate, kVersion3) != 1 ||
      !SetSerial(*certificate) ||
      X509_gmtime_adj(X509_getm_notBefore(certificate), -kEarlier) == nullptr ||
      X509_gmtime_adj(X509_getm_notAfter(certificate), days * kDay) ==
          nullptr ||
      X509_set_pubkey(certificate, made.key.get()) != 1 ||
      (HasCommonName(name) &&
       !Name(X509_get_subject_name(certificate), name))) {
    return OpensslError(name);
  }
  return made;
}

absl::Status Sign(X509& certificate, const KeyPair& authority) {
  return X509_sign(&certificate, authority.key.get(), EVP_sha256()) > 0
             ? absl::OkStatus()
             : OpensslError("can't sign");
}

}  // namespace

bool IsAddress(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> address;
  return inet_pton(AF_INET, name.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), address.data()) == 1;
}

absl::Status OpensslError(std::string_view what) {
  std::array<char, 256> text;
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return absl::InvalidArgumentError(
      absl::StrCat(Absl(what), ": ", text.data()));
}

absl::StatusOr<std::vector<X509Ptr>> ReadCertificates(
    std::string_view text, const std::string& place) {
  const Owned<BIO> reader = Reader(text);
  std::vector<X509Ptr> all;
  while (X509* const next =
             PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr)) {
    all.emplace_back(next);
  }
  ERR_clear_error();  // that nothing more follows is one
  if (!all.empty()) return all;
  return absl::InvalidArgumentError(
      absl::StrCat(place, ": it holds no certificate (PEM)"));
}

absl::StatusOr<KeyPtr> ReadKey(std::string_view text,
                               const std::string& place) {
  // An encrypted one has a password, which nobody is asked for.
  const auto no_password = [](char*, int, int, void*) { return -1; };
  KeyPtr read(PEM_read_bio_PrivateKey(Reader(text).get(), nullptr, no_password,
                                      nullptr));
  if (read) return read;
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrCat(
      place, ": it holds no private key (PEM) without a password"));
}

std::string WriteCertificate(const X509& certificate) {
  const Owned<BIO> text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(text.get(), &certificate);
  return TextIn(text.get());
}

std::string WriteKey(const EVP_PKEY& key) {
  const Owned<BIO> text(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(text.get(), &key, nullptr, nullptr, 0, nullptr,
                           nullptr);
  return TextIn(text.get());
}

absl::StatusOr<KeyPair> MakeAuthority(int days) {
  IBEMU_ASSIGN_OR_RETURN(KeyPair made, Begin("ibemu certs", days));
  X509& own = *made.certificate;
  if (X509_set_issuer_name(&own, X509_get_subject_name(&own)) != 1 ||
      !Extend(own, own, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
      !Extend(own, own, NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !Extend(own, own, NID_subject_key_identifier, "hash")) {
    return OpensslError("can't make an authority");
  }
  IBEMU_RETURN_IF_ERROR(Sign(own, made));
  return made;
}

absl::StatusOr<KeyPair> MakeMachine(const KeyPair& authority,
                                    const std::vector<std::string>& names,
                                    int days) {
  IBEMU_ASSIGN_OR_RETURN(KeyPair made, Begin(names.front(), days));
  X509& own = *made.certificate;
  X509& issuer = *authority.certificate;
  const std::string all =
      absl::StrJoin(names, ",", [](std::string* text, const std::string& name) {
        absl::StrAppend(text, IsAddress(name) ? "IP:" : "DNS:", name);
      });
  if (X509_set_issuer_name(&own, X509_get_subject_name(&issuer)) != 1 ||
      !Extend(own, issuer, NID_basic_constraints, "critical,CA:FALSE") ||
      !Extend(own, issuer, NID_key_usage, "critical,digitalSignature") ||
      !Extend(own, issuer, NID_ext_key_usage, "serverAuth,clientAuth") ||
      !Extend(own, issuer, NID_subject_alt_name,
              HasCommonName(names.front()) ? all : "critical," + all) ||
      !Extend(own, issuer, NID_authority_key_identifier, "keyid")) {
    return OpensslError(names.front());
  }
  IBEMU_RETURN_IF_ERROR(Sign(own, authority));
  return made;
}

absl::Status CheckSigned(const std::vector<X509Ptr>& chain,
                         const std::vector<X509Ptr>& authorities) {
  const Owned<X509_STORE> store(X509_STORE_new());
  const Owned<X509_STORE_CTX> look(X509_STORE_CTX_new());
  const Owned<STACK_OF(X509)> between(sk_X509_new_null());
  bool good = store != nullptr && look != nullptr && between != nullptr;
  for (const X509Ptr& authority : authorities) {
    good = good && X509_STORE_add_cert(store.get(), authority.get()) == 1;
  }
  for (const X509Ptr& one : chain) {
    good = good && sk_X509_push(between.get(), one.get()) > 0;
  }
  if (!good || X509_STORE_CTX_init(look.get(), store.get(), chain[0].get(),
                                   between.get()) != 1) {
    return OpensslError("can't look at the certificate");
  }
  if (X509_verify_cert(look.get()) == 1) return absl::OkStatus();
  return absl::FailedPreconditionError(
      X509_verify_cert_error_string(X509_STORE_CTX_get_error(look.get())));
}

}  // namespace ibemu::peers
