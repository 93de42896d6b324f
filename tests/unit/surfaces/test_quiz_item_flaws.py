"""Flaws of quiz items that a program finds, each alone, and the score of those without any."""

from typing import Any, get_args
from unicodedata import category

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.timing import takes_at_most
from touchstone.material import Question, Quiz
from touchstone.material.items import QuestionKind
from touchstone.surfaces.flaws.keys import tail
from touchstone.surfaces.flaws.model import _sentences
from touchstone.surfaces.metrics.quiz_item_flaws import quiz_item_flaws
from touchstone.surfaces.model import ItemLabel, MetricResult


def question(
    text: str,
    *choices: str,
    key: str | tuple[str, ...] | None = None,
    kind: QuestionKind = "single_choice",
    which: str = "q1",
) -> Question:
    """A question; the first choice is the key where none is given."""
    answers = (key,) if isinstance(key, str) else choices[:1] if key is None else key
    return Question(id=which, kind=kind, question_text=text, choices=choices, answers=answers)


def measured(*questions: Question) -> MetricResult:
    return quiz_item_flaws(Quiz(questions=questions))


def labels(*args: Any, **kwargs: Any) -> list[str]:
    return [item.label for item in measured(question(*args, **kwargs)).items]


CAPITAL = "What is the capital of France?"
CITIES = ("Paris", "Lyon", "Nice", "Lille")
FLAWLESS = [
    question(CAPITAL, *CITIES),
    question("法国的首都是哪里？", "巴黎", "里昂", "尼斯"),
    question("Water boils at 100 °C at sea level.", key="true", kind="true_false"),
    question("Is Paris a city?", "Yes", "No", key="yes", kind="true_false"),
    question("巴黎是城市。", key="是", kind="true_false"),
    question("Paris ist eine Stadt.", key="wahr", kind="true_false"),
    question("La Lune est une étoile.", key="Faux", kind="true_false"),
    question("Which genotype is recessive?", "aa", "Aa", "AA"),
    question("Which unit is the smallest?", "mg", "Mg", "kg"),
    question("Which is the square of x?", "x²", "x2", "2x"),
    question("How many moons has Mars?", "1-2", "3-4", "5-9"),
    question("How many moons has Mars?", "2", "between 3 and 9", "10 or more"),
    question("When was the First World War?", "1914-1918", "1914-1945", "1939-1945"),
    question("Why do ships not sink?", "They displace water.", "They are light.", "They are fast."),
    question("Which planet is NOT a gas giant?", "Mars", "Saturn", "Jupiter"),
    question("Which planet is **not** a gas giant?", "Mars", "Saturn", "Jupiter"),
    question("Which planet is <b>not</b> a gas giant?", "Mars", "Saturn", "Jupiter"),
    question("下列哪一项**不是**行星？", "月球", "火星", "木星"),
    question("下列说法【错误】的是（ ）", "月球是行星", "火星有卫星", "木星很大"),
    question("What is the name of an animal that does not eat meat?", "herbivore", "carnivore", "omnivore"),
    question("Which is true of whales, and not only of whales?", "warm blood", "a blowhole", "blubber"),
    question("What do you call this animal: a ___", "cat", "dog", "pig"),
    question("Which tag makes text bold?", "<b>", "<i>", "<u>"),
    question("What is a false positive?", "a find of what is absent", "a miss of what is there", "a test not run"),
    question("Which value has the expression `not x` here?", "False", "True", "None"),
    question("Which is the same as not (a and b)?", "not a or not b", "a or b", "a and b"),
    question("Welches Tier, das kein Fleisch frisst, ist gemeint?", "Kuh", "Wolf", "Hai"),
    question("Warum sinken Schiffe nicht?", "Auftrieb", "Gewicht", "Farbe"),
    question("Welcher Stoff ist KEIN Metall?", "Schwefel", "Eisen", "Zink"),
    question("Comment appelle-t-on un animal qui ne mange pas de viande ?", "herbivore", "carnivore", "omnivore"),
    question("Quel mot nie la phrase « Je ne viens pas » ?", "pas", "ne", "je"),
    question("Vrai ou faux : quelle réponse convient ?", "vrai", "faux", "autre"),
    question("¿Qué planeta no solo es grande sino también caliente?", "Venus", "Marte", "Urano"),
    question("¿Por qué no se hunden los barcos?", "flotan", "pesan", "giran"),
    question("Which has no moon?", "Venus", "Mars", "Saturn"),
    question("Qui a franchi le pas ?", "Marie", "Jeanne", "Anne"),
    question("Quel département s'appelle Pas-de-Calais ?", "le 62", "le 59", "le 75"),
    question("Quel outil est une faux ?", "une lame", "un clou", "un sac"),
    question("Que faire pour ne pas tomber ?", "s'asseoir", "courir", "sauter"),
    question("¿Qué significa no?", "non", "oui", "si"),
    question("¿Qué hacer para no caer?", "sentarse", "correr", "saltar"),
    question("Was bedeutet das Wort nie?", "never", "ever", "now"),
    question("Was ist richtig: falsch oder wahr?", "beides", "eins", "zwei"),
    question("Was bedeutet “tomorrow”?", "morgen", "der Morgen", "gestern"),
    question("Which operator means not?", "!", "&", "|"),
    question("The largest bird is a/an", "ostrich", "condor", "duck"),
    question("The largest bird is an or a ___", "condor", "ostrich", "duck"),
    question("Which has an accent?", "Cafe\u0301", "Rome", "Oslo", key="Caf\u00e9"),
    question("Which points lie on the line?", "A and B", "B and C", "C and D"),
    question("In which countries is the euro used? ", "France", "Norway", "Peru", kind="multiple_choice"),
    question(
        "Where does a cat sleep?", "It never sleeps in the garden.", "Only in a bed.", "It always sleeps on the sofa."
    ),
    question("This machine is an", "MRI scanner", "X-ray tube", "CT scanner"),
    question("This animal is an", "蚂蚁", "牛", "马"),
    question("The winners of the prize are", "Bohr and Dirac", "Curie", "Planck"),
    question("Where is it?", "Everywhere", "Here", "There"),
    question("Which sentence is right?", "It's raining.", "Its raining.", "Its raining", "Its' raining."),
    question("Which name do constants have in Python?", "MAX_SIZE", "maxsize", "maxSize", "MaxSize"),
    question("Which command stages every file?", "git add .", "git add", "git push"),
    question("Which statement compiles in C?", "return x + f(1);", "return x + f(1)", "x return"),
    question("What does the shell print for echo '$HOME'?", "$HOME", "/home/ann", "$home"),
    question("Which offspring dies?", "one with the gene G", "one with the gene g", "none at all"),
    question("哪种果蝇会死？", "G基因纯合的果蝇", "g基因纯合的果蝇", "红眼的雄果蝇"),
    question("Which number is less than 1?", ".5", "5", "7"),
    question("Welches Wort bedeutet Umfang?", "die Maße", "die Masse", "die Messe"),
    question("Welches Wort ist ein Adjektiv?", "schön", "Schön", "Schönheit"),
    question("Which article has this noun?", "the Hague", "Hague", "a Rome"),
    question("Ergänze: Das ist ____.", "der See", "See", "die Gabel"),
    question("Welches Wort meint ein Meer?", "die See", "der See", "das Tal"),
    question("What is a normal blood pressure?", "120/80", "150/100", "90/60"),
    question("What metre has a waltz?", "3/4", "6/8", "2/4"),
    question("Which version is the latest?", "1.10", "1.1", "1.9"),
    question("Write 1/2 as a percentage.", "50 %", "0.5", "5 %"),
    question("Which is a mixed number?", "1 1/2", "3/2", "1.5"),
    question("Which is it in SI base units?", "1 m", "100 cm", "3 km"),
    question("What is 5 m times 2 m?", "10 m²", "10", "7 m"),
    question("What is 10 m divided by 2?", "5 m", "5", "20 m"),
    question("What does print(3 / 2) show?", "1.5", "3/2", "1"),
    question("Which are equally long?", "1 m", "100 cm", "1000 mm", "2 km"),
    question("Which land was lost?", "All of Saxony and Hesse", "All of Baden", "Both of them in the north"),
    question("Which vitamins are soluble in fat?", "A and D", "B and C", "B and D", "A and C"),
    question("What is the domain of the root of x?", "all x ≥ 0", "all real numbers", "no number at all"),
    question("Which describes 2 up to but not including 5?", "2 ≤ x < 5", "2 < x < 5", "2 ≤ x ≤ 5"),
    question(
        "Which is heavier: a kilogram of iron or a pound of lead?", "the kilogram of iron", "the pound of lead", "x"
    ),
    question("这个镇有多少人口？", "1000至1999人", "1000人以下", "2000人以上"),
    question("Wie viele wohnen dort?", "500 bis 999", "unter 500", "1.000 bis 4.999", "ab 5.000"),
    question("Wie viel wiegt er?", "0,25 bis 0,3 kg", "0,1 bis 0,2 kg", "1 bis 2 kg"),
    question("Combien d'habitants a-t-elle ?", "de 500 à 999", "moins de 500", "de 1 000 à 4 999"),
    question("The capital of France is ____.", key="Paris", kind="fill_in_the_blank"),
    question("In 1563 it was founded in ____.", key="1563", kind="fill_in_the_blank"),
    question("The pears tree bears the ____.", key="pear", kind="fill_in_the_blank"),
    question("Choose (apples/pears): an ____ a day is one of the apples.", key="pears", kind="fill_in_the_blank"),
]


