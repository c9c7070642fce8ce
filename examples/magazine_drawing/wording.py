"""The magazine's words, written for this project: sentences that a column is set from."""

from collections.abc import Iterator

import numpy as np

TITLE = "The Linden Mirror"
SUBTITLE = "AN ILLUSTRATED MONTHLY FOR THE HOUSE, THE WARDROBE & THE GARDEN"
PUBLISHER = "Linden & Marsh, Printers"
ISSUE = "OCTOBER, 1895"

HEADINGS = (
    "THE AUTUMN SLEEVE",
    "A WORD ON WALKING SKIRTS",
    "HINTS FOR THE WORKBASKET",
    "THE WINTER BORDER",
    "ON KEEPING A KITCHEN BOOK",
    "LETTERS FROM OUR READERS",
    "NEW TRIMMINGS",
    "THE CARE OF KID GLOVES",
    "AN EVENING IN THE LIBRARY",
    "WHAT IS WORN ON THE WHEEL",
    "A PLAIN SUPPER FOR SIX",
    "THE SEWING-ROOM",
)

SENTENCES = (
    "The sleeve is cut very full at the shoulder and falls close below the elbow, where it is "
    "held by four small buttons of jet.",
    "A walking skirt should clear the ground by two inches, and no lady who has once tried the "
    "comfort of it will go back to the train.",
    "Fawn, moss and a warm shade of copper are the colours of the month.",
    "We have seen a cape of dark green cloth, lined with quilted satin, that may be worn until "
    "the first snow.",
    "Let the seams be pressed over a damp linen cloth, and never with too hot an iron.",
    "The pattern is given in five sizes, and may be had of our office on receipt of ten stamps.",
    "Velvet ribbon, an inch and a half in width, is drawn through the lace and tied at the side.",
    "It is a mistake to suppose that a small room must be furnished with small things.",
    "The bulbs which were lifted in June may now be planted, three inches deep, in the sunniest "
    "border that the garden affords.",
    "A handful of wood ash, strewn about the roots of the carnations, will keep them through the "
    "wet weeks.",
    "Our correspondent asks whether a bonnet may be retrimmed at home; we answer that it may, if "
    "she has patience and a steady needle.",
    "Take six pounds of ripe quinces, wipe them well, and set them over a gentle fire until they "
    "are tender.",
    "The bodice is boned at the side seams only, so that it gives with every movement of the "
    "wearer.",
    "There is nothing so becoming to a fair complexion as a soft frill of cream crepe at the "
    "throat.",
    "Gloves of undressed kid are worn with the tailor gown, and of white silk in the evening.",
    "The wheel has come to stay, and with it the short coat, the felt hat and the low-heeled boot.",
    "For the nursery we advise a washing paper, and curtains that can be taken down in a minute.",
    "A lamp that smokes wants only a clean burner and a wick that has been dried before the fire.",
    "The collar stands high, and is finished with a narrow roll of velvet in a deeper tone.",
    "Those who live far from the shops may send us a scrap of the cloth, and we shall match it as "
    "nearly as we can.",
    "When the evenings draw in, a good story read aloud is worth more than many a costly "
    "entertainment.",
    "Cut the braid on the cross, and ease it round the corners with the point of the needle.",
    "It was past four when the carriage turned in at the lodge, and the elms were already black "
    "against the sky.",
    "She laid the letter on the table without a word, and went to the window.",
    "The figure on this page shows a gown of heavy serge, with revers of corded silk.",
    "Of buttons there is no end; they are carved, cut, painted and pierced, and some are as large "
    "as a crown piece.",
    "A good servant is not made in a week, nor a good mistress in a year.",
    "The ostrich plume has returned, and is set at the left side with a buckle of cut steel.",
    "Ivy leaves washed in cold tea will keep their gloss until Christmas.",
    "The hem is faced with brush braid, which saves the stuff and can be renewed in half an hour.",
    "Nobody could say when the old clock had stopped, for nobody had ever looked at it.",
    "Two rows of stitching, a quarter of an inch apart, are all the ornament that it requires.",
    "Boil the milk, let it cool, and stir in the yolks one after another.",
    "The hat is of fine black straw, raised on one side and caught with a cluster of roses.",
    "We do not recommend the cheaper sateens, which lose their colour in a single summer.",
    "In reply to many enquiries we repeat that the drawings are made from the garments themselves.",
)

ADVERTISEMENTS = (
    ("THE SWALLOW", "SAFETY BICYCLE", "Light, silent & strong. Built to order for ladies."),
    ("MARSH'S", "RIBBED CORSET", "Will not break at the waist. Of all drapers."),
    ("PEARL-WHITE", "STARCH", "One packet does the work of two."),
    ("WHITBY'S", "COUGH LOZENGES", "Clear the voice. Sold in tins."),
    ("ROWAN & SON", "SEEDS AND BULBS", "Our autumn list is sent post free to any address."),
    ("THE HOMELY", "KNITTING WOOL", "In ninety shades. Does not shrink."),
)


def iter_paragraphs(rng: np.random.Generator) -> Iterator[str]:
    """Give paragraphs of two to five sentences without end; a sentence seldom comes twice."""
    order: list[int] = []
    while True:
        wanted = int(rng.integers(2, 6))
        if len(order) < wanted:
            order = [int(number) for number in rng.permutation(len(SENTENCES))]
        yield " ".join(SENTENCES[order.pop()] for _ in range(wanted))
