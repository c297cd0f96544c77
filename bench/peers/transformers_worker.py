#!/usr/bin/env python3
"""PyTorch with transformers as a worker (worker.py): transformers_worker.py MODEL.gguf.

The file's weights as float32, scaled-dot-product attention, its dynamic cache in float32.
"""

import os
import sys
from pathlib import Path

os.environ["TQDM_DISABLE"] = "1"  # before it is imported

import torch
import transformers

import worker

CHUNK = 512


class Run:
    """A cache for several sequences, grown as it fills."""

    def __init__(self, model, sequences: int):
        self.model, self.sequences, self.cache = model, sequences, transformers.DynamicCache(config=model.config)
        self.vocabulary = model.config.vocab_size

    @property
    def length(self) -> int:
        return self.cache.get_seq_length()

    def truncate(self, length: int):
        if length == 0:
            self.cache = transformers.DynamicCache(config=self.model.config)
        elif length < self.length:
            self.cache.crop(length - self.length)  # negative: so many tokens are taken off

    def step(self, tokens: list[int], kept: int = 1):
        ids = torch.tensor([tokens] * self.sequences)
        with torch.inference_mode():
            return self.model(ids, cache=self.cache, use_cache=True, logits_to_keep=kept).logits

    def go_on(self, count: int):
        self.step([worker.timed_token(self.length + i, self.vocabulary) for i in range(count)])

    def fill(self, length: int):
        while self.length < length:
            self.go_on(min(CHUNK, length - self.length))


class Transformers(worker.Worker):
    name, kind = "transformers", "float32, cache float32"
    version = f"transformers {transformers.__version__}, torch {torch.__version__}"

    def __init__(self, path: str):
        transformers.utils.logging.set_verbosity_error()
        file = Path(path)
        self.model = transformers.AutoModelForCausalLM.from_pretrained(
            file.parent, gguf_file=file.name, dtype=torch.float32, local_files_only=True).eval()
        self.runs = {}

    def set_threads(self, count: int):
        torch.set_num_threads(count)

    def run_for(self, sequences: int, depth: int) -> Run:
        return self.runs.setdefault((sequences, depth), Run(self.model, sequences))

    def prepare(self, setting: str, command: str, *numbers: int):
        if command == "prefill":
            run = self.run_for(1, 0)
            run.truncate(0)
            return lambda: run.fill(numbers[0])
        depth, sequences = (numbers[0], 1) if command == "decode" else (0, numbers[0])
        run = self.run_for(sequences, depth)
        run.truncate(depth)
        run.fill(depth)
        return lambda: [run.go_on(1) for _ in range(numbers[1])]

    def logits(self, ids: list[int]):
        return Run(self.model, 1).step(ids, kept=0)[0].tolist()


if __name__ == "__main__":
    worker.serve(lambda: Transformers(sys.argv[1]))