@pytest.mark.parametrize("flawless", FLAWLESS, ids=lambda one: one.question_text[:40])
def test_a_question_without_a_flaw_has_none(flawless: Question) -> None:
    found = measured(flawless)
    assert [(item.label, item.value) for item in found.items] == [("FLAWLESS", 1.0)]
    assert (found.score, found.spends, found.cost_usd) == (100.0, (), 0.0)


FLAWED = [
    ("NO_KEY", question(CAPITAL, *CITIES, key=())),
    ("NO_KEY", question(CAPITAL, *CITIES, key=" ")),
    ("NO_KEY", question("The capital is ____.", key=(), kind="fill_in_the_blank")),
    ("KEY_OUTSIDE_CHOICES", question(CAPITAL, *CITIES, key="Rome")),
    ("KEY_OUTSIDE_CHOICES", question("Paris is a city.", key="maybe", kind="true_false")),
    ("KEY_OUTSIDE_CHOICES", question("Paris is a city.", key="Yes.", kind="true_false")),
    ("SEVERAL_KEYS", question(CAPITAL, *CITIES, key=("Paris", "Lyon"))),
    ("SEVERAL_KEYS", question("Paris is a city.", key=("true", "false"), kind="true_false")),
    ("TOO_FEW_OPTIONS", question(CAPITAL, "Paris", "Lyon")),
    ("BLANK_OPTION", question(CAPITAL, "Paris", "Lyon", "Nice", "\u200b ")),
    ("DUPLICATE_OPTIONS", question(CAPITAL, "Paris", "Lyon", "Nice", "lyon ")),
    ("DUPLICATE_OPTIONS", question(CAPITAL, "Paris", "Lyon", "Nice", "<b>Lyon</b>")),
    ("DUPLICATE_OPTIONS", question(CAPITAL, "Paris", "Lyon", "N\u00eemes", "Ni\u0302mes")),
    ("DUPLICATE_OPTIONS", question(CAPITAL, "A. Paris", "B. Lyon", "C. Nice", "D. Lyon.")),
    ("DUPLICATE_OPTIONS", question(CAPITAL, "(A)Paris", "（B）Lyon", "(C)Ｎice", "(D)Nice")),
    ("DUPLICATE_OPTIONS", question(CAPITAL, "Paris", "Lyon", "BERN.", "Bern")),
    ("DUPLICATE_OPTIONS", question("What is one half?", "1/2", "0.5", "2")),
    ("DUPLICATE_OPTIONS", question("What is the chance of heads?", "0.4", "50 %", "1/2")),
    ("DUPLICATE_OPTIONS", question("What is the slope of the line?", "3/2", "6/4", "2/3")),
    ("DUPLICATE_OPTIONS", question("What is 10 ÷ 4?", "2.5", "2.50", "4")),
    ("DUPLICATE_OPTIONS", question("Wie weit ist es?", "1 km", "1000 m", "2 km")),
    ("DUPLICATE_OPTIONS", question("How large is the field?", "1,000 m²", "1000 m²", "10 m²")),
    ("DUPLICATE_OPTIONS", question("1 的一半是多少？", "0.5", "二分之一", "2")),
    ("DUPLICATE_OPTIONS", question("How fast is light?", "300,000 km/s", "3×10⁵ km/s", "300 km/s")),
    ("DUPLICATE_OPTIONS", question("Which animal lays eggs?", "the hen", "hen", "the cow")),
    ("DUPLICATE_OPTIONS", question("Welches Tier gibt Milch?", "die Kuh", "Kuh", "das Huhn")),
    ("OVERLAPPING_OPTIONS", question("Wie warm ist das Wasser?", "20 bis 40 °C", "30 bis 50 °C", "unter 20 °C")),
    ("OVERLAPPING_OPTIONS", question("Quel âge a-t-il ?", "de 10 à 12 ans", "au plus 10 ans", "plus de 12 ans")),
    ("OVERLAPPING_OPTIONS", question("¿Cuántos hay?", "de 1.000 a 2.000", "más de 1.500", "menos de 100")),
    ("OVERLAPPING_OPTIONS", question("水温是多少？", "20至40 ℃", "30至50 ℃", "60至80 ℃")),
    ("OVERLAPPING_OPTIONS", question("How many moons has Saturn?", "more than 100", "50-100", "20-60")),
    ("OVERLAPPING_OPTIONS", question("How old is the Earth?", "at least 4", "at most 3", "3-4")),
    ("OVERLAPPING_OPTIONS", question("What percentage is water?", "60-70 %", "70-80 %", "80-90 %")),
    ("OVERLAPPING_OPTIONS", question("How many people live there?", "over 1,000", "over 10,000", "none at home")),
    ("OVERLAPPING_OPTIONS", question("全国有多少个省？", "30以上", "20至25", "25以下")),
    ("OVERLAPPING_OPTIONS", question("How many has it?", "5 or more", "4+", "less than 3")),
    ("ALL_OF_THE_ABOVE", question("What do ostriches eat?", "Grass", "Seeds", "All of the above")),
    ("ALL_OF_THE_ABOVE", question("What do ostriches eat?", "Grass", "Seeds", "Both of these")),
    ("ALL_OF_THE_ABOVE", question("What do they eat?", "Grass", "Seeds", "All of (a) to (b) are eaten.")),
    ("ALL_OF_THE_ABOVE", question("鸵鸟吃什么？", "草", "种子", "以上都是")),
    ("ALL_OF_THE_ABOVE", question("鴕鳥吃什麼？", "草", "種子", "以上皆是")),
    ("ALL_OF_THE_ABOVE", question("Was fressen Strauße?", "Gras", "Samen", "Alle oben genannten")),
    ("ALL_OF_THE_ABOVE", question("Que mangent-elles ?", "de l'herbe", "des graines", "Toutes ces réponses")),
    ("ALL_OF_THE_ABOVE", question("¿Qué comen?", "hierba", "semillas", "Todas las anteriores")),
    ("NONE_OF_THE_ABOVE", question("Was fressen Strauße?", "Gras", "Samen", "Keine der genannten Antworten")),
    ("NONE_OF_THE_ABOVE", question("Que mangent-elles ?", "de l'herbe", "des graines", "Aucune de ces réponses")),
    ("NONE_OF_THE_ABOVE", question("¿Qué comen?", "hierba", "semillas", "Ninguna de las anteriores.")),
    ("NONE_OF_THE_ABOVE", question("What do ostriches eat?", "Grass", "Meat", "None of these.")),
    ("NONE_OF_THE_ABOVE", question("What do ostriches eat?", "Grass", "Meat", "None are correct.")),
    ("NONE_OF_THE_ABOVE", question("鸵鸟吃什么？", "草", "肉", "以上都不是")),
    ("NONE_OF_THE_ABOVE", question("鴕鳥吃什麼？", "草", "肉", "以上皆非")),
    ("COMBINED_OPTIONS", question("What do ostriches eat?", "Grass", "Meat", "Both A and B", "Sand")),
    ("COMBINED_OPTIONS", question("What do ostriches eat?", "Grass", "Meat", "Sand", "A and C")),
    ("COMBINED_OPTIONS", question("下列哪些是金属？", "铁", "铜", "硫", "A和B")),
    ("COMBINED_OPTIONS", question("Was fressen Strauße?", "Gras", "Fleisch", "Sand", "A und C")),
    ("COMBINED_OPTIONS", question("Was stimmt?", "Gras", "Fleisch", "Nur A und B sind richtig")),
    ("COMBINED_OPTIONS", question("Que mangent-elles ?", "de l'herbe", "des graines", "Les réponses A et B")),
    ("COMBINED_OPTIONS", question("¿Qué comen?", "hierba", "semillas", "A y B son correctas")),
    ("COMBINED_OPTIONS", question("哪些正确？①草 ②肉 ③沙", "①②", "①③", "②③")),
    ("COMBINED_OPTIONS", question("Which holds? I. Grass II. Meat", "I only", "II only", "I and II")),
    (
        "LONGEST_KEY",
        question(
            "Why is the sky blue?",
            "Air molecules scatter light of short wavelengths far more than of long ones",
            "The sea is mirrored",
            "Air is blue",
        ),
    ),
    ("ABSOLUTE_WORDS", question("What do cats do?", "They mostly sleep.", "They never sleep at night.", "They read.")),
    ("ABSOLUTE_WORDS", question("How do bats live?", "They sleep by day.", "All of them drink blood.", "On grass.")),
    ("ABSOLUTE_WORDS", question("猫有什么习性？", "大多在白天睡觉", "所有的猫都在夜里睡觉", "喜欢在水里玩")),
    ("ABSOLUTE_WORDS", question("Cats always sleep at night.", key="false", kind="true_false")),
    ("NEGATIVE_STEM", question("Which planet is not a gas giant?", "Mars", "Saturn", "Jupiter")),
    ("NEGATIVE_STEM", question("All of the following are gas giants except:", "Mars", "Saturn", "Jupiter")),
    ("NEGATIVE_STEM", question("Mars is red. Which planet isn’t a gas giant?", "Mars", "Saturn", "Jupiter")),
    ("NEGATIVE_STEM", question("WHICH PLANET IS NOT A GAS GIANT?", "Mars", "Saturn", "Jupiter")),
    ("NEGATIVE_STEM", question("Which of these statements is false?", "Mars is big.", "Saturn is big.", "It is hot.")),
    ("NEGATIVE_STEM", question("Welcher Stoff ist kein Metall?", "Schwefel", "Eisen", "Zink")),
    ("NEGATIVE_STEM", question("Was gehört nicht zu den Säugetieren?", "Hai", "Wal", "Hund")),
    ("NEGATIVE_STEM", question("Alle folgenden Tiere sind Vögel außer:", "Wal", "Ente", "Gans")),
    ("NEGATIVE_STEM", question("Lequel de ces animaux n'est pas un mammifère ?", "requin", "baleine", "chien")),
    ("NEGATIVE_STEM", question("Quelle affirmation est fausse ?", "L'or rouille.", "Le fer rouille.", "L'eau bout.")),
    ("NEGATIVE_STEM", question("¿Cuál de estos animales no es un mamífero?", "tiburón", "ballena", "perro")),
    ("NEGATIVE_STEM", question("Todos estos animales son aves excepto:", "gato", "pato", "ganso")),
    ("NEGATIVE_STEM", question("下列说法不正确的是（  ）", "月球是行星", "火星有卫星", "木星很大")),
    ("NEGATIVE_STEM", question("下列敘述，錯誤的是", "月球是行星", "火星有衛星", "木星很大")),
    ("NEGATIVE_STEM", question("哪一個城市沒有地鐵？", "花蓮", "台北", "高雄")),
    ("GRAMMATICAL_CUE", question("A whale is an", "animal", "plant", "mushroom")),
    ("GRAMMATICAL_CUE", question("A hammer is a ____.", "tool", "instrument of music", "animal")),
    ("GRAMMATICAL_CUE", question("It takes an ___ to bake it.", "hour", "unit", "week")),
    ("GRAMMATICAL_CUE", question("The parts of a cell that make energy are", "mitochondrias", "nucleus", "membrane")),
    ("WORD_REPEAT", question("What holds collective security up?", "The Security Council", "The courts", "The banks")),
    ("WORD_REPEAT", question("What did the Monroe Doctrine ask for?", "Monroe's own view", "free trade", "peace")),
    ("WORD_REPEAT", question("哪个器官与光合作用有关？", "进行光合作用的叶", "吸收水分的根", "开放着的花朵")),
    ("ANSWER_IN_STEM", question("Paris is on the Seine; the capital is ____.", key="Paris", kind="fill_in_the_blank")),
    ("ANSWER_IN_STEM", question("巴黎在塞纳河边；首都是____。", key="巴黎", kind="fill_in_the_blank")),
]  # fmt: skip


