#!/usr/bin/env python3
"""Writes tests/data/tokenizers.json: small tokenizers of many kinds, and the ids that Hugging Face tokenizers give.

Needs the package tokenizers (0.23.3 wrote the file that is here), best in a virtual environment of its own:
    python3 -m venv venv && venv/bin/pip install tokenizers==0.23.3 && venv/bin/python tools/tokenizer_reference.py
The texts are random words and characters under a fixed seed, so the file changes only where the reference does.
"""

import json
import random
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

ROOT = Path(__file__).resolve().parent.parent
SPECIAL = ["<unk>", "<s>", "</s>"]
CORPUS = ["The cat sat on the mat, and it's 1234 years old.", "Straße, naïve café déjà vu: e\u0301a\u0308",
          "Привет, мир!", "你好，世界",
          "こんにちは カタカナ", "नमस्ते दुनिया", "don't we'll I'VE word words", "  two  spaces\n\nand lines"] * 20
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
          r"\s+(?!\S)|\s+")
WORDS = ("the The word words sword it's I'LL naïve e\u0301 a\u0308\u0323 Straße ﬁ ① ½ ² İ ſ Σ 你好 カタカナ नमस्ते "
         "123 4567890 １２ 😀 👨\u200d👩 <s> </s> <unk> <tool> [L] [R] [B] <a> "
         "<a><b> Norm ## </w> ▁ _ <0x0A> .,!? ' ( ] { ~").split()
GAPS = [" ", " ", "", "  ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u3000", "\u200b", "\u0085", "\x00", "\ufeff",
        "\u180e"]


def texts(count):
    random.seed(20)
    return ["".join(random.choice(WORDS) + random.choice(GAPS) for _ in range(random.randrange(1, 8)))
            for _ in range(count)]


def add_tokens(tokenizer):
    tokenizer.add_tokens([AddedToken("<tool>", normalized=False), AddedToken("[L]", lstrip=True, normalized=False),
                          AddedToken("[R]", rstrip=True, normalized=False), AddedToken("<a>", normalized=False),
                          AddedToken("[B]", lstrip=True, rstrip=True, normalized=False),
                          AddedToken("<a><b>", normalized=False),
                          AddedToken("word", single_word=True, normalized=False),
                          AddedToken("Norm", normalized=True)])
    tokenizer.add_special_tokens([AddedToken("<|end|>", rstrip=True, special=True)])


def train(model, trainer, normalizer=None, splitter=None, decoder=None):
    tokenizer = Tokenizer(model)
    if normalizer:
        tokenizer.normalizer = normalizer
    if splitter:
        tokenizer.pre_tokenizer = splitter
    if decoder:
        tokenizer.decoder = decoder
    tokenizer.train_from_iterator(CORPUS, trainer)
    add_tokens(tokenizer)
    return tokenizer


def bpe(normalizer=None, splitter=None, decoder=None, bytes_too=False, **options):
    affixes = {key: value for key, value in options.items() if key.endswith("fix")}
    alphabet = pre_tokenizers.ByteLevel.alphabet() if bytes_too else []
    trainer = trainers.BpeTrainer(vocab_size=330 if bytes_too else 160, special_tokens=SPECIAL, show_progress=False,
                                  initial_alphabet=alphabet, limit_alphabet=256 if bytes_too else 60, **affixes)
    model = models.BPE(**({} if bytes_too else {"unk_token": "<unk>"}), **options)
    return train(model, trainer, normalizer, splitter, decoder)


def kinds():
    pre, norm, row = pre_tokenizers, normalizers, pre_tokenizers.Sequence
    level = pre.ByteLevel(add_prefix_space=False, use_regex=False)
    for name, splitter in {
            "plain": pre.ByteLevel(add_prefix_space=False), "prefix": pre.ByteLevel(add_prefix_space=True),
            "llama3": row([pre.Split(Regex(LLAMA3), "isolated"), level]),
            "digits": row([pre.Digits(individual_digits=True), pre.ByteLevel(add_prefix_space=False)]),
            "twice": row([pre.ByteLevel(add_prefix_space=False), pre.Digits(), level])}.items():
        yield f"bytes {name}", bpe(splitter=splitter, decoder=decoders.ByteLevel(), bytes_too=True)
    yield "bytes nfc", bpe(norm.NFC(), pre.ByteLevel(add_prefix_space=False), decoders.ByteLevel(), True)
    for behavior in ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]:
        for invert in [False, True]:
            yield f"split {behavior} {invert}", bpe(splitter=pre.Split(Regex(r"[aeiou]|\s"), behavior, invert))
    for name, splitter in {"whitespace": pre.Whitespace(), "bert": pre.BertPreTokenizer(),
                           "delimiter": pre.CharDelimiterSplit("e"), "length": pre.FixedLength(length=5),
                           "words": pre.Split(Regex(r"\b\w+\b|\d"), "isolated")}.items():
        yield f"pre {name}", bpe(splitter=splitter)
    for scheme in ["always", "first", "never"]:
        yield f"metaspace {scheme}", bpe(splitter=pre.Metaspace(prepend_scheme=scheme),
                                         decoder=decoders.Metaspace(prepend_scheme=scheme))
    for name, normalizer in {
            "nfd": norm.NFD(), "nfkc": norm.NFKC(), "lower": norm.Lowercase(), "strip": norm.Strip(), "nmt": norm.Nmt(),
            "accents": norm.Sequence([norm.NFKD(), norm.StripAccents()]), "bert": norm.BertNormalizer(),
            "replace": norm.Replace(Regex(r" {2,}|[0-9]"), "▁"),
            "llama": norm.Sequence([norm.Prepend("▁"), norm.Replace(" ", "▁")])}.items():
        yield f"normal {name}", bpe(normalizer)
    yield "fuse", bpe(fuse_unk=True)
    yield "affixes", bpe(splitter=pre.WhitespaceSplit(), continuing_subword_prefix="##", end_of_word_suffix="</w>")
    unigram = trainers.UnigramTrainer(vocab_size=160, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False)
    yield "unigram", train(models.Unigram(), unigram, None, pre.Metaspace(), decoders.Metaspace())
    pieces = trainers.WordPieceTrainer(vocab_size=160, special_tokens=SPECIAL, show_progress=False)
    yield "wordpiece", train(models.WordPiece(unk_token="<unk>"), pieces, norm.BertNormalizer(), pre.BertPreTokenizer(),
                             decoders.WordPiece())
    words = trainers.WordLevelTrainer(vocab_size=100, special_tokens=SPECIAL, show_progress=False)
    yield "wordlevel", train(models.WordLevel(unk_token="<unk>"), words, None, pre.Whitespace())


def cases(name, tokenizer):
    for text in texts(24):
        for special in [False, True]:
            if name == "unigram" and not special and any(piece in text for piece in SPECIAL):
                continue  # the reference makes control tokens of plain text here
            tokenizer.encode_special_tokens = not special
            yield {"text": text, "special": special, "ids": tokenizer.encode(text, add_special_tokens=False).ids}


def main():
    lines = [json.dumps({"name": name, "tokenizer": json.loads(tokenizer.to_str()),
                         "cases": list(cases(name, tokenizer))}, ensure_ascii=False, separators=(",", ":"))
             for name, tokenizer in kinds()]
    (ROOT / "tests/data/tokenizers.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
