"""What a question asks for beside the value: an order of several values, or a form of one."""

from fractions import Fraction

import pytest

from touchstone.checks import Tolerance, equivalent
from touchstone.checks.equivalence.asked import may_have_any_order
from touchstone.limits import NotAtOnceError

ANY_ORDER = [
    "Solve x^2 - 5x + 6 = 0.",
    "x² = 5x − 6",
    "Find all divisors of 12.",
    "What are the roots of f(x) = x^2 - 1?",
    "Find two consecutive integers whose product is 56.",
    "Find all real numbers x such that |x - 2| = 3.",
    "In order to factor 30, name its prime factors.",
    "Find the values of x for which x² = 4.",
    "Two numbers add to 5. What are the possible numbers?",
    "解方程 x²-5x+6=0",
    "求12的所有因数",
    "Löse die Gleichung x² = 4.",
    "Résous l'équation x² = 4.",
    "Resuelve x² = 4.",
]
IN_ORDER = [
    "Arrange these numbers from smallest to largest: 3, 1, 2",
    "Put in ascending order: 3, 1, 2",
    "Find a and b if a + b = 3 and a - b = 1.",
    "Determine the values of a, b and c.",
    "Solve for x and y: x + y = 3, x - y = 1",
    "Find the mean, the median and the mode of 1, 2, 2, 3.",
    "Given f(x) = x², find f(1), f(2) and f(3).",
    "List the first three terms of the sequence.",
    "What are the length and the width of the rectangle?",
    "In which order are the steps done?",
    "Find both roots, the larger first.",
    "将下列数从小到大排列：3，1，2",
    "求a、b的值",
    "Sortiere die Zahlen 3, 1, 2.",
]


