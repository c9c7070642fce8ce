"""The policy: the table of ticked signs, alarms, abstentions, and that it only ever raises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vetscanner.schema import (
    Abstention,
    PhotoQuality,
    Prediction,
    SignClass,
    TickedSign,
    Triage,
    Urgency,
)
from vetscanner.triage import triage

UNCLEAR_BELOW = 0.5
ALARMS = {SignClass.FOOT_AND_MOUTH: 0.08, SignClass.LUMPY_SKIN: 0.12}
Outcome = Triage | Abstention
Shot = tuple[Prediction, PhotoQuality]


def prediction(**known: float) -> Prediction:
    """Probabilities by name; the rest is spread evenly over the classes not named."""
    others = [sign for sign in SignClass if sign not in known]
    rest = (1 - sum(known.values())) / len(others)
    return Prediction({sign: known.get(sign, rest) for sign in SignClass})


def judge(*shots: Shot | Prediction, signs: str | list[TickedSign] = "") -> Outcome:
    """Run the policy on photos (good ones unless said otherwise) and space-separated signs."""
    pairs = [shot if isinstance(shot, tuple) else (shot, PhotoQuality.GOOD) for shot in shots]
    ticked = [TickedSign(sign) for sign in signs.split()] if isinstance(signs, str) else signs
    return triage([p for p, _ in pairs], [q for _, q in pairs], ticked, UNCLEAR_BELOW, ALARMS)


HEALTHY = prediction(no_visible_sign=0.97)
UNCLEAR = prediction(no_visible_sign=0.4, skin_crust=0.35, eye=0.2)
LION = prediction(not_cattle=0.97)

LEAST_LEVELS = {
    "down": Urgency.EMERGENCY,
    "hard_breathing": Urgency.EMERGENCY,
    "left_flank_swollen": Urgency.EMERGENCY,
    "heavy_bleeding": Urgency.EMERGENCY,
    "sudden_death": Urgency.EMERGENCY,
    "not_eating": Urgency.SAME_DAY,
    "fever": Urgency.SAME_DAY,
    "drooling": Urgency.SAME_DAY,
    "abortion": Urgency.SAME_DAY,
    "mouth_sores": Urgency.SAME_DAY,
    "lame": Urgency.WITHIN_DAYS,
    "several_animals": Urgency.WITHIN_DAYS,  # one above monitor
}


def test_the_table_names_every_sign() -> None:
    assert set(LEAST_LEVELS) == set(TickedSign)


@pytest.mark.parametrize("sign", TickedSign)
@pytest.mark.parametrize(
    "shots",
    [
        pytest.param([HEALTHY], id="healthy-looking"),
        pytest.param([UNCLEAR], id="unclear"),
        pytest.param([LION], id="not-cattle"),
        pytest.param([(HEALTHY, PhotoQuality.DARK)], id="dark"),
        pytest.param([], id="no-photo"),
    ],
)
def test_a_ticked_sign_sets_its_least_level_whatever_the_photo(
    sign: TickedSign, shots: list[Shot]
) -> None:
    outcome = judge(*shots, signs=[sign])
    assert outcome.urgency == LEAST_LEVELS[sign]
    assert outcome.signs_used == (sign,)
    assert outcome.official_vet == (sign in (TickedSign.DROOLING, TickedSign.MOUTH_SORES))


@pytest.mark.parametrize(
    ("signs", "urgency", "official"),
    [
        ("lame drooling", Urgency.SAME_DAY, True),
        ("lame mouth_sores", Urgency.SAME_DAY, True),
        ("lame several_animals", Urgency.SAME_DAY, True),
        ("lame fever", Urgency.SAME_DAY, False),
        ("fever several_animals", Urgency.EMERGENCY, False),
        ("down several_animals", Urgency.EMERGENCY, False),
    ],
)
def test_signs_together(signs: str, urgency: Urgency, official: bool) -> None:
    outcome = judge(HEALTHY, signs=signs)
    assert (outcome.urgency, outcome.official_vet) == (urgency, official)


@pytest.mark.parametrize(
    ("top", "urgency", "official"),
    [
        ("lumpy_skin", Urgency.EMERGENCY, True),
        ("foot_and_mouth", Urgency.EMERGENCY, True),
        ("udder_teat", Urgency.SAME_DAY, False),
        ("eye", Urgency.SAME_DAY, False),
        ("skin_crust", Urgency.WITHIN_DAYS, False),
        ("no_visible_sign", Urgency.MONITOR, False),
    ],
)
def test_level_of_a_clear_photo(top: str, urgency: Urgency, official: bool) -> None:
    outcome = judge(prediction(**{top: 0.9}))
    assert isinstance(outcome, Triage)
    assert (outcome.urgency, outcome.official_vet) == (urgency, official)
    told = [finding.sign for finding in outcome.findings]
    assert told == ([] if top == "no_visible_sign" else [top])


@pytest.mark.parametrize("sign", ALARMS)
def test_alarm_shows_the_official_vet_at_low_probability(sign: SignClass) -> None:
    threshold = ALARMS[sign]
    above = judge(prediction(no_visible_sign=0.85, **{sign: threshold}))
    below = judge(prediction(no_visible_sign=0.85, **{sign: threshold - 0.001}))
    assert (above.urgency, above.official_vet) == (Urgency.SAME_DAY, True)
    assert [(f.sign, f.is_faint) for f in above.findings] == [(sign, True)]
    assert (below.urgency, below.official_vet, below.findings) == (Urgency.MONITOR, False, ())


def test_alarm_on_an_unclear_photo_abstains_but_sends_the_vet() -> None:
    outcome = judge(prediction(skin_crust=0.45, lumpy_skin=0.4))
    assert isinstance(outcome, Abstention)
    assert (outcome.reason, outcome.urgency) == ("unclear", Urgency.SAME_DAY)
    assert outcome.official_vet


def test_what_is_probably_no_cattle_sets_off_no_alarm() -> None:
    outcome = judge(prediction(not_cattle=0.8, foot_and_mouth=0.15))
    assert isinstance(outcome, Abstention)
    assert (outcome.reason, outcome.urgency, outcome.findings) == ("not_cattle", None, ())
    assert not outcome.official_vet


def test_what_may_be_cattle_still_sets_off_the_alarm() -> None:
    outcome = judge(prediction(not_cattle=0.49, foot_and_mouth=0.15))
    assert isinstance(outcome, Abstention)
    assert [finding.sign for finding in outcome.findings] == [SignClass.FOOT_AND_MOUTH]
    assert outcome.official_vet


def test_a_small_photo_is_judged_like_a_good_one() -> None:
    for shot in (HEALTHY, prediction(udder_teat=0.9), prediction(foot_and_mouth=0.9)):
        assert judge((shot, PhotoQuality.SMALL)) == judge(shot)


@pytest.mark.parametrize("quality", [PhotoQuality.BLURRED, PhotoQuality.DARK, PhotoQuality.TINY])
def test_poor_photo_is_taken_again_and_only_a_strong_alarm_is_told(quality: PhotoQuality) -> None:
    faint = judge((prediction(no_visible_sign=0.8, foot_and_mouth=0.15), quality))
    strong = judge((prediction(foot_and_mouth=0.9), quality))
    assert isinstance(faint, Abstention)
    assert isinstance(strong, Abstention)
    assert (faint.reason, faint.urgency, faint.official_vet) == (quality, None, False)
    assert (strong.reason, strong.official_vet) == (quality, True)


def test_a_usable_photo_counts_beside_useless_ones() -> None:
    outcome = judge(LION, (HEALTHY, PhotoQuality.BLURRED), UNCLEAR, prediction(eye=0.8))
    assert isinstance(outcome, Triage)
    assert outcome.urgency is Urgency.SAME_DAY
    assert [finding.sign for finding in outcome.findings] == [SignClass.EYE]


def test_the_most_urgent_photo_wins_and_each_sign_is_told_once() -> None:
    outcome = judge(
        prediction(skin_crust=0.7),
        prediction(lumpy_skin=0.6, skin_crust=0.38),
        prediction(lumpy_skin=0.9),
        HEALTHY,
    )
    told = [(finding.sign, finding.probability) for finding in outcome.findings]
    assert told == [(SignClass.LUMPY_SKIN, 0.9), (SignClass.SKIN_CRUST, 0.7)]
    assert outcome.urgency is Urgency.EMERGENCY


def test_reason_of_the_photo_nearest_to_being_useful() -> None:
    dark, lion = (HEALTHY, PhotoQuality.DARK), LION
    reasons = [judge(dark, lion, UNCLEAR), judge(dark, lion), judge(dark)]
    assert [outcome.reason for outcome in reasons if isinstance(outcome, Abstention)] == [
        "unclear",
        "not_cattle",
        "dark",
    ]


def test_photos_and_qualities_must_match() -> None:
    with pytest.raises(ValueError, match="shorter"):
        triage([HEALTHY], [], [], UNCLEAR_BELOW, ALARMS)


@st.composite
def shots(draw: st.DrawFn) -> Shot:
    weights = np.array(draw(st.lists(st.floats(0.001, 1), min_size=7, max_size=7)))
    # A high power makes one class dominate, a low one spreads them.
    weights = weights ** draw(st.sampled_from([1, 4, 16]))
    shares = weights / weights.sum()
    probabilities = dict(zip(SignClass, map(float, shares), strict=True))
    quality = draw(st.sampled_from([PhotoQuality.GOOD] * 3 + list(PhotoQuality)))
    return Prediction(probabilities), quality


many_shots = st.lists(shots(), max_size=4)
some_signs = st.sets(st.sampled_from(TickedSign)).map(list)


def level(outcome: Outcome) -> int:
    return 0 if outcome.urgency is None else int(outcome.urgency)


def is_no_weaker(stronger: Outcome, weaker: Outcome) -> bool:
    return level(stronger) >= level(weaker) and stronger.official_vet >= weaker.official_vet


@given(photos=many_shots, signs=some_signs, extra=st.sampled_from(TickedSign))
def test_one_more_sign_never_weakens(
    photos: list[Shot], signs: list[TickedSign], extra: TickedSign
) -> None:
    assert is_no_weaker(judge(*photos, signs=[*signs, extra]), judge(*photos, signs=signs))


@given(photos=many_shots, signs=some_signs, extra=shots())
def test_one_more_photo_never_weakens(
    photos: list[Shot], signs: list[TickedSign], extra: Shot
) -> None:
    with_extra, without = judge(*photos, extra, signs=signs), judge(*photos, signs=signs)
    # Without a photo there may be no level at all but a sign's; a useless photo adds none.
    assert is_no_weaker(with_extra, without) or (not photos and not signs)
    assert {f.sign for f in with_extra.findings} >= {f.sign for f in without.findings}


@given(photos=many_shots, signs=some_signs, sign=st.sampled_from(list(ALARMS)))
def test_a_clear_alarm_photo_always_ends_at_the_official_vet(
    photos: list[Shot], signs: list[TickedSign], sign: SignClass
) -> None:
    outcome = judge(*photos, prediction(**{sign: 0.9}), signs=signs)
    assert isinstance(outcome, Triage)
    assert (outcome.urgency, outcome.official_vet) == (Urgency.EMERGENCY, True)


@given(shot=shots(), share=st.floats(0, 1), sign=st.sampled_from(list(ALARMS)))
def test_more_probability_of_a_notifiable_sign_never_takes_the_path_away(
    shot: Shot, share: float, sign: SignClass
) -> None:
    before, quality = shot
    shifted = {s: p * (1 - share) for s, p in before.probabilities.items()}
    shifted[sign] += share
    if sign in {finding.sign for finding in judge(shot).findings}:
        after = judge((Prediction(shifted), quality))
        assert after.official_vet
        assert sign in {finding.sign for finding in after.findings}


@given(photos=many_shots, signs=some_signs)
def test_findings_are_never_health_and_the_order_of_photos_does_not_matter(
    photos: list[Shot], signs: list[TickedSign]
) -> None:
    outcome, reverse = judge(*photos, signs=signs), judge(*reversed(photos), signs=signs[::-1])
    told = {finding.sign for finding in outcome.findings}
    assert not told & {SignClass.NO_VISIBLE_SIGN, SignClass.NOT_CATTLE}
    assert (outcome.urgency, outcome.official_vet, set(outcome.findings)) == (
        reverse.urgency,
        reverse.official_vet,
        set(reverse.findings),
    )
    assert outcome.signs_used == reverse.signs_used


def test_photos_that_could_not_be_judged_are_named() -> None:
    outcome = judge(HEALTHY, UNCLEAR, (HEALTHY, PhotoQuality.BLURRED), UNCLEAR)
    assert isinstance(outcome, Triage)
    assert outcome.unjudged == ("unclear", "blurred")
    assert judge(HEALTHY) == judge(HEALTHY, HEALTHY)


def test_a_poor_photo_raises_the_alarm_where_the_sign_is_likeliest() -> None:
    likely = judge((prediction(foot_and_mouth=0.45), PhotoQuality.TINY))
    assert likely.official_vet
    faint = judge((prediction(foot_and_mouth=0.3, no_visible_sign=0.6), PhotoQuality.BLURRED))
    assert not faint.official_vet
