"""Telling the language of a reply, by its script and its small words. Unknown rather than guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stepcache._data import Verdict
from stepcache.errors import ConfigurationError
from stepcache.tasks.demands._base import Demand

__all__ = ["Language", "NotForeign", "detect_language"]

_SAMPLE = 20_000  # characters looked at: more tells nothing new

# Scripts that one of the languages told apart here has to itself.
_SCRIPTS = {
    "bn": "\u0980-\u09ff", "pa": "\u0a00-\u0a7f", "gu": "\u0a80-\u0aff", "or": "\u0b00-\u0b7f", "ta": "\u0b80-\u0bff",
    "te": "\u0c00-\u0c7f", "kn": "\u0c80-\u0cff", "ml": "\u0d00-\u0d7f", "si": "\u0d80-\u0dff", "th": "\u0e00-\u0e7f",
    "lo": "\u0e80-\u0eff", "my": "\u1000-\u109f", "ka": "\u10a0-\u10ff", "am": "\u1200-\u137f", "km": "\u1780-\u17ff",
    "hy": "\u0530-\u058f", "he": "\u0590-\u05ff", "el": "\u0370-\u03ff", "ko": "\u1100-\u11ff\uac00-\ud7a3",
}
_SHARED = {
    "devanagari": "\u0900-\u097f", "arabic": "\u0600-\u06ff\u0750-\u077f", "cyrillic": "\u0400-\u04ff",
    "kana": "\u3040-\u30ff", "han": "\u3400-\u9fff", "latin": "A-Za-z\u00c0-\u024f\u1e00-\u1eff",
}
_LETTERS = {name: re.compile(f"[{signs}]") for name, signs in (_SCRIPTS | _SHARED).items()}

# The small words by which a language shows. A word may stand in several rows; the row with most hits must win clearly.
_LATIN = {
    "en": "the of and to in is that it for was with as be on not he his by at this are but from have an they which or "
          "you we she her their will would there been has were what all can if your more when who them so out up do "
          "how then into its our my me i a about these those should could add stir until",
    "de": "der die das und in ist zu den nicht mit von sie ein eine auf für es im dem des sich auch als an er wir ich "
          "aber wird sind hat oder wie bei nach aus einen einem einer war noch so um zum zur über wenn nur haben kann "
          "werden diese dieser mehr du ihr wurde durch dass bis dann",
    "es": "el la los las de que y en un una es por con para no se del al lo como más pero sus le ya o este sí porque "
          "esta entre cuando muy sin sobre también me hasta hay donde quien desde todo nos durante su son fue ser está",
    "fr": "le la les de des et en un une est que qui dans pour pas sur au avec ce il elle plus par je ne se son sa ses "
          "du nous vous sont cette mais ou où comme aux être a été fait même tout leur ces si y très aussi c'est",
    "it": "il lo la i gli le di e che un una in è per non con del della dei sono da si al come più ma anche nel alla "
          "questo questa mi ho ha se o dal delle degli essere molto tutti quando perché loro",
    "pt": "o a os as de e que em um uma para com não por do da dos das no na se mais como mas ao ele ela são foi seu "
          "sua ou quando muito nos já está também só pelo pela até isso você",
    "nl": "de het een en van in is dat op te zijn met voor niet die aan er ook als maar om dan bij uit nog naar heeft "
          "ze wordt was door over hij wij je kan worden deze dit zo wel geen",
    "sv": "och att det som en på är av för med den till inte har de ett om han hon var jag från men så kan ska vi när",
    "pl": "i w na z się nie do to jest że jak o od za po co są dla ale przez jego tym oraz czy ten być może który",
    "tr": "ve bir bu için ile de da çok daha olarak ne gibi kadar sonra var olan ama en o ben sen değil mi",
    "fi": "ja on ei se että oli hän mutta kun ovat myös tai niin joka ovat jos sen hänen kuin sitä tämä",
    "id": "dan yang di untuk dengan ini itu dari pada tidak adalah ke dalam akan atau juga saya anda oleh kami",
    "sw": "na ya wa kwa ni katika la za cha kama hii lakini watu yake kuwa ambayo pia sana huu hiyo",
    "vi": "và của là các có được cho không trong một với những người để đã này khi từ đến như về cũng tôi bạn",
}
_DEVANAGARI = {
    "hi": "है हैं का की के में और को से पर यह वह नहीं एक भी कि था थी थे हो ही तो इस जो",
    "mr": "आहे आहेत आणि च्या मध्ये हे ती ते तो या व नाही एक मी आपण केले होते करा साठी असे",
    "ne": "छ छन् र को मा हो गर्न यो त्यो भने पनि लागि थियो हुन्छ गरेको",
}
_CYRILLIC = {
    "ru": "и в не на что с как это он я по но из у к за то мы вы они она был для от так же о все",
    "uk": "і в не на що з як це він я по але із у до за ми ви вони вона був для від так та є про й",
    "bg": "и в не на че с как това той аз по но от за ние вие те тя беше да се е са със като или",
    "sr": "и у не на да је се за са као али то он ми ви они од или су ће",
}
_TABLES = {
    name: {language: frozenset(words.split()) for language, words in table.items()}
    for name, table in (("latin", _LATIN), ("devanagari", _DEVANAGARI), ("cyrillic", _CYRILLIC))
}
# Letters that one language of a shared script has and its neighbours lack.
_SIGNS = {
    "latin": {"de": "ß", "es": "ñ¿¡", "vi": "ơưđạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ", "pl": "łżźśćńęą",
              "tr": "ığş", "pt": "ãõ"},
    "devanagari": {"mr": "ळ"},
    "cyrillic": {"ru": "ыэё", "uk": "іїєґ", "sr": "јљњћђџ"},
}
_NAMES = {
    "english": "en", "german": "de", "deutsch": "de", "spanish": "es", "español": "es", "french": "fr",
    "français": "fr", "italian": "it", "portuguese": "pt", "dutch": "nl",
}
_KNOWN = frozenset({*_SCRIPTS, *_LATIN, *_DEVANAGARI, *_CYRILLIC, "ar", "fa", "ur", "ja", "zh"})


def detect_language(text: str) -> str | None:
    """The language of a text as an ISO 639-1 code, or None when it can't be told."""
    text = text[:_SAMPLE].casefold()
    counts = {name: sum(1 for _ in letters.finditer(text)) for name, letters in _LETTERS.items()}
    total = sum(counts.values())
    if not total:
        return None
    if counts["kana"] and counts["kana"] + counts["han"] > 0.6 * total:
        return "ja"
    script = max(counts, key=lambda name: counts[name])
    if counts[script] < 0.6 * total:
        return None
    if script == "han":
        return "zh"
    if script == "arabic":
        return _arabic(text)
    return _by_words(text, script) if script in _TABLES else script


