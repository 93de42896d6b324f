"""Judge cards on their pages: a label given on an answer's page moves the card, exactly once, and only its own."""

from tests.support.api import Api
from tests.support.deployment import Deployment
from tests.support.pages import Visitor, labelling, verified


def card_of(visitor: Visitor, model: str) -> dict[str, object]:
    rows = visitor.open("/app/judges", format="json").response.json["cards"]["rows"]
    return next(row for row in rows if row["model"] == model and row["kind"] == "quick_verify")


def test_a_label_given_on_an_answer_moves_the_card_and_is_shown(visitor: Visitor, acme: Api) -> None:
    assert "Nobody has labelled anything yet." in visitor.open("/app/judges").text
    answer_id = verified(acme, "Compute 2 + 2.", "5")
    page = visitor.open(f"/app/answers/{answer_id}")
    page = visitor.send(labelling(page), label="wrong")
    assert (page.response.status, visitor.at) == (200, f"/app/answers/{answer_id}")
    assert ("button", {"name": "label", "value": "wrong", "aria-pressed": "true"}) in page.elements
    card = "/app/judges/" + next(link for link in page.links if "/judges/" in link).rpartition("/")[2]
    assert "Labels 1" in visitor.open(card).text, "it is linked where the label was given"
    for at in (card, "/app/judges"):
        assert "The checks" in visitor.open(at).text, "by a name, and not as our code for them"
    assert card_of(visitor, "checks")["labels"] == 1
    visitor.send(labelling(visitor.open(f"/app/answers/{answer_id}")), label="right")
    assert card_of(visitor, "checks")["labels"] == 1, "a second label replaces the first"
    page = visitor.open("/app/judges")
    assert f"answers/{answer_id}#attempt-1" in page.links
    visitor.send(labelling(visitor.open(f"/app/answers/{answer_id}")), label="")
    assert "Nobody has labelled anything yet." in visitor.open("/app/judges").text


def test_below_thirty_labels_there_is_no_number_and_from_then_on_there_is(visitor: Visitor, acme: Api) -> None:
    address = ""
    for number in range(30):
        answer_id = verified(acme, f"Compute {number} + 1.", str(number + 1))
        if number == 29:
            address = "/app/" + next(link for link in visitor.open("/app/judges").links if link.startswith("judges/"))
            assert "Not enough labels: 29 of 30" in visitor.open(address).text
        said = "wrong" if number % 10 == 0 else "right"
        acme.call("PUT", f"/v1/labels/quick_verify/{answer_id}/1", f'{{"label": "{said}"}}')
    page = visitor.open(address)
    assert "Not enough labels" not in page.text
    assert "Right 90.0 % [74.4, 96.5] 30 100.0 %" in page.text
    # Of 93 labels like these, 83 would agree, which shows nothing: 93 are the fewest that are looked at.
    assert "Too few labels yet: people agree with 27 of 30, and fewer than 93 show nothing." in page.text
    assert any("data-chart" in attributes for _, attributes in page.elements), "the diagram is drawn"


def test_a_label_needs_a_session_a_mark_and_a_known_word(visitor: Visitor, acme: Api, deployment: Deployment) -> None:
    answer_id = verified(acme, "Compute 2 + 2.", "5")
    form = labelling(visitor.open(f"/app/answers/{answer_id}"))
    assert visitor.send(form, label="splendid").response.status == 400
    visitor.at = f"/app/answers/{answer_id}"
    assert visitor.send(form, label="right", form_mark="").response.status == 403
    program = Visitor(headers={"authorization": f"Bearer {deployment.token('acme')}"}, at=f"/app/answers/{answer_id}")
    assert program.send(form, label="right").response.status == 403
    reader = Visitor()
    reader.sign_in(deployment.token("acme", role="reader"))
    page = reader.open(f"/app/answers/{answer_id}")
    assert not any(form.action.endswith("/label") for form in page.forms), "a reader is not asked"
    form.fields["form_mark"] = next(form.fields["form_mark"] for form in page.forms if "form_mark" in form.fields)
    assert reader.send(form, label="right").response.status == 403
    assert "Nobody has labelled anything yet." in visitor.open("/app/judges").text


def test_a1_nobody_labels_or_sees_another_tenant_s(
    visitor: Visitor, acme: Api, rival: Api, deployment: Deployment
) -> None:
    theirs = verified(rival, "Compute 2 + 2.", "5")
    rival.call("PUT", f"/v1/labels/quick_verify/{theirs}/1", '{"label": "wrong"}')
    form = labelling(visitor.open(f"/app/answers/{verified(acme, 'Compute 1 + 1.', '2')}"))
    form.action = f"/app/answers/{theirs}/label"
    assert visitor.send(form, label="right").response.status == 404
    assert theirs not in visitor.open("/app/judges").text
    (card,) = rival.get("/v1/judges").json
    assert visitor.open(f"/app/judges/{card['id']}").response.status == 404
