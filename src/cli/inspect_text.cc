#include "cli/inspect_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/format.h"
#include "cli/table.h"
#include "ekvi/chat_template.h"
#include "ekvi/error.h"

namespace ekvi::cli {
namespace {

std::string CacheTypeText(const CacheLayout& layout) {
  const std::string_view k = DTypeName(layout.dtype_k);
  return layout.dtype_k == layout.dtype_v ? std::string(k) : fmt::format("{}:{}", k, DTypeName(layout.dtype_v));
}

// "base 10000, scaled up to 8 times".
std::string RopeText(const LayerInfo& layer) {
  const std::string stretched =
      layer.rope_scaled ? fmt::format(", scaled up to {} times", Number(layer.rope_factor)) : "";
  return fmt::format("base {}{}", Number(layer.rope_base), stretched);
}

std::string LayerText(const LayerInfo& layer) {
  const std::string sizes = layer.head_dim_k == layer.head_dim_v
                                ? fmt::format("{}", layer.head_dim_k)
                                : fmt::format("{} (K), {} (V)", layer.head_dim_k, layer.head_dim_v);
  std::string text = fmt::format("{} query heads over {} KV heads of {}", layer.q_heads, layer.kv_heads, sizes);
  if (layer.window > 0) text += fmt::format(", window {}", Count(layer.window));
  if (layer.rope_dims > 0) text += fmt::format(", rope {} of {}", layer.rope_dims, RopeText(layer));
  if (layer.experts > 0)
    text += fmt::format(", {} of {} experts {} wide", layer.experts_used, layer.experts, Count(layer.feed_forward));
  return text;
}

std::string TensorTypesText(const ModelInfo& info) {
  std::vector<std::string> parts;
  for (const auto& [type, total] : TensorTypes(info)) {
    parts.push_back(fmt::format("{} {} ({})", Count(total.tensors), type, Bytes(total.bytes)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string TemplateText(const TemplateFigures& chat) {
  if (!chat.fault.empty()) return "cannot be used: " + Printable(chat.fault);
  if (chat.name.empty()) return "none";
  return fmt::format("{} in {}", Bytes(chat.bytes), Printable(chat.name));
}

void AddModel(const ModelInfo& info, const TemplateFigures& chat, Table& table) {
  table.Add({"model", Printable(info.name)});
  table.Add({"file", info.path.empty() ? fmt::format("embedded, {}", Bytes(info.file_bytes))
                                       : fmt::format("{}, {}", Printable(info.path), Bytes(info.file_bytes))});
  table.Add({"architecture", fmt::format("{}, {}, {} wide, feed-forward {}", Printable(info.architecture),
                                         CountOf(static_cast<int64_t>(info.layers.size()), "layer"), Count(info.width),
                                         Count(info.feed_forward))});
  table.Add({"parameters", Count(static_cast<int64_t>(info.parameters))});
  table.Add({"tensors", TensorTypesText(info)});
  table.Add({"arithmetic", info.compute});
  const bool stretched = info.default_context < info.context;
  table.Add({"context", CountOf(info.context, "token") +
                            (stretched ? fmt::format("; {} unless --ctx asks for more: other LongRoPE factors then",
                                                     Count(info.default_context))
                                       : "")});
  table.Add({"vocabulary", CountOf(info.vocabulary, "token")});
  table.Add({"tokenizer", Printable(info.tokenizer)});
  table.Add({"template", TemplateText(chat)});
  std::string label = "layers";
  for (const std::string& line : LayerLines(info)) {
    table.Add({label, line});
    label.clear();
  }
}

// Of a small file the peak is the program's own memory, which says nothing of the loader.
std::string TimesTheFile(const ModelInfo& info) {
  static constexpr uint64_t kTellingBytes = uint64_t{64} << 20;
  if (info.file_bytes < kTellingBytes) return "";
  return fmt::format(", {:.2f} times the file",
                     static_cast<double>(info.peak_bytes) / static_cast<double>(info.file_bytes));
}

void AddMemory(const ModelInfo& info, const CacheFigures& cache, Table& table) {
  table.Add({"KV per token", fmt::format("{} ({})", Bytes(cache.bytes_per_token), CacheTypeText(cache.layout))});
  table.Add({fmt::format("KV at {}", Count(cache.context)),
             fmt::format("{} paged in blocks of {}, {} contiguous", Bytes(cache.paged_bytes), cache.block_tokens,
                         Bytes(cache.contiguous_bytes))});
  table.Add({"weights", fmt::format("{} in memory", Bytes(info.weight_bytes))});
  table.Add({"together", Bytes(info.weight_bytes + cache.paged_bytes)});
  if (info.peak_bytes > 0)
    table.Add({"peak", fmt::format("at most {} resident while loading{}", Bytes(info.peak_bytes), TimesTheFile(info))});
}

std::string Everything(const ModelInfo& info) {
  Table tensors({Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight});
  tensors.Add({"tensor", "type", "shape", "bytes"});
  for (const TensorInfo& tensor : info.tensors) {
    tensors.Add({Printable(tensor.name), tensor.type, fmt::format("[{}]", fmt::join(tensor.shape, ", ")),
                 Count(static_cast<int64_t>(tensor.bytes))});
  }
  Table keys;
  keys.Add({"key", "value"});
  for (const auto& [key, value] : info.metadata) keys.Add({Printable(key), Printable(value)});
  return fmt::format("\n{}\n{}", tensors.Render(), keys.Render());
}

}  // namespace

CacheFigures CacheFiguresOf(const CacheLayout& layout, int64_t context, int block_tokens) {
  return {.layout = layout,
          .context = context,
          .block_tokens = block_tokens,
          .bytes_per_token = BytesPerToken(layout),
          .contiguous_bytes = ContiguousBytes(layout, {.rows = 1, .max_len = context}),
          .paged_bytes = PagedBytes(layout, {.rows = 1,
                                             .max_len = context,
                                             .block_tokens = block_tokens,
                                             .block_count = BlocksFor(context, block_tokens)})};
}

std::vector<std::string> LayerLines(const ModelInfo& info) {
  std::vector<std::string> lines;
  for (size_t first = 0; first < info.layers.size();) {
    size_t end = first + 1;
    while (end < info.layers.size() && info.layers[first] == info.layers[end]) ++end;
    const std::string range = end == first + 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, end - 1);
    lines.push_back(fmt::format("{}: {}", range, LayerText(info.layers[first])));
    first = end;
  }
  return lines;
}

TemplateFigures TemplateFiguresOf(const ModelInfo& info) {
  if (info.path.empty()) return {};
  try {
    const ModelTemplate found = FindChatTemplate(info.path);
    if (found.source.empty()) return {};
    ChatTemplate::Parse(found.source, found.name);
    return {.name = found.name, .bytes = found.source.size(), .fault = {}};
  } catch (const Error& error) {
    return {.name = {}, .bytes = 0, .fault = error.summary()};
  }
}

std::map<std::string, TypeTotal> TensorTypes(const ModelInfo& info) {
  std::map<std::string, TypeTotal> totals;
  for (const TensorInfo& tensor : info.tensors) {
    totals[tensor.type].tensors += 1;
    totals[tensor.type].bytes += tensor.bytes;
  }
  return totals;
}

std::string InspectText(const ModelInfo& info, const TemplateFigures& chat, const CacheFigures& cache, Detail detail) {
  Table table;
  AddModel(info, chat, table);
  AddMemory(info, cache, table);
  return table.Render() + (detail == Detail::kEverything ? Everything(info) : "");
}

}  // namespace ekvi::cli
