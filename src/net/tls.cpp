#include "net/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <limits>

#include "base/file_kind.h"
#include "net/certificate.h"

namespace deem::net {
namespace {

SSL* as_ssl(void* p) { return static_cast<SSL*>(p); }

std::string last_error() {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "TLS failure" : reason;
}

int clamp(std::size_t size) {
  return static_cast<int>(
      std::min<std::size_t>(size, static_cast<std::size_t>(std::numeric_limits<int>::max())));
}

std::shared_ptr<void> new_context(const SSL_METHOD* method) {
  SSL_CTX* context = SSL_CTX_new(method);
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // Many servers close without close_notify; HTTP framing tells a cut reply on its own.
  SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
  return {context, [](void* p) { SSL_CTX_free(static_cast<SSL_CTX*>(p)); }};
}

SSL* new_session(void* context) {
  SSL* ssl = SSL_new(static_cast<SSL_CTX*>(context));
  SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  return ssl;
}

}  // namespace

void TlsSession::Free::operator()(void* ssl) const { SSL_free(as_ssl(ssl)); }

Result<TlsContext> TlsContext::client(const std::string& ca_file) {
  TlsContext out;
  out.context_ = new_context(TLS_client_method());
  auto* context = static_cast<SSL_CTX*>(out.context_.get());
  SSL_CTX_set_default_verify_paths(context);
  if (is_named_pipe(ca_file))
    return fail(Error::Code::BadInput, ca_file + ": is a pipe, not a file");
  if (!ca_file.empty() && SSL_CTX_load_verify_file(context, ca_file.c_str()) != 1) {
    return fail(Error::Code::BadInput, ca_file + ": no trust roots in it (" + last_error() + ")");
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  return out;
}

Result<TlsContext> TlsContext::server(const Certificate& certificate) {
  TlsContext out;
  out.context_ = new_context(TLS_server_method());
  auto* context = static_cast<SSL_CTX*>(out.context_.get());
  BIO* cert_in =
      BIO_new_mem_buf(certificate.certificate.data(), clamp(certificate.certificate.size()));
  BIO* key_in = BIO_new_mem_buf(certificate.key.data(), clamp(certificate.key.size()));
  X509* cert = PEM_read_bio_X509(cert_in, nullptr, nullptr, nullptr);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(key_in, nullptr, nullptr, nullptr);
  const bool fits = cert != nullptr && key != nullptr &&
                    SSL_CTX_use_certificate(context, cert) == 1 &&
                    SSL_CTX_use_PrivateKey(context, key) == 1;
  X509_free(cert);
  EVP_PKEY_free(key);
  BIO_free(cert_in);
  BIO_free(key_in);
  if (!fits) return fail(Error::Code::BadInput, "certificate and key do not fit: " + last_error());
  return out;
}

TlsSession TlsSession::connect(const TlsContext& context, const std::string& host) {
  TlsSession out;
  SSL* ssl = new_session(context.context_.get());
  out.ssl_.reset(ssl);
  unsigned char bytes[16];
  if (inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
      inet_pton(AF_INET6, host.c_str(), bytes) == 1) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str());
  } else {
    // SSL_set_tlsext_host_name without its old-style cast.
    SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
             const_cast<char*>(host.c_str()));
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    SSL_set1_host(ssl, host.c_str());
  }
  SSL_set_connect_state(ssl);
  return out;
}

TlsSession TlsSession::accept(const TlsContext& context) {
  TlsSession out;
  out.ssl_.reset(new_session(context.context_.get()));
  SSL_set_accept_state(as_ssl(out.ssl_.get()));
  return out;
}

void TlsSession::feed(std::string_view cipher) {
  if (!cipher.empty())
    BIO_write(SSL_get_rbio(as_ssl(ssl_.get())), cipher.data(), clamp(cipher.size()));
}

std::string TlsSession::take_output() {
  BIO* bio = SSL_get_wbio(as_ssl(ssl_.get()));
  std::string out(BIO_ctrl_pending(bio), '\0');
  if (!out.empty()) BIO_read(bio, out.data(), clamp(out.size()));
  return out;
}

TlsSession::Step TlsSession::after(int result) {
  if (result > 0) return Step::Done;
  SSL* ssl = as_ssl(ssl_.get());
  switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:  // a memory BIO always has room
      return Step::WantRead;
    case SSL_ERROR_ZERO_RETURN:
      return Step::Closed;
    default:
      break;
  }
  const long verify = SSL_get_verify_result(ssl);
  failure_ = last_error();
  if (verify != X509_V_OK) {
    failure_ = std::string("certificate not trusted: ") + X509_verify_cert_error_string(verify);
  }
  return Step::Failed;
}

TlsSession::Step TlsSession::handshake() {
  ERR_clear_error();
  return after(SSL_do_handshake(as_ssl(ssl_.get())));
}

TlsSession::Step TlsSession::write(std::string_view plain) {
  while (!plain.empty()) {
    ERR_clear_error();
    const int n = SSL_write(as_ssl(ssl_.get()), plain.data(), clamp(plain.size()));
    if (n <= 0) return after(n);
    plain.remove_prefix(static_cast<std::size_t>(n));
  }
  return Step::Done;
}

TlsSession::Step TlsSession::read(char* into, std::size_t room, std::size_t& got) {
  ERR_clear_error();
  const int n = SSL_read(as_ssl(ssl_.get()), into, clamp(room));
  got = n > 0 ? static_cast<std::size_t>(n) : 0;
  return after(n);
}

std::string TlsSession::failure() const { return failure_; }

}  // namespace deem::net
