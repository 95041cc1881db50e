"""What the project says of itself, in its files: the name, the version, how changes are checked."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import rsg

ROOT = Path(__file__).parent.parent
GITHUB = ROOT / ".github"


def test_the_version_is_the_last_that_was_released():
    released = re.findall(
        r"^## (\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (cited["version"], str(cited["date-released"])) == released[0]
    assert rsg.__version__ == released[0][0]


def test_changes_have_a_place_in_the_changelog():
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert len(headings) == len(set(headings)) > 1


def test_the_distribution_has_a_name_of_its_own():
    """`rsg` on the package index is another program."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == "rational-subgoals"
    assert list(project["scripts"]) == ["rsg"]
    kitchen = tomllib.loads((ROOT / "examples" / "kitchen" / "pyproject.toml").read_text())["project"]
    assert project["name"] in kitchen["dependencies"]
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        lines = [line for line in page.read_text().splitlines() if re.search(r"pip install( -\S+)* rsg\b", line)]
        assert all("another program" in line for line in lines), f"{page.name} installs another program"


def test_continuous_integration_is_what_we_run_ourselves():
    """The workflow runs `.ci/run` and nothing else, on the oldest Python that we promise and on a newer one."""
    job = yaml.safe_load((GITHUB / "workflows" / "ci.yml").read_text())["jobs"]["check"]
    versions = job["strategy"]["matrix"]["python"]
    promised = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert len(versions) == 2
    assert f">={versions[0]}" == promised
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    made = re.findall(r"^make (.*)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    assert {"test", "lint", "docs"} <= set(" ".join(made).split())


@pytest.mark.parametrize("form", sorted((GITHUB / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda form: form.stem)
def test_forms_for_issues(form):
    asked = yaml.safe_load(form.read_text())
    assert asked["name"]
    assert asked["description"]
    names = [part["id"] for part in asked["body"]]
    assert len(names) == len(set(names)) > 0
    assert all(part["type"] == "textarea" and part["attributes"]["label"] for part in asked["body"])


def test_a_change_is_asked_what_contributing_asks():
    text = (GITHUB / "pull_request_template.md").read_text()
    assert ".ci/run" in text
    assert (GITHUB / re.findall(r"\]\(([^)]+)\)", text)[0]).resolve() == ROOT / "CONTRIBUTING.md"