@pytest.mark.parametrize(("label", "flawed"), FLAWED, ids=lambda one: one if isinstance(one, str) else "")
def test_a_flaw_is_found_alone_with_its_reason_and_what_to_write_instead(label: str, flawed: Question) -> None:
    found = measured(flawed)
    assert [item.label for item in found.items] == [label]
    (item,) = found.items
    assert found.score == 0.0
    assert item.reason
    assert item.suggestion
    assert "{" not in item.reason + item.suggestion


def test_every_flaw_is_tried_here_but_those_of_a_whole_quiz() -> None:
    assert set(_sentences()) == {label for label, _ in FLAWED} | {"KEY_POSITION", "REPEATED_QUESTION"}


def test_a_reason_names_the_words_as_they_are_written() -> None:
    (repeated,) = measured(question("What causes tuberculosis?", "M. tuberculosis", "M. leprae", "B. cereus")).items
    assert repeated.reason.startswith("“tuberculosis” of the question")
    (same,) = measured(question("How far is it?", "1 km", "2 km", "1000 m")).items
    assert same.reason == "Choices 1 and 3 are the same: “1 km = 1000 m”."


def test_reasons_are_in_the_language_of_the_question() -> None:
    (english,) = measured(question(CAPITAL, *CITIES, key=())).items
    (chinese,) = measured(question("法国的首都是哪里？", "巴黎", "里昂", "尼斯", key=())).items
    assert (english.reason, chinese.reason) == ("No right answer is marked.", "没有标出正确答案。")


