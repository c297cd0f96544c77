"""Short stories for children that plant facts and recall them later.

The small model inside ekvi has one job besides being pleasant to read: it must show at once
when a key-value cache is wrong.  A wrong cache forgets or mixes up what was said before, so the
stories written here say things that cannot be guessed ("Mia hid the red kite in the barn.")
and come back to them up to several hundred tokens later, in the tale itself and in questions:

    Question: Where did Mia hide the red kite? Answer: in the barn.

Every answer is drawn uniformly from many candidates, and the rest of the text never uses those
words, so only attention to the earlier sentence can produce it.

The text becomes tokens here, too (Tokenizer), so that the places of the recalls are known.
Only the standard library is used, and equal seeds give equal stories:

    python3 tools/stories.py --seed 7 --count 2
"""

from __future__ import annotations

import argparse
import random
import re
import string
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

_CHOICE = re.compile(r"\[([^\[\]]*)\]")

SHE = {"he": "she", "his": "her", "him": "her", "He": "She", "His": "Her", "girl": "girl"}
HE = {"he": "he", "his": "his", "him": "him", "He": "He", "His": "His", "girl": "boy"}
HOURS = ("morning", "noon", "afternoon", "evening")
CAST_SIZE = 8  # facts are about the first so many people of a story
SPACE = "\u2581"  # stands for a space in pieces
CHARACTERS = SPACE + "\n.,!?'\":;-()" + string.digits + string.ascii_letters
VOCABULARY, BOS, EOS, FIRST_PIECE = 992, 1, 2, 259
RECALL_WEIGHT = 8.0  # of the words of answers in the loss; other words have 1


