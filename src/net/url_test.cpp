#include "net/url.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "base/file.h"
#include "net/secret.h"

namespace deem::net {
namespace {

struct UrlCase {
  const char* name;
  const char* text;
  Url::Scheme scheme;
  const char* host;
  int port;
  const char* base;
  const char* printed;
};
class ParseUrl : public testing::TestWithParam<UrlCase> {};

TEST_P(ParseUrl, SplitsAndPrintsBack) {
  const auto& c = GetParam();
  const auto url = parse_url(c.text);
  ASSERT_TRUE(url) << url.error().message;
  EXPECT_EQ(url->scheme, c.scheme);
  EXPECT_EQ(url->host, c.host);
  EXPECT_EQ(url->port, c.port);
  EXPECT_EQ(url->base, c.base);
  EXPECT_EQ(url->to_string(), c.printed);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ParseUrl,
    testing::Values(UrlCase{"Plain", "http://127.0.0.1:8000", Url::Scheme::Http, "127.0.0.1", 8000,
                            "", "http://127.0.0.1:8000"},
                    UrlCase{"UsualPort", "http://box/", Url::Scheme::Http, "box", 80, "",
                            "http://box"},
                    UrlCase{"HttpsBase", "HTTPS://api.example.org/v1/", Url::Scheme::Https,
                            "api.example.org", 443, "/v1", "https://api.example.org/v1"},
                    UrlCase{"Version6", "http://[::1]:9/x", Url::Scheme::Http, "::1", 9, "/x",
                            "http://[::1]:9/x"},
                    UrlCase{"Unix", "unix:/run/a.sock", Url::Scheme::Unix, "/run/a.sock", 0, "",
                            "unix:/run/a.sock"},
                    UrlCase{"UnixBase", "unix:/run/a:b.sock:/v1", Url::Scheme::Unix,
                            "/run/a:b.sock", 0, "/v1", "unix:/run/a:b.sock:/v1"}),
    [](const auto& p) { return p.param.name; });

TEST(ParseUrl, RefusesWhatItCanNotReach) {
  for (const char* text :
       {"", "box:8000", "ftp://box", "http://", "http://:80", "http://box:", "http://box:0",
        "http://box:65536", "http://box:8x", "http://b ox", "http://box/?a=b", "http://box#x",
        "http://[::1", "unix:", "unix:relative.sock"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, Error::Code::BadInput);
  }
  EXPECT_FALSE(parse_url("unix:/" + std::string(200, 'x')));
}

TEST(ParseUrl, RefusesCredentialsWithoutShowingThem) {
  const auto url = parse_url("https://me:hunter2@box/v1");
  ASSERT_FALSE(url);
  EXPECT_EQ(url.error().message.find("hunter2"), std::string::npos);
  EXPECT_NE(url.error().message.find("https://***@box/v1"), std::string::npos)
      << url.error().message;
}

TEST(Redact, HidesUserInfoAndKeyFields) {
  EXPECT_EQ(redact("see http://a:b@c/d and x://e@f"), "see http://***@c/d and x://***@f");
  EXPECT_EQ(redact("GET /p?api_key=s3&x=1&token=t"), "GET /p?api_key=***&x=1&token=***");
  EXPECT_EQ(redact("mail a@b.c, http://h/p@q"), "mail a@b.c, http://h/p@q");
}

TEST(LoadSecret, ComesFromEnvironmentOrFileAndIsNeverInMessages) {
  ::setenv("DEEM_TEST_KEY", " k3y ", 1);
  ASSERT_TRUE(load_secret("DEEM_TEST_KEY", ""));
  EXPECT_EQ(load_secret("DEEM_TEST_KEY", "")->reveal(), "k3y");
  ::setenv("DEEM_TEST_KEY", "bad key", 1);
  const auto bad = load_secret("DEEM_TEST_KEY", "");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message.find("bad key"), std::string::npos);
  ::unsetenv("DEEM_TEST_KEY");
  EXPECT_EQ(load_secret("DEEM_TEST_KEY", "").error().code, Error::Code::NotFound);
  // The key itself where its name belongs.
  const auto typed = load_secret("sk-0123456789abcdef", "");
  ASSERT_FALSE(typed);
  EXPECT_EQ(typed.error().message.find("sk-01"), std::string::npos) << typed.error().message;
  EXPECT_TRUE(load_secret("", "")->empty());

