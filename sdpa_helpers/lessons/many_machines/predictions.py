"""Lesson 09: what it asks before it counts."""

from sdpa_helpers.lessons.predicting import asker
from sdpa_helpers.show.predict import Option, Prediction

PREDICTIONS = (
    Prediction(
        "gigabytes_for_a_million_tokens",
        "How many GB (10^{9} bytes) do the keys and values of 2^{20} tokens take, in all 32 layers?",
        (
            Option("4.3", "That is one layer. But every layer has keys and values of its own.", (4.2, 4.4)),
            Option(
                "69",
                "That counts the keys alone. The values are as large.",
                (68.0, 70.0),
            ),
            Option(
                "137",
                "2 · 2^{20} tokens · 32 layers · 8 heads · 128 coordinates · 2 bytes.",
                (137.0, 138.0),
            ),
            Option(
                "550",
                "That would be right if each of the 32 query heads had its own keys. But four of them share one.",
                (549.0, 551.0),
            ),
        ),
        measured="{:.1f} GB",
        after="That is more than an H100's 80 GB. And the scores, which no kernel stores, would be 2^{40} numbers in each head.",
    ),
    Prediction(
        "time_of_contiguous_pieces",
        "The mask hides about half of the pairs. With four ranks and contiguous pieces, how long does causal attention "
        "take, as a share of the time without a mask?",
        (
            Option(
                "about half",
                "The ranks together do half of the work. But a step ends when the *busiest* rank is done.",
                (0.45, 0.6),
            ),
            Option(
                "about two thirds",
                "Some ranks save a lot of work. But that does not make the busiest one faster.",
                (0.6000001, 0.75),
            ),
            Option(
                "nearly 90%",
                "Only the first step is cheaper. In every other step some rank meets a block that it may see completely.",
                (0.85, 0.95),
            ),
            Option(
                "as long",
                "Nearly. But in the first step all ranks meet their own block, of which the mask hides half.",
                (0.9999, 1.0001),
            ),
        ),
        measured="{:.2f}",
        how_sure=True,
        after="Read the line of the busiest: half a block in step 0, then a full one in every step.",
    ),
    Prediction(
        "blocks_that_a_rank_sends",
        "Four ranks, four steps. How many blocks of keys and values does each rank send?",
        (
            Option(
                "1",
                "A rank has one block of its own. But it must also pass on those that come by.",
            ),
            Option("3", "After three hops a block has been with all four ranks, and the last one keeps it."),
            Option(
                "4",
                "There are four steps, one for each block. But after the last step nobody needs the blocks anymore.",
            ),
            Option(
                "12",
                "That is how many hops there are in all: four blocks make three each. They are shared by four ranks.",
            ),
        ),
        measured="{:g}",
        after="A block is 12 rows of 4 heads with 6 + 5 numbers of 8 bytes: 4,224 bytes, three times.",
    ),
    Prediction(
        "who_sends_least",
        "Four heads, and each has keys and values of its own. With four ranks, which method sends the fewest bytes?",
        (
            Option(
                "the ring",
                "It moves keys and values only. But it moves each block to everyone.",
                "ring",
            ),
            Option(
                "all-gather",
                "It does everything at once. But in the end every rank has received all blocks, as in the ring.",
                "all-gather",
            ),
            Option(
                "Ulysses",
                "It sends queries and outputs as well, but each rank only hands over its own rows, once.",
            ),
        ),
        after="Ring and all-gather send the same number of bytes, to the last one.",
    ),
    Prediction(
        "ulysses_with_shared_keys",
        "Now Llama 3.1 405B: 128 query heads share 8 heads of keys and values. With 8 ranks, how many times the bytes "
        "of the ring does Ulysses send?",
        (
            Option(
                "0.25",
                "That is 2/P, as without shared keys. But the ring now sends only 8 heads, and Ulysses 128 as well.",
                (0.24, 0.26),
            ),
            Option(
                "about 1",
                "Both would then cost the same. That happens at P = (H + G)/G, here with 17 ranks.",
                (0.9, 1.1),
            ),
            Option(
                "about 2",
                "Ulysses sends (H + G)/P heads, the ring G: 136 / 8 = 17, against 8.",
                (2.0, 2.25),
            ),
            Option(
                "17",
                "That is (H + G)/G. But each rank sends only its P-th part of it.",
                (16.9, 17.1),
            ),
        ),
        measured="{:.3f} times",
        how_sure=True,
        after="Sharing keys makes the ring cheaper and leaves queries and outputs as they are, which only Ulysses sends.",
    ),
    Prediction(
        "from_which_length_it_pays",
        "Of the lengths 2^{4}, 2^{5}, 2^{6}, …, which is the first at which eight of these H100s in a ring beat one?",
        (
            Option(
                "16 tokens",
                "Eight devices do an eighth of the work each. But each of seven messages takes at least 10 µs.",
                16,
            ),
            Option(
                "1,024 tokens",
                "A thousand tokens sound like a lot of work. One H100 needs 15 µs for them, less than two messages take.",
                1024,
            ),
            Option(
                "8,192 tokens",
                "One device needs about 0.9 ms; the messages take 0.66 ms. At 4,096 the ring is still slower.",
                8192,
            ),
            Option(
                "131,072 tokens",
                "There the ring hides its messages completely. It is faster long before.",
                131072,
            ),
        ),
        measured="{:,} tokens",
    ),
    Prediction(
        "zigzag_with_documents",
        "Eight documents of random lengths fill the sequence, and four ranks hold it in zigzag. How many times as long "
        "does it take as with a fair share?",
        (
            Option(
                "1.0",
                "Zigzag is fair for one causal triangle. Here there are eight, at random places.",
                (0.99, 1.1),
            ),
            Option(
                "about 1.3",
                "Chance evens things out a little, but a step waits for the busiest of four.",
                (1.1000001, 1.6),
            ),
            Option(
                "about 2",
                "In a step one rank may meet keys of its own documents only, and another one none at all.",
                (1.6000001, 2.6),
            ),
            Option(
                "4",
                "That would be one rank with all of the work. A document is spread over several ranks.",
                (3.9, 4.0),
            ),
        ),
        measured="median {:.2f}",
    ),
    Prediction(
        "bytes_of_the_backward_ring",
        "Keys and values have two bytes per number. How many times the bytes of the forward pass does the ring send in the "
        "backward pass?",
        (
            Option("1", "The keys and values go around again. But their gradients travel as well."),
            Option(
                "2",
                "Keys and values, and as many gradients. That would be right if the gradients had two bytes per number.",
            ),
            Option("3", "Two bytes again, and four for the gradients, which are sums of many parts."),
            Option("4", "That is forward and backward together."),
        ),
        measured="{:g}",
    ),
)

predict = asker("09_many_machines", PREDICTIONS)
