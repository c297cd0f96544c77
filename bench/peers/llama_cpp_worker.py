#!/usr/bin/env python3
"""llama.cpp as a worker (worker.py): llama_cpp_worker.py MODEL.gguf.

As its own llama-bench measures: llama_decode without sampling, a prompt in one batch of 512, an f16 cache. Whether
flash attention is faster is tried.
"""

import ctypes
import importlib.metadata
import sys

import llama_cpp as llama

import worker

BATCH = 512
FLASH = {"flash attention": llama.LLAMA_FLASH_ATTN_TYPE_ENABLED,
         "no flash attention": llama.LLAMA_FLASH_ATTN_TYPE_DISABLED}


class Context:
    """A cache for `sequences` of up to `room` tokens each."""

    def __init__(self, model, flash: int, sequences: int, room: int):
        options = llama.llama_context_default_params()
        options.n_ctx = sequences * (room + -room % 256)
        options.n_seq_max = sequences
        options.n_batch = options.n_ubatch = BATCH
        options.flash_attn_type = flash
        options.no_perf = True
        self.pointer = llama.llama_init_from_model(model, options)
        if not self.pointer:
            raise MemoryError(f"no context of {options.n_ctx} tokens")
        self.vocabulary = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(model))
        self.batch = llama.llama_batch_init(BATCH, 0, 1)
        self.sequences, self.length = sequences, 0

    def truncate(self, length: int):
        for sequence in range(self.sequences):
            llama.llama_memory_seq_rm(llama.llama_get_memory(self.pointer), sequence, length, -1)
        self.length = length

    def step(self, tokens: list[int], every: bool = False):
        """The same tokens for each sequence; logits after the last, or after every one."""
        batch, index = self.batch, 0
        for sequence in range(self.sequences):
            for i, token in enumerate(tokens):
                batch.token[index], batch.pos[index] = token, self.length + i
                batch.n_seq_id[index], batch.seq_id[index][0] = 1, sequence
                batch.logits[index] = every or i == len(tokens) - 1
                index += 1
        batch.n_tokens = index
        if llama.llama_decode(self.pointer, batch) != 0:
            raise RuntimeError("llama_decode failed")
        llama.llama_synchronize(self.pointer)
        self.length += len(tokens)

    def go_on(self, count: int):
        self.step([worker.timed_token(self.length + i, self.vocabulary) for i in range(count)])

    def fill(self, length: int):
        while self.length < length:
            self.go_on(min(BATCH, length - self.length))

    def row(self, index: int) -> list[float]:
        return llama.llama_get_logits_ith(self.pointer, index)[:self.vocabulary]


class LlamaCpp(worker.Worker):
    name, kind = "llama.cpp", "cache f16"
    version = "llama-cpp-python " + importlib.metadata.version("llama-cpp-python")
    settings = tuple(FLASH)

    def __init__(self, path: str):
        llama.llama_log_set(self.quiet, ctypes.c_void_p())
        self.model = llama.llama_model_load_from_file(path.encode(), llama.llama_model_default_params())
        if not self.model:
            sys.exit(f"llama.cpp cannot load {path}")
        self.contexts, self.threads = {}, 1

    @staticmethod
    @llama.llama_log_callback
    def quiet(level, text, data):
        pass

    def set_threads(self, count: int):
        self.threads = count

    def context(self, setting: str, sequences: int, room: int) -> Context:
        key = (setting, sequences, room)
        if key not in self.contexts:
            self.contexts[key] = Context(self.model, FLASH[setting], sequences, room)
        context = self.contexts[key]
        llama.llama_set_n_threads(context.pointer, self.threads, self.threads)
        return context

    def prepare(self, setting: str, command: str, *numbers: int):
        if command == "prefill":
            depth, tokens, sequences = 0, numbers[0], 1
        else:
            depth, sequences = (numbers[0], 1) if command == "decode" else (0, numbers[0])
            tokens = numbers[1]
        context = self.context(setting, sequences, depth + tokens)
        context.truncate(min(context.length, depth))
        context.fill(depth)
        if command == "prefill":
            return lambda: context.fill(tokens)
        return lambda: [context.go_on(1) for _ in range(tokens)]

    def logits(self, ids: list[int]):
        context = self.context(self.settings[0], 1, BATCH)
        context.truncate(0)
        context.step(ids, every=True)
        return [context.row(i) for i in range(len(ids))]


if __name__ == "__main__":
    worker.serve(lambda: LlamaCpp(sys.argv[1]))
