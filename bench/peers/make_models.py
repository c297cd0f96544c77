#!/usr/bin/env python3
"""Makes the models of the comparison out of one GGUF file: F16 of its dequantised weights, and that quantized anew.

    make_models.py SOURCE.gguf FOLDER TYPE...        TYPE: F16 Q8_0 Q4_0 Q4_1 Q4_K_M

Runs in the environment of the peers, with llama.cpp's quantizer. Writes FOLDER/smol-TYPE.gguf; a file that is there
stays.
"""

import ctypes
import sys
from pathlib import Path

import llama_cpp as llama

FILE_TYPES = {
    "F16": llama.LLAMA_FTYPE_MOSTLY_F16,
    "Q8_0": llama.LLAMA_FTYPE_MOSTLY_Q8_0,
    "Q4_0": llama.LLAMA_FTYPE_MOSTLY_Q4_0,
    "Q4_1": llama.LLAMA_FTYPE_MOSTLY_Q4_1,
    "Q4_K_M": llama.LLAMA_FTYPE_MOSTLY_Q4_K_M,
}


def path_of(folder: Path, name: str) -> Path:
    return folder / f"smol-{name}.gguf"


def make(source: Path, target: Path, file_type: int):
    """Under another name first: a file that is there is whole."""
    if target.exists():
        return
    part = target.with_suffix(".part")
    options = llama.llama_model_quantize_default_params()
    options.ftype = file_type
    options.allow_requantize = True
    if llama.llama_model_quantize(str(source).encode(), str(part).encode(), ctypes.byref(options)) != 0:
        sys.exit(f"llama.cpp could not make {target} of {source}")
    part.rename(target)


def main():
    source, folder, names = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    folder.mkdir(parents=True, exist_ok=True)
    make(source, path_of(folder, "F16"), FILE_TYPES["F16"])
    for name in names:
        make(path_of(folder, "F16"), path_of(folder, name), FILE_TYPES[name])


if __name__ == "__main__":
    main()