FALLS_SHORT = [
    # the question itself
    ("Compute 3/4 + 1/6.", "3/4 + 1/6", "11/12"),
    ("What is $17 \\times 25$?", "17*25", "425"),
    ("How much is \\frac{6}{8} - \\frac{1}{2}?", "6/8 - 1/2", "1/4"),
    ("What is \\sqrt{8}?", "√8", "2√2"),
    ("How many ways are there to sit, 5! or 4!?", "5!", "120"),
    ("Solve 2x + 3 = 7.", "2x + 3 = 7", "x = 2"),
    ("How many minutes are 2 hours?", "2 hours", "120 minutes"),
    ("Which fraction is 0.75?", "so it is 0.75", "3/4"),
    # the question itself in other signs or words, or with its numbers in another order
    ("What is 1/2 + 1/3?", "\\frac12 + \\frac13", "5/6"),
    ("What is 1/2 + 1/3?", "½ + ⅓", "5/6"),
    ("What is 1/2 + 1/3?", "3/6 + 2/6", "5/6"),
    ("What is 17 · 25?", "25 × 17", "425"),
    ("What is the product of 17 and 25?", "17*25", "425"),
    ("Was ist 17 mal 25?", "17·25", "425"),
    ("3乘以4等于多少？", "3×4", "12"),
    ("What is the square root of 144?", "√144", "12"),
    ("A shop has 17 boxes of 25 eggs. How many eggs?", "1·17·25 + 0", "425"),
    ("A box has 3 red and 5 blue balls. How likely is red?", "3/(3+5)", "3/8"),
    ("Find the ratio of 10 boys to 15 girls.", "10:15", "2:3"),
    ("Solve 2x > 6.", "2x > 6", "x > 3"),
    ("Find 5 choose 2.", "\\binom52", "10"),
    ("Find \\binom{5}{2}.", "5C2", "10"),
    ("Divide 12 by 4.", "12/4", "3"),
    ("What is 3/4 of 12?", "36/4", "9"),
    ("What is (x + 1)(x - 1)?", "(x - 1)(x + 1)", "x^2 - 1"),
    ("Add 2x + 1 and 3x.", "3x + 2x + 1", "5x + 1"),
    # another unit, or an equation that is not solved
    ("How many minutes are in two hours?", "2 hours", "120 minutes"),
    ("How many metres are in 3.5 kilometres?", "3.5 km", "3500 m"),
    ("What is 72 km/h in m/s?", "72 kilometers per hour", "20 m/s"),
    ("Express 72 km/h in m/s.", "72000 m/h", "20 m/s"),
    ("How many kelvin are 25 °C?", "25 °C", "298.15 K"),
    ("Solve 2x + 4 = 10 for x.", "2x = 6", "x = 3"),
    ("Make y the subject of 2x + y = 5.", "2x = 5 - y", "y = 5 - 2x"),
    # another form than the one that is asked for
    ("Write the ratio 10:15 in simplest form.", "10:15", "2:3"),
    ("Write 4500 in scientific notation.", "45 × 10^2", "4.5 × 10^3"),
    ("Multiply out (x + 1)^2.", "(x + 1)(x + 1)", "x^2 + 2x + 1"),
    ("Collect like terms: 2x + 3x", "3x + 2x", "5x"),
    ("Fasse zusammen: 2x + 3x", "3x + 2x", "5x"),
    ("Zerlege 60 in Primfaktoren.", "6·10", "2^2·3·5"),
    ("合并同类项 2x+3x", "3x+2x", "5x"),
    ("Simplify 12/16.", "6/8", "3/4"),
    ("Simplify the ratio 12:16.", "6:8", "3:4"),
    ("Factor 2x^2 - 10x + 12 completely.", "2(x^2 - 5x + 6)", "2(x - 2)(x - 3)"),
    ("Expand (x + 1)(x + 2).", "x(x + 2) + x + 2", "x^2 + 3x + 2"),
    ("Write it as a decimal.", "3/4", "0.75"),
    ("Write it as a mixed number.", "7/3", "2 1/3"),
    ("Write it in scientific notation.", "1200", "1.2 × 10^3"),
    ("Give the line in slope-intercept form.", "2x - y + 1 = 0", "y = 2x + 1"),
    ("Vereinfache 12/16.", "6/8", "3/4"),
    ("化简 12/16", "6/8", "3/4"),
    # another language, or digits for words
    ("What is 'Monday' in German?", "Monday", "Montag"),
    ("Translate into German: Monday", "Monday", "Montag"),
    ("Choose a or an: __ apple", "a apple", "an apple"),
    ("Put the definite article before it.", "a dog", "the dog"),
    ("How do you say yes in French?", "yes", "oui"),
    ("Translate '5 hours' into German.", "5 hours", "5 Stunden"),
    ("What does Montag mean?", "Montag", "Monday"),
    ("12 in Chinese is ____.", "12", "十二"),
    ("Write 12 in words.", "12", "twelve"),
    ("Spell the number 12.", "12", "twelve"),
    ("What time is it? Write 3:30 in words.", "3:30", "half past three"),
    ("Write 2:30 pm in 24-hour time.", "2:30 pm", "14:30"),
    ("Write 9 million in digits.", "9 million", "9,000,000"),
    ("Translate '12 Stunden' into English.", "12 Stunden", "12 hours"),
    ("Übersetze ins Englische: Montag. Auf Englisch heißt er …", "Montag", "Monday"),
    ("Traduis en anglais : vrai", "vrai", "true"),
    ("¿Cómo se dice 'sí' en inglés?", "sí", "yes"),
    ("用中文数字写出12", "12", "十二"),
    ("“星期一”是什么意思？", "星期一", "Monday"),
    ("星期一用英语怎么说？", "星期一", "Monday"),
    ("2的大写是什么？", "2", "二"),
    # an inequality for an interval
    ("Write the solution in interval notation.", "x > 2", "(2, ∞)"),
    ("Write the solution in interval notation.", "x \\geq 2", "[2, ∞)"),
    ("Write [2, ∞) as an inequality.", "[2, ∞)", "x ≥ 2"),
    # the unit that the question names
    ("What is the length of the pencil in centimetres?", "0.15 m", "15 cm"),
    ("Give your answer in litres.", "1500 mL", "1.5 L"),
    ("How heavy is the parcel (in grams)?", "1.2 kg", "1200 g"),
    ("Give the mass to the nearest kilogram.", "5000 g", "5 kg"),
    ("What is the speed in m/s?", "72 km/h", "20 m/s"),
    ("How much money is it in cents?", "$3.50", "350 cents"),
    ("What angle, in radians, is this?", "60°", "π/3"),
    ("Write 1 hour 30 minutes in minutes.", "1.5 hours", "90 minutes"),
    ("Write 90 minutes in hours and minutes.", "1.5 hours", "1 hour 30 minutes"),
    ("Write 1.75 m in metres and centimetres.", "175 cm", "1 m 75 cm"),
    ("绳子长多少？用米作单位。", "150厘米", "1.5米"),
    ("绳子长多少？（单位：厘米）", "1.5米", "150厘米"),
    ("150厘米=（ ）米", "150厘米", "1.5米"),
    ("一共要多少元？", "350分", "3.5元"),
    ("Wie lang ist das Seil in Metern?", "250 cm", "2,5 m"),
    # the digits that the question asks for, or the exact value
    ("Give your answer to 2 decimal places.", "5/2", "2.50"),
    ("Give your answer to 2 decimal places.", "2.5", "2.50"),
    ("Give your answer to the nearest cent.", "25/2", "$12.50"),
    ("结果保留两位小数。", "7/2", "3.50"),
    ("Runde auf zwei Nachkommastellen.", "5/2", "2,50"),
    ("Give the exact value of sin 60°.", "0.8660254037844386", "√3/2"),
    ("计算圆的面积，结果保留π。", "50.26548245743669", "16π"),
    # a percentage, a fraction, a decimal, an ordinary number
    ("What percentage of the students passed?", "4/5", "80%"),
    ("What fraction of the cake is left?", "0.25", "1/4"),
    ("Which decimal is equal to 3/5?", "60%", "0.6"),
    ("Match 0.2 to its fraction.", "20%", "1/5"),
    ("Write 4.5 × 10^-4 as an ordinary number.", "45 × 10^-5", "0.00045"),
    ("Write an equivalent fraction to 1/2 with a denominator of 8.", "2/4", "4/8"),
    ("Write as a single logarithm: log 2 + log 3", "log 3 + log 2", "log 6"),
    ("Express 60 as a product of its prime factors.", "4 × 15", "2^2 × 3 × 5"),
    ("Write 60 as a product of prime factors in index form.", "2 × 2 × 3 × 5", "2^2 × 3 × 5"),
    ("Cancel down 18/24.", "9/12", "3/4"),
    ('Write "three quarters" as a fraction.', "three quarters", "3/4"),
    ("Work out the percentage increase from 40 to 50.", "0.25", "25%"),
    ('Write the word "nineteen" as a number.', "nineteen", "19"),
    ("Wie viel Prozent sind das?", "1/5", "20 %"),
    ("Quelle fraction du gâteau reste-t-il ?", "0,25", "1/4"),
    ("¿Qué porcentaje de los alumnos aprobó?", "4/5", "80 %"),
    ("把下面的数改写成用“万”作单位的数：230000", "230000", "23万"),
    ("男生占全班的几分之几？", "0.6", "3/5"),
    ("15比20少百分之几？", "1/4", "25%"),
    ("结果用小数表示。", "1/2", "0.5"),
    ("Gib das Ergebnis in Prozent an.", "1/4", "25 %"),
    ("Écris 0,75 sous forme de fraction irréductible.", "75/100", "3/4"),
    ("Expresa 3/4 como porcentaje.", "0.75", "75%"),
    # other words, letters or signs
    ("What is the French for Tuesday?", "Tuesday", "mardi"),
    ("Write the abbreviation for Monday.", "Monday", "Mon"),
    ('What does "km" stand for?', "km", "kilometre"),
    ("Write 5 cm in full.", "5 cm", "5 centimetres"),
    ("Correct the capitalisation of “paris”.", "paris", "Paris"),
    ("Write “hello” in capital letters.", "Hello", "HELLO"),
    ("Punctuate this: I like cats dogs and birds", "I like cats dogs and birds", "I like cats, dogs and birds."),
    ("What is the hexadecimal number 0xFF in decimal?", "FF_16", "255"),
    ("Write the date in the format DD/MM/YYYY.", "December 25, 2023", "25/12/2023"),
    ("用24时计时法表示下午3时45分。", "下午3:45", "15:45"),
    # an equation that is asked for, or one that is to be solved
    ("Write an equation: 5 more than a number is 12.", "x = 7", "x + 5 = 12"),
    ("Write the number sentence.", "8", "5 + 3 = 8"),
    ("列方程，不必求解。", "x=4", "2x+3=11"),
    ("Solve the inequality 2x - 1 < 7.", "2x < 8", "x < 4"),
    # what is left to be worked out
    ("Solve 3x - 5 = 10.", "x = 15/3", "x = 5"),
    ("Find the area of the circle with radius 3 cm.", "π·3²", "9π cm²"),
    ("Use 3.14 for π. What is the area of the circle?", "3.14 × 2²", "12.56 cm²"),
    ("Solve 4x² = 36.", "x = ±√9", "x = 3 or x = -3"),
    ("How long is the hypotenuse?", "√(3² + 4²)", "5"),
    ("求不等式3x-6<0的解集。", "3x<6", "x<2"),
    ("写出算式：5个8相加", "40", "8×5=40"),
    ("What is the mean of 4, 6 and 8?", "18/3", "6"),
    ("How many days are in 3 weeks?", "3 × 7", "21"),
    ("What is the square of 12?", "12^2", "144"),
    ("What is the probability of two heads?", "1/2 × 1/2", "1/4"),
    ("Compute the product of 17 and 25.", "400 + 25", "425"),
    ("计算3/4与1/6的和", "9/12 + 2/12", "11/12"),
]
GOOD = [
    ("What is 'Monday' in German?", "Montag.", "Montag"),
    ("Write 21 in words.", "Twenty-one", "twenty one"),
    ("Tom has 2 apples and gets 3. Answer in English.", "5 apples", "5"),
    ("What is the perimeter? Write your answer in English.", "12 cm", "12"),
    ("What is the mean of 0.5 and 1?", "3/4", "0.75"),
    ("Using digits 1 to 5, how many numbers of three digits can be formed?", "60 numbers", "60"),
    ("Which day comes after Sunday?", "lundi", "Monday"),
    # Words of a language or digits that a question only speaks of.
    ("There are 30 pupils in English class and 20 in Spanish class. How many are there?", "50 pupils", "50"),
    ("The mean score in English is 85, and in maths 90. What is the mean of both?", "87.50", "87.5"),
    ("Ann works a 12-hour shift for $15 an hour. What does she earn?", "$180", "180 dollars"),
    ("How many codes of 3 symbols can be formed using letters A to E?", "60 codes", "60"),
    ("小明的英语是85分，数学是95分，平均分是多少？", "90分", "90"),
    ("用数字1、2、3可以组成多少个三位数？", "6个", "6"),
    ("Translate the parabola y = x^2 by 2 units to the right.", "y = x^2 - 4x + 4", "y = (x - 2)^2"),
    ("The point (1, 2) is translated along the vector (3, 4). Where is its image?", "x = 4, y = 6", "(4, 6)"),
    ("Write it in interval notation.", "(2, +∞)", "(2, ∞)"),
    ("用区间法解不等式 3x > 6", "(2, ∞)", "x > 2"),
    ("Solve 3x > 6.", "(2, ∞)", "x > 2"),
    ("Simplify 6/8.", "$\\frac{3}{4}$", "3/4"),
    ("Simplify (2x + 4)/2.", "2 + x", "x + 2"),
    ("Simplify 6x²/4.", "3x^2/2", "(3/2)x^2"),
    ("Simplify -(x - 1).", "1 - x", "-x + 1"),
    ("Factor x^2 - 5x + 6.", "(x - 3)(x - 2)", "(x - 2)(x - 3)"),
    ("Expand (x + 1)^2.", "1 + 2x + x²", "x^2 + 2x + 1"),
    ("Write 3/4 as a decimal.", ".75", "0.75"),
    ("Write 1200 in scientific notation.", "1.2 × 10^3", "1.2e3"),
    ("Write it in scientific notation.", "1.20 × 10^{-3}", "1.2 × 10^-3"),
    ("Convert 5 km to m.", "5,000 m", "5000 m"),
    ("Compute 0.5 + 0.25.", "3/4", "0.75"),
    ("Compute 300 · 4.", "1.2 × 10^3", "1200"),
    ("How many subsets has a set of 10 elements?", "2^10", "1024"),
    ("Tom has 12 apples, eats 3 and gets 3.", "12", "12 apples"),
    ("Solve 2x + 3 = 7.", "2", "x = 2"),
    ("Give the roots of x² = 4 in the form a, b.", "2, -2", "-2, 2"),
    ("Which gem is green, A or B?", "B", "B"),
    ("What is √50?", "5√2", "5\\sqrt{2}"),
    ("What is 2 · 600?", "1.2 × 10^3", "1200"),
    ("How many apples of 3 are left?", "3", "3 apples"),
    ("A film of 90 min: how long is it?", "1.5 h", "90 min"),
    ("How many hours is it?", "1.5 hours", "1 1/2 h"),
    ("How many square metres is it?", "12 m²", "12.0 square metres"),
    ("Solve 3x = 12.", "4", "x = 4"),
    ("Add 1/2 and 1/4.", "0.75", "3/4"),
    ("What is the area of a rectangle of sides x + 1 and x + 2?", "(x + 1)(x + 2)", "x^2 + 3x + 2"),
    ("Solve 2x > 6.", "3 < x", "x > 3"),
    ("Give the equation of the line.", "y - 2x = 1", "y = 2x + 1"),
    ("Multiply the matrices.", "2AB", "AB·2"),
    ("Express 60 as a product of its prime factors.", "2 × 2 × 3 × 5", "2^2 × 3 × 5"),
    ("把60分解质因数。", "60=2²×3×5", "60=2×2×3×5"),
    ("How long is the rope?", "200 cm", "2 m"),
    ("An express train travels 1 km in 40 s. How far does it go in one minute?", "1500 m", "1.5 km"),
    ("The table is round. What is its radius?", "150 cm", "1.5 m"),
    ("The price of $2 is reduced by a quarter. What is it now?", "$1 1/2", "$1.50"),
    ("How long is the trip from 9:15 to 11:00?", "1 h 45 min", "105 minutes"),
    ("What is the length in metres?", "1.5", "1.5 m"),
    ("最快的用了多少时间？", "1.5分钟", "90秒"),
    ("Give your answer to 2 decimal places.", "2.50", "2.5"),
    ("Round it to 3 decimal places.", ".125", "0.125"),
    ("What is the exact value?", "0.75", "3/4"),
    ("What fraction of the cake is left?", "one quarter", "1/4"),
    ("Express 18/24 in its simplest form.", "¾", "3/4"),
    ("一件商品打八折是原价的百分之几？", "百分之八十", "80%"),
    ("Write 412 in words.", "four hundred twelve", "four hundred and twelve"),
    ('What does "km" stand for?', "kilometer", "kilometre"),
    ("What is the capital of France?", "paris", "Paris"),
    ("Find the equation of the line.", "y - 2x = 1", "y = 2x + 1"),
    ("Solve x² = 9.", "x = ±3", "x = 3 or x = -3"),
    ("Solve the inequality 2x - 1 < 7.", "4 > x", "x < 4"),
    ("What is the slope?", "\\frac{-3}{4}", "-0.75"),
    ("How many passwords have 3 letters?", "26^3", "17576"),
    ("Which of these matrices can be inverted?", "A and B", "A, B"),
]


