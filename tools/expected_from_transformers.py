#!/usr/bin/env python3
"""Writes what transformers makes of a model, for `ekvi verify --expect`.

    tools/expected_from_transformers.py FOLDER OUT.safetensors [--text TEXT | --tokens 1,2,3] [--greedy N]

FOLDER is a model in the format of Hugging Face. OUT gets `tokens` I64 [T], `logits` F64 [T, vocabulary] of one pass
from position 0, and `greedy` I64 [N], the continuation after the first 8 tokens, each step recomputed without a cache.
Everything is computed in float64, also the rotary angles, norms and softmax that transformers keeps in float32; so
float64 arithmetic elsewhere can be compared at 1e-9.  LongRoPE takes its factors by the length of the text: compare
with `--ctx` on the same side of the model's original length.

The first run makes .cache/venv-expected with the packages below; the program then starts itself again in there.
"""

import argparse
import os
import random
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".cache" / "venv-expected"
PACKAGES = ["torch==2.9.1", "transformers==5.24.0", "safetensors", "numpy==2.3.5"]
PROMPT = 8  # tokens that the greedy continuation starts from, as `ekvi verify` has it


def in_own_environment():
    """Starts this program again with the packages, unless they are there."""
    try:
        import safetensors  # noqa: F401
        import torch  # noqa: F401
        import transformers  # noqa: F401
        return
    except ImportError:
        pass
    python = VENV / "bin" / "python"
    if Path(sys.prefix) == VENV:
        sys.exit(f"{VENV} lacks packages: remove it and try again")
    if not python.exists():
        print(f"making {VENV} with {', '.join(PACKAGES)}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    os.execv(python, [str(python), __file__, *sys.argv[1:]])


def everything_in_float64(torch):
    """From here on what is written as float32 means float64; models must have been loaded before."""
    torch.set_default_dtype(torch.float64)
    torch.float = torch.float32 = torch.float64
    torch.Tensor.float = torch.Tensor.double


def load(folder: Path, torch):
    from transformers import AutoModelForCausalLM

    options = {"dtype": torch.float64, "attn_implementation": "eager", "local_files_only": True}
    try:
        model = AutoModelForCausalLM.from_pretrained(folder, experts_implementation="eager", **options)
    except TypeError:  # families without experts may not know the option
        model = AutoModelForCausalLM.from_pretrained(folder, **options)
    everything_in_float64(torch)
    for module in model.modules():  # frequencies were computed in float32 while loading
        if "RotaryEmbedding" in type(module).__name__:
            type(module).__init__(module, model.config)
    return model.eval()


def tokens_of(args, vocabulary: int) -> list[int]:
    if args.tokens:
        return [int(token) for token in args.tokens.split(",")]
    if args.text is not None:
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(args.folder, local_files_only=True)(args.text)["input_ids"]
    chosen = random.Random(1)
    return [chosen.randrange(vocabulary) for _ in range(args.count)]


def compute(args):
    import torch
    from safetensors.torch import save_file

    model = load(args.folder, torch)
    tokens = tokens_of(args, model.config.get_text_config().vocab_size)
    with torch.no_grad():
        logits = model(torch.tensor([tokens]), use_cache=False).logits[0]
        text, greedy = tokens[:PROMPT], []
        for _ in range(args.greedy):
            greedy.append(int(model(torch.tensor([text + greedy]), use_cache=False).logits[0, -1].argmax()))
    contents = {"tokens": torch.tensor(tokens), "logits": logits.contiguous(), "greedy": torch.tensor(greedy)}
    part = args.out.with_name(args.out.name + ".part")
    save_file(contents, part)
    part.replace(args.out)
    print(f"{args.out}: {len(tokens)} tokens × {logits.shape[1]} logits, {len(greedy)} greedy tokens")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--text", help="encoded with the folder's tokenizer")
    source.add_argument("--tokens", help="token ids: 1,2,3")
    parser.add_argument("--count", type=int, default=40, help="random tokens where neither is given (%(default)s)")
    parser.add_argument("--greedy", type=int, default=24, help="tokens of the greedy continuation (%(default)s)")
    args = parser.parse_args()
    if not (args.folder / "config.json").is_file():
        sys.exit(f"{args.folder}: no config.json in it: a model in the format of Hugging Face is wanted")
    if args.out.resolve().parent == args.folder.resolve() and args.out.name.startswith("model"):
        sys.exit(f"{args.out}: would stand among the model's own files")
    in_own_environment()
    compute(args)


if __name__ == "__main__":
    main()
