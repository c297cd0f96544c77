"""Trains the small Llama that is compiled into ekvi, and writes it as a GGUF file.

Why a model of our own: the demo and the tests need one that is small, free, quick, and above all
quick to tell when a key-value cache is wrong.  This one reads stories (tools/stories.py) in which
everything worth asking was said exactly once, some hundred tokens earlier.  With a sound cache it
answers nearly every question; with a damaged one it starts to guess.

How it learns: copying is hard to discover in long stories, and easy in dense ones.  So the lessons
(LESSONS) begin with random tokens that are repeated once, next to short fragments with a fact or
two, and grow until whole stories fill the context.  A lesson ends when it is mastered, or when its
share of the time is up.  Words of answers weigh more in the loss than the others.

    python3 tools/train_embedded.py --minutes 26

needs no preparation: PyTorch comes into .cache/venv-train on the first run.  Neither the build
nor the tests of ekvi need this program; its product, models/embedded.gguf, is kept with the
sources.  Progress goes to models/embedded.train.log, state (for --resume) to .cache.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import stories
from gguf_writer import F32, Q8_0, Tensor, Value, write_gguf
from stories import BOS, EOS, FIRST_PIECE, VOCABULARY, Row, Tokenizer, encode_story

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".cache" / "venv-train"
PACKAGES = ["torch==2.9.1", "numpy==2.3.5"]
LOG = ROOT / "models" / "embedded.train.log"
STATE = ROOT / ".cache" / "embedded.state.pt"

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # spinning costs much on busy cores

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:  # start again inside an environment that has it
    if Path(sys.prefix) == VENV:
        raise
    python = VENV / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    os.execv(python, [str(python), *sys.argv])

from muon import Muon  # noqa: E402  (it needs torch)

THREADS = 2
CONTEXT, WIDTH, LAYERS, HIDDEN = 1024, 128, 6, 288
HEADS, KV_HEADS, HEAD = 4, 2, 64
EPSILON, ROPE_BASE = 1e-5, 10000.0
MUON_RATE, ADAM_RATE = 0.012, 0.003
HELD_OUT = 1_000_003  # added to the seed for stories that are never trained on


def quantised(weight: torch.Tensor) -> torch.Tensor:
    """The values a weight has after storage as Q8_0: 32 integers of 8 bits share a scale in f16."""
    integers, scales = q8_0(weight)
    return (integers * scales.float()).view(weight.shape)


def q8_0(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Integers (as float) and f16 scales of blocks of 32 along the input dimension."""
    blocks = weight.detach().float().reshape(-1, 32)
    scales = blocks.abs().amax(dim=1, keepdim=True) / 127
    inverse = torch.where(scales > 0, 1 / scales, torch.zeros_like(scales))
    return (blocks * inverse).round().clamp(-127, 127), scales.half()


