import { readFileSync } from 'node:fs';

/** Prints "N passed, N failed" from Vitest's JSON report; fails when no test ran, or when the report says so. */
const [reportPath = '', runStatus = '1'] = process.argv.slice(2);
const { numPassedTests: passed = 0, numFailedTests = 0, testResults = [], success = false } = readReport();

const brokenFiles = testResults.filter(
  ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((each) => each.status === 'failed'),
);
const counted = numFailedTests + brokenFiles.length;
// An error outside of any test, or a run that never got as far as its tests, fails the run without failing a test.
const failed = counted === 0 && (!success || runStatus !== '0') ? 1 : counted;

console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

function readReport() {
  try {
    return JSON.parse(readFileSync(reportPath, 'utf8'));
  } catch {
    return {};
  }
}