@pytest.mark.parametrize("question", ANY_ORDER)
def test_what_has_no_order_is_the_same_in_any(question: str) -> None:
    assert may_have_any_order(question)
    assert equivalent("3, 1, 2", "1, 2, 3", question=question) is True


@pytest.mark.parametrize("question", IN_ORDER)
def test_another_order_is_open_where_the_question_may_ask_for_one(question: str) -> None:
    assert not may_have_any_order(question)
    assert equivalent("3, 1, 2", "1, 2, 3", question=question) is None
    assert equivalent("1, 2, 3", "1, 2, 3", question=question) is True
    assert equivalent("1, 2, 4", "1, 2, 3", question=question) is False
    assert equivalent("{3, 1, 2}", "{1, 2, 3}", question=question) is True, "braces say that it is a set"


@pytest.mark.parametrize(("question", "given", "expected"), FALLS_SHORT)
def test_the_right_value_in_a_form_that_was_not_asked_for_is_open(question: str, given: str, expected: str) -> None:
    assert equivalent(given, expected) is True
    assert equivalent(given, expected, question=question) is None


@pytest.mark.parametrize(("question", "given", "expected"), GOOD)
def test_the_right_value_in_the_form_that_was_asked_for_is_right(question: str, given: str, expected: str) -> None:
    assert equivalent(given, expected, question=question) is True


