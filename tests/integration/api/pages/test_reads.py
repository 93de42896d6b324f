"""What a page costs: the same reads however many answers there are."""

from tests.support import replies
from tests.support.api import Api
from tests.support.deployment import Deployment
from tests.support.pages import Visitor
from tests.support.providers import ProviderServer

PAGES = ("/", "/app/answers", "/app/quizzes", "/app/rates", "/app/trends", "/app/quotas", "/app/judges")
MOST_READS = 40


def _answers(api: Api, first: int, last: int) -> None:
    """Answers of many models, subjects and difficulties; every fiftieth was solved and evaluated."""
    for number in range(first, last):
        if number % 50 == 0:
            problem = {"problem": f"Name the capital of country {number}.", "use_retrieved": False}
            assert api.post("/v1/solutions", problem).status == 202
        else:
            verified = {
                "problem": "Compute 3/4 + 1/6.",
                "answer": f"{number % 13}/12",
                "model": f"model-{number % 7}",
                "subject": f"subject {number % 11}",
                "difficulty": ("easy", "medium", "hard")[number % 3],
            }
            assert api.post("/v1/verifications", verified).status == 201


def test_a_page_is_made_by_as_many_reads_of_5_answers_as_of_200(
    judged: Deployment, buyer: Api, judges: ProviderServer, reads: list[str]
) -> None:
    judges.reply(replies.evaluate(better_approach="Look at a map."), schema="EvaluateReply")
    visitor = Visitor()
    visitor.sign_in(judged.token("acme"))
    found: list[dict[str, list[str]]] = []
    for first, last in ((0, 5), (5, 200)):
        _answers(buyer, first, last)
        made = {}
        for page in PAGES:
            visitor.open(page)  # what a process keeps is kept from here on
            reads.clear()
            assert visitor.open(page).response.status == 200
            made[page] = list(reads)
        found.append(made)
    few, many = found
    assert many == few
    assert max(map(len, many.values())) <= MOST_READS
    assert not {"Scan", "PutItem", "UpdateItem", "TransactWriteItems"} & {
        name for made in many.values() for name in made
    }
    volume = visitor.open("/", format="json").response.json["statuses"]["rows"]
    assert sum(row["answers"] for row in volume) == 200
