// Names members of a translated request as its caller does, in errors and in the list of dropped parameters.

import { type Problem, throwProblems, ValidationError } from "../errors.ts";
import { lookUp } from "../lib/look-up.ts";

/** Members of the chat request that have another name in the caller's format, with that name. Dots separate nested names. */
export type CallerNames = Readonly<Record<string, string>>;

/** Steps below a member that has another name are left out, because the caller's format has others there. */
export function toCallerName(name: string, names: CallerNames): string {
  const [member = ""] = name.split(".", 1);
  return lookUp(names, member) ?? name;
}

/** The outcome of a translated request. Problems that a provider's dialect finds in it are located in the caller's request. */
export async function locateProblems<Answer>(names: CallerNames, answering: Promise<Answer>): Promise<Answer> {
  try {
    return await answering;
  } catch (error) {
    if (error instanceof ValidationError) throwProblems(toCallerProblems(error.problems, names));
    throw error;
  }
}

function toCallerProblems(problems: readonly Problem[], names: CallerNames): Problem[] {
  const located = problems.map((problem): Problem => {
    const [place = "body", member] = problem.loc;
    const name = lookUp(names, String(member));
    return name === undefined ? problem : { ...problem, loc: [place, ...name.split(".")] };
  });
  // Two members may have one name: `logprobs` and `top_logprobs`.
  return [...new Map(located.map((problem) => [JSON.stringify(problem), problem])).values()];
}
