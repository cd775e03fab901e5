"""The API keeps what its description says, whatever is sent to it: Schemathesis makes the requests."""

import asyncio
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from jsonschema import Draft202012Validator
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from adapters.web.api.routes import OPERATIONS, description
from tests.fakes.web.browsing import Dashboard

_CHECKS: Final = [
    not_a_server_error,
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
]
_EXAMPLES: Final = 30


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
async def test_an_operation_keeps_its_description(room: Dashboard, operation: Any) -> None:
    """Requests that are right, and requests that are wrong, about the case that is there and about others."""
    token = (await room.program_of("ane", room.desk.ane)).token
    loaded = schemathesis.openapi.from_dict(description())
    loaded.config.update(base_url=room.origin)
    loaded.config.generation.update(modes=[GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
    one = loaded[operation.path][operation.method]
    ours = room.desk.case_id
    statuses = set[int]()

    @settings(max_examples=_EXAMPLES, phases=[Phase.generate], suppress_health_check=list(HealthCheck), database=None)
    @given(case=one.as_strategy())
    def ask(case: Any) -> None:
        if len(statuses) % 2 == 0 and "case" in case.path_parameters:
            case.path_parameters["case"] = ours
        answer = case.call(headers={"Authorization": f"Bearer {token}"})
        statuses.add(answer.status_code)
        case.validate_response(answer, checks=_CHECKS)

    await asyncio.to_thread(ask)
    assert statuses
    assert max(statuses) < 500


def test_it_is_openapi_3_1() -> None:
    """Each shape is a schema of JSON Schema 2020-12, and each reference leads somewhere."""
    found = description()
    for name, schema in found["components"]["schemas"].items():
        Draft202012Validator.check_schema(schema)
        assert schema.get("description") or "enum" in schema, name
    assert set(_references(found)) <= {f"#/components/schemas/{name}" for name in found["components"]["schemas"]}
    assert {one["operationId"] for path in found["paths"].values() for one in path.values()} == {
        operation.name for operation in OPERATIONS
    }


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [found for one in value.values() for found in _references(one)]
    return [found for one in value for found in _references(one)] if isinstance(value, list) else []