def test_several_flaws_of_a_question_share_its_weight() -> None:
    found = measured(
        question(CAPITAL, *CITIES),
        question("Which is not red?", "Grass", "Blood", "All of the above", which="q2"),
        question("What is the capital of Italy?", "Rome", "Milan", "Turin", which="q3"),
    )
    flaws = [item for item in found.items if item.item == "q2"]
    assert {item.label for item in flaws} == {"NEGATIVE_STEM", "ALL_OF_THE_ABOVE"}
    assert sum(item.weight for item in flaws) == 1.0
    assert found.score == pytest.approx(200 / 3, abs=1e-6)


def test_a_flaw_of_one_choice_hides_none_of_another() -> None:
    assert labels("Which holds? I. Grass II. Meat", "I only", "II only", "I and II", "None of the above") == [
        "COMBINED_OPTIONS",
        "NONE_OF_THE_ABOVE",
    ]


def placed(places: list[int], choices: int = 4) -> list[Question]:
    """Questions whose keys stand in these places, from 0."""
    texts = [f"place {number}" for number in range(choices)]
    return [question(CAPITAL, *texts, key=texts[place], which=f"q{n}") for n, place in enumerate(places)]


def biased(found: MetricResult) -> list[ItemLabel]:
    return [item for item in found.items if item.label == "KEY_POSITION"]


