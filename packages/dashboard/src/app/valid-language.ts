// uPlot formats numbers for `navigator.language` when it is loaded, and throws where that is no language tag: Chromium says
// "en-US@posix" where the locale of the machine is "C". Imported before everything else.
if (!isValid(navigator.language)) Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });

function isValid(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
