// Bundles a script of the site with the packages that it imports.

export async function buildScript(file: string): Promise<string> {
  const built = await Bun.build({ entrypoints: [file], target: "browser", minify: true });
  const [script] = built.outputs;
  if (!built.success || script === undefined) throw new Error(`${file} cannot be built: ${built.logs.join("; ")}`);
  return await script.text();
}