def read_sections(path: Path) -> dict[str, list[list[str]]]:
    """Reads models/stories.txt: each section is a list of groups of lines."""
    sections: dict[str, list[list[str]]] = {}
    groups: list[list[str]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("=="):
            groups = sections.setdefault(line.removeprefix("==").strip(), [[]])
        elif groups and line:
            groups[-1].append(line)
        elif groups and groups[-1]:
            groups.append([])
    return {name: [group for group in groups if group] for name, groups in sections.items()}


def labelled(lines: list[str]) -> dict[str, list[str]]:
    """Splits lines of the form "label: text" and gathers the texts of each label."""
    texts: dict[str, list[str]] = {}
    for line in lines:
        label, text = line.split(": ", 1)
        texts.setdefault(label, []).append(text)
    return texts


@dataclass(frozen=True)
class Shape:
    """How one kind of fact is told, recalled and asked; `@` is where the answer stands."""

    answers: list[str]
    keys: dict[str, list[str]]  # the slots that name the fact, each with its candidates
    tell: list[str]
    recall: list[str]
    ask: list[str]


def read_shape(lines: list[str]) -> Shape:
    """A kind of fact from its section."""
    texts = labelled(lines)
    tell, recall, ask = (texts.pop(label) for label in ("tell", "recall", "ask"))
    lists = {slot: WORDS[name] for slot, (name,) in texts.items()}
    return Shape(lists.pop("answer"), lists, tell, recall, ask)


FRAMES = read_sections(Path(__file__).resolve().parent.parent / "models" / "stories.txt")
WORDS = {
    name: ", ".join(lines).split(", ") for name, lines in labelled(FRAMES["words"][0]).items()
}
FACTS = {
    name.removeprefix("fact "): read_shape(groups[0])
    for name, groups in FRAMES.items()
    if name.startswith("fact ")
}


@dataclass
class Recall:
    """A place in the text where an earlier fact is needed; all numbers are character offsets."""

    start: int  # first character of the answer
    end: int  # one past its last character
    planted: int  # where the same words stood when the fact was told
    asked: bool  # in a "Question: ... Answer: ..." passage, not in the tale itself
    kind: str  # which kind of fact (see FACTS)


@dataclass
class Fact:
    """One thing to remember: the slots that name it, and the answer."""

    kind: str
    slots: dict[str, str]
    answer: str
    planted: int = -1


@dataclass
class Story:
    """A finished text with all its recalls, in order."""

    text: str = ""
    recalls: list[Recall] = field(default_factory=list)


def fill(rng: random.Random, template: str, slots: dict[str, str]) -> str:
    """Chooses one of each `[a|b]`, puts in the `{slots}` (not the answer `@`)."""
    while True:
        opened = _CHOICE.search(template)
        if not opened:
            break
        chosen = rng.choice(opened.group(1).split("|"))
        template = template[: opened.start()] + chosen + template[opened.end() :]
    text = template.format_map(slots)
    return text[:1].upper() + text[1:]


class Teller:
    """Writes one story: keeps the cast, the facts told so far and the text."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.story = Story()
        self.people = rng.sample(WORDS["people"], len(WORDS["people"]))
        hero_is_girl = self.people[0] in WORDS["girls"]
        pronouns = SHE if hero_is_girl else HE
        self.cast = {"A": self.people[0], "B": self.people[1], "C": self.people[2], **pronouns}
        self.used: set[tuple[str, str]] = set()

    def say(self, sentence: str, paragraph: bool = False) -> int:
        """Appends a sentence and returns the offset at which it begins."""
        if self.story.text:
            self.story.text += "\n" if paragraph else " "
        begin = len(self.story.text)
        self.story.text += sentence
        return begin

    def pick_new(self, category: str, candidates: list[str]) -> str:
        """A word from the candidates which this story has not used for the category yet."""
        fresh = [word for word in candidates if (category, word) not in self.used]
        word = self.rng.choice(fresh or candidates)
        self.used.add((category, word))
        return word

    def new_fact(self) -> Fact:
        """Invents a fact: its kind, who and what it is about are new in this story, the answer is free."""
        kind = self.pick_new("kind", list(FACTS))
        shape = FACTS[kind]
        slots = {"N": self.pick_new(kind, self.people[: CAST_SIZE])}
        slots["their"] = "her" if slots["N"] in WORDS["girls"] else "his"
        slots["they"] = "she" if slots["N"] in WORDS["girls"] else "he"
        for name, candidates in shape.keys.items():
            slots[name] = self.pick_new(name, candidates)
        answers = [word for word in shape.answers if word != slots["N"]]
        return Fact(kind, slots, self.pick_new("answer", answers))

    def _say_with_answer(self, fact: Fact, template: str, paragraph: bool) -> int:
        """Says a template whose `@` is the answer; returns the answer's offset."""
        before, after = fill(self.rng, template, fact.slots).split("@")
        return self.say(before + fact.answer + after, paragraph) + len(before)

    def tell(self, fact: Fact) -> None:
        """Plants the fact."""
        template = self.rng.choice(FACTS[fact.kind].tell)
        fact.planted = self._say_with_answer(fact, template, False)

    def recall(self, fact: Fact, asked: bool, paragraph: bool) -> None:
        """Comes back to the fact, as a question or in the tale."""
        shape = FACTS[fact.kind]
        template = self.rng.choice(shape.ask if asked else shape.recall)
        if asked:
            template = f"Question: {template} Answer: @."
        start = self._say_with_answer(fact, template, paragraph)
        end = start + len(fact.answer)
        self.story.recalls.append(Recall(start, end, fact.planted, asked, fact.kind))

    def paragraphs(self, scenes: int, whole: bool) -> list[list[str]]:
        """The tale around the facts: an opening, then scenes in the order of the day.

        If it is not `whole`, there is no opening and only a line or two of each scene.
        """
        hours = [self.rng.sample(FRAMES[hour], len(FRAMES[hour])) for hour in HOURS]
        first = self.rng.randrange(len(HOURS) if not whole else 2)
        turns = range(first, first + min(scenes, 24))
        tale = [hours[turn % len(hours)].pop() for turn in turns]
        if whole:
            introductions = self.rng.sample(FRAMES["introductions"][0], self.rng.randint(1, 2))
            tale.insert(0, [self.rng.choice(FRAMES["openings"][0]), *introductions])
        else:
            tale = [scene[: self.rng.randint(1, 2)] for scene in tale]
        return [[fill(self.rng, line, self.cast) for line in scene] for scene in tale]


def make_story(
    rng: random.Random, scenes: int, facts: int, questions: int, whole: bool = True
) -> Story:
    """Writes a story of so many scenes around so many facts, which are asked after.

    The facts are told in the first two thirds.  Half of them come back in the tale; of the
    `questions`, a few are asked in between, the others at the end.  With `whole=False` the text
    starts in the middle, without an opening: a fragment, for the first lessons.
    A story tells each kind of fact once (as long as there are kinds left).
    """
    teller = Teller(rng)
    paragraphs = teller.paragraphs(scenes, whole) or [[]]
    last = len(paragraphs) - 1
    known = [teller.new_fact() for _ in range(facts)]
    steps: list[tuple[int, int, Fact]] = []  # after which paragraph, what (0 tell, 1 recall, 2 ask)
    for fact in known:
        told = rng.randint(0, last * 2 // 3)
        steps.append((told, 0, fact))
        if rng.random() < 0.5:
            steps.append((rng.randint(told, last), 1, fact))
        if whole and rng.random() < 0.2:
            steps.append((rng.randint(told, last), 2, fact))
    steps.sort(key=lambda step: step[:2])
    for position, paragraph in enumerate(paragraphs):
        for number, line in enumerate(paragraph):
            teller.say(line, paragraph=number == 0)
        for after, what, fact in steps:
            if after == position and what == 0:
                teller.tell(fact)
            elif after == position:
                teller.recall(fact, asked=what == 2, paragraph=what == 2)
    if whole:
        teller.say(fill(rng, rng.choice(FRAMES["endings"][0]), teller.cast), paragraph=True)
    asked = rng.sample(known, min(questions, facts))
    asked += rng.choices(known, k=questions - len(asked))
    for fact in asked:
        teller.recall(fact, asked=True, paragraph=True)
    return teller.story


def full_story(rng: random.Random) -> Story:
    """A story of full length, about 400 to 900 tokens of the embedded model."""
    return make_story(rng, rng.randint(2, 7), rng.randint(5, 9), rng.randint(2, 4))


def text_for_pieces(rng: random.Random, count: int) -> list[str]:
    """Texts to learn the tokenizer from: stories, and four times as many lists of facts and questions,
    so that the words of answers become one or two pieces and not single letters."""
    told = [full_story(rng).text for _ in range(count)]
    return told + [make_story(rng, 0, 9, 18, False).text for _ in range(4 * count)]


class Tokenizer:
    """Byte-pair encoding in the manner of SentencePiece: among neighbours that form a piece, those
    of the best piece merge first, the leftmost of equals; characters without piece become bytes.

    Pieces are learnt inside words, so they never reach across a space or from letters to
    punctuation.  That makes it right to encode a text word by word.
    """

    _WORD = re.compile(rf"{SPACE}?[A-Za-z]+|{SPACE}?[^A-Za-z{SPACE}\n]+|\n|{SPACE}")

    def __init__(self, merges: list[str]) -> None:
        normal = merges + list(CHARACTERS)
        byte_pieces = [f"<0x{byte:02X}>" for byte in range(256)]
        self.pieces = ["<unk>", "<s>", "</s>", *byte_pieces, *normal]
        self.scores = [0.0] * FIRST_PIECE + [float(-rank) for rank in range(len(normal))]
        self.types = [2, 3, 3] + [6] * 256 + [1] * len(normal)
        self._ids = {piece: FIRST_PIECE + rank for rank, piece in enumerate(normal)}
        self._cache: dict[str, list[int]] = {}

    @staticmethod
    def train(texts: list[str]) -> Tokenizer:
        """Learns the merges from texts: time and again the most frequent pair of neighbours."""
        counts = Counter(word for text in texts for word in Tokenizer._words(text))
        split = {word: list(word) for word in counts}
        merges: list[str] = []
        while len(merges) < VOCABULARY - FIRST_PIECE - len(CHARACTERS):
            pairs: Counter[str] = Counter()
            for word, parts in split.items():
                for left, right in zip(parts, parts[1:]):
                    pairs[left + right] += counts[word]
            best = min(pairs, key=lambda pair: (-pairs[pair], pair))
            merges.append(best)
            for parts in split.values():
                _merge(parts, best)
        return Tokenizer(merges)

    @staticmethod
    def _words(text: str) -> list[str]:
        return Tokenizer._WORD.findall((" " + text).replace(" ", SPACE))

    def _encode_word(self, word: str) -> list[int]:
        parts = list(word)
        while True:
            pairs = zip(parts, parts[1:])
            ranks = [self._ids.get(left + right, VOCABULARY) for left, right in pairs]
            if not ranks or min(ranks) == VOCABULARY:
                break
            where = ranks.index(min(ranks))
            parts[where : where + 2] = [parts[where] + parts[where + 1]]
        ids: list[int] = []
        for part in parts:
            ids += [self._ids[part]] if part in self._ids else [3 + b for b in part.encode("utf-8")]
        return ids

    def encode(self, text: str) -> list[int]:
        """The token ids of a text, with BOS in front."""
        ids = [BOS]
        for word in self._words(text):
            if word not in self._cache:
                self._cache[word] = self._encode_word(word)
            ids += self._cache[word]
        return ids

    def pairs(self) -> list[tuple[str, str, int | bool | str | list]]:
        """What a GGUF file says about the tokenizer: key, type, value."""
        return [
            ("tokenizer.ggml.model", "str", "llama"),
            ("tokenizer.ggml.tokens", "str", self.pieces),
            ("tokenizer.ggml.scores", "f32", self.scores),
            ("tokenizer.ggml.token_type", "i32", self.types),
            ("tokenizer.ggml.bos_token_id", "u32", BOS),
            ("tokenizer.ggml.eos_token_id", "u32", EOS),
            ("tokenizer.ggml.unknown_token_id", "u32", 0),
            ("tokenizer.ggml.add_bos_token", "bool", True),
            ("tokenizer.ggml.add_eos_token", "bool", False),
            ("tokenizer.ggml.add_space_prefix", "bool", True),
        ]

    def decode(self, ids: list[int]) -> str:
        """The text of token ids (of control tokens nothing), without the space put in front."""
        raw = bytearray()
        for token in ids:
            if 3 <= token < FIRST_PIECE:
                raw.append(token - 3)
            elif token >= FIRST_PIECE:
                raw += self.pieces[token].replace(SPACE, " ").encode("utf-8")
        text = raw.decode("utf-8", errors="replace")
        return text.removeprefix(" ") if ids and ids[0] == BOS else text


def _merge(parts: list[str], piece: str) -> None:
    """Joins, in place, all neighbours that form the piece."""
    at = 0
    while at + 1 < len(parts):
        if parts[at] + parts[at + 1] == piece:
            parts[at : at + 2] = [piece]
        at += 1


@dataclass
class Row:
    """One row of a batch: tokens, how much each counts as a target, and the recalls in it."""

    ids: list[int]
    weights: list[float]
    recalls: list[tuple[int, int, int, bool]]  # first token, end, distance to the fact, asked


def encode_story(tokenizer: Tokenizer, story: Story) -> Row:
    """Encodes a story, and finds the tokens of its recalls."""
    ids = [*tokenizer.encode(story.text), EOS]
    pieces = (tokenizer.pieces[token] if token >= FIRST_PIECE else "" for token in ids)
    owner = [index for index, piece in enumerate(pieces) for _ in piece][1:]  # of each character
    weights = [1.0] * len(ids)
    recalls = []
    for recall in story.recalls:
        first = owner[recall.start]
        end = owner[recall.end - (not recall.asked)] + 1  # an answer has its full stop, too
        recalls.append((first, end, first - owner[recall.planted], recall.asked))
        weights[first:end] = [RECALL_WEIGHT] * (end - first)
    return Row(ids, weights, recalls)


def main() -> None:
    """Prints stories, to be read."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    for _ in range(options.count):
        print(full_story(rng).text, end="\n\n")


if __name__ == "__main__":
    main()
