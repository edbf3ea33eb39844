// The same model behind llama-server (built from the same pinned source) and in this process must
// read alike on the same prompts. The server gets the weights as the local seat holds them, widened
// to 32-bit floats: with quantised weights llama-server rounds activations to 8 bits, which the
// local seat avoids, and single probabilities differ by hundredths.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <thread>

#include "base/process.h"
#include "bench/prompts.h"
#include "decision/readout.h"
#include "kit/kit.h"
#include "seat/local/widen.h"
#include "seat/seat.h"
#include "tests/e2e/free_port.h"

namespace deem {
namespace {

class TwoSeats : public testing::Test {
 protected:
  void SetUp() override {
    const char *model = std::getenv("DEEM_MODEL"), *server = std::getenv("DEEM_LLAMA_SERVER");
    if (model == nullptr || server == nullptr)
      GTEST_SKIP() << "DEEM_MODEL or DEEM_LLAMA_SERVER is not set";
    local_ = make("local:" + std::string(model));
    wide_ = seat::local::widen(model, 2);
    ASSERT_TRUE(wide_);
    const std::string weights =
        "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(wide_->fd.get());
    const std::string port = std::to_string(free_port());
    auto started =
        Process::spawn({.argv = {server, "-m", weights, "--host", "127.0.0.1", "--port", port, "-c",
                                 "4096", "-np", "1", "-t", "1", "--no-webui"},
                        .environment = own_environment()});
    ASSERT_TRUE(started) << started.error().message;
    server_ = std::make_unique<Process>(std::move(*started));
    remote_ = make("llama-server:http://127.0.0.1:" + port);
    for (int i = 0; i < 600; ++i) {
      if (remote_->identify()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    auto loaded = kit::load_kit(DEEM_SOURCE_DIR "/kits/demo");
    ASSERT_TRUE(loaded);
    kit_ = std::move(loaded->kit);
  }

  static std::unique_ptr<seat::Seat> make(const std::string& address) {
    auto spec = seat::parse_seat(address);
    EXPECT_TRUE(spec);
    spec->threads = 1;
    spec->context = 4096;
    auto made = seat::make_seat(*spec);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return made ? std::move(*made) : nullptr;
  }

  std::optional<seat::local::WidenedFile> wide_;
  std::unique_ptr<Process> server_;
  std::unique_ptr<seat::Seat> remote_, local_;
  kit::Kit kit_;
};

TEST_F(TwoSeats, CountTheSameTokensAndReadTheSameLetters) {
  const auto proof = remote_->prove_letters(12), own = local_->prove_letters(12);
  ASSERT_TRUE(proof) << proof.error().message;
  ASSERT_TRUE(own) << own.error().message;
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(proof->ids[i].front(), own->ids[i].front()) << i;
  std::size_t compared = 0, flips = 0, letters = 0;
  double differences = 0;
  for (const kit::Task& task : kit_.tasks) {
    for (std::size_t i = 2; i < 6; ++i) {
      const kit::Item& item = task.items[i];
      if (item.question.options.size() > 12 || kit_.states[item.state].text.size() > 4000) continue;
      const std::string prompt =
          bench::make_letters_prompt(kit_, item, kit_.states[item.state].text).prompts[0];
      const auto there = remote_->count_chat(prompt), here = local_->count_chat(prompt);
      ASSERT_TRUE(there) << there.error().message;
      EXPECT_EQ(*there, *here);
      const seat::PositionRequest request{prompt, item.question.options.size(),
                                          decision::LetterPolicy::Exact, 20};
      const auto a = remote_->first_position(request, {}), b = local_->first_position(request, {});
      ASSERT_TRUE(a) << a.error().message;
      ASSERT_TRUE(b) << b.error().message;
      EXPECT_EQ(a->usage.prompt_tokens, b->usage.prompt_tokens);
      const auto ra = decision::read_letters(a->position, request.letters, {}),
                 rb = decision::read_letters(b->position, request.letters, {});
      ASSERT_EQ(ra.cause, rb.cause);
      std::vector<double> pa, pb;
      for (std::size_t k = 0; k < request.letters; ++k) {
        ASSERT_TRUE(ra.logprobs[k] && rb.logprobs[k])
            << task.name << " " << item.id << " letter " << k;
        pa.push_back(std::exp(*ra.logprobs[k]));
        pb.push_back(std::exp(*rb.logprobs[k]));
        EXPECT_NEAR(pa.back(), pb.back(), 0.002) << task.name << " " << item.id << " letter " << k;
        differences += std::abs(pa.back() - pb.back());
        ++letters;
      }
      if (decision::argmax(pa) != decision::argmax(pb)) {
        ++flips;
        EXPECT_LT(decision::margin_top2(pb), 0.004) << "a flip away from a near tie";
      }
      ++compared;
    }
  }
  EXPECT_LT(differences / static_cast<double>(letters), 0.0005);
  EXPECT_GE(compared, 15U);
  EXPECT_LE(flips, 2U);
}

TEST_F(TwoSeats, RefuseAnOverlongPromptWithBothNumbers) {
  std::string text;
  for (int i = 0; i < 6000; ++i) text += "word ";
  const seat::PositionRequest request{text, 2, decision::LetterPolicy::Exact, 20};
  for (seat::Seat* seat : {remote_.get(), local_.get()}) {
    const auto reply = seat->first_position(request, {});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Error::Code::BadInput) << reply.error().message;
    EXPECT_NE(reply.error().message.find("4096"), std::string::npos) << reply.error().message;
  }
}

}  // namespace
}  // namespace deem