def test_keys_that_stand_in_one_place_are_found_and_named() -> None:
    # 12 of 16 in the second of 4 places: 4 expected, and by chance as many in 1 of 26,000 quizzes.
    found = biased(measured(*placed([1] * 12 + [0, 2, 3, 0])))
    assert [item.item for item in found] == [f"q{number}" for number in range(12)]
    assert found[0].reason == (
        "In 12 of the 16 questions of its kind the key is choice 2, far more than by chance (4 expected), so that "
        "guessing it pays."
    )


@pytest.mark.parametrize(
    "places",
    [[1] * 9, [0, 1, 2, 3] * 10, [1] * 6 + [0, 2, 3] * 3, ([1] * 7 + [0, 2, 3, 0, 2, 3, 0, 2, 3, 0, 2, 3, 0]) * 25],
    ids=["too few questions", "even", "within chance", "beyond chance and of no use"],
)
def test_keys_that_stand_everywhere_or_are_few_are_not(places: list[int]) -> None:
    assert biased(measured(*placed(places))) == []


def test_statements_that_are_nearly_all_true_are_found() -> None:
    statements = [
        question(f"Number {n} is a number.", key="false" if n == 0 else "True", kind="true_false", which=f"q{n}")
        for n in range(12)
    ]
    found = biased(measured(*statements))
    assert len(found) == 11
    assert "the key is “true”" in found[0].reason


