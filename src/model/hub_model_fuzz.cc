// What must hold: a config.json of any text is refused, or describes a model that is computed or refused by name, in
// little memory, whatever the numbers claim. The tensors are those that a small model has, or none at all.
#include "fuzzing.h"
#include "model/hub_model.h"

namespace ekvi::fuzzing {
namespace {

using model::StoredTensor;

// Has every tensor but those of experts and layers past the fourth, each of the same small shape; or none.
class SmallSource final : public model::TensorSource {
 public:
  explicit SmallSource(bool some) : some_(some) {}
  std::optional<StoredTensor> Find(std::string_view name) const override {
    if (!Has(name)) return std::nullopt;
    return StoredTensor{.name = name, .shape = {50, 32}};
  }
  bool Has(std::string_view name) const override {
    return some_ && name.find("experts") == name.npos && name.find("s.4.") == name.npos &&
           name.find("h.4.") == name.npos;
  }
  std::shared_ptr<const void> owner() const override { return nullptr; }
  std::string file() const override { return "small"; }

 private:
  bool some_;
};

}  // namespace

void TryInput(std::string_view input) {
  const files::JsonValue json = files::ParseJson(input, "config.json");
  for (const bool some : {false, true}) {
    Works([&] {
      const auto read = model::ReadHubModel(files::JsonObject(json, "config.json"), SmallSource(some));
      model::Validate(read.config);
      model::LayoutOf(read.config, DType::kF16, DType::kF32);
    });
  }
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds = SharedFiles("models/tiny", "config.json", 4096);
  for (const model::Family* family : model::Families()) {
    seeds.push_back(R"({"model_type":")" + std::string(family->hub.model_type) +
                    R"(","hidden_size":32,"num_attention_heads":4,"num_key_value_heads":2,"intermediate_size":40,)"
                    R"("vocab_size":50,"max_position_embeddings":128,"num_hidden_layers":4,"sliding_window":8,)"
                    R"("rope_scaling":{"rope_type":"yarn","factor":4,"original_max_position_embeddings":32}})");
  }
  return seeds;
}

}  // namespace ekvi::fuzzing
