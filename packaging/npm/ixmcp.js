#!/usr/bin/env node
// Starts the executable of the package for this platform, which npm installed next to this one.
// Nothing is downloaded or compiled, neither here nor during installation.
"use strict";

const { spawn } = require("node:child_process");
const path = require("node:path");

const platforms = Object.keys(require("../package.json").optionalDependencies);

// The version of glibc, or undefined where there is none: on musl, and on other systems.
function glibc() {
    if (process.platform !== "linux") return undefined;
    process.report.excludeNetwork = true;
    return process.report.getReport().header.glibcVersionRuntime;
}

function isOlder(version, needed) {
    const [major, minor] = version.split(".").map(Number);
    const [neededMajor, neededMinor] = needed.split(".").map(Number);
    return major < neededMajor || (major === neededMajor && minor < neededMinor);
}

// The executable of a package, or why it cannot be used here.
function executable(name, libc) {
    let file;
    try {
        file = require.resolve(`${name}/package.json`);
    } catch {
        return { reason: `the package ${name} is not installed; install ixmcp again without --omit=optional` };
    }
    const { ixmcp } = require(file);
    if (ixmcp.glibc && !libc) return { reason: `${name} needs glibc, which this system lacks` };
    if (ixmcp.glibc && isOlder(libc, ixmcp.glibc)) {
        return { reason: `${name} needs glibc ${ixmcp.glibc} or newer, and this system has ${libc}` };
    }
    return { path: path.join(path.dirname(file), ixmcp.program) };
}

function fail(message) {
    console.error(`ixmcp: ${message}`);
    process.exit(2);
}

const base = `@ixmcp/${process.platform}-${process.arch}`;
const names = [base, `${base}-musl`].filter((name) => platforms.includes(name));
if (names.length === 0) {
    const known = platforms.map((name) => name.slice("@ixmcp/".length)).join(", ");
    fail(`there is no npm package for ${process.platform}-${process.arch}, only for: ${known}. Build ixmcp from source.`);
}
const libc = glibc();
const tried = names.map((name) => executable(name, libc));
const found = tried.find((one) => one.path);
if (!found) fail(`${tried.map((one) => one.reason).join("; ")}.`);

const child = spawn(found.path, process.argv.slice(2), { stdio: "inherit", windowsHide: true });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => fail(`${found.path} cannot be started: ${error.message}.`));
child.on("exit", (code, signal) => {
    if (signal === "SIGILL") fail("this processor lacks instructions that this build of ixmcp needs; build it from source.");
    if (!signal) process.exit(code);
    // As if the executable had been started directly.
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
});