def test_places_that_few_questions_have_are_compared_with_those() -> None:
    few = placed([0, 1, 2] * 6, choices=3)
    many = [one.model_copy(update={"id": f"m{n}"}) for n, one in enumerate(placed([4] * 2, choices=5))]
    assert biased(measured(*few, *many)) == []


ORGAN = "Which organ of the human body pumps the blood?"
ORGANS = ("the heart", "the lung", "the liver")
REPEATED = [
    (question(CAPITAL, *CITIES), question(CAPITAL.upper(), *CITIES, which="q2")),
    (question(CAPITAL, *CITIES), question(CAPITAL, "Brest", "Paris", "Metz", key="Paris", which="q2")),
    (question(ORGAN, *ORGANS), question(ORGAN.replace("the blood", "blood"), *ORGANS[::-1], key=ORGANS[0], which="q2")),
    (question(ORGAN, *ORGANS), question(ORGAN.replace("organ", "orgen"), *ORGANS, which="q2")),
    (
        question("The Earth orbits the Sun.", key="true", kind="true_false"),
        question("The Earth orbits the Sun", key="True", kind="true_false", which="q2"),
    ),
    (
        question("The capital of France is ____.", key="Paris", kind="fill_in_the_blank"),
        question("The capital of France is ___", key="Paris", kind="fill_in_the_blank", which="q2"),
    ),
]
APART = [
    (question("Which word is a noun?", "house", "run", "red"), question("Which word is a noun?", "tree", "go", "big")),
    (question("Is a whale a mammal?", "yes", "no", "so"), question("Is a whale not a mammal?", "yes", "no", "so")),
    (
        question("Which of these is a mammal?", "whale", "shark", "tuna"),
        question("Which of these is a sea mammal?", "whale", "horse", "tuna"),
    ),
    (
        question("Squares are rectangles.", key="true", kind="true_false"),
        question("All squares are rectangles.", key="true", kind="true_false"),
    ),
    (question(CAPITAL, *CITIES, key=()), question(CAPITAL, *CITIES, key=())),
    (
        question("What does it mean?", "to study", "bank", "to go").model_copy(update={"target": "學習"}),
        question("What does it mean?", "to study", "bank", "to go").model_copy(update={"target": "念書"}),
    ),
]


