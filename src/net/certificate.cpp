#include "net/certificate.h"

#include <arpa/inet.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <memory>

namespace deem::net {
namespace {

template <auto free_function>
struct Free {
  template <class T>
  void operator()(T* value) const {
    free_function(value);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using X509Owner = std::unique_ptr<X509, Free<X509_free>>;
using BioOwner = std::unique_ptr<BIO, Free<BIO_free_all>>;
using ExtensionOwner = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;

std::string contents(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<std::size_t>(size));
}

bool add_extension(X509* certificate, int nid, const std::string& value) {
  const ExtensionOwner extension(X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool is_address(const std::string& host) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

bool fill(X509* certificate, EVP_PKEY* key, const std::string& host) {
  std::uint64_t serial = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1) return false;
  X509_NAME* name = X509_get_subject_name(certificate);
  const auto* text = reinterpret_cast<const unsigned char*>(host.c_str());
  return X509_set_version(certificate, 2) == 1 &&
         ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1 &&
         X509_gmtime_adj(X509_getm_notBefore(certificate), -86'400) != nullptr &&
         X509_gmtime_adj(X509_getm_notAfter(certificate), 30 * 86'400) != nullptr &&
         X509_set_pubkey(certificate, key) == 1 &&
         X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, -1, -1, 0) == 1 &&
         X509_set_issuer_name(certificate, name) == 1 &&
         add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE") &&
         add_extension(certificate, NID_subject_alt_name,
                       (is_address(host) ? "IP:" : "DNS:") + host) &&
         X509_sign(certificate, key, EVP_sha256()) > 0;
}

}  // namespace

Result<Certificate> make_self_signed(const std::string& host) {
  const Key key(EVP_EC_gen("P-256"));
  const X509Owner certificate(X509_new());
  if (!key || !certificate || !fill(certificate.get(), key.get(), host)) {
    return fail(Error::Code::BadInput, "can not make a certificate for \"" + host + "\"");
  }
  const BioOwner certificate_out(BIO_new(BIO_s_mem()));
  const BioOwner key_out(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(certificate_out.get(), certificate.get()) != 1 ||
      PEM_write_bio_PrivateKey(key_out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) !=
          1) {
    return fail(Error::Code::Unavailable, "can not write a certificate for \"" + host + "\"");
  }
  return Certificate{contents(certificate_out.get()), contents(key_out.get())};
}

}  // namespace deem::net