def _arabic(text: str) -> str | None:
    if any(sign in text for sign in "ٹڈڑںے"):
        return "ur"
    if any(sign in text for sign in "پچژگ"):
        return "fa"
    return "ar" if any(sign in text for sign in "ةىيكأإ") or "ال" in text else None


def _by_words(text: str, script: str) -> str | None:
    words = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?[\u0900-\u097f]*", text) if script != "devanagari" else text.split()
    scores = {language: float(sum(1 for word in words if word.strip("।,.") in known))
              for language, known in _TABLES[script].items()}
    for language, signs in _SIGNS[script].items():
        scores[language] += 0.5 * sum(min(text.count(sign), 6) for sign in signs)
    if script == "cyrillic":  # Russian has letters that Bulgarian lacks, so their absence speaks for Bulgarian
        scores["bg"] += text.count("ъ") if not any(sign in text for sign in "ыэі") else 0
    best, second = sorted(scores, key=lambda language: -scores[language])[:2]
    needed = max(2.0, 0.12 * len(words))
    return best if scores[best] >= needed and scores[best] >= 1.3 * scores[second] + 1 else None


@dataclass(frozen=True, repr=False)
class Language(Demand):
    """The reply is in this language (an ISO 639-1 code); one that can't be told fails."""

    code: str

    def __post_init__(self) -> None:
        code = _NAMES.get(str(self.code).casefold(), str(self.code).casefold().partition("-")[0])
        if code not in _KNOWN:
            raise ConfigurationError(f"language takes one of {', '.join(sorted(_KNOWN))}, not {self.code!r}")
        object.__setattr__(self, "code", code)

    @property
    def says(self) -> str:
        return f"to be in the language {self.code}"

    def check(self, text: str) -> Verdict:
        found = detect_language(text)
        return self._verdict(found == self.code, f"it is in {found}" if found else "its language can't be told")


@dataclass(frozen=True, repr=False)
class NotForeign(Demand):
    """The reply is in this language as far as can be told."""

    code: str

    @property
    def says(self) -> str:
        return f"to be in no other language than {self.code}"

    def check(self, text: str) -> Verdict:
        found = detect_language(text)
        return self._verdict(found in (None, self.code), f"it is in {found}")
