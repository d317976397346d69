'use strict';
// Plain CommonJS that any Node can parse: it must be able to tell an old Node what is wrong.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  console.error(
    `agent-network needs Node 24 or newer, and this is ${process.version}.\n` +
      'On Linux (x64, arm64), macOS (arm64, x64) and Windows (x64), "npm ci" brings it along and "npm start" and "npm test" use it by themselves:\n' +
      'run them through npm, and do not install with --omit=optional. On other systems, install Node 24 first.',
  );
  process.exit(1);
}