@pytest.mark.parametrize(("given", "expected"), [("BA", "AB"), ("2BA", "2AB"), ("B·A", "A·B")])
def test_a_product_of_matrices_has_an_order(given: str, expected: str) -> None:
    assert equivalent(given, expected, question="A and B are the sides of a rectangle. What is its area?") is True
    assert equivalent(given, expected, question="A and B are matrices. What is B after A?") is None


def test_a_long_question_is_not_searched_at_once() -> None:
    with pytest.raises(NotAtOnceError):
        equivalent("6/8", "3/4", question="1+" * 10_000, at_once=True)


def test_a_tolerance_admits_other_forms_and_not_the_question_itself() -> None:
    one_percent = Tolerance(relative=Fraction(1, 100))
    question = "Write 17/25 as a decimal."
    assert equivalent("0.681", "0.68", tolerance=one_percent, question=question) is True
    assert equivalent("2.04/3", "0.68", tolerance=one_percent, question=question) is True
    assert equivalent("17/25", "0.68", tolerance=one_percent, question=question) is None
    assert equivalent("2 h", "121 min", tolerance=one_percent, question="How many minutes is it?") is True
    assert equivalent("62", "62.3", tolerance=one_percent, question="What do 62 of them weigh?") is True


def test_a_wrong_value_is_wrong_whatever_was_asked() -> None:
    assert equivalent("7/8", "3/4", question="Simplify 7/8.") is False


def test_huge_powers_and_long_questions_cost_nothing() -> None:
    assert equivalent("2 × 10^99999", "2 × 10^99999", question="Simplify it.") is not False
    assert equivalent("6/8", "3/4", question="x " * 20_000 + "6/8") is None