  const std::string path = testing::TempDir() + "deem_key_file";
  ASSERT_TRUE(write_file_atomically(path, "from-file\nsecond line\n"));
  EXPECT_EQ(load_secret("", path)->reveal(), "from-file");
  EXPECT_FALSE(load_secret("", path + ".absent"));
}

TEST(Secret, IsScrubbedFromWhatAServerSendsBack) {
  const Secret key(std::string("sk-ab/cd-123456"));
  std::string text = R"({"error":"bad key sk-ab/cd-123456 or sk-ab\/cd-123456 given"})";
  key.scrub(text);
  EXPECT_EQ(text, R"({"error":"bad key *** or *** given"})");
  std::string word = "EMPTY";
  Secret(std::string("EMPTY")).scrub(word);
  EXPECT_EQ(word, "EMPTY");
}

TEST(Secret, IsScrubbedHoweverJsonEscapesIt) {
  const Secret key(std::string("sk+ab/cd=12"));
  const std::string_view spellings[] = {
      R"(sk\u002Bab\u002fcd\u003D12)",  // .NET
      R"(\u0073\u006b\u002b\u0061\u0062\u002F\u0063\u0064\u003d\u0031\u0032)",
      R"(sk\\u002Bab\\/cd=12)",  // JSON in a JSON string
  };
  for (const std::string_view spelling : spellings) {
    std::string text =
        "{\"e\":\"\\n" + std::string(spelling) + " and " + std::string(spelling) + "\"}";
    key.scrub(text);
    EXPECT_EQ(text, "{\"e\":\"\\n*** and ***\"}") << spelling;
  }
  std::string other = R"(sk\u002Cab/cd=12 sk\u002)";
  key.scrub(other);
  EXPECT_EQ(other, R"(sk\u002Cab/cd=12 sk\u002)");
}

TEST(Secret, WithABackslashIsScrubbedToo) {
  const Secret key(std::string(R"(ab\\cd\u002b)"));
  std::string text = R"(ab\\cd\u002b or ab\\\\cd\\u002b)";
  key.scrub(text);
  EXPECT_EQ(text, "*** or ***");
}

TEST(Secret, CutShortIsScrubbedFromHalfOfItAndEightCharactersOn) {
  const Secret longer(std::string("sk-0123456789abcdefg"));  // 20 characters
  std::string text = "sk-0123456... sk-012345... key=sk-0123456789abcdefgh";
  longer.scrub(text);
  EXPECT_EQ(text, "***... sk-012345... key=***h");
  const Secret shorter(std::string("0123456789"));
  text = "01234567, 0123456, 0120123456789";
  shorter.scrub(text);
  EXPECT_EQ(text, "***, 0123456, 012***");
}

TEST(Secret, IsScrubbedFromMegabytesInLinearTime) {
  const Secret key(std::string("sk-0123456789"));
  std::string text(std::size_t{2} << 20, '\\');
  text += "sk-0123456789";
  for (int i = 0; i < 1 << 18; ++i) text += "sk-0123";
  const auto began = std::chrono::steady_clock::now();
  key.scrub(text);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
  EXPECT_EQ(text.find("0123456789"), std::string::npos);
  EXPECT_NE(text.find("***sk-0123sk-0123"), std::string::npos);
}

TEST(Secret, IsNotReadFromADeviceWithoutEnd) {
  const auto key = load_secret("", "/dev/zero");
  ASSERT_FALSE(key);
  EXPECT_NE(key.error().message.find("/dev/zero"), std::string::npos) << key.error().message;
}

}  // namespace
}  // namespace deem::net
