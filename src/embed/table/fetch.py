"""Fetches the source packages that the table is trained on, each at a pinned version with a pinned checksum.

    fetch.py FOLDER          fetches what sources.tsv pins, and fails on any other checksum
    fetch.py FOLDER --pin    takes the newest version of each name in packages.txt and writes sources.tsv

Only the registries' own clients are used: pip, cargo, npm, apt-get. A package whose licence is not in PERMISSIVE, or
whose name is held out for measuring, is refused.
"""

import csv
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
HELD_OUT = set(
    "networkx nltk pydantic scrapy sqlalchemy tornado aiohttp fastapi flask requests click httpx starlette clap axum "
    "tokio serde cobra gin express mkdocs jj celery attrs rich twisted django "
    # The development set of the search, fixtures/search/trees.json.
    "werkzeug sphinx hyper regex regex-automata zap raft eslint libgit2 libgit2-sys git2 jinja2 pytest reqwest ignore "
    "go-git rxjs zstd zstd-sys".split()
)
PERMISSIVE = re.compile(
    r"\b(MIT|BSD|Apache|ISC|PSF|Python Software Foundation|Python-2|Zlib|Unlicense|CC0|HPND|PostgreSQL|curl|0BSD|"
    r"public.domain|MIT-CMU|BSL-1|ZPL|Expat|Ruby|OpenSSL|WordNet|BlueOak|Biopython|Matplotlib|repoze)",
    re.I,
)
FIELDS = ["registry", "name", "version", "licence", "split", "file", "sha256"]


