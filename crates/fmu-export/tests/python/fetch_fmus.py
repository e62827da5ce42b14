"""Takes the FMUs out of source archives of Python packages: fetch_fmus.py FOLDER

Nothing of the packages is installed or run. The archives are known by their checksums."""

import hashlib
import io
import os
import re
import sys
import tarfile
import urllib.request
import zipfile
from urllib.parse import urljoin

ARCHIVES = [
    ("pyfmi", "PyFMI-2.5.tar.gz", "f0485f786a40448c8ffb9e2b03a587d84cd1fe403c1056f50ab787de18f8ba0b"),
    ("cosimtlk", "cosimtlk-0.6.8.tar.gz", "321ea58753dca0ad2dd54cd80218aa65cf68292ff80cd88be7083a7ee5add577"),
    ("sim-explorer", "sim_explorer-0.2.2.tar.gz", "532a733289754bf9e3f046a6e48841d624e0ef7c002c390deae2e2f1d5f81666"),
]


def open_url(url):
    return urllib.request.urlopen(url, timeout=120).read()


def download(package, file):
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
    page = f"{index}/{package}/"
    for link, name in re.findall(r'<a[^>]*href="([^"#]+)[^"]*"[^>]*>([^<]+)</a>', open_url(page).decode()):
        if name.strip() == file:
            return open_url(urljoin(page, link))
    raise SystemExit(f"{page} does not list {file}")


def main(folder):
    os.makedirs(folder, exist_ok=True)
    for package, file, expected in ARCHIVES:
        data = download(package, file)
        found = hashlib.sha256(data).hexdigest()
        if found != expected:
            raise SystemExit(f"{file} has the checksum {found} instead of {expected}")
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive.getmembers():
                if member.isfile() and member.name.endswith(".fmu"):
                    # `PyFMI-2.5/src/pyfmi/.../ME2.0/bouncingBall.fmu` becomes `pyfmi-ME2.0-bouncingBall.fmu`
                    kind, name = member.name.split("/")[-2:]
                    path = os.path.join(folder, f"{package}-{kind}-{name}")
                    with open(path, "wb") as out:
                        out.write(archive.extractfile(member).read())
                    if package == "pyfmi" and kind.endswith("2.0"):
                        show_states(path)


def show_states(path):
    """The bouncing ball of PyFMI has no outputs. This declares its states as such; the library stays as it is."""
    with zipfile.ZipFile(path) as source:
        entries = [(name, source.read(name)) for name in source.namelist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in entries:
            if name == "modelDescription.xml":
                for state in (b"h", b"v"):
                    pattern = rb'(name="' + state + rb'".*?causality=)"local"'
                    data = re.sub(pattern, rb'\1"output"', data, count=1, flags=re.DOTALL)
                outputs = b'<ModelStructure><Outputs><Unknown index="1"/><Unknown index="3"/></Outputs>'
                data = data.replace(b"<ModelStructure>", outputs)
            target.writestr(name, data)


main(sys.argv[1])
