// Runs before `npm pack` and `npm publish`. The package contains generated files, so they must be those of this version.

import { pages } from "./pages.ts";

for (const [path, text] of await pages()) {
  const file = Bun.file(path);
  if (!(await file.exists()) || (await file.text()) !== text) {
    console.error(`${path} is not up to date: run \`node bin/bun.mjs run scripts/pages.ts\` and commit it.`);
    process.exit(1);
  }
}
