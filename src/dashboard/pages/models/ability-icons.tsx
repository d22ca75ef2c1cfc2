// What a model can do, as a row of icons with names.

import { Tooltip } from "@mantine/core";
import type { ComponentType } from "react";
import { IconAudio, IconBraces, IconBrain, IconEye, IconLayers, IconTool } from "../../icons.ts";
import { type Ability, abilities, abilityTitles } from "./catalogue.ts";

const abilityIcons: Readonly<Record<Ability, ComponentType<{ readonly size?: number | string }>>> = {
  vision: IconEye,
  tools: IconTool,
  structured: IconBraces,
  reasoning: IconBrain,
  audio: IconAudio,
  embeddings: IconLayers,
};

const chatAbilities = abilities.filter((ability) => ability !== "embeddings");

export function AbilityIcons({ has }: { readonly has: ReadonlySet<Ability> }) {
  // Models for embeddings have no other ability.
  const shown = has.has("embeddings") ? (["embeddings"] as const) : chatAbilities;
  return (
    <span className="ability-icons">
      {shown.map((ability) => {
        const Icon = abilityIcons[ability];
        // An ability that is missing keeps its place, so that columns of icons can be compared.
        if (!has.has(ability)) return <span key={ability} className="ability-icon" />;
        return (
          <Tooltip key={ability} label={abilityTitles[ability]}>
            <span className="tinted-icon ability-icon" role="img" aria-label={abilityTitles[ability]}>
              <Icon size={15} />
            </span>
          </Tooltip>
        );
      })}
    </span>
  );
}
