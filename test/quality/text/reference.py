"""Answers of reference programs for the labelled texts, one JSON line for each program that is installed.

Reads {"sentiment": [text], "keywords": [text], "personal": [text]} from its input. A package that is missing is named and skipped.
"""

import json
import sys


def vader(texts):
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyzer = SentimentIntensityAnalyzer()
    scores = [analyzer.polarity_scores(text)["compound"] for text in texts]
    # The thresholds that its documentation recommends.
    return ["Positive" if s >= 0.05 else "Negative" if s <= -0.05 else "Neutral" for s in scores]


def yake(texts):
    from yake import KeywordExtractor

    extractor = KeywordExtractor(lan="en", n=3, top=10)
    return [[phrase.lower() for phrase, _ in extractor.extract_keywords(text)] for text in texts]


def presidio(texts):
    """Patterns and check digits only: no model for names."""
    from presidio_analyzer import RecognizerRegistry

    registry = RecognizerRegistry()
    registry.load_predefined_recognizers()
    found = []
    for text in texts:
        spans = set()
        for recognizer in registry.recognizers:
            if not hasattr(recognizer, "patterns"):
                continue
            for hit in recognizer.analyze(text, recognizer.supported_entities, None) or []:
                if hit.score >= 0.4:
                    spans.add(text[hit.start : hit.end])
        found.append(sorted(spans))
    return found


programs = {"vaderSentiment": (vader, "sentiment"), "yake": (yake, "keywords"), "presidio-analyzer": (presidio, "personal")}

asked = json.load(sys.stdin)
for name, (answer, key) in programs.items():
    try:
        print(json.dumps({"program": name, "answers": answer(asked[key])}))
    except ImportError as error:
        print(json.dumps({"program": name, "missing": str(error)}))
    except Exception as error:  # A reference must never stop the measurement of the engines.
        print(json.dumps({"program": name, "missing": f"it failed: {error}"}))