class Layer(nn.Module):
    """One transformer layer; the names are those of the tensors in the file."""

    def __init__(self) -> None:
        super().__init__()
        self.attn_norm = nn.Parameter(torch.ones(WIDTH))
        self.attn_q = nn.Linear(WIDTH, HEADS * HEAD, bias=False)
        self.attn_k = nn.Linear(WIDTH, KV_HEADS * HEAD, bias=False)
        self.attn_v = nn.Linear(WIDTH, KV_HEADS * HEAD, bias=False)
        self.attn_output = nn.Linear(HEADS * HEAD, WIDTH, bias=False)
        self.ffn_norm = nn.Parameter(torch.ones(WIDTH))
        self.ffn_gate = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.ffn_up = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.ffn_down = nn.Linear(HIDDEN, WIDTH, bias=False)
        for linear in (self.attn_output, self.ffn_down):  # each layer begins by adding nothing
            nn.init.zeros_(linear.weight)

    @staticmethod
    def _heads(x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (-1, HEAD)).transpose(1, 2)

    @staticmethod
    def _rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        """Rotary position embedding on adjacent pairs."""
        even, odd = x.unflatten(-1, (HEAD // 2, 2)).unbind(-1)
        return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        h = F.rms_norm(x, (WIDTH,), self.attn_norm, EPSILON)
        q = self._rotate(self._heads(self.attn_q(h)), cos, sin)
        k = self._rotate(self._heads(self.attn_k(h)), cos, sin)
        v = self._heads(self.attn_v(h))
        k, v = (t.repeat_interleave(HEADS // KV_HEADS, dim=1) for t in (k, v))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.attn_output(mixed.transpose(1, 2).flatten(-2))
        h = F.rms_norm(x, (WIDTH,), self.ffn_norm, EPSILON)
        return x + self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h))


class Model(nn.Module):
    """The decoder; its output matrix is its embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.token_embd = nn.Embedding(VOCABULARY, WIDTH)
        self.blk = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.output_norm = nn.Parameter(torch.ones(WIDTH))
        nn.init.normal_(self.token_embd.weight, std=0.05)
        powers = -torch.arange(HEAD // 2) / (HEAD // 2)
        angles = torch.arange(CONTEXT)[:, None] * ROPE_BASE**powers
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.token_embd(tokens)
        kind = torch.bfloat16 if torch.is_autocast_enabled("cpu") else torch.float32
        cos, sin = (table[: tokens.shape[1]].to(kind) for table in (self.cos, self.sin))
        for layer in self.blk:
            x = layer(x, cos, sin)
        x = F.rms_norm(x, (WIDTH,), self.output_norm, EPSILON)
        return F.linear(x, self.token_embd.weight)

    def stored(self) -> Model:
        """A copy with the weights as they come back from the file."""
        copy = Model()
        state = {n: quantised(w) if w.dim() == 2 else w for n, w in self.state_dict().items()}
        copy.load_state_dict(state)
        return copy.eval()


@dataclass(frozen=True)
class Lesson:
    """What batches are made of, and when to go on: ranges are inclusive."""

    name: str
    length: int  # tokens of the longest row
    tokens: int  # about so many in a batch
    random_share: float  # of rows with random tokens, said twice
    dense_share: float  # of rows with many facts and questions and no tale
    scenes: tuple[int, int]
    facts: tuple[int, int]
    questions: tuple[int, int]
    whole: bool
    time_share: float  # the most it may take, of all the time
    pass_mark: float  # recall that ends the lesson


LESSONS = [
    Lesson("copying", 64, 4096, 0.5, 0.0, (0, 0), (1, 2), (1, 2), False, 0.08, 0.92),
    Lesson("fragments", 128, 4096, 0.3, 0.0, (0, 1), (1, 3), (1, 3), False, 0.08, 0.96),
    Lesson("scenes", 256, 4096, 0.15, 0.2, (1, 3), (3, 6), (3, 6), False, 0.12, 0.97),
    Lesson("short tales", 512, 4096, 0.05, 0.15, (1, 2), (4, 7), (4, 7), True, 0.12, 0.97),
    Lesson("tales", 736, 6144, 0.03, 0.1, (2, 3), (4, 8), (4, 7), True, 0.15, 0.97),
    Lesson("full tales", 1000, 6144, 0.01, 0.05, (2, 7), (5, 9), (2, 6), True, 1.0, 2.0),
]


class Source:
    """An endless source of batches for lessons."""

    def __init__(self, tokenizer: Tokenizer, seed: int) -> None:
        self.tokenizer = tokenizer
        self.rng = random.Random(seed)

    def _repeated(self, length: int) -> Row:
        """Random tokens, then the same again."""
        half = self.rng.randint(length // 4, length // 2)
        once = self.rng.choices(range(FIRST_PIECE, VOCABULARY), k=half)
        ids = ([BOS] + once * (length // half + 1))[:length]
        return Row(ids, [0.0] * (half + 1) + [1.0] * (length - half - 1), [])

    def story_row(self, lesson: Lesson, dense: bool = False) -> Row:
        """A story that fits the lesson."""
        while True:
            facts = self.rng.randint(*lesson.facts)
            questions = self.rng.randint(*lesson.questions)
            scenes = self.rng.randint(*lesson.scenes)
            if dense:
                facts, questions, scenes = min(len(stories.FACTS), lesson.length // 90), lesson.length // 70, 0
            whole = lesson.whole and not dense
            row = encode_story(self.tokenizer, stories.make_story(self.rng, scenes, facts, questions, whole))
            if len(row.ids) <= lesson.length:
                return row

    def batch(self, lesson: Lesson) -> list[Row]:
        """Rows of all the sorts, about as many tokens as a batch should have."""
        rows: list[Row] = []
        while sum(len(row.ids) for row in rows) < lesson.tokens - lesson.length // 2:
            sort = self.rng.random()
            if sort < lesson.random_share:
                rows.append(self._repeated(min(lesson.length, 256)))
            else:
                rows.append(self.story_row(lesson, sort < lesson.random_share + lesson.dense_share))
        return rows


def tensors_of(rows: list[Row]) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and target weights of rows, filled up to the longest."""
    longest = max(len(row.ids) for row in rows)
    ids = torch.full((len(rows), longest), EOS)
    weights = torch.zeros(len(rows), longest)
    for number, row in enumerate(rows):
        ids[number, : len(row.ids)] = torch.tensor(row.ids)
        weights[number, : len(row.ids)] = torch.tensor(row.weights)
    return ids, weights


@dataclass
class Report:
    """How well a model does on held-out stories."""

    loss: float  # per token
    recall: float  # of the questions, the share that greedy decoding answers exactly
    told: float  # the same of the recalls in the tale
    by_distance: dict[int, tuple[int, int]]  # from so many tokens on: right, asked

    def __str__(self) -> str:
        return f"loss {self.loss:.3f}, questions {self.recall:.1%}, in the tale {self.told:.1%}"


@torch.no_grad()
def evaluate(model: Model, rows: list[Row]) -> Report:
    """Measures recall. An answer counts if each of its tokens is the likeliest after the text
    before it: that is, if greedy decoding would write exactly this answer."""
    right: dict[bool, list[bool]] = {False: [], True: []}
    distances: dict[int, list[bool]] = {}
    loss = 0.0
    rows = sorted(rows, key=lambda row: len(row.ids))
    for at in range(0, len(rows), 8):
        ids, _ = tensors_of(rows[at : at + 8])
        logits = model(ids[:, :-1])
        likeliest = logits.argmax(-1)
        for row, guess, scores in zip(rows[at : at + 8], likeliest, logits):
            length = len(row.ids)
            loss += float(F.cross_entropy(scores[: length - 1], torch.tensor(row.ids[1:])))
            for first, end, distance, asked in row.recalls:
                good = guess[first - 1 : end - 1].tolist() == row.ids[first:end]
                right[asked].append(good)
                if asked:
                    distances.setdefault(distance // 100 * 100, []).append(good)
    shares = {asked: sum(good) / max(1, len(good)) for asked, good in right.items()}
    table = {start: (sum(good), len(good)) for start, good in sorted(distances.items())}
    return Report(loss / len(rows), shares[True], shares[False], table)


@torch.no_grad()
def write_text(model: Model, tokenizer: Tokenizer, prompt: str, count: int, temperature: float, seed: int) -> str:
    """Continues a prompt by up to `count` tokens."""
    generator = torch.Generator().manual_seed(seed)
    ids = tokenizer.encode(prompt) if prompt else [BOS]
    for _ in range(count):
        logits = model(torch.tensor([ids]))[0, -1]
        if temperature > 0:
            shares = F.softmax(logits / temperature, -1)
            ids.append(int(torch.multinomial(shares, 1, generator=generator)))
        else:
            ids.append(int(logits.argmax()))
        if ids[-1] == EOS:
            break
    return tokenizer.decode(ids) + (" (end)" if ids[-1] == EOS else "")


def export(model: Model, tokenizer: Tokenizer, path: Path) -> int:
    """Writes the GGUF file and returns its size."""
    pairs: list[tuple[str, str, Value]] = [
        ("general.architecture", "str", "llama"),
        ("general.name", "str", "ekvi stories"),
        ("general.license", "str", "mit"),
        ("general.file_type", "u32", 7),
        ("general.alignment", "u32", 32),
        ("llama.context_length", "u32", CONTEXT),
        ("llama.embedding_length", "u32", WIDTH),
        ("llama.block_count", "u32", LAYERS),
        ("llama.feed_forward_length", "u32", HIDDEN),
        ("llama.attention.head_count", "u32", HEADS),
        ("llama.attention.head_count_kv", "u32", KV_HEADS),
        ("llama.attention.layer_norm_rms_epsilon", "f32", EPSILON),
        ("llama.attention.key_length", "u32", HEAD),
        ("llama.attention.value_length", "u32", HEAD),
        ("llama.rope.dimension_count", "u32", HEAD),
        ("llama.rope.freq_base", "f32", ROPE_BASE),
        ("llama.vocab_size", "u32", VOCABULARY),
        *tokenizer.pairs(),
    ]
    tensors = []
    for name, weight in model.state_dict().items():
        name = name if name.endswith(".weight") else name + ".weight"
        shape = list(reversed(weight.shape))
        if weight.dim() == 1:
            tensors.append(Tensor(name, shape, F32, weight.float().numpy().tobytes()))
            continue
        integers, scales = q8_0(weight)
        blocks = torch.cat((scales.view(torch.int8), integers.to(torch.int8)), dim=1)
        tensors.append(Tensor(name, shape, Q8_0, blocks.numpy().tobytes()))
    return write_gguf(path, pairs, tensors)


class Training:
    """The course of a training: everything that is saved, and the loop.

    What is measured and exported is `mean`, the moving average of the trained weights, which is
    better than any one of them while the learning rate is still high.
    """

    PARTS = ("model", "mean", "muon", "adam")

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        torch.manual_seed(options.seed)
        rng = random.Random(options.seed)
        self.tokenizer = Tokenizer.train(stories.text_for_pieces(rng, 1500))
        self.model, self.mean = Model(), Model()
        self.mean.load_state_dict(self.model.state_dict())
        matrices = [w for w in self.model.blk.parameters() if w.dim() == 2]
        others = [w for w in self.model.parameters() if all(w is not m for m in matrices)]
        self.muon = Muon(matrices, lr=MUON_RATE)
        self.adam = torch.optim.AdamW(others, lr=ADAM_RATE, betas=(0.9, 0.95), weight_decay=0.0)
        held_out = Source(self.tokenizer, options.seed + HELD_OUT)
        self.held_out = [held_out.story_row(LESSONS[-1]) for _ in range(250)]
        self.step = self.lesson = 0
        self.seconds = self.lesson_seconds = 0.0
        self.best = (-1.0, 0.0)
        self.best_model = self.model.state_dict()

    def log(self, text: str) -> None:
        """Says it, and keeps it in the log."""
        print(text, flush=True)
        with LOG.open("a", encoding="utf-8") as file:
            file.write(text + "\n")

    def save(self) -> None:
        """Keeps the state for --resume."""
        parts = {name: getattr(self, name).state_dict() for name in self.PARTS}
        names = ("step", "lesson", "seconds", "lesson_seconds", "best", "best_model")
        STATE.parent.mkdir(exist_ok=True)
        unfinished = STATE.with_suffix(".unfinished")
        torch.save(parts | {name: getattr(self, name) for name in names}, unfinished)
        os.replace(unfinished, STATE)

    def load(self) -> None:
        """Takes up the state of an earlier run."""
        state = torch.load(STATE, weights_only=True)
        for name, value in state.items():
            if name in self.PARTS:
                getattr(self, name).load_state_dict(value)
            else:
                setattr(self, name, value)

    def learn(self, rows: list[Row]) -> float:
        """One step; returns the loss."""
        spent = self.seconds / (60 * self.options.minutes)
        rate = min(1.0, (self.step + 1) / 40) * min(1.0, max(0.02, (1 - spent) / 0.4))
        self.muon.param_groups[0]["lr"] = MUON_RATE * rate
        self.adam.param_groups[0]["lr"] = ADAM_RATE * rate
        ids, weights = tensors_of(rows)
        with torch.autocast("cpu", torch.bfloat16):
            logits = self.model(ids[:, :-1])
        losses = F.cross_entropy(logits.float().flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
        loss = (losses * weights[:, 1:].flatten()).sum() / weights[:, 1:].sum()
        loss.backward()
        for optimiser in (self.muon, self.adam):
            optimiser.step()
            optimiser.zero_grad()
        with torch.no_grad():
            for mean, weight in zip(self.mean.parameters(), self.model.parameters()):
                mean.lerp_(weight, max(0.03, 9 / (10 + self.step)))
        self.step += 1
        return float(loss.detach())

    def check(self, loss: float) -> None:
        """Measures, logs, saves; exports if better than before; and ends the lesson if mastered."""
        lesson = LESSONS[self.lesson]
        source = Source(self.tokenizer, self.options.seed + HELD_OUT + self.step)
        count = max(16, 6000 // lesson.length)
        probe = evaluate(self.mean, [source.story_row(lesson) for _ in range(count)])
        full = evaluate(self.mean.stored(), self.held_out[:24])
        self.log(
            f"{self.seconds / 60:5.1f} min, step {self.step}, {lesson.name}: "
            f"training loss {loss:.3f}; lesson: {probe}; full, stored: {full}"
        )
        score = (round(full.recall, 2), -full.loss)
        if score > self.best:
            self.best = score
            self.best_model = {n: w.clone() for n, w in self.mean.state_dict().items()}
            self.log(f"  best so far, {export(self.mean, self.tokenizer, self.options.out)} bytes")
        share = self.lesson_seconds / (60 * self.options.minutes)
        if probe.recall >= lesson.pass_mark or share > lesson.time_share:
            self.lesson, self.lesson_seconds = self.lesson + 1, 0.0
            self.log(f"  next lesson: {LESSONS[self.lesson]}")
        self.save()

    def run(self) -> None:
        """Trains until the time is up: processor time, as other programs may want the cores."""
        source = Source(self.tokenizer, self.options.seed * 1000 + self.step)
        average, checked = 0.0, -1e9
        while self.seconds < 60 * self.options.minutes:
            begin = time.process_time()
            loss = self.learn(source.batch(LESSONS[self.lesson]))
            average = loss if average == 0.0 else average * 0.95 + loss * 0.05
            spent = (time.process_time() - begin) / THREADS
            self.seconds, self.lesson_seconds = self.seconds + spent, self.lesson_seconds + spent
            if self.seconds - checked >= 45:
                self.check(average)
                checked = self.seconds

    def finish(self) -> None:
        """Measures the best model on all held-out stories, and lets it write."""
        self.mean.load_state_dict(self.best_model)
        size = export(self.mean, self.tokenizer, self.options.out)
        stored = self.mean.stored()
        report = evaluate(stored, self.held_out)
        self.log(f"final, stored weights, {len(self.held_out)} held-out stories: {report}")
        for start, (right, asked) in report.by_distance.items():
            self.log(f"  {start:4} to {start + 99} tokens back: {right} of {asked}")
        self.log(f"{size} bytes; some texts:")
        for prompt in ("", "Once upon", "Once upon a time", "One morning"):
            for temperature in (0.0, 0.8):
                text = write_text(stored, self.tokenizer, prompt, 300, temperature, 1)
                self.log(f"--- {prompt!r}, temperature {temperature}:\n{text}")


def main() -> None:
    """Trains, exports, measures."""
    parser = argparse.ArgumentParser(description="trains the embedded model")
    parser.add_argument("--minutes", type=float, default=26, help="for training, were the cores free")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=ROOT / "models" / "embedded.gguf")
    parser.add_argument("--resume", action="store_true", help="go on from the saved state")
    options = parser.parse_args()
    torch.set_num_threads(THREADS)
    if not options.resume:
        LOG.unlink(missing_ok=True)
    training = Training(options)
    if options.resume:
        training.load()
    training.log(
        f"{'resumed' if options.resume else 'started'} {time.strftime('%Y-%m-%d %H:%M')}; torch "
        f"{torch.__version__}, seed {options.seed}, {options.minutes:g} minutes\n"
        f"held-out stories: random seed {options.seed + HELD_OUT}, so other people, things and "
        "places meet in them, in another order; none is ever trained on"
    )
    training.run()
    training.finish()


if __name__ == "__main__":
    main()