def run(*command, cwd=None, env=None):
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()[-500:]}")
    return done.stdout


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def pypi(name, version, folder):
    wanted = f"{name}=={version}" if version else name
    run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", folder, wanted)
    wheel = next(folder.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        metadata = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        head = archive.read(metadata).decode("utf-8", "replace").split("\n\n")[0]
    version = re.search(r"^Version: (.*)$", head, re.M)[1].strip()
    told = re.findall(r"^License-Expression: (.*)$", head, re.M)
    told += [c.split("::")[-1].strip() for c in re.findall(r"^Classifier: (License :: .*)$", head, re.M)]
    told += re.findall(r"^License: (.{1,60})$", head, re.M)
    return wheel, version, told[0].strip() if told else ""


def npm(name, version, folder):
    wanted = f"{name}@{version}" if version else name
    made = json.loads(run("npm", "pack", "--json", "--ignore-scripts", "--pack-destination", folder, wanted, cwd=folder))
    path = folder / made[0]["filename"].replace("@", "").replace("/", "-")
    with tarfile.open(path) as archive:
        member = next(m for m in archive if m.name.count("/") == 1 and m.name.endswith("/package.json"))
        about = json.load(archive.extractfile(member))
    licence = about.get("license") or (about.get("licenses") or [{}])[0]
    return path, about["version"], licence.get("type", "") if isinstance(licence, dict) else licence


def cratesio(name, version, folder):
    """`cargo info` fetches one crate, and checks it against the registry's index."""
    told = run("cargo", "info", "--registry", "crates-io", f"{name}@{version}" if version else name, cwd=folder)
    version = re.search(r"^version: (\S+)", told, re.M)[1]
    home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    cached = next((home / "registry/cache").glob(f"*/{name}-{version}.crate"))
    shutil.copy(cached, folder)
    return folder / cached.name, version, re.search(r"^license: (.*)$", told, re.M)[1]


def apt_options(folder):
    state = folder.parent / "apt"
    for part in ("lists/partial", "cache/archives/partial"):
        (state / part).mkdir(parents=True, exist_ok=True)
    line = "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main\n"
    (state / "sources.list").write_text(line)
    options = [f"Dir::Etc::sourcelist={state}/sources.list", "Dir::Etc::sourceparts=-", f"Dir::State::lists={state}/lists"]
    options += [f"Dir::Cache={state}/cache", "APT::Sandbox::User=root"]
    flags = [flag for option in options for flag in ("-o", option)]
    if not any((state / "lists").glob("*Sources*")):
        run("apt-get", *flags, "update")
    return flags


# Debian's index names no licences; these are from debian/copyright of each.
DEBIAN_LICENCES = {
    "golang-1.19": "BSD-3-Clause", "postgresql-15": "PostgreSQL", "python3.11": "PSF-2.0", "curl": "curl",
    "openssl": "Apache-2.0", "redis": "BSD-3-Clause", "nginx": "BSD-2-Clause", "lua5.4": "MIT", "libuv1": "MIT",
    "abseil": "Apache-2.0", "leveldb": "BSD-3-Clause", "rocksdb": "Apache-2.0", "fmtlib": "MIT",
    "sqlite3": "public domain", "guava-libraries": "Apache-2.0",
    "libcommons-lang3-java": "Apache-2.0", "netty": "Apache-2.0", "jackson-databind": "Apache-2.0",
    "tomcat9": "Apache-2.0", "ant": "Apache-2.0", "libspring-java": "Apache-2.0",
    "apache-log4j2": "Apache-2.0", "mockito": "MIT", "zookeeper": "Apache-2.0", "rails": "MIT",
    "ruby3.1": "Ruby or BSD-2-Clause", "symfony": "MIT",
    "php-twig": "BSD-3-Clause", "phpunit": "BSD-3-Clause", "elixir-lang": "Apache-2.0", "scala": "Apache-2.0",
    "golang-golang-x-tools": "BSD-3-Clause", "golang-golang-x-net": "BSD-3-Clause",
    "golang-go.crypto": "BSD-3-Clause", "prometheus": "Apache-2.0", "hugo": "Apache-2.0", "rclone": "MIT",
    "golang-google-grpc": "Apache-2.0", "docker.io": "Apache-2.0", "nats-server": "Apache-2.0",
    "kotlin": "Apache-2.0", "libpng1.6": "Zlib (libpng)",
    "libjpeg-turbo": "BSD-3-Clause", "libevent": "BSD-3-Clause", "mbedtls": "Apache-2.0", "nghttp2": "MIT",
    "tmux": "ISC", "zsh": "MIT (Zsh)", "etcd": "Apache-2.0", "caddy": "Apache-2.0",
    "commons-io": "Apache-2.0", "cmake": "BSD-3-Clause",
    "libpod": "Apache-2.0",
   
}


def debian(name, version, folder):
    """The upstream archive; Debian's own patches come beside it and are read too."""
    work = folder / name
    work.mkdir(exist_ok=True)
    wanted = f"{name}={version}" if version else name
    run("apt-get", *apt_options(folder), "source", "--download-only", "--only-source", wanted, cwd=work)
    described = next(work.glob("*.dsc"))
    version = re.search(r"^Version: (.*)$", described.read_text("utf-8", "replace"), re.M)[1].strip()
    # The description lists the checksums of all its files, and apt has checked them.
    return described, version, DEBIAN_LICENCES.get(name, "")


CLIENTS = {"pypi": pypi, "npm": npm, "cratesio": cratesio, "debian": debian}


def wanted():
    for line in (HERE / "packages.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            registry, split, *names = line.split()
            for name in names:
                yield {"registry": registry, "split": split, "name": name, "version": None, "sha256": None}


def pinned():
    with open(HERE / "sources.tsv", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t")


def fetch(row, root):
    if row["name"].lower() in HELD_OUT:
        raise RuntimeError("held out for measuring")
    folder = root / row["registry"]
    folder.mkdir(parents=True, exist_ok=True)
    if row.get("file") and (folder / row["file"]).exists() and sha256(folder / row["file"]) == row["sha256"]:
        return row
    with tempfile.TemporaryDirectory(dir=root) as fresh:
        fresh = pathlib.Path(fresh)
        made, version, licence = CLIENTS[row["registry"]](row["name"], row["version"], fresh)
        path = folder / made.relative_to(fresh)
        shutil.rmtree(path.parent if path.parent != folder else path, ignore_errors=True)
        if made.parent == fresh:
            shutil.move(made, path)
        else:
            shutil.move(made.parent, path.parent)
    if not PERMISSIVE.search(licence):
        raise RuntimeError(f"licence {licence!r} is not known to be permissive")
    if row["sha256"] and sha256(path) != row["sha256"]:
        raise RuntimeError(f"{path} has another checksum than the one pinned")
    file = str(path.relative_to(folder))
    return row | {"version": version, "licence": licence, "file": file, "sha256": sha256(path)}


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pin = "--pin" in sys.argv
    rows, left_out = [], []
    known = {(r["registry"], r["name"]): r for r in pinned()} if (HERE / "sources.tsv").exists() else {}
    for row in wanted() if pin else pinned():
        try:
            if pin and (old := known.get((row["registry"], row["name"]))):
                row = old | {"split": row["split"]}
            rows.append(fetch(row, root))
        except (RuntimeError, StopIteration) as error:
            if not pin:
                raise
            left_out.append(f"{row['registry']} {row['name']}: {error}")
        if not pin:
            continue
        with open(HERE / "sources.tsv", "w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, delimiter="\t", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    print(len(rows), "packages")
    print("\n".join(left_out))


if __name__ == "__main__":
    main()
