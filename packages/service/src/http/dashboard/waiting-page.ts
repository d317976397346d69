const page = (title: string, text: string) => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title></head>
<body><h1>${title}</h1><p>${text}</p></body>
</html>
`;

/** Page shown until the dashboard is built; it reloads by itself. */
export const buildingPage = page(
  'The dashboard is being built',
  'This happens once, after an installation or an update, and takes some seconds. The page reloads by itself.',
);

export const failedPage = page(
  'The dashboard could not be built',
  'The log of the node says why. Everything else of the node works: see <a href="/docs">/docs</a>.',
);