@pytest.mark.parametrize("both", REPEATED)
def test_a_question_that_an_earlier_one_has_asked_is_named_with_it(both: tuple[Question, Question]) -> None:
    found = [(item.item, item.label) for item in measured(*both).items if item.label != "FLAWLESS"]
    assert found == [("q2", "REPEATED_QUESTION")]
    assert measured(*both).items[-1].reason == "It asks the same as question q1, and has the same answer."


@pytest.mark.parametrize("both", APART)
def test_questions_that_only_look_alike_are_not_repeated(both: tuple[Question, Question]) -> None:
    found = measured(both[0], both[1].model_copy(update={"id": "q2"}))
    assert "REPEATED_QUESTION" not in {item.label for item in found.items}


def test_five_hundred_questions_of_one_wording_are_measured_in_time() -> None:
    many = [question("Which sentence is right?", f"It is {n}.", "It are.", "It be.", which=f"q{n}") for n in range(500)]
    takes_at_most(2.0, lambda: measured(*many))


@given(st.lists(st.floats(0.0, 1.0), max_size=12), st.integers(0, 12))
def test_the_tail_is_a_probability_that_falls_with_the_number(chances: list[float], least: int) -> None:
    assert tail(chances, 0) == pytest.approx(1.0)
    assert -1e-9 <= tail(chances, least + 1) <= tail(chances, least) + 1e-9 <= 1 + 2e-9


