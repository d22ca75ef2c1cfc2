// The order of the pages. A page of docs/ that is in no section fails a test.

export interface NavigationSection {
  readonly title: string;
  /** Names of pages: the path of the file under docs/ without `.md`, or one of `otherSources`. */
  readonly pages: readonly string[];
}

/** The page at the root of the site. */
export const homePage = "README";

export const navigation: readonly NavigationSection[] = [
  { title: "Get started", pages: ["start", "concepts", "sandbox", "examples"] },
  {
    title: "Guides",
    pages: [
      "providers",
      "routing",
      "responses",
      "universal-ai",
      "files",
      "jobs",
      "webhooks",
      "keys-and-teams",
      "budgets-and-limits",
      "usage-reports",
    ],
  },
  { title: "Engines", pages: ["tasks", "local-engines", "llm-engines"] },
  {
    title: "Operate",
    pages: [
      "deployment",
      "configuration",
      "operations",
      "command-line",
      "dashboard",
      "dashboard-access",
      "playground",
      "logs",
      "metrics",
      "tracing",
      "scaling",
      "limits",
      "faults",
      "benchmarks",
      "security",
    ],
  },
  {
    title: "Migrate",
    pages: ["migration", "migration-litellm", "migration-portkey", "migration-openrouter", "migration-eden-ai"],
  },
  { title: "Reference", pages: ["settings", "errors", "prices", "third-party", "changelog"] },
  { title: "Contribute", pages: ["contributing", "architecture", "decisions"] },
];

/** Files outside docs/ that are pages as well. Those that a package leaves out have no page. */
export const otherSources: Readonly<Record<string, string>> = {
  examples: "examples/README.md",
  changelog: "CHANGELOG.md",
  contributing: "CONTRIBUTING.md",
  architecture: "ARCHITECTURE.md",
};
