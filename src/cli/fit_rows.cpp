#include "cli/fit_rows.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/clock.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/gather_rows.h"

namespace deem::cli {

Result<FitRows> open_fit_rows(const std::string& path, const std::vector<std::string>& arms) {
  if (!is_folder(path)) {
    return fail(Error::Code::NotFound,
                path + ": wants a run folder (rows alone do not tell which model they are of)");
  }
  Result<record::RunRecord> run = record::load_run(path);
  if (!run) return fail(run.error());
  FitRows out{.path = path, .kit = run->kit_name};
  for (const std::string& name : arms) {
    if (std::ranges::find(run->arms, name, &record::ArmRecord::name) != run->arms.end()) continue;
    std::string known;
    for (const auto& arm : run->arms) known += (known.empty() ? "" : ", ") + arm.name;
    return fail(Error::Code::NotFound,
                "--arm " + name + ": " + path + " has no such arm, but " + known);
  }
  std::set<std::string> taken;
  const record::ArmRecord* first = nullptr;
  for (const record::ArmRecord& arm : run->arms) {
    if (!arms.empty() && std::ranges::find(arms, arm.name) == arms.end()) continue;
    if (first == nullptr) {
      first = &arm;
      out.model = record::fit_model(arm.identity);
    }
    const auto differs = record::difference(out.model, record::fit_model(arm.identity));
    if (!differs) {
      taken.insert(arm.name);
    } else if (arms.empty()) {
      out.notes.push_back("arm " + arm.name + " is left out: it serves another model than " +
                          first->name + " (" + *differs + "); --arm picks others");
    } else {
      return fail(Error::Code::BadInput, "--arm: " + arm.name + " and " + first->name +
                                             " serve different models (" + *differs + ")");
    }
  }
  Result<std::string> digest = sha256_file(rows_of(path));
  if (!digest) return fail(digest.error());
  Gathered gathered;
  gather(path, false, gathered);
  out.unreadable = gathered.unreadable;
  out.notes.insert(out.notes.end(), gathered.heading.notes.begin(), gathered.heading.notes.end());
  for (record::Row& row : gathered.rows) {
    // gather escapes names; those of run.json are compared the same way.
    const bool wanted = std::ranges::any_of(taken, [&](const std::string& name) {
      return row.arm == printable(name, std::string::npos);
    });
    if (wanted) out.rows.push_back(std::move(row));
  }
  if (out.rows.empty()) return fail(Error::Code::NotFound, path + ": holds no rows to fit on");
  out.source = {.kit_name = run->kit_name,
                .kit_digest = run->kit_digest,
                .rows_sha256 = *digest,
                .rows = static_cast<std::int64_t>(out.rows.size())};
  return out;
}

record::Fit start_fit(const FitRows& from, const std::string& by, const std::string& name) {
  return {.name = name.empty() ? (from.kit.empty() ? "run" : from.kit) + "-" + by : name,
          .deem = DEEM_VERSION,
          .made = utc_stamp(),
          .by = by,
          .model = from.model,
          .sources = {from.source},
          .entries = {}};
}

Result<void> save_fit(const std::string& path, const record::Fit& fit) {
  std::error_code none;
  const auto kind = std::filesystem::status(path, none).type();
  if (kind != std::filesystem::file_type::not_found &&
      kind != std::filesystem::file_type::regular) {
    return fail(Error::Code::BadInput, path + ": is no regular file; name another --out");
  }
  const Result<std::string> there = read_file(path, std::size_t{1} << 20);
  const bool ours = there && there->find("\"deem.fit/") != std::string::npos;  // readable or not
  if (file_exists(path) && !ours && !record::load_fit(path)) {
    return fail(Error::Code::BadInput,
                path + ": exists and is no fit file, so it is left alone; name another --out");
  }
  return write_file_atomically(path, record::format_fit(fit));
}

}  // namespace deem::cli