def test_the_tail_of_equal_chances_is_binomial() -> None:
    assert tail([0.5] * 4, 3) == pytest.approx(5 / 16)
    assert tail([0.5, 0.25], 2) == pytest.approx(1 / 8)


@given(
    st.lists(st.text(max_size=12), max_size=6),
    st.lists(st.text(max_size=12), max_size=3),
    st.sampled_from(["single_choice", "multiple_choice", "true_false", "fill_in_the_blank"]),
    st.text("_ (?.不是nota:an\n“”*", min_size=1, max_size=20) | st.text(min_size=1, max_size=40),
)
def test_whatever_a_question_holds_it_is_measured(
    choices: list[str], answers: list[str], kind: QuestionKind, text: str
) -> None:
    assume(any(category(character)[0] not in "CZ" for character in text))
    found = quiz_item_flaws(
        Quiz(
            questions=(Question(id="q", kind=kind, question_text=text, choices=tuple(choices), answers=tuple(answers)),)
        )
    )
    assert found.score in (0.0, 100.0)
    assert sum(item.weight for item in found.items) == pytest.approx(1.0)


def test_500_questions_in_html_are_read_as_a_learner_sees_them() -> None:
    texts = [f"<p>Choice <b>{number}</b> &amp; its <i>reason</i></p>" for number in range(5)]
    many = [
        question(f"<p>Which is <b>number {n}</b>?</p>", *texts, key=texts[n % 5], which=f"q{n}") for n in range(500)
    ]
    found = measured(*many)
    assert found.score == 100.0


@pytest.mark.parametrize(
    "text",
    ["that not " * 2_200, "not only that " * 1_400, "，不是" * 6_000, "<b" * 9_000, "a " * 9_000 + "an", "(" * 20_000],
)
def test_a7_a_text_made_to_take_long_does_not(text: str) -> None:
    hostile = [text[:20_000], "1," * 10_000, "的" * 19_999 + "x", "between 1" * 2_000]
    questions = [
        question(f"Which {text[:19_000]}?", *hostile, kind=kind, which=kind)
        for kind in get_args(QuestionKind.__value__)
    ]
    takes_at_most(2.0, lambda: measured(*questions))
