from words import frequencies

TEXT = "the cat and the dog and the bird " * 200


def test_frequencies(benchmark):
    assert benchmark(frequencies, TEXT)["the"] == 600


def test_longest(perfex):
    counts = frequencies(TEXT)
    with perfex("longest"):
        longest = max(counts, key=len)
    assert longest == "bird"
