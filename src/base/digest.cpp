#include "base/digest.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "base/file_kind.h"
#include "base/system_error.h"

namespace deem {
namespace {

using Digest = std::array<unsigned char, 32>;

struct ContextDeleter {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// Fetching an algorithm takes locks and a search in OpenSSL 3, so it is done once.
const EVP_MD* sha256() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  DEEM_CHECK(algorithm != nullptr);
  return algorithm;
}

std::string to_hex(const Digest& digest) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  Digest digest{};
  DEEM_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, sha256(), nullptr) ==
             1);
  return to_hex(digest);
}

Result<std::string> sha256_file(const std::string& path) {
  if (is_named_pipe(path)) return fail(Error::Code::BadInput, path + ": is a pipe, not a file");
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return fail(system_error(path, errno));
  const std::unique_ptr<EVP_MD_CTX, ContextDeleter> context(EVP_MD_CTX_new());
  DEEM_CHECK(context && EVP_DigestInit_ex(context.get(), sha256(), nullptr) == 1);
  std::vector<char> piece(std::size_t{1} << 20);
  while (true) {
    const ssize_t got = read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(system_error(path, errno));
    if (got == 0) break;
    DEEM_CHECK(EVP_DigestUpdate(context.get(), piece.data(), static_cast<std::size_t>(got)) == 1);
  }
  Digest digest{};
  DEEM_CHECK(EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1);
  return to_hex(digest);
}

}  // namespace deem
