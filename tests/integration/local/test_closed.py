"""A11: the local cloud serves nobody but its user, by real requests to a real one (without the stack in it)."""

import datetime
from collections.abc import Iterator, Mapping
from typing import Any

import boto3
import httpx
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from infra.local import emulator
from infra.local.front import HEALTH, MAX_LINKED_BYTES, OWN_PATHS
from infra.local.home import Home, Running

# The cloud outlives the object that stands for its process: `stop` ends it by its number.
pytestmark = pytest.mark.filterwarnings("ignore:.*Popen.__del__:pytest.PytestUnraisableExceptionWarning")

BUCKET = "things"
TYPE = "text/markdown"
RESET = f"{OWN_PATHS[0]}reset"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("cloud") / "home")


@pytest.fixture(scope="module")
def running(home: Home) -> Iterator[Running]:
    """The cloud with a bucket of one object in it."""
    started = emulator.start(home)
    try:
        s3 = _client("s3", home.credentials(started))
        s3.create_bucket(Bucket=BUCKET)
        s3.put_object(Bucket=BUCKET, Key="kept", Body=b"ours")
        yield started
    finally:
        emulator.stop(home)


@pytest.fixture
def ours(home: Home, running: Running) -> dict[str, str]:
    return home.credentials(running)


@pytest.fixture
def http(running: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=running.endpoint, timeout=30) as client:
        yield client


