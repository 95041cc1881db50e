import pytest

from rsg.cli.main import main


@pytest.fixture
def rsg(capsys):
    """Run the command in this process; gives exit code, stdout, stderr."""

    def run(*words):
        with pytest.raises(SystemExit) as stop:
            main(list(words))
        out, err = capsys.readouterr()
        return stop.value.code, out, err

    return run
