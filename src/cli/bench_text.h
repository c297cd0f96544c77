// Measurements as columns of text: a header, then rows as they come.
#pragma once

#include <string>
#include <vector>

#include "ekvi/bench.h"
#include "ekvi/model.h"

namespace ekvi::cli {

// "AMD EPYC …, 2 of 2 processors | avx512_vnni", and the model's line, which may be null. `target` may be empty.
std::string BenchHeader(const Model* model, const std::string& target);

// A table, and how is measured.
std::string CeilingsText(const std::vector<BenchCeilings>& ceilings);

// Lines that belong together: the title, then what stands below it.
std::string KernelTitle();
std::string KernelLine(const KernelMeasurement& row);
std::string ModelTitle();
std::string ModelLine(const ModelMeasurement& row);
std::string NeighbourTitle();
std::string NeighbourLine(const NeighbourMeasurement& row);

}  // namespace ekvi::cli