def _client(service: str, variables: Mapping[str, str]) -> Any:
    make: Any = boto3.client
    return make(
        service,
        endpoint_url=variables["AWS_ENDPOINT_URL"],
        region_name=variables["AWS_REGION"],
        aws_access_key_id=variables["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=variables["AWS_SECRET_ACCESS_KEY"],
        config=Config(
            signature_version="s3v4" if service == "s3" else None,
            s3={"addressing_style": "path"},
            retries={"total_max_attempts": 1},
        ),
    )


def _refused(reply: httpx.Response, status: int = 403) -> None:
    assert reply.status_code == status
    assert reply.json()["message"].endswith(".")
    assert not [name for name in reply.headers if name.startswith("access-control")]


def test_with_its_credentials_all_works(ours: dict[str, str]) -> None:
    s3, dynamodb = _client("s3", ours), _client("dynamodb", ours)
    assert s3.get_object(Bucket=BUCKET, Key="kept")["Body"].read() == b"ours"
    assert dynamodb.list_tables()["TableNames"] == []
    assert _client("sts", ours).get_caller_identity()["Account"] == "000000000000"


@pytest.mark.parametrize("service", ["s3", "dynamodb", "sqs", "lambda", "secretsmanager", "cloudformation", "sts"])
@pytest.mark.parametrize("key", ["test", "000000000000", "ASIA0000000000000000", "own"])
def test_with_others_nothing_does(ours: dict[str, str], service: str, key: str) -> None:
    others = {**ours, "AWS_SECRET_ACCESS_KEY": "test"} | ({} if key == "own" else {"AWS_ACCESS_KEY_ID": key})
    calls: dict[str, Any] = {
        "s3": lambda client: client.list_buckets(),
        "dynamodb": lambda client: client.list_tables(),
        "sqs": lambda client: client.list_queues(),
        "lambda": lambda client: client.list_functions(),
        "secretsmanager": lambda client: client.list_secrets(),
        "cloudformation": lambda client: client.list_stacks(),
        "sts": lambda client: client.get_caller_identity(),
    }
    with pytest.raises(ClientError) as refused:
        calls[service](_client(service, others))
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403


@pytest.mark.parametrize("path", ["/", f"/{BUCKET}", f"/{BUCKET}/kept", *(f"{path}config" for path in OWN_PATHS)])
def test_unsigned_nothing_is_read(http: httpx.Client, path: str) -> None:
    _refused(http.get(path))


def test_unsigned_nothing_is_emptied(http: httpx.Client, ours: dict[str, str]) -> None:
    _refused(http.post(RESET))
    _refused(http.post(RESET, headers=_signed("POST", f"{http.base_url}{RESET}", b"", ours)))
    assert _client("s3", ours).list_objects_v2(Bucket=BUCKET)["KeyCount"] == 1


def test_whether_it_lives_may_be_asked(http: httpx.Client) -> None:
    assert http.get(HEALTH).status_code == 200
    _refused(http.post(HEALTH))


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil", ""])
def test_under_a_foreign_name_nobody_is_served(http: httpx.Client, host: str) -> None:
    _refused(http.get(HEALTH, headers={"Host": host}))
    _refused(http.get("/_aws/execute-api/abcd1234/health", headers={"Host": host}))


def test_under_its_own_names_it_is(http: httpx.Client) -> None:
    for host in ("localhost", "localhost:1", "127.0.0.1", "[::1]:80"):
        assert http.get(HEALTH, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("path", [f"/{BUCKET}/kept", "/_aws/execute-api/abcd1234/v1/answers", HEALTH])
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:1"])
def test_a_page_of_another_site_is_told_nothing(http: httpx.Client, path: str, origin: str) -> None:
    asked = {"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x"}
    _refused(http.options(path, headers=asked))
    _refused(http.get(path, headers={"Origin": origin}))
    _refused(http.post(path, headers={"Origin": origin, "Content-Type": "text/plain"}, content=b"{}"))
    _refused(http.get(path, headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}))


def test_our_own_pages_and_links_that_are_followed_are_answered(http: httpx.Client, running: Running) -> None:
    for headers in (
        {"Origin": running.endpoint},
        {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ):
        assert http.get(HEALTH, headers=headers).status_code == 200


def test_no_answer_lets_other_sites_read_it(http: httpx.Client, ours: dict[str, str]) -> None:
    link = _client("s3", ours).generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": "kept"})
    reply = http.get(link)
    assert reply.content == b"ours"
    assert not [name for name in reply.headers if name.startswith("access-control")]


def test_a_signature_is_for_one_request(http: httpx.Client, ours: dict[str, str]) -> None:
    url, body = f"{http.base_url}/", b"{}"
    target = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"}
    signed = _signed("POST", url, body, ours, service="dynamodb", headers=target)
    assert http.post(url, headers=signed, content=body).status_code == 200
    _refused(http.post(url, headers=signed, content=b'{"Limit": 1}'))
    _refused(http.post(url, headers={**signed, "X-Amz-Target": "DynamoDB_20120810.ListBackups"}, content=body))
    _refused(http.post(f"{url}?AWSAccessKeyId=test", headers=signed, content=body))
    old = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=1)
    _refused(http.post(url, headers=_signed("POST", url, body, ours, service="dynamodb", at=old), content=body))


def test_a_link_is_for_one_object_one_type_and_one_size(http: httpx.Client, ours: dict[str, str]) -> None:
    s3 = _client("s3", ours)
    given = {"Bucket": BUCKET, "Key": "new", "ContentType": TYPE}
    link = s3.generate_presigned_url("put_object", Params=given, ExpiresIn=60)
    as_said = {"Content-Type": TYPE}
    _refused(http.put(link.replace("/new?", "/other?"), headers=as_said, content=b"x"))
    _refused(http.put(link, headers={"Content-Type": "text/html"}, content=b"x"))
    _refused(http.get(link, headers=as_said))
    _refused(http.put(link, headers=as_said, content=b"0" * (MAX_LINKED_BYTES + 1)), status=413)
    assert http.put(link, headers=as_said, content=b"x").status_code == 200
    assert {one["Key"] for one in s3.list_objects_v2(Bucket=BUCKET)["Contents"]} == {"kept", "new"}
    s3.delete_object(Bucket=BUCKET, Key="new")
    over = s3.generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": "kept"}, ExpiresIn=-1)
    assert http.get(over).status_code in {400, 403}


def test_it_is_started_again_where_what_runs_is_not_guarded(home: Home, running: Running) -> None:
    assert emulator.alive(running)
    assert not emulator.alive(Running(pid=running.pid, port=1))


def _signed(
    method: str,
    url: str,
    body: bytes,
    variables: Mapping[str, str],
    *,
    service: str = "s3",
    headers: Mapping[str, str] = {},
    at: datetime.datetime | None = None,
) -> dict[str, str]:
    """The headers of a request signed as any AWS client signs it."""
    request = AWSRequest(method=method, url=url, data=body, headers=dict(headers))
    owner = Credentials(variables["AWS_ACCESS_KEY_ID"], variables["AWS_SECRET_ACCESS_KEY"])
    signer = SigV4Auth(owner, service, variables["AWS_REGION"])
    if at is None:
        signer.add_auth(request)
    else:
        request.context["timestamp"] = at.strftime("%Y%m%dT%H%M%SZ")
        request.headers["X-Amz-Date"] = request.context["timestamp"]
        canonical = signer.canonical_request(request)
        signature = signer.signature(signer.string_to_sign(request, canonical), request)
        scope = f"Credential={signer.scope(request)}"
        names = f"SignedHeaders={signer.signed_headers(signer.headers_to_sign(request))}"
        request.headers["Authorization"] = f"AWS4-HMAC-SHA256 {scope}, {names}, Signature={signature}"
    return dict(request.headers.items())
